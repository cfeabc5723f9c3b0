"""A look's own time limit, inside whatever transaction it is made in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.errors import AwaError, TooSlow
from awa.operations.failures import sqlstate
from awa.operations.reading.looks import Look, look, only

STATEMENT_CANCELLED: Final = "57014"
LOOK_MAX_MS: Final = 2_000


@asynccontextmanager
async def bounded(
    conn: Connection, what: str, hint: str, *, max_ms: int | None = None
) -> AsyncIterator[None]:
    """Let no statement of the block run longer than `max_ms` (None: what a look may take).

    Raises TooSlow with `hint` when one would have.
    """
    max_ms = LOOK_MAX_MS if max_ms is None else max_ms
    try:
        async with conn.transaction():
            before = await run.row(conn, "reading/bounds", {"statement_ms": max_ms})
            yield
            assert before is not None
            limits = {name: before[name] for name in ("statement_timeout", "work_mem")}
            await run.row(conn, "reading/unbound", limits)
    except AwaError as error:
        if sqlstate(error) != STATEMENT_CANCELLED:
            raise
        raise TooSlow(f"{what} would take longer than {max_ms / 1000:g} s", hint=hint) from error


async def clock(conn: Connection) -> datetime:
    """The database's clock, which ages are told by."""
    return await look(conn, clock_look())


def clock_look() -> Look[datetime]:
    """The same, to be asked along with other things."""

    def tell(rows: list[Row]) -> datetime:
        now = only(rows)["now"]
        assert isinstance(now, datetime)
        return now

    return Look("reading/now", {}, tell)
