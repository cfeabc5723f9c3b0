"""The list of jobs: one search box, tabs of the states, pages by key, and the way to change what was found."""

import re
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import reading
from awa.model import search
from awa.model.errors import TooSlow
from awa.operations.reading import jobs
from awa.operations.reading.counts import STATES, Count, total
from awa.web import words
from awa.web.looks import Asked, ask, mask_of
from awa.web.pages import PageRoute, go, go_to
from awa.web.render import render
from awa.web.urls import jobs_url, new_operation_url

PAGE_ROWS: Final = 50
# An age is exact to the microsecond; in a sentence seconds are enough.
_FRACTION: Final = re.compile(r"\.\d+ UTC")
Row = dict[str, Any]

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _Found:
    """A page of jobs and how many there are; what took too long is None, and `slow` says what to do."""

    rows: list[Row] | None = None
    next_cursor: str | None = None
    by_state: dict[str, Count] | None = None
    slow: TooSlow | None = None

    def matching(self, wanted: search.Search) -> Count | None:
        """How many match the whole search, its state included."""
        if self.by_state is None:
            return None
        state = wanted.filter.state
        return total(self.by_state.values()) if state is None else self.by_state.get(state)


@router.get("/jobs")
@needs(Right.READ)
async def jobs_page(request: Request, q: str = "", cursor: str | None = None) -> Response:
    """The list, or the search box again with what is wrong with the words in it."""
    asked = ask(q)
    if asked.search is None:
        return _page(request, asked, _Found(), cursor, status=422)
    found = await _look(request, asked.search, cursor)
    return _page(request, asked, found, cursor, status=503 if found.rows is None else 200)


@router.get("/jobs/change")
@needs(Right.READ)
async def change(request: Request, q: str = "", scope: str = "rows") -> Response:
    """From a selection to the page on which an operation is made: rows by their ids, or all that match."""
    if scope == "all":
        return go_to(request, new_operation_url(request, q))
    ids = [one for one in request.query_params.getlist("id") if one.isascii() and one.isdecimal()]
    if not ids:
        notice = "Nothing was chosen. Tick the jobs to change, or choose all that match."
        return go(request, "/jobs", q=q, notice=notice)
    return go_to(request, new_operation_url(request, f"id:{','.join(ids)}"))


async def _look(request: Request, wanted: search.Search, cursor: str | None) -> _Found:
    page: jobs.Page | None = None
    by_state: dict[str, Count] | None = None
    slow = None
    async with reading(request) as conn:
        try:
            page = await jobs.look(
                conn, wanted.filter, limit=PAGE_ROWS, cursor=cursor, mask=mask_of(request)
            )
        except TooSlow as refusal:
            slow = refusal
        try:
            waiting = page.waiting if page else None
            by_state = await jobs.counts_by_state(conn, wanted.filter, waiting=waiting)
        except TooSlow as refusal:
            slow = slow or refusal
    if page is None:
        return _Found(by_state=by_state, slow=slow)
    return _Found(page.rows, page.next_cursor, by_state, slow)


def _page(
    request: Request, asked: Asked, found: _Found, cursor: str | None, *, status: int
) -> Response:
    wanted = asked.search
    matching = found.matching(wanted) if wanted else None
    return render(
        request,
        "jobs.html",
        status=status,
        asked=asked,
        found=found,
        cursor=cursor,
        matching=matching,
        summary=_summary(wanted, matching) if wanted else "",
        all_words=_all_words(matching),
        tabs=_tabs(request, wanted, found.by_state) if wanted else (),
        chips=_chips(request, wanted) if wanted else (),
        sentence=search.sentence(wanted.filter) if wanted else "",
        help_words=search.WORDS,
    )


def _summary(wanted: search.Search, matching: Count | None) -> str:
    """What is listed, in words: "3,000 jobs in the queue email, created before …"."""
    phrases = _FRACTION.sub(" UTC", ", ".join(search.phrases(wanted.filter)))
    many = words.counted(matching, "job") if matching else "jobs"
    if matching and not matching.jobs and matching.bound != "at_least":
        many = "no jobs"
    if not phrases:
        many += " in all" if matching else ""
    return words.sentence(f"{many} {phrases}".strip())


def _all_words(matching: Count | None) -> str:
    if matching is None:
        return "all jobs that match"
    if matching.exact:
        return f"all {words.counted(matching, 'job')} that match"
    return f"all jobs that match ({matching.words()})"


def _tabs(
    request: Request, wanted: search.Search, counts: dict[str, Count] | None
) -> list[dict[str, Any]]:
    every = {
        "label": "All",
        "href": jobs_url(request, wanted.having("state", None)),
        "count": total(counts.values()) if counts is not None else None,
        "current": wanted.filter.state is None,
    }
    return [every] + [
        {
            "label": state.value.replace("_", " ").capitalize(),
            "href": jobs_url(request, wanted.having("state", search.word("state", state.value))),
            "count": counts.get(state.value) if counts is not None else None,
            "current": wanted.filter.state is state,
        }
        for state in STATES
    ]


def _chips(request: Request, wanted: search.Search) -> list[tuple[search.Chip, str]]:
    return [
        (chip, jobs_url(request, wanted.without(index)))
        for index, chip in enumerate(wanted.chips)
        if chip.name != "state"
    ]
