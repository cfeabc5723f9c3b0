"""Is it all right? What an operator would conclude from the figures, each with what to do about it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from awa.operations.reading.queues import Backlog

FAILURES_S: Final = 5 * 60
FAILURES_LEAST: Final = 20
FAILURE_SHARE: Final = 0.2
WAITED_LONG_S: Final = 10 * 60
SNAPSHOT_OLD_S: Final = 10 * 60
SNAPSHOT_VERY_OLD_S: Final = 60 * 60
# A slot is closed at a gigabyte of jobs; one that grows far beyond can't be closed.
SLOT_LARGE_BYTES: Final = 3 * 1024**3
NAMES_MAX: Final = 3

Finding = dict[str, str]
_ORDER: Final = {"bad": 0, "warn": 1, "ok": 2}


def findings(
    seen: Mapping[str, Any],
    waiting: Mapping[str, Backlog],
    paused: Collection[str],
    served: Collection[str],
    recent: Mapping[str, int],
    *,
    owed: Iterable[Mapping[str, Any]] = (),
) -> list[Finding]:
    """What is wrong, the worst first; nothing when all is right. `owed` are the follow-ups that are, by kind."""
    told = [
        *_house(seen),
        *_held(seen),
        *_workers(seen, waiting, paused, served),
        *_paused(waiting, paused),
        *_waiting(seen, paused),
        *_failures(recent),
        *_owed(owed),
        *_storage(seen["ring"]),
    ]
    return sorted(told, key=lambda finding: _ORDER[finding["level"]])


def level(told: list[Finding]) -> str:
    """ok, warn or bad: that of the worst finding."""
    return told[0]["level"] if told else "ok"


def _finding(level: str, code: str, message: str, what_to_do: str) -> Finding:
    return {"level": level, "code": code, "message": message, "what_to_do": what_to_do}


def _house(seen: Mapping[str, Any]) -> Iterator[Finding]:
    if seen["leader"] is None:
        yield _finding(
            "bad",
            "no_leader",
            "Nobody keeps house: nothing is promoted, rescued or pruned, and batch operations wait.",
            "Start a worker with the role maintenance, or: awa maintenance run",
        )
    elif seen["statistics_age_s"] is None or seen["statistics_age_s"] > 60:
        yield _finding(
            "warn",
            "old_statistics",
            "The leader has not written statistics for a minute; the rates are not those of now.",
            "Look into the leader's log.",
        )


def _held(seen: Mapping[str, Any]) -> Iterator[Finding]:
    hold = seen["operations_held"]
    if hold is not None:
        why = f": “{hold['reason']}”" if hold["reason"] else "."
        yield _finding(
            "warn",
            "operations_held",
            f"All batch operations are held by {hold['held_by']}{why}",
            "Release them on the operations page, or: awa batch-ops release",
        )


def _workers(
    seen: Mapping[str, Any],
    waiting: Mapping[str, Backlog],
    paused: Collection[str],
    served: Collection[str],
) -> Iterator[Finding]:
    alone = sorted(
        name
        for name, one in waiting.items()
        if one.total.jobs and name not in paused and name not in served
    )
    if seen["runtimes"]["workers"] == 0 and alone:
        yield _finding(
            "bad",
            "no_workers",
            "Jobs wait and no worker is alive.",
            "Start one: awa worker run MODULE:CLIENT",
        )
    elif alone:
        yield _finding(
            "warn",
            "unserved_queue",
            f"Jobs wait in {_names(alone)}, and no worker serves {_it(alone)}.",
            f"Start a worker for {_it(alone)}, or move the jobs to a queue that is served.",
        )
    if seen["runtimes"]["stale"]:
        yield _finding(
            "warn",
            "stale_runtimes",
            f"No sign of life lately from runtimes: {seen['runtimes']['stale']}.",
            "If they are gone, what they held is taken back as soon as they count as dead.",
        )


def _paused(waiting: Mapping[str, Backlog], paused: Collection[str]) -> Iterator[Finding]:
    full = sorted(name for name in paused if name in waiting and waiting[name].total.jobs)
    if full:
        yield _finding(
            "warn",
            "paused_backlog",
            f"Jobs wait in {_names(full)}, which {'is' if len(full) == 1 else 'are'} paused.",
            f"Resume {_it(full)}, or move the jobs.",
        )


def _waiting(seen: Mapping[str, Any], paused: Collection[str]) -> Iterator[Finding]:
    oldest = seen["oldest_waiting"]
    if oldest and oldest["age_s"] > WAITED_LONG_S and oldest["queue"] not in paused:
        yield _finding(
            "warn",
            "long_wait",
            f"A job in {oldest['queue']} has waited for {oldest['age_s'] / 60:.0f} min.",
            "Look at the queue: is its rate out lower than its rate in?",
        )


def _failures(recent: Mapping[str, int]) -> Iterator[Finding]:
    failed = recent.get("failed", 0) + recent.get("retried", 0)
    ended = failed + recent.get("completed", 0)
    if failed >= FAILURES_LEAST and failed > FAILURE_SHARE * ended:
        yield _finding(
            "warn",
            "many_failures",
            f"{failed / ended:.0%} of the attempts of the last 5 min failed.",
            "Look at the kinds, sorted by their failures.",
        )


def _owed(rows: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    unknown = [row for row in rows if not row["known"]]
    if unknown:
        kinds = [row["kind"] for row in unknown]
        yield _finding(
            "warn",
            "follow_ups_owed",
            f"Follow-ups of failed jobs of {_names(kinds)} are owed ({sum(row['owed'] for row in unknown)}),"
            f" and no worker knows {_its(kinds)} on_failed.",
            f"Start a worker whose task has one for {_it(kinds)}; see awa doctor.",
        )


def _storage(ring: Mapping[str, Any]) -> Iterator[Finding]:
    snapshot = ring["oldest_snapshot"]
    if snapshot and (snapshot["age_s"] or 0) > SNAPSHOT_OLD_S:
        age_s = snapshot["age_s"]
        yield _finding(
            "bad" if age_s > SNAPSHOT_VERY_OLD_S else "warn",
            "old_snapshot",
            f"A transaction of process {snapshot['pid']} has been open for {age_s / 60:.0f} min;"
            " space is not given back meanwhile.",
            f"End it if nobody needs it: SELECT pg_terminate_backend({snapshot['pid']})",
        )
    current = ring["slot_bytes"][ring["current_slot"]]
    if current > SLOT_LARGE_BYTES:
        yield _finding(
            "warn",
            "ring_stands",
            f"The open slot of the ring has grown to {current / 1024**3:.1f} GiB: the next one is not empty yet.",
            "See whether a transaction stays open, and the slots in awa doctor.",
        )


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _its(names: list[str]) -> str:
    return "its" if len(names) == 1 else "their"


def _names(names: list[str]) -> str:
    shown = ", ".join(names[:NAMES_MAX])
    return f"{shown} and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else shown
