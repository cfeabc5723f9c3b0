"""Templates become answers here, with the headers that every page carries.

Everything that is put into a template is escaped unless it is Markup of ours; a name that a template
uses and nobody gave is an error, never an empty place.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from awa.model.queue_limits import limit_words
from awa.web import flash, icons, words
from awa.web.context import page_context

TEMPLATES: Final = Path(__file__).with_name("templates")
# No script, style or picture but our own, nothing inline, no frame around us, forms only to us.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
PAGE_HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-frame-options": "DENY",
    # Not "no-referrer": with that a browser sends even our own forms with the origin "null".
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin",
}


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **given: Any,
) -> HTMLResponse:
    """The page that a template makes of what is given and of `page_context`.

    With `part` in the query it is a part of a page that is open already, and leaves the notice for a whole one.
    """
    notice = None if "part" in request.query_params else flash.notice_of(request)
    body = fragment(request, template, done=notice, **given)
    answer = HTMLResponse(body, status, headers={**PAGE_HEADERS, **(headers or {})})
    if notice:
        flash.forget_notice(request, answer)
    return answer


def fragment(request: Request, template: str, **given: Any) -> str:
    """The text alone, as a stream of events sends it."""
    return environment().get_template(template).render({**page_context(request), **given})


def _ago(at: datetime | None, style: str = "relative") -> Markup | str:
    return words.ago(at, datetime.now(UTC), style=style)


def _make_environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(words.FILTERS, ago=_ago, limit_words=limit_words)
    made.globals["icon"] = icons.icon
    return made


_ENVIRONMENT: Final = _make_environment()


def environment() -> Environment:
    """The one environment, with its compiled templates."""
    return _ENVIRONMENT
