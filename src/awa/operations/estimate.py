"""How long an operation takes: at the rate of the latest of its kind here, else at an assumed one that is called so."""

from dataclasses import dataclass
from typing import Any, Final

from awa.db.run import Connection
from awa.operations import read

RECENT_OPERATIONS: Final = 20
MEASURED_MIN_JOBS: Final = 5_000
# What a small server was seen to do; said as an assumption until an operation has run here.
ASSUMED_PER_S: Final = 20_000.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """So many jobs at this rate; `measured`: an operation of this kind did them here at it."""

    jobs: int
    rate_per_s: float
    measured: bool

    @property
    def duration_s(self) -> float:
        """How long it takes at the rate that is stated."""
        return self.jobs / self.rate_per_s

    def to_json(self) -> dict[str, Any]:
        """As a preview says it."""
        return {
            "duration_s": round(self.duration_s, 3),
            "rate_per_s": round(self.rate_per_s, 1),
            "measured": self.measured,
        }


async def estimate(conn: Connection, op_kind: str, jobs: int) -> Estimate:
    """How long so many jobs take."""
    recent, _ = await read.operations_page(conn, state="completed", limit=RECENT_OPERATIONS)
    for row in recent:
        if (
            row["op_kind"] != op_kind
            or row["processed"] < MEASURED_MIN_JOBS
            or row["max_rows_per_second"]
            or row["started_at"] is None
            or row["finalized_at"] is None
        ):
            continue
        seconds = (row["finalized_at"] - row["started_at"]).total_seconds()
        if seconds > 0:
            return Estimate(jobs, row["processed"] / seconds, True)
    return Estimate(jobs, ASSUMED_PER_S, False)
