"""From a filter to the line that says it."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from awa.model.filter import JobFilter
from awa.model.search.words import NO_IDS, instant, quoted, word


def write(given: JobFilter | Mapping[str, Any]) -> str:
    """The line of a filter; read again it gives the same one, in its normal form."""
    return " ".join(_words(normal(given)))


def normal(given: JobFilter | Mapping[str, Any]) -> JobFilter:
    """The same set of jobs, with `tag` and `tags_all` said in one way: one tag, or all of several."""
    fields = (given if isinstance(given, JobFilter) else JobFilter.parse(given)).given()
    tags = [fields.pop("tag")] if "tag" in fields else []
    tags = list(dict.fromkeys([*tags, *fields.pop("tags_all", ())]))
    if len(tags) == 1:
        fields["tag"] = tags[0]
    elif tags:
        fields["tags_all"] = tags
    if "tags_none" in fields:
        fields["tags_none"] = list(dict.fromkeys(fields["tags_none"]))
    return JobFilter.parse(fields)


def _words(given: JobFilter) -> Iterator[str]:
    fields = given.given()
    if given.attempt_gte is not None and given.attempt_lt == given.attempt_gte + 1:
        del fields["attempt_lt"]
        yield word("attempt", fields.pop("attempt_gte"))
    for name, value in fields.items():
        match name:
            case "kind" | "queue" | "tag" | "state" | "priority":
                yield word(name, value)
            case "kind_prefix":
                yield _beginning(value)
            case "kinds" | "queues":
                yield f"{name[:-1]}:{_listed(value)}"
            case "tags_any":
                yield f"tag:{_listed(value)}"
            case "tags_all":
                yield from (word("tag", tag) for tag in value)
            case "tags_none":
                yield f"-tag:{','.join(quoted(tag) for tag in value)}"
            case "ids":
                yield f"id:{','.join(str(one) for one in value) or NO_IDS}"
            case "error_contains":
                yield word("error", value)
            case "args_contains":
                yield f"args:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
            case _:
                yield _bound(name, value)


def _listed(values: list[str]) -> str:
    """Several divided by commas; a comma after a single one keeps it a list."""
    return ",".join(quoted(value) for value in values) + ("," if len(values) == 1 else "")


def _beginning(prefix: str) -> str:
    plain = quoted(prefix)
    return f"kind:{plain}*"


def _bound(name: str, value: datetime | int) -> str:
    column, _, side = name.rpartition("_")
    said = {"created_at": "created", "run_at": "run", "finalized_at": "ended"}.get(column, column)
    shown = instant(value) if isinstance(value, datetime) else str(value)
    return f"{said}:{'<' if side == 'lt' else '>='}{shown}"
