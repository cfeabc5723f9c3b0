"""What the page of a new operation was asked: which jobs, and what to do with them.

Everything is in the address, so a page can be sent to a colleague, and works without scripts. What is wrong is
kept beside what is right: the page is shown with the problem at its place, and nothing that was typed is lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from awa.model import search
from awa.model.errors import ValidationError
from awa.model.filter import JobFilter
from awa.model.search import Search
from awa.model.states import JobState
from awa.operations import kinds
from awa.web.deeds import DEEDS

IDS_MAX_COUNT: Final = 1_000
SPEC_PREFIX: Final = "spec."


@dataclass(slots=True)
class Wish:
    """What was asked for; `search` and `spec` are None where they could not be understood."""

    q: str
    op_kind: str | None
    given_spec: dict[str, str]
    search: Search | None = None
    spec: dict[str, Any] | None = None
    problems: dict[str, str] = field(default_factory=dict)
    word_problems: list[dict[str, Any]] = field(default_factory=list)
    fitting: dict[str, str | None] = field(default_factory=dict)
    """For each kind None, or the reason why it does not fit these jobs."""

    @property
    def filter(self) -> JobFilter | None:
        """Which jobs; None if the search could not be understood."""
        return None if self.search is None else self.search.filter

    @property
    def spec_query(self) -> dict[str, str]:
        """The spec's fields as they were typed, for links that keep them."""
        return {f"{SPEC_PREFIX}{name}": value for name, value in self.given_spec.items()}

    @property
    def fits_any(self) -> bool:
        """Whether anything can be done to such jobs."""
        return any(why is None for why in self.fitting.values())


def read_wish(given: Mapping[str, str], now: datetime) -> Wish:
    """Understand a query or a form."""
    wish = Wish(
        q=_with_ids(given.get("q", ""), given.get("ids", "")),
        op_kind=given.get("op_kind") or None,
        given_spec={
            name.removeprefix(SPEC_PREFIX): value.strip()
            for name, value in given.items()
            if name.startswith(SPEC_PREFIX)
        },
    )
    _read_search(wish, now)
    _see_what_fits(wish)
    if wish.op_kind is not None:
        _read_spec(wish)
    return wish


def _with_ids(q: str, ids: str) -> str:
    """Chosen rows are one word of the search like any other."""
    chosen = [one for one in ids.split(",") if one.strip()]
    return f"{q} id:{','.join(chosen)}".strip() if chosen else q.strip()


def _read_search(wish: Wish, now: datetime) -> None:
    try:
        wish.search = search.parse(wish.q, now=now)
    except ValidationError as refused:
        wish.problems["q"] = refused.message
        wish.word_problems = list((refused.details or {}).get("problems", ()))
        return
    if len(wish.search.filter.ids or ()) > IDS_MAX_COUNT:
        wish.search = None
        wish.problems["q"] = (
            f"more than {IDS_MAX_COUNT:,} jobs by their ids; "
            "narrow the search by queue, kind or tag, or use awa batch-ops submit"
        )


def _see_what_fits(wish: Wish) -> None:
    for name in DEEDS:
        wish.fitting[name] = None
        kind = kinds.get(name)
        if wish.filter is not None:
            try:
                kind.check_filter(wish.filter)
            except ValidationError:
                states = [state.value for state in JobState if state in kind.eligible]
                allowed = f"{', '.join(states[:-1])} or {states[-1]}"
                wish.fitting[name] = (
                    f"only for jobs that are {allowed}, and the search asks for others"
                )


def _read_spec(wish: Wish) -> None:
    """The spec as JSON, from the fields of the form; texts become what the kind takes."""
    deed = DEEDS.get(wish.op_kind or "")
    if deed is None:
        wish.problems["op_kind"] = f"there is no operation {wish.op_kind!r} on this page"
        wish.op_kind = None
        return
    given: dict[str, Any] = {}
    for name in deed.fields:
        text = wish.given_spec.get(name, "")
        if text:
            given[name] = int(text) if name == "priority" and text in {"1", "2", "3", "4"} else text
    try:
        kind = kinds.get(deed.kind)
        wish.spec = kinds.spec_json(kind.parse_spec(given))
    except ValidationError as refused:
        for problem in refused.fields:
            wish.problems[f"{SPEC_PREFIX}{problem.field}"] = _said(problem.message)


def _said(message: str) -> str:
    return "say which" if message == "is required" else message
