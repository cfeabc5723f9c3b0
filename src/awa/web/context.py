"""What every page knows besides its own matter: links, who looks, what they may do, how it should look."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from fastapi import Request
from markupsafe import Markup

from awa.http.access import Right
from awa.http.context import served
from awa.http.tokens import Actor
from awa.http.version import VERSION
from awa.model.errors import AwaError
from awa.web import urls
from awa.web.assets import assets

THEME_COOKIE: Final = "awa_theme"
THEMES: Final = ("system", "light", "dark")
SHEETS: Final = tuple(
    f"css/{name}.css"
    for name in (
        "tokens",
        "base",
        "frame",
        "components",
        "notices",
        "forms",
        "tables",
        "figures",
        "pages",
        "operations",
    )
)
# The navigation: the key that a page sets as `here`, the path, the word.
PAGES: Final = (
    ("overview", "/", "Overview"),
    ("jobs", "/jobs", "Jobs"),
    ("queues", "/queues", "Queues"),
    ("kinds", "/kinds", "Kinds"),
    ("operations", "/operations", "Operations"),
    ("dead-letters", "/dead-letters", "Dead letters"),
    ("cron", "/cron", "Cron"),
    ("runtimes", "/runtimes", "Runtimes"),
)


def page_context(request: Request) -> dict[str, Any]:
    """The names that are there in every template."""
    actor = actor_or_none(request)
    why_not = why_no_changes(request, actor)
    return {
        "request": request,
        "actor": actor,
        "can_change": actor is not None and why_not is None,
        "cannot_change": why_not,
        "can_log_out": getattr(request.state, "by_session", False),
        "csrf_token": getattr(request.state, "csrf_token", ""),
        "theme": theme_of(request),
        "version": VERSION,
        "pages": PAGES,
        "sheets": SHEETS,
        **_links(request),
    }


def actor_or_none(request: Request) -> Actor | None:
    """Who was let in; None if nobody was."""
    actor = getattr(request.state, "actor", None)
    if isinstance(actor, Actor):
        return actor
    with suppress(AwaError):
        return served(request).access.identify(request)
    return None


def why_no_changes(request: Request, actor: Actor | None) -> str | None:
    """The reason, as a sentence, why whoever looks can change nothing; None if they can, or if nobody is known."""
    access = served(request).access
    if actor is None:
        return None
    if access.is_read_only(request):
        return f"This console is read-only: {access.why_read_only()}."
    if access.why_not(request, actor, Right.CHANGE):
        return f"Your role is {actor.role.name.lower()}: you can look at everything and change nothing."
    return None


def theme_of(request: Request) -> str:
    """How this browser wants it: light, dark, or as the system says."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "system"


def _links(request: Request) -> dict[str, Callable[..., Any]]:
    base = urls.url_for(request, "/static/{}/", assets().digest)

    def static(name: str) -> str:
        if name not in assets().files:
            raise LookupError(f"there is no static file {name!r}")
        return base + name

    def module(name: str) -> Markup:
        return Markup('<script type="module" src="{}"></script>').format(static(name))

    return {
        "static": static,
        "module": module,
        "url": partial(urls.url_for, request),
        "queue_url": partial(urls.queue_url, request),
        "job_url": partial(urls.job_url, request),
        "jobs_url": partial(urls.jobs_url, request),
        "operation_url": partial(urls.operation_url, request),
        "new_operation_url": partial(urls.new_operation_url, request),
    }
