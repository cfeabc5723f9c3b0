"""A browser's session over JSON: log in with a token, see who that makes one, log out.

The console's log-in page does the same with a form. A program needs neither; it sends its token as a bearer.
"""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, StrictStr

from awa.api.bodies import shown
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.http import sessions
from awa.http.access import Right, needs
from awa.http.context import actor_of, served
from awa.http.signing import Session

router = APIRouter(prefix="/api/session", route_class=GuardedRoute, tags=["session"])


class LogIn(BaseModel):
    """A token, once; it travels in the body so that no log or history keeps it."""

    model_config = shown({"token": "a-random-token-of-16-characters-or-more"})

    token: StrictStr = Field(max_length=1_000)


class Caller(BaseModel):
    """Who asks."""

    model_config = shown(
        {
            "actor": "deploy",
            "role": "operator",
            "read_only": False,
            "csrf_token": "eyJ0byI6…",
            "expires_at": "2026-06-01T21:30:00Z",
        }
    )

    actor: str
    role: str
    read_only: bool = Field(description="whether every change would be refused, whatever the role")
    csrf_token: str = Field(
        description="goes into the header X-CSRF-Token of whatever isn't a GET; empty for a bearer token"
    )
    expires_at: datetime | None = Field(description="when the session ends; null without a session")


@router.get("", summary="Who am I?", response_model=Caller, responses=problems(401, 403, 422, 503))
@needs(Right.READ)
async def show_session(request: Request) -> dict[str, Any]:
    """Say who asks, and give a fresh CSRF token."""
    return _caller(request, sessions.session_of(request))


@router.post(
    "",
    summary="Log in",
    status_code=204,
    response_class=Response,
    responses=problems(403, 409, 413, 415, 422, 429) | {401: problems(401)[401]},
)
@needs(Right.OPEN)
async def log_in(request: Request, body: LogIn) -> Response:
    """Begin a session: the answer sets its cookie. 409 if the server has no tokens, 429 after many wrong ones."""
    answer = Response(status_code=204)
    sessions.log_in(request, answer, body.token)
    return answer


@router.delete(
    "",
    summary="Log out",
    status_code=204,
    response_class=Response,
    responses=problems(401, 403, 422),
)
@needs(Right.LEAVE)
async def log_out(request: Request) -> Response:
    """End the session, in the browser and at every server of this database."""
    answer = Response(status_code=204)
    await sessions.log_out(request, answer)
    return answer


def _caller(request: Request, session: Session | None) -> dict[str, Any]:
    actor = actor_of(request)
    return {
        "actor": actor.name,
        "role": actor.role.name.lower(),
        "read_only": served(request).access.is_read_only(request),
        "csrf_token": sessions.csrf_token(request),
        "expires_at": session.expires_at if session and session.actor == actor else None,
    }
