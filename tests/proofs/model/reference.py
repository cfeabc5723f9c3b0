"""What the engine is meant to do, said without a database: jobs in places, and who holds what.

A job is in one place. A transaction that is open holds jobs and lanes, and has its say at its commit; nobody else can
touch what it holds, so what it will say is known when it is said.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from awa.storage.claim import ClaimedJob
from tests.storage.world import Place, World

QUEUES = ("alpha", "beta")
WAITING = {"available", "scheduled", "retryable"}
DEFERRED = {"scheduled", "retryable"}
LOCKABLE = WAITING | {"waiting_external"}
# How many jobs of a concurrency key run at once.
PLACES = {"one": 1, "two": 2}


@dataclass
class Job:
    """A job, and how far it has come."""

    queue: str
    priority: int
    state: str
    max_attempts: int
    attempt: int = 0
    key: str | None = None
    times: int = 0  # how often it got another position

    def place(self) -> Place:
        """What the views must say of it."""
        return Place(self.queue, self.state, self.priority, self.attempt)


@dataclass
class Attempt:
    """An attempt in somebody's hands, and whether it has ended."""

    claimed: ClaimedJob
    runtime_id: UUID
    over: bool = False

    @property
    def job_id(self) -> int:
        """The job it is an attempt at."""
        return self.claimed.job_id


@dataclass
class Callback:
    """A callback of an attempt, and how it was answered."""

    id: UUID
    attempt: Attempt
    answer: str | None = None
    waits: bool = False  # the job waits for it now


@dataclass
class Session:
    """A connection that may keep a transaction open: what it holds, and what it will have done."""

    name: str
    world: World
    is_open: bool = False
    holds: set[int] = field(default_factory=set)
    effects: list[Callable[[], object]] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)  # its own new jobs, which it may claim itself
    attempts: list[Attempt] = field(default_factory=list)  # claimed in this transaction
    keys: dict[tuple[str, str | None], int | None] = field(
        default_factory=dict
    )  # as it leaves them
    queues: dict[int, str] = field(default_factory=dict)  # where it has moved jobs to


class Reference:
    """All jobs and attempts that were ever committed."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.attempts: list[Attempt] = []
        self.served: set[int] = set()
        self.paused: set[str] = set()
        self.dead: set[UUID] = set()
        self.callbacks: list[Callback] = []
        self.most: dict[str, int] = {}  # queue -> how many of its jobs may run at once

    def places(self) -> dict[int, Place]:
        """What an audit must find."""
        return {id_: job.place() for id_, job in self.jobs.items()}

    def having(self, *states: str) -> set[int]:
        """Jobs in one of these states."""
        return {id_ for id_, job in self.jobs.items() if job.state in states}

    def add(self, job_id: int, job: Job) -> None:
        """A new job."""
        assert job_id not in self.jobs, f"job {job_id} was there already"
        self.jobs[job_id] = job

    def begin(self, attempt: Attempt) -> None:
        """An attempt begins."""
        position = attempt.claimed.lane_seq
        assert position not in self.served, f"position {position} was served twice"
        self.served.add(position)
        job = self.jobs[attempt.job_id]
        assert job.state == "available", f"job {attempt.job_id} was served while {job.state}"
        job.state, job.attempt, job.times = "running", job.attempt + 1, job.times + 1
        assert job.attempt == attempt.claimed.attempt
        self.attempts.append(attempt)

    def end(self, attempt: Attempt, outcome: str) -> str:
        """An attempt ends; the state that its job has then."""
        assert not attempt.over
        attempt.over = True
        job = self.jobs[attempt.job_id]
        match outcome:
            case "completed" | "failed" | "cancelled":
                job.state = outcome
            case "retried":
                job.state = "failed" if job.attempt >= job.max_attempts else "retryable"
            case "snoozed":
                job.state, job.attempt = "scheduled", job.attempt - 1
            case "returned":
                job.state, job.attempt = "available", job.attempt - 1
        return job.state

    def wait(self, attempt: Attempt, callback: Callback) -> str:
        """An attempt ends to wait for a callback; one that was answered already goes on at once."""
        if callback.attempt is not attempt:
            return self.end(attempt, "retried")
        attempt.over, callback.waits = True, True
        self.jobs[attempt.job_id].state = "waiting_external"
        return self.jobs[attempt.job_id].state if callback.answer is None else self._go_on(callback)

    def answer(self, callback: Callback, answer: str) -> str:
        """What an answer comes to."""
        if callback.answer is not None:
            return "resolved"
        if not callback.waits and callback.attempt.over:
            return "over"
        if answer == "heartbeat":
            return "extended"
        callback.answer = answer
        if not callback.waits:
            return "recorded"
        self._go_on(callback)
        return "applied"

    def time_out(self, callback: Callback) -> None:
        """The time of a callback is over."""
        if callback.answer is None:
            gone = not callback.waits and callback.attempt.over
            callback.answer = "abandoned" if gone else "time_out"
            if callback.waits:
                self._go_on(callback)

    def forget_wait(self, job_id: int) -> None:
        """The job is cancelled while it waits."""
        for callback in self.callbacks:
            callback.waits = callback.waits and callback.attempt.job_id != job_id

    def _go_on(self, callback: Callback) -> str:
        job = self.jobs[callback.attempt.job_id]
        callback.waits = False
        match callback.answer:
            case "complete":
                job.state = "completed"
            case "fail":
                job.state = "failed"
            case "resume":
                job.state, job.attempt = "available", job.attempt - 1
            case _:
                job.state = "failed" if job.attempt >= job.max_attempts else "retryable"
        return job.state

    def running(self) -> dict[int, Attempt]:
        """job id -> its open attempt."""
        return {attempt.job_id: attempt for attempt in self.attempts if not attempt.over}

    def running_in(self, queue: str) -> int:
        """How many of a queue's jobs run."""
        return sum(self.jobs[id_].queue == queue for id_ in self.running())

    def running_of_keys(self) -> Counter[str]:
        """How many jobs of each concurrency key run."""
        keys = (self.jobs[id_].key for id_ in self.running())
        return Counter(key for key in keys if key is not None)

    def retry(self, job_id: int) -> None:
        """An ended or deferred job runs again now."""
        job = self.jobs[job_id]
        if job.state not in DEFERRED:
            job.max_attempts = max(job.max_attempts, job.attempt + 1)
        job.state, job.times = "available", job.times + 1

    def move(self, job_id: int, queue: str | None, priority: int | None) -> str:
        """moved | noop | waiting_external, as the engine would say."""
        job = self.jobs[job_id]
        if job.state == "waiting_external":
            return job.state
        before = (job.queue, job.priority)
        job.queue, job.priority = queue or job.queue, priority or job.priority
        if (job.queue, job.priority) == before:
            return "noop"
        job.times += 1
        return "moved"
