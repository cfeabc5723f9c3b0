"""How much work statements are, counted in rows and not in seconds: the same on every machine, however busy it is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg.errors import Diagnostic

from tests.storage.world import Connection

# Every statement is told with its plan when it is done, also those inside of functions.
TELL = """
    LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_analyze = on;
    SET auto_explain.log_timing = off;
    SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_format = json;
    SET auto_explain.log_level = notice
"""
REMOVED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")


class Work:
    """What has been done so far."""

    def __init__(self) -> None:
        self.rows = 0

    def heard(self, said: Diagnostic) -> None:
        """A plan was told."""
        _, brace, rest = (said.message_primary or "").partition("{")
        if brace:
            self.rows += rows_of(json.loads(brace + rest)["Plan"])


@asynccontextmanager
async def counted(conn: Connection) -> AsyncIterator[Work]:
    """Counts the rows that the session's statements look at, those that they throw away as well."""
    work = Work()
    await conn.execute(TELL)
    conn.add_notice_handler(work.heard)
    try:
        yield work
    finally:
        conn.remove_notice_handler(work.heard)
        await conn.execute("SET auto_explain.log_min_duration = -1")
    assert work.rows, "no plan was told"


def rows_of(node: dict[str, Any]) -> int:
    """Rows that this node of a plan and those below it came by."""
    looked_at = sum(node.get(name, 0) for name in ("Actual Rows", *REMOVED))
    below = sum(rows_of(each) for each in node.get("Plans", ()))
    return int(looked_at * node["Actual Loops"]) + below
