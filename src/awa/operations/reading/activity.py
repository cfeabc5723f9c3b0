"""The leader's notes, read: how fast it goes, how long jobs wait, and how it went in the last hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from awa.db.run import Connection, Row
from awa.model import histogram
from awa.operations.reading.looks import Look, look, only

NOW_S: Final = 60
LATENCY_S: Final = 15 * 60
HOUR_S: Final = 60 * 60
SERIES_MINUTES: Final = 60
# Notes older than this say nothing of now.
STALE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old the newest note is, and how many seconds the notes of the last minute speak of."""

    age_s: float | None
    seconds: float

    @property
    def is_known(self) -> bool:
        """Whether rates can be told."""
        return self.age_s is not None and self.age_s < STALE_S and self.seconds > 0

    def rate(self, amount: int) -> float | None:
        """So many in these seconds, as a rate; None when nothing is known."""
        return round(amount / self.seconds, 3) if self.is_known else None


def freshness() -> Look[Freshness]:
    """How far the notes can be relied on."""

    def tell(rows: list[Row]) -> Freshness:
        found = only(rows)
        return Freshness(found["age_s"], found["seconds"] or 0.0)

    return Look("reading/activity_age", {"since_s": NOW_S}, tell)


def sums(scope: str, names: Sequence[str] | None, since_s: float) -> Look[dict[str, Row]]:
    """What was done in the last seconds, by name."""
    params = {
        "scope": scope,
        "names": None if names is None else list(names),
        "since_s": since_s,
    }
    return Look("reading/activity_sums", params, lambda rows: {row["name"]: row for row in rows})


async def latencies(conn: Connection, scope: str, names: Sequence[str] | None) -> dict[str, Row]:
    """Percentiles of waiting and running in the last quarter of an hour, by name, in milliseconds."""
    found = await look(conn, histograms(scope, names))
    return {row["name"]: percentiles(row["pickup"], row["run"]) for row in found}


def histograms(scope: str, names: Sequence[str] | None) -> Look[list[Row]]:
    """The waits and run times of the last quarter of an hour, by name."""
    params = {
        "scope": scope,
        "names": None if names is None else list(names),
        "since_s": LATENCY_S,
    }
    return Look("reading/activity_histograms", params, list)


def percentiles(pickup: Sequence[int], run_: Sequence[int]) -> dict[str, float | None]:
    """p50 and p95 of both."""
    return {
        f"{name}_p{share}_ms": histogram.percentile_ms(counts, share / 100)
        for name, counts in (("pickup", pickup), ("run", run_))
        for share in (50, 95)
    }


def notes(scope: str, name: str, *, minutes: int = SERIES_MINUTES) -> Look[list[Row]]:
    """What was noted in the last minutes, for `series`."""
    params = {"scope": scope, "name": name, "since_s": minutes * 60 + 60}
    return Look("reading/activity_series", params, list)


def series(
    noted: Sequence[Row], now: datetime, *, minutes: int = SERIES_MINUTES
) -> list[dict[str, Any]]:
    """A row a minute, oldest first: rates, and None where nothing was noted."""
    by_minute: dict[datetime, list[Row]] = {}
    for row in noted:
        by_minute.setdefault(row["minute"], []).append(row)
    last = now.replace(second=0, microsecond=0)
    wanted = [last - timedelta(minutes=ago) for ago in range(minutes - 1, -1, -1)]
    return [_minute(at, by_minute.get(at, [])) for at in wanted]


def _minute(at: datetime, rows: Sequence[Row]) -> dict[str, Any]:
    seconds = sum(row["seconds"] for row in rows)
    waits = [0] * histogram.BUCKETS
    for row in rows:
        histogram.add(waits, row["pickup"])
    names = {"in": "arrived"} | {
        name: name for name in ("started", "completed", "failed", "retried")
    }
    return {
        "at": at,
        **{
            f"{name}_per_s": round(sum(row[column] for row in rows) / seconds, 3)
            if seconds
            else None
            for name, column in names.items()
        },
        "pickup_p95_ms": histogram.percentile_ms(waits, 0.95),
    }
