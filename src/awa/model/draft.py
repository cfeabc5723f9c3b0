"""A job before it is inserted: what the caller gave, checked and made ready for the database.

Everything is refused here, before a connection is touched, with one field problem for each thing
that is wrong. A set of jobs shares its options, so they are checked once and not once a job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, Final, Generic, NamedTuple, TypedDict, TypeVar

import orjson

from awa.model import exact
from awa.model.callback import RESULT_KEY
from awa.model.concurrency import Concurrency
from awa.model.errors import FieldProblem, ValidationError, invalid_field, invalid_fields
from awa.model.limits import (
    ARGS_MAX_BYTES,
    MAX_ATTEMPTS_DEFAULT,
    METADATA_MAX_BYTES,
    PRIORITY_DEFAULT,
    QUEUE_DEFAULT,
    check_concurrency_key,
    check_concurrency_limit,
    check_kind,
    check_max_attempts,
    check_ordering_key,
    check_priority,
    check_queue,
    check_tags,
)
from awa.model.payload import encode, encode_all, kind_of
from awa.model.task import Tasks
from awa.model.unique import UniqueOpts, check_unique_opts

A = TypeVar("A")
T = TypeVar("T")

# Python holds no other years, so a job outside of them could be stored but never be read again. A few days of
# margin, because a connection may show times in any zone.
RUN_AT_FIRST: Final = datetime(1, 1, 3, tzinfo=UTC)
RUN_AT_LAST: Final = datetime(9999, 12, 29, tzinfo=UTC)
KNOWN_MAX_NAMES: Final = 20  # of fields, told to whoever named none of them


@dataclass(frozen=True, slots=True)
class Draft(Generic[A]):
    """One job of an `insert_many` that differs from the others; None takes what the call says."""

    args: A
    kind: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    run_at: datetime | None = None
    ordering_key: str | None = None
    unique_opts: UniqueOpts | None = None
    concurrency_key: str | None = None
    concurrency_limit: int | None = None


class JobOptions(TypedDict, total=False):
    """What an insert may say about a job beside its arguments; None is the same as leaving out."""

    kind: str | None
    queue: str | None
    priority: int | None  # 1 (first) to 4
    max_attempts: int | None
    tags: Iterable[str] | None
    metadata: Mapping[str, Any] | None
    run_at: datetime | None  # aware
    ordering_key: str | None
    unique_opts: UniqueOpts | None
    concurrency_key: str | None
    concurrency_limit: int | None  # 1 unless said otherwise


class Options(NamedTuple):
    """What jobs may share, checked."""

    kind: str | None
    queue: str | None
    priority: int
    max_attempts: int
    tags: list[str] | None
    metadata: dict[str, Any] | None
    run_at: datetime | None
    ordering_key: str | None
    unique_opts: dict[str, Any] | None = None
    concurrency_key: str | None = None
    concurrency_limit: int | None = None


class Prepared(NamedTuple):
    """One job ready for the database, without its queue. `args_json` is UTF-8."""

    kind: str
    args_json: bytes
    options: Options


def check_options(options: JobOptions) -> Options:
    """Check the options of an insert, all of them before anything is said about one of them."""
    problems = [_unknown(name) for name in options if name not in JobOptions.__annotations__]

    def checked(check: Callable[[Any], T], name: str) -> T | None:
        value = options.get(name)
        try:
            return None if value is None else check(value)
        except ValidationError as problem:
            problems.extend(problem.fields)
            return None

    result = Options(
        kind=checked(check_kind, "kind"),
        queue=checked(check_queue, "queue"),
        priority=checked(check_priority, "priority") or PRIORITY_DEFAULT,
        max_attempts=checked(check_max_attempts, "max_attempts") or MAX_ATTEMPTS_DEFAULT,
        tags=checked(check_tags, "tags") or None,
        metadata=checked(check_metadata, "metadata") or None,
        run_at=checked(check_run_at, "run_at"),
        ordering_key=checked(check_ordering_key, "ordering_key"),
        unique_opts=checked(check_unique_opts, "unique_opts"),
        concurrency_key=checked(check_concurrency_key, "concurrency_key"),
        concurrency_limit=checked(check_concurrency_limit, "concurrency_limit"),
    )
    if problems:
        raise invalid_fields("job", problems)
    return result


def prepare_alike(
    jobs: Sequence[object], options: Options, tasks: Tasks | None = None
) -> tuple[str, list[bytes]] | None:
    """The one kind and the JSON texts of jobs that differ in nothing else; None if they do.

    A job that can't be written gives None as well: `prepare_many` then says which and why.
    """
    if (alike := alike_kind(jobs, options, tasks)) is None:
        return None
    kind, args_type = alike
    try:
        texts = encode_all(args_type, jobs)
    except (ValidationError, orjson.JSONEncodeError):
        return None
    return None if max(map(len, texts)) > ARGS_MAX_BYTES else (kind, texts)


def alike_kind(
    jobs: Sequence[object], options: Options, tasks: Tasks | None = None
) -> tuple[str, type[Any]] | None:
    """The kind of jobs that differ in their arguments alone, and the type of these; None if they differ in more."""
    types = set(map(type, jobs))
    if Draft in types or not types or (options.kind is None and len(types) > 1):
        return None
    if (options.unique_opts, options.concurrency_key, options.concurrency_limit) != (
        None,
        None,
        None,
    ):
        return None
    args_type = types.pop() if len(types) == 1 else object
    try:
        kind = options.kind or _kind_for(args_type, tasks)
    except ValidationError:
        return None
    if _concurrency_of(kind, tasks) is not None or _task_unique_opts(kind, tasks) is not None:
        return None  # each may have a key of its own
    return kind, args_type


def prepare(args: object, options: Options, tasks: Tasks | None = None) -> Prepared:
    """One job made ready: its kind found, its arguments written as JSON."""
    if isinstance(args, Draft):
        options = _override(options, args)
        args = args.args
    kind = options.kind or _kind_for(type(args), tasks)
    if options.unique_opts is None and (own := _task_unique_opts(kind, tasks)) is not None:
        options = options._replace(unique_opts=own)
    text = encode(args)
    if len(text) > ARGS_MAX_BYTES:
        raise invalid_field("args", f"at most {ARGS_MAX_BYTES} bytes of JSON, got {len(text)}")
    _check_unique_fields(args, text, options.unique_opts)
    return Prepared(kind, text, _with_key(options, args, _concurrency_of(kind, tasks)))


def _check_unique_fields(args: object, text: bytes, unique_opts: Mapping[str, Any] | None) -> None:
    """A field that the arguments lack, such as a misspelt one, would make all jobs of the kind the same."""
    named = (unique_opts or {}).get("by_args")
    if not isinstance(named, list) or not isinstance(known := exact.loads(text), dict):
        return  # of arguments without fields the database says so
    for field in named:
        if field not in known:
            close = get_close_matches(field, known, n=1)
            advice = (
                f"did you mean {close[0]!r}?"
                if close
                else f"known: {', '.join([*known][:KNOWN_MAX_NAMES]) or 'none'}"
            )
            whose = "these arguments" if isinstance(args, Mapping) else type(args).__name__
            raise invalid_field(
                "unique_opts.by_args", f"{field!r} is no field of {whose}; {advice}"
            )


def prepare_many(
    jobs: Iterable[object], options: Options, tasks: Tasks | None = None
) -> list[Prepared]:
    """Several jobs made ready; a problem names the job's place in the list."""
    prepared: list[Prepared] = []
    for place, args in enumerate(jobs):
        try:
            prepared.append(prepare(args, options, tasks))
        except ValidationError as problem:
            at = [FieldProblem(f"jobs[{place}].{p.field}", p.message) for p in problem.fields]
            raise ValidationError(
                f"job {place} of the list: {problem.message}", hint=problem.hint, fields=at
            ) from problem
    return prepared


