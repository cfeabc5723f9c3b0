"""Callbacks: answered by whoever has a signed URL, or a token with the role operator; looked at by viewers.

A signed URL is a capability: it says one action on one callback, until a time. The signature may come in the query, or out
of sight of logs in the header X-Awa-Signature. Who signed is `signed` in the record.
"""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from awa.api.bodies import shown
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.etag import with_etag
from awa.model.callback import Action, check_action, check_callback_id
from awa.model.errors import NotFound, ValidationError, invalid_field
from awa.model.masking import Mask
from awa.operations import callbacks

router = APIRouter(prefix="/api/callbacks", route_class=GuardedRoute, tags=["callbacks"])
# What a server that answers nothing but callbacks has of it.
answering = APIRouter(prefix="/api/callbacks", route_class=GuardedRoute, tags=["callbacks"])

_ID = "0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10"
CallbackId = Annotated[
    str, Path(examples=[_ID], json_schema_extra={"format": "uuid"}, max_length=100)
]
ActionName = Annotated[
    str, Path(examples=["complete"], json_schema_extra={"enum": [str(one) for one in Action]})
]
_FIELDS = {
    Action.COMPLETE: {"payload"},
    Action.RESUME: {"payload"},
    Action.FAIL: {"error"},
    Action.RETRY: {"error"},
    Action.HEARTBEAT: {"timeout_seconds"},
}


class Answer(BaseModel):
    """What comes with an answer; all of it is optional."""

    model_config = shown({"payload": {"charged": 700}}, {"error": "the card has expired"}, {})

    payload: Any = Field(default=None, description="any JSON, for complete and resume")
    error: str | dict[str, Any] | None = Field(
        default=None,
        description="a sentence, or an object with `error` and more, for fail and retry",
    )
    timeout_seconds: float | None = Field(
        default=None, description="for heartbeat: seconds from now; as before if left out"
    )


class Answered(BaseModel):
    """What came of an answer."""

    model_config = shown(
        {
            "callback_id": _ID,
            "action": "complete",
            "outcome": "applied",
            "job_id": 41007,
            "state": "completed",
            "expires_at": "2026-06-01T10:30:00Z",
        }
    )

    callback_id: UUID
    action: str
    outcome: str = Field(
        description="applied, recorded (the attempt still runs, and finds it) or extended"
    )
    job_id: int
    state: str | None = Field(description="the job's state now")
    expires_at: datetime


class Callback(BaseModel):
    """A callback and how it stands."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "callback_id": _ID,
                    "job_id": 41007,
                    "attempt": 1,
                    "queue": "payments",
                    "kind": "charge",
                    "registered_at": "2026-06-01T09:30:00Z",
                    "timeout_s": 3600,
                    "expires_at": "2026-06-01T10:30:00Z",
                    "waiting_since": "2026-06-01T09:30:01Z",
                    "resolution": None,
                    "payload": None,
                    "error": None,
                    "resolved_at": None,
                    "resolved_by": None,
                    "applied_at": None,
                    "led_to": None,
                    "follows_completion": 1,
                    "follows_failure": 0,
                    "job_state": "waiting_external",
                    "waits": True,
                }
            ]
        },
    )

    callback_id: UUID
    job_id: int
    attempt: int
    queue: str
    kind: str
    registered_at: datetime
    expires_at: datetime
    resolution: str | None
    follows_completion: int = Field(description="jobs that come if an answer completes the job")
    follows_failure: int = Field(description="jobs that come if the job fails for good")
    job_state: str | None
    waits: bool = Field(description="whether the job waits for this callback now")


_NOTHING = Answer()


@router.get(
    "/{callback_id}",
    summary="Show",
    response_model=Callback,
    responses=problems(401, 403, 404, 422, 503),
)
@needs(Right.READ)
async def show(request: Request, callback_id: CallbackId) -> Response:
    """Show a callback, secrets of its payload hidden."""
    _known(callback_id)
    async with reading(request) as conn:
        found = await callbacks.get(conn, callback_id)
    mask = Mask.of(served(request).settings.masked_keys)
    hidden = {name: mask.value(found[name])[0] for name in ("payload", "error")}
    return with_etag(request, {**found, **hidden})


@answering.post(
    "/{callback_id}/{action}",
    summary="Answer",
    response_model=Answered,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.ANSWER)
async def answer(  # noqa: PLR0917 -- each is a parameter of the request
    request: Request,
    callback_id: CallbackId,
    action: ActionName,
    body: Annotated[Answer, Body()] = _NOTHING,
    expires: Annotated[str | None, Query(description="of a signed URL")] = None,
    signature: Annotated[str | None, Query(description="of a signed URL")] = None,
    x_awa_signature: Annotated[
        str | None, Header(description="instead of the two: expiry, a dot, and the signature")
    ] = None,
) -> dict[str, Any]:
    """Answer a callback: complete, fail, retry, resume or heartbeat. The first answer counts; 409 says what was before."""
    asked = _action(action)
    _known(callback_id)
    given = body.model_dump(exclude_unset=True)
    for name in given.keys() - _FIELDS[asked]:
        raise invalid_field(name, f"is not for {asked}")
    async with changing(request) as conn:
        return await callbacks.answer(conn, callback_id, asked, by=actor_of(request).name, **given)


def _action(name: str) -> Action:
    try:
        return check_action(name)
    except ValidationError as problem:
        raise NotFound(f"there is no such action: {problem.message}") from None


def _known(callback_id: str) -> None:
    """Text that is no id names no callback."""
    try:
        check_callback_id(callback_id)
    except ValidationError:
        raise NotFound(f"there is no callback {callback_id[:40]!r}") from None
