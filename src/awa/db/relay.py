"""One statement many times over, its parameters prepared while the server is at those before.

By the wire's pipeline: nobody waits for an answer before the next is sent. For parameters that are large; small ones cost
more by it than is won.
"""

from collections.abc import Generator, Iterable, Sequence
from typing import Any

import psycopg
from psycopg import AsyncCursor, pq
from psycopg.rows import tuple_row
from psycopg.waiting import Ready, Wait

from awa.db.failures import mapped_errors
from awa.db.run import Connection, Params
from awa.sql import catalog


async def tuples_of_each(
    conn: Connection, name: str, each: Iterable[Params], *, binary: bool = False
) -> list[Sequence[tuple[Any, ...]]]:
    """The rows of the statement `name` for each of the parameters, in their order. Needs a transaction.

    `each` is asked for the next when the server has taken in the one before. The first failure, the server's or that of
    `each`, is raised when the server is done with what it was sent; then the transaction is of no more use.
    """
    with mapped_errors():
        cursors: list[AsyncCursor[tuple[Any, ...]]] = []
        failed: BaseException | None = None
        try:
            async with conn.pipeline():
                try:
                    for params in each:
                        cursor = conn.cursor(binary=binary, row_factory=tuple_row)
                        await cursor.execute(catalog.text(name), params)
                        await conn.wait(_taken_in(conn.pgconn))
                        cursors.append(cursor)
                except BaseException as problem:
                    # A pipeline that is left by an exception writes to the log whatever else comes of it.
                    failed = problem
        except psycopg.Error as problem:
            failed = failed or problem
        if failed is not None:
            raise failed
        return [await cursor.fetchall() for cursor in cursors]


def _taken_in(pgconn: pq.abc.PGconn) -> Generator[Wait, Ready | int, None]:
    """Sends what is still here, as the server reads it. The pipeline alone sends what the socket holds, and leaves it at that."""
    while pgconn.flush():
        if (yield Wait.RW) & Ready.R:
            pgconn.consume_input()
