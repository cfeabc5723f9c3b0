"""Follow-ups: jobs that come into being in the transaction that ends an attempt, or not at all.

A handler asks for them with `job.follow_up(…)`, a task by `on_completed` and `on_failed`. They are checked at once
and kept with the attempt. If it ends in another way than they are for, nothing comes of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from awa.db.run import Connection
from awa.events import jobs as events
from awa.model.draft import JobOptions, check_options, prepare, queue_for
from awa.model.errors import invalid_field
from awa.model.follow_up import FollowUp
from awa.model.job import Job
from awa.model.task import FollowUps, Tasks
from awa.operations.insert import new_job
from awa.storage.enqueue import NewJob, enqueue_many


class Follower(NamedTuple):
    """A follow-up, checked."""

    queue: str
    job: NewJob


def make_follow_up(args: object, options: JobOptions, tasks: Tasks) -> Follower:
    """Check a follow-up. Raises ValidationError as an insert does."""
    checked = check_options(options)
    prepared = prepare(args, checked, tasks)
    if prepared.options.unique_opts is not None:
        # The end of a thousand attempts would wait for whatever transaction has the key in its hands.
        raise invalid_field(
            "unique_opts",
            "a follow-up can't be unique",
            hint="insert the unique job from the handler, with client.insert",
        )
    return Follower(queue_for([prepared.kind], checked, tasks), new_job(prepared))


def asked_of(ask: FollowUps[Any], job: Job[Any], tasks: Tasks) -> list[Follower]:
    """What a task's `on_completed` or `on_failed` wants: nothing, one job, or a list. Raises what it raises."""
    wanted = ask(job)
    several = wanted if isinstance(wanted, list | tuple) else [] if wanted is None else [wanted]
    return [
        make_follow_up(one.args, one.options, tasks)
        if isinstance(one, FollowUp)
        else make_follow_up(one, {}, tasks)
        for one in several
    ]


async def insert_follow_ups(conn: Connection, wanted: Iterable[Follower]) -> None:
    """Enqueue them in the caller's transaction, one statement a queue."""
    by_queue: dict[str, list[NewJob]] = defaultdict(list)
    for follow_up in wanted:
        by_queue[follow_up.queue].append(follow_up.job)
    # In one order, so that two finishers that make the same lanes never wait for each other in a circle.
    for queue in sorted(by_queue):
        await enqueue_many(conn, queue, by_queue[queue])
        events.inserted(queue, len(by_queue[queue]))
