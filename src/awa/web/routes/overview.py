"""The first page: is it all right? Then how fast, how full, who is there, and how the storage does."""

from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from awa.http.access import Right, needs
from awa.http.context import served
from awa.http.overview import overview as look
from awa.web import charts, deeds, words
from awa.web.pages import PageRoute
from awa.web.render import render

FAILED_WARN_SHARE: Final = 0.02
FAILED_BAD_SHARE: Final = 0.1
STATES: Final = (
    "available",
    "scheduled",
    "retryable",
    "running",
    "waiting_external",
    "completed",
    "failed",
    "cancelled",
)
_HEADLINES: Final = {
    "ok": "All is well",
    "warn": "Worth a look",
    "bad": "Something is wrong",
}

# Where an operator goes from a finding.
_LEADS: Final = {
    "no_leader": ("/runtimes", "Runtimes"),
    "operations_held": ("/operations", "Operations"),
    "no_workers": ("/runtimes", "Runtimes"),
    "follow_ups_owed": ("/runtimes", "Runtimes"),
    "stale_runtimes": ("/runtimes", "Runtimes"),
    "unserved_queue": ("/queues", "Queues"),
    "paused_backlog": ("/queues", "Queues"),
    "long_wait": ("/queues", "Queues"),
    "many_failures": ("/kinds", "Kinds"),
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/")
@needs(Right.READ)
async def overview(request: Request) -> Response:
    """The page; its parts are asked for again whenever the figures change."""
    seen = await look(served(request))
    series = charts.since_known(seen["series"], "started_per_s")
    return render(
        request,
        "overview.html",
        seen=seen,
        headline=_HEADLINES[seen["verdict"]["level"]],
        summary=_summary(seen),
        leads=_LEADS,
        told=deeds.told,
        states=STATES,
        failed_level=_failed_level(seen["throughput"]),
        waiting=seen["totals"]["available"],
        fullest=max((row["available"].jobs for row in seen["backlog"]), default=0),
        sparks={name: _spark(series, name) for name in ("started", "completed", "failed")},
        throughput=_throughput(series),
        pickup=_pickup(series),
        minutes=len(series),
        has_figures=any(minute["started_per_s"] is not None for minute in series),
    )


def _summary(seen: dict[str, Any]) -> str:
    """The state of things in one sentence, whatever the verdict."""
    totals, oldest, runtimes = seen["totals"], seen["oldest_waiting"], seen["runtimes"]
    waits = f"{words.counted(totals['available'], 'job')} {_verb(totals['available'].jobs, 'wait')}"
    runs = f"{words.counted(totals['running'])} {_verb(totals['running'].jobs, 'run')}"
    since = f"; the oldest has waited for {words.span(oldest['age_s'])}" if oldest else ""
    there = words.things(runtimes["alive"], "runtime")
    return words.sentence(f"{waits} and {runs}{since}. {there} {_are(runtimes['alive'])} alive")


def _failed_level(throughput: dict[str, float | None]) -> str | None:
    """A failure now and then is no alarm; a share of all that ended is."""
    failed, completed = throughput["failed_per_s"] or 0, throughput["completed_per_s"] or 0
    share = failed / (failed + completed) if failed else 0
    return "bad" if share >= FAILED_BAD_SHARE else "warn" if share >= FAILED_WARN_SHARE else None


def _verb(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _values(series: Sequence[charts.Row], column: str) -> list[float | None]:
    return [minute[column] for minute in series]


def _spark(series: Sequence[charts.Row], name: str) -> Markup:
    values = _values(series, f"{name}_per_s")
    known = [value for value in values if value is not None]
    most = words.rate(max(known)) if known else "unknown"
    return charts.sparkline(
        values,
        label=f"{name} per second over the last {len(series)} minutes, at most {most}",
        colour="cbad" if name == "failed" else "c1",
    )


def _throughput(series: Sequence[charts.Row]) -> Markup:
    lines = (
        charts.Series("Completed", _values(series, "completed_per_s"), "c1"),
        charts.Series("Retried", _values(series, "retried_per_s"), "c3"),
        charts.Series("Failed", _values(series, "failed_per_s"), "cbad"),
    )
    label = f"Completed, retried and failed attempts per second, minute by minute over the last {len(series)} minutes"
    return charts.area([minute["at"] for minute in series], lines, label=label, say=words.rate)


def _pickup(series: Sequence[charts.Row]) -> Markup:
    line = charts.Series("p95", _values(series, "pickup_p95_ms"), "c2")
    return charts.area(
        [minute["at"] for minute in series],
        (line,),
        label=f"How long jobs waited until a worker took them: the 95th percentile, minute by minute over the last {len(series)} minutes",
        say=words.milliseconds,
    )
