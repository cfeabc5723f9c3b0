"""What `awa doctor` finds in the schema itself: what somebody changed, which rights this role lacks, how the space is."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from awa.cli.findings import Finding, Verdict
from awa.cli.output import number
from awa.cli.progress import clock

NAMES_MAX: Final = 4
SNAPSHOT_OLD_S: Final = 600.0
# A slot is open for its share of the retention; beyond twice that, the ring can't move on.
OVERDUE: Final = 2.0


def drift(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    """What is missing, changed or foreign, by kind of fault."""
    hints = {
        "missing": "Restore it: a new database by awa migrate shows how it was (docs/reference/schema.sql).",
        "changed": "Put it back as docs/reference/schema.sql has it; functions and views by migrating a newer version.",
        "foreign": "Awa doesn't know what it does; a trigger or an index there costs every job.",
    }
    for how, hint in hints.items():
        found = [f"{row['kind']} {row['name']}" for row in rows if row["how"] == how]
        if found:
            verdict = Verdict.WARNING if how == "foreign" else Verdict.FAILED
            yield Finding("schema drift", verdict, f"{_told(how)}: {_some(found)}.", hint)
    if not rows:
        yield Finding("schema drift", Verdict.OK, "Nothing was changed since it was migrated.")


def rights(facts: Mapping[str, Any]) -> Iterator[Finding]:
    """What the role of this connection may not do, from the worst on."""
    role = facts["role"]
    hint = "docs/guide/install.md has the grants for each role."
    if not facts["usable"] or facts["unread"]:
        lacking = _some(facts["unread"] or ["the schema"])
        yield Finding("rights", Verdict.FAILED, f"{role} can't read {lacking}.", hint)
    elif facts["unwritten"] or not facts["numbers"]:
        lacking = _some(facts["unwritten"] or ["sequences"])
        words = f"{role} can look, but neither work nor operate: it can't write {lacking}."
        yield Finding("rights", Verdict.WARNING, words, hint)
    elif facts["unemptied"]:
        words = (
            f"{role} can work, but not keep house: it can't truncate {_some(facts['unemptied'])}."
        )
        yield Finding("rights", Verdict.WARNING, words, hint)
    else:
        yield Finding("rights", Verdict.OK, f"{role} can look, work, operate and keep house.")


def space(
    storage: str, ring: Mapping[str, Any], slot_age_s: float, snapshot: Mapping[str, Any] | None
) -> Iterator[Finding]:
    """How the ring stands, and who keeps old rows alive."""
    used = sum(1 for size in ring["slot_bytes"] if size > 0)
    total = sum(ring["slot_bytes"]) / 1024**2
    if storage == "lanes":
        overdue = ring["opened_age_s"] > OVERDUE * slot_age_s
        words = f"{used} of {number(ring['slots'], 'slot')} on disk, {total:,.0f} MiB; the open one is {clock(ring['opened_age_s'])} old."
        hint = (
            "It can't move on: see the leader, and who holds an old snapshot." if overdue else None
        )
        yield Finding("ring", Verdict.WARNING if overdue else Verdict.OK, words, hint)
    else:
        yield Finding("storage", Verdict.OK, f"One ordinary table, {total:,.0f} MiB.")
    if snapshot and (snapshot["age_s"] or 0.0) > SNAPSHOT_OLD_S:
        pid = snapshot["pid"]
        words = f"Process {pid} ({snapshot['application'] or 'no name'}, {snapshot['state'] or 'state unknown'}) holds a snapshot {clock(snapshot['age_s'])} old: no space is given back meanwhile."
        hint = f"End it if nobody needs it: SELECT pg_terminate_backend({pid})"
        yield Finding("snapshots", Verdict.WARNING, words, hint)
    else:
        yield Finding("snapshots", Verdict.OK, "None is old.")


def _told(how: str) -> str:
    return {"missing": "Missing", "changed": "Changed", "foreign": "Not Awa's"}[how]


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:NAMES_MAX])
    more = len(names) - NAMES_MAX
    return f"{shown} and {more} more" if more > 0 else shown
