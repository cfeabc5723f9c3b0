"""The list of queues: how full, how fast, how long still, and who works on them."""

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import reading
from awa.operations.reading import queues
from awa.web.pages import PageRoute
from awa.web.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/queues")
@needs(Right.READ)
async def queues_page(request: Request, search: str = "", cursor: str | None = None) -> Response:
    """The page; with `search` only queues whose name holds it."""
    search = search.strip()
    async with reading(request) as conn:
        rows, next_cursor = await queues.page(conn, cursor=cursor, search=search or None)
    return render(
        request,
        "queues.html",
        rows=rows,
        next_cursor=next_cursor,
        cursor=cursor,
        search_text=search,
    )