def queue_for(kinds: Iterable[str], options: Options, tasks: Tasks | None = None) -> str:
    """The one queue of a set of jobs: the call's, else their tasks', else `default`."""
    if options.queue is not None:
        return options.queue
    found = {_task_queue(kind, tasks) for kind in set(kinds)}
    if len(found) > 1:
        raise invalid_field(
            "queue",
            f"the kinds of these jobs go to different queues ({', '.join(sorted(found))})",
            hint='insert them queue by queue, or name one: queue="…"',
        )
    return found.pop() if found else QUEUE_DEFAULT


def check_run_at(run_at: object, *, field: str = "run_at") -> datetime:
    """An aware datetime that every connection can read."""
    if not isinstance(run_at, datetime):
        raise invalid_field(field, f"expected a datetime, got {type(run_at).__name__} {run_at!r}")
    if run_at.utcoffset() is None:
        raise invalid_field(
            field,
            f"{run_at.isoformat()} has no time zone",
            hint="use an aware datetime, such as datetime.now(timezone.utc)",
        )
    if not RUN_AT_FIRST <= run_at <= RUN_AT_LAST:
        raise invalid_field(field, f"must lie within the years 1 to 9999, got {run_at.isoformat()}")
    return run_at


def plain_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as plain JSON values: datetimes and UUIDs become text. NUL, which jsonb can't hold, is refused."""
    try:
        written = exact.dumps(dict(metadata))
    except orjson.JSONEncodeError as problem:
        raise invalid_field("metadata", f"can't be stored: {problem}") from problem
    if b"\\u0000" in written:
        raise invalid_field("metadata", "must not hold the NUL character")
    plain: dict[str, Any] = exact.loads(written)
    return plain


