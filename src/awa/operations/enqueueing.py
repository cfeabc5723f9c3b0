"""Enqueueing jobs that were described from outside: one or several, of any kinds and queues, all or none."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

from awa.db.run import Connection
from awa.model.draft import Draft, JobOptions, Options, check_options
from awa.model.errors import FieldProblem, ValidationError, invalid_field, invalid_fields
from awa.model.job import Job
from awa.model.limits import QUEUE_DEFAULT
from awa.model.unique import UniqueOpts
from awa.operations.insert import insert_jobs


async def enqueue(
    conn: Connection, given: Sequence[Mapping[str, Any]], *, several: bool
) -> list[Job[Any]]:
    """Insert the jobs in the caller's transaction; answers them in the order given.

    Each is a mapping of `args` and the options of an insert. All are checked before any is written; with `several` a
    problem names the job's place in the list. Raises ValidationError.
    """
    options = _checked(given, several)
    by_queue: dict[str, list[int]] = defaultdict(list)
    for place, option in enumerate(options):
        by_queue[option.queue or QUEUE_DEFAULT].append(place)
    inserted: dict[int, Job[Any]] = {}
    for queue, places in by_queue.items():
        drafts = [_draft(given[place].get("args", {}), options[place]) for place in places]
        jobs = await insert_jobs(conn, drafts, check_options({"queue": queue}))
        inserted |= zip(places, jobs, strict=True)
    return [inserted[place] for place in range(len(given))]


def _checked(given: Sequence[Mapping[str, Any]], several: bool) -> list[Options]:
    options: list[Options] = []
    problems: list[FieldProblem] = []
    for place, one in enumerate(given):
        prefix = f"jobs[{place}]." if several else ""
        wanted = {name: value for name, value in one.items() if name != "args"}
        try:
            if wanted.get("kind") is None:
                raise invalid_field("kind", "is missing")
            options.append(check_options(cast("JobOptions", wanted)))
        except ValidationError as problem:
            problems += [FieldProblem(prefix + p.field, p.message) for p in problem.fields]
    if problems:
        raise invalid_fields("job" if not several else "list of jobs", problems)
    return options


def _draft(args: Any, options: Options) -> Draft[Any]:
    return Draft(
        args,
        kind=options.kind,
        priority=options.priority,
        max_attempts=options.max_attempts,
        tags=options.tags,
        metadata=options.metadata,
        run_at=options.run_at,
        ordering_key=options.ordering_key,
        unique_opts=cast("UniqueOpts | None", options.unique_opts),
        concurrency_key=options.concurrency_key,
        concurrency_limit=options.concurrency_limit,
    )
