"""One attempt: run the handler, then decide once, from what it returned or raised, how it ended.

    run_attempt   the steps: find the task, read the arguments, call the handler
    decide        a result becomes a Verdict; the only place that does it

How an attempt is stopped is no exception of its own: whoever stops it writes the reason into `why`,
and the handler's cancellation is then read in that light.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import traceback
from collections.abc import Callable, Mapping
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from awa.model.callback import check_callback_id
from awa.model.draft import JobOptions, check_metadata, merge_metadata
from awa.model.errors import UnknownJobKind, ValidationError
from awa.model.job import Job
from awa.model.outcome import Cancel, RetryAfter, Snooze, TerminalError, WaitForCallback
from awa.model.task import Task, Tasks
from awa.model.text import bounded
from awa.storage.claim import ClaimedJob
from awa.worker.follow_ups import Follower, asked_of, make_follow_up
from awa.worker.job import RunningJob
from awa.worker.threads import Threads

if TYPE_CHECKING:
    from awa.worker.ledger import Ledger

ERROR_MAX_CHARS: Final = 4_000
TRACEBACK_MAX_CHARS: Final = 8_000
# Where a job that is not over keeps how far its last attempt had come; see awa.with_progress.
PROGRESS_KEY: Final = "_awa_progress"

log = logging.getLogger("awa.worker")


class Why(StrEnum):
    """Why an attempt was asked to stop."""

    CANCELLED = "cancelled"  # by an operator, or ended by a rescue
    DEADLINE = "deadline"
    LOST = "lost"  # this runtime was declared dead
    SHUTDOWN = "shutdown"


class Verdict(NamedTuple):
    """How an attempt ended, in the words of awa.finish."""

    outcome: str
    delay_s: float | None = None
    error: dict[str, Any] | None = None
    callback_id: UUID | None = None


COMPLETED: Final = Verdict("completed")
RETURNED: Final = Verdict("returned")  # not this attempt's turn; it doesn't count


class Attempt:
    """A claimed job in this process, from its claim until the database knows its end."""

    __slots__ = (
        "changes",
        "claimed_s",
        "ended",
        "followers",
        "if_failed",
        "ledger",
        "progress",
        "recorded",
        "row",
        "runner",
        "tasks",
        "unsaved",
        "unsaved_changes",
        "why",
    )

    def __init__(self, row: ClaimedJob, ledger: Ledger, claimed_s: float) -> None:
        self.row = row
        self.ledger = ledger
        self.claimed_s = claimed_s  # monotonic clock, when the claim came back
        self.ended = False  # its end is decided; what the handler still does is ignored
        self.why: Why | None = None
        self.runner: asyncio.Task[None] | None = None  # only while the handler runs
        self.recorded = False  # has a row in awa.attempts
        self.changes: dict[str, Any] | None = None  # of the metadata, all that there were
        self.progress: dict[str, Any] | None = None
        self.unsaved = False  # progress that the database doesn't know
        self.unsaved_changes = False  # of the metadata, the same
        self.tasks: Tasks | None = None  # from when the handler runs
        self.followers: list[Follower] | None = (
            None  # jobs that come with the completion of its job
        )
        self.if_failed: list[Follower] | None = (
            None  # jobs that come if its job has failed for good
        )

    def metadata(self) -> dict[str, Any]:
        """The job's metadata with what the handler changed."""
        merged = {**(self.row.metadata or {}), **(self.changes or {})}
        merged.pop(PROGRESS_KEY, None)
        return merged

    def known_progress(self) -> dict[str, Any] | None:
        """What was reported last, by this attempt or an earlier one."""
        if self.progress is not None:
            return self.progress
        kept = None if self.row.metadata is None else self.row.metadata.get(PROGRESS_KEY)
        return kept if isinstance(kept, dict) else None  # a program may have written there

    def carried(self, outcome: str) -> dict[str, Any] | None:
        """Changes of the metadata that go with an end: what the next attempt has to know, written down or not."""
        if not self.unsaved or outcome == "completed":
            return self.changes
        return {**(self.changes or {}), PROGRESS_KEY: self.progress}

    def report(self, progress: dict[str, Any]) -> None:
        """Keep the progress for the next heartbeat."""
        self.progress = progress
        self.unsaved = True

    def change_metadata(self, changes: Mapping[str, Any]) -> None:
        """Keep changes of the metadata for the next heartbeat, and for the end of the attempt.

        What is too large is refused as a whole, and what was kept before stays.
        """
        plain = check_metadata(changes)
        merge_metadata(self.metadata(), plain)
        self.changes = {**(self.changes or {}), **plain}
        self.unsaved_changes = True

    def follow_up(self, args: object, options: JobOptions) -> None:
        """Keep a job that is to be inserted when this attempt completes the job."""
        follower = make_follow_up(args, options, self.tasks or Tasks())
        self.followers = [*(self.followers or ()), follower]

    async def flush(self) -> None:
        """Write the progress and the metadata now."""
        await self.ledger.flush_progress(self)