def check_metadata(metadata: object) -> dict[str, Any]:
    """Metadata as plain JSON values, 1 MiB of it at most. Raises ValidationError."""
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise invalid_field("metadata", f"expected an object with text keys, got {metadata!r}")
    plain = plain_metadata(metadata)
    size = metadata_bytes(plain)
    if size > METADATA_MAX_BYTES:
        raise invalid_field("metadata", f"at most {METADATA_MAX_BYTES} bytes of JSON, got {size}")
    return plain


def metadata_bytes(metadata: Mapping[str, Any]) -> int:
    """How much of the limit a job's metadata takes; an answer to a callback has a limit of its own."""
    own = {key: value for key, value in metadata.items() if key != RESULT_KEY}
    try:
        return len(orjson.dumps(own))
    except orjson.JSONEncodeError:  # a number of SQL's that is longer than 64 bits
        return len(json.dumps(own, ensure_ascii=False, separators=(",", ":")).encode())


def merge_metadata(metadata: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with changes; what is too large already (SQL has no limit) may shrink only. Raises ValidationError."""
    merged = {**metadata, **changes}
    size = metadata_bytes(merged)
    if size > METADATA_MAX_BYTES and size > (before := metadata_bytes(metadata)):
        raise invalid_field(
            "metadata",
            f"the changes would make it {size} bytes of JSON; at most {METADATA_MAX_BYTES}, and it has {before}",
            hint="keep what is large in a table of your own, and its key in the metadata",
        )
    return merged


def _override(options: Options, draft: Draft[Any]) -> Options:
    """The call's options with what one draft says differently."""
    own = check_options(
        {
            "kind": draft.kind,
            "priority": draft.priority,
            "max_attempts": draft.max_attempts,
            "tags": draft.tags,
            "metadata": draft.metadata,
            "run_at": draft.run_at,
            "ordering_key": draft.ordering_key,
            "unique_opts": draft.unique_opts,
            "concurrency_key": draft.concurrency_key,
            "concurrency_limit": draft.concurrency_limit,
        }
    )
    given = {
        name: value
        for name, value in own._asdict().items()
        if name != "queue" and getattr(draft, name) is not None
    }
    return options._replace(**given)


def _with_key(options: Options, args: object, rule: Concurrency | None) -> Options:
    """The options with the concurrency key that the job's task says, unless the insert says one."""
    if options.concurrency_key is None and rule is not None:
        key = rule.key_of(args)
        limit = options.concurrency_limit or rule.limit
        return options._replace(
            concurrency_key=key, concurrency_limit=None if key is None else limit
        )
    if options.concurrency_key is None and options.concurrency_limit is not None:
        raise invalid_field("concurrency_limit", "goes with a concurrency_key")
    return options


def _concurrency_of(kind: str, tasks: Tasks | None) -> Concurrency | None:
    task = tasks.get(kind) if tasks is not None else None
    return None if task is None else task.concurrency


def _unknown(name: str) -> FieldProblem:
    close = get_close_matches(name, JobOptions.__annotations__, n=1)
    advice = (
        f"did you mean {close[0]!r}?"
        if close
        else f"known: {', '.join(JobOptions.__annotations__)}"
    )
    return FieldProblem(name, f"is not an option of a job; {advice}")


def _kind_for(args_type: type[Any], tasks: Tasks | None) -> str:
    task = tasks.of_type(args_type) if tasks is not None else None
    return task.kind if task is not None else kind_of(args_type)


def _task_unique_opts(kind: str, tasks: Tasks | None) -> dict[str, Any] | None:
    task = tasks.get(kind) if tasks is not None else None
    return task.unique_opts if task is not None else None


def _task_queue(kind: str, tasks: Tasks | None) -> str:
    task = tasks.get(kind) if tasks is not None else None
    return (task.queue if task is not None else None) or QUEUE_DEFAULT
