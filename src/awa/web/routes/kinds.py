"""The list of kinds: how many of each wait, how often they fail, how long they take."""

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import reading
from awa.operations.reading import kinds
from awa.web.pages import PageRoute
from awa.web.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/kinds")
@needs(Right.READ)
async def kinds_page(request: Request, search: str = "", cursor: str | None = None) -> Response:
    """The page; with `search` only kinds whose name holds it."""
    search = search.strip()
    async with reading(request) as conn:
        rows, next_cursor = await kinds.page(conn, cursor=cursor, search=search or None)
    return render(
        request,
        "kinds.html",
        rows=rows,
        next_cursor=next_cursor,
        cursor=cursor,
        search_text=search,
    )
