"""The list of runtimes: who runs what, who leads, who has gone quiet."""

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import reading
from awa.operations.reading import runtimes
from awa.web.pages import PageRoute
from awa.web.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/runtimes")
@needs(Right.READ)
async def runtimes_page(
    request: Request, ended: str | None = None, cursor: str | None = None
) -> Response:
    """The page; with `ended` those that stopped or died as well."""
    async with reading(request) as conn:
        rows, next_cursor = await runtimes.page(conn, cursor=cursor, include_ended=bool(ended))
        leader = await runtimes.leader(conn)
    return render(
        request,
        "runtimes.html",
        rows=rows,
        next_cursor=next_cursor,
        cursor=cursor,
        ended=bool(ended),
        leader=leader,
        versions=_versions(rows),
    )


def _versions(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The versions that are alive, the most frequent first."""
    return Counter(
        row["version"] or "unknown" for row in rows if row["state"] == "alive"
    ).most_common()