async def run_attempt(
    attempt: Attempt,
    tasks: Tasks,
    threads: Threads,
    runner: asyncio.Task[None],
    on_start: Callable[[Attempt, RunningJob[Any]], None] | None = None,
) -> tuple[Verdict, float]:
    """Run the handler of one attempt; answers how it ended and for how many seconds it ran.

    `runner` is the present task; it may be cancelled while an async handler runs in it. Raises
    CancelledError only when the event loop itself is being taken down.
    """
    began_s = monotonic()
    task: Task[Any] | None = None
    job: RunningJob[Any] | None = None
    try:
        task = tasks.get(attempt.row.kind) or tasks.need(attempt.row.kind)
        attempt.tasks = tasks
        job = RunningJob(attempt, task.decode(attempt.row.args))
        if on_start is not None:
            on_start(attempt, job)
        if task.is_async:
            attempt.runner = runner
            result = await task.handler(job)  # type: ignore[misc]
        else:
            result = await threads.run(task.handler, job)
    except asyncio.CancelledError as cancelled:
        if attempt.why is None and runner.cancelling():
            raise
        return _stopped(attempt, cancelled), monotonic() - began_s
    except (Exception, SystemExit) as problem:
        result = problem
    finally:
        attempt.runner = None
    if result is None and task is not None and task.on_completed is None:
        return COMPLETED, monotonic() - began_s
    verdict = decide(result, attempt.row.kind)
    if task is not None and job is not None:
        verdict = _with_follow_ups(attempt, task, job, verdict)
    return verdict, monotonic() - began_s


def decide(result: object, kind: str) -> Verdict:
    """What the result of this kind's handler means."""
    match result:
        case None:
            return COMPLETED
        case RetryAfter(seconds):
            return Verdict("retried", delay_s=seconds)
        case Snooze(seconds):
            return Verdict("snoozed", delay_s=seconds)
        case Cancel(reason):
            told = bounded(str(reason), ERROR_MAX_CHARS)
            error = {"error": told, "kind": "Cancel"} if told else None
            return Verdict("cancelled", error=error)
        case TerminalError():
            return Verdict("failed", error=_told(result))
        case BaseException():
            return Verdict("retried", error=_told(result))
        case WaitForCallback(token):
            return _waiting(token)
        case _ if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            return _misused("a plain handler returned an awaitable: make it `async def`")
        case _:
            log.warning(
                "the handler of %s returned %s, which means nothing here; the job is completed",
                kind,
                type(result).__name__,
            )
            return COMPLETED


def _with_follow_ups(attempt: Attempt, task: Task[Any], job: Job[Any], verdict: Verdict) -> Verdict:
    """Ask the task what is to follow; a completion whose follow-ups can't be made is none.

    Whoever answers a callback knows no tasks, so a job that comes to wait is asked for both ends.
    """
    waits = verdict.outcome == "waiting"
    if verdict.outcome != "completed" and not waits:
        attempt.followers = None
    elif task.on_completed is not None:
        try:
            more = asked_of(task.on_completed, job, attempt.tasks or Tasks())
            attempt.followers = [*(attempt.followers or ()), *more] or None
        except Exception as problem:
            attempt.followers = None
            asked = (
                "on_completed, asked when the job came to wait, failed"
                if waits
                else "on_completed failed"
            )
            verdict = Verdict("retried", error=_told(problem, f"{asked}: {problem}"))
    if task.on_failed is not None and (verdict.outcome == "waiting" or _is_final(attempt, verdict)):
        try:
            attempt.if_failed = asked_of(task.on_failed, job, attempt.tasks or Tasks()) or None
        except Exception:
            row = attempt.row
            log.exception(
                "on_failed of %s failed for job %d; nothing follows it", row.kind, row.job_id
            )
    return verdict


def _is_final(attempt: Attempt, verdict: Verdict) -> bool:
    """Whether the job has failed for good with this."""
    row = attempt.row
    return verdict.outcome == "failed" or (
        verdict.outcome == "retried" and row.attempt >= row.max_attempts
    )


def _stopped(attempt: Attempt, cancelled: asyncio.CancelledError) -> Verdict:
    """The handler was cancelled: by us for a reason, or by something of its own."""
    match attempt.why:
        case Why.SHUTDOWN:
            return RETURNED
        case Why.DEADLINE:
            return _too_long(attempt)  # ended already, by past_deadline
        case Why.CANCELLED | Why.LOST:
            return Verdict("cancelled")  # the database has ended it already and ignores this
        case None:
            return Verdict(
                "retried", error=_told(cancelled, "the handler was cancelled from inside")
            )


def past_deadline(attempt: Attempt, tasks: Tasks) -> Verdict:
    """The verdict on an attempt whose time is up, while its handler may still run."""
    attempt.tasks = tasks
    verdict = _too_long(attempt)
    task = tasks.get(attempt.row.kind)
    if task is None or task.on_failed is None or not _is_final(attempt, verdict):
        attempt.followers = None
        return verdict
    try:
        job: Job[Any] = RunningJob(attempt, task.decode(attempt.row.args))
    except ValueError:  # arguments that can't be read: there is nothing to ask with
        return verdict
    return _with_follow_ups(attempt, task, job, verdict)


def _too_long(attempt: Attempt) -> Verdict:
    return Verdict(
        "retried",
        error={
            "error": f"still running at its deadline, {attempt.row.deadline_at}",
            "kind": "DeadlineExceeded",
        },
    )


def _waiting(token: object) -> Verdict:
    """The database refuses, at the end, a callback that this attempt hasn't registered."""
    try:
        return Verdict("waiting", callback_id=check_callback_id(token, field="token"))
    except ValidationError as problem:
        return _misused(f"WaitForCallback needs what job.register_callback() returned: {problem}")


def _misused(sentence: str) -> Verdict:
    return Verdict("retried", error={"error": sentence, "kind": "TypeError"})


def _told(problem: BaseException, message: str | None = None) -> dict[str, Any]:
    """An exception as it is kept with the job: bounded, and without NUL, which jsonb refuses."""
    text = message or str(problem) or type(problem).__name__
    error = {"error": bounded(text, ERROR_MAX_CHARS), "kind": type(problem).__name__}
    if not isinstance(problem, UnknownJobKind):
        trace = "".join(traceback.format_exception(problem))
        error["traceback"] = bounded(trace, TRACEBACK_MAX_CHARS)
    return error
