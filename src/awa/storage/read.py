"""Reading jobs: one by id, or a page by a compiled filter."""

from psycopg import sql

from awa.db import run
from awa.db.run import Connection, Params, Row


async def get_job(conn: Connection, job_id: int) -> Row | None:
    """The job's row of `awa.jobs`, or None."""
    return await run.row(conn, "storage/get_job", {"id": job_id})


async def list_jobs(
    conn: Connection,
    predicate: sql.Composable,
    params: Params,
    *,
    limit: int,
    before_id: int | None = None,
) -> list[Row]:
    """A page of jobs, newest first; `predicate` speaks of alias j (see `awa.operations.compile`)."""
    statement = run.statement("storage/list_jobs").format(predicate=predicate)
    return await run.rows_of(conn, statement, {**params, "before_id": before_id, "max_rows": limit})
