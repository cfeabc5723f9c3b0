"""What goes in and comes out, as models: they check the outer shape and make the OpenAPI page.

`filter` and `spec` are taken as plain objects. Their fields are checked by the same code that checks them
for Python, SQL and the command line, so that a wrong field gets the same sentence everywhere.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
)

from awa.model.limits import PRIORITY_DEFAULT
from awa.model.states import OperationState

_FILTER: dict[str, Any] = {"queue": "email", "tag": "customer:acme", "state": "available"}
_SPEC: dict[str, Any] = {"queue": "escalations", "priority": 1}
_REQUEST: dict[str, Any] = {"op_kind": "move_queue", "filter": _FILTER, "spec": _SPEC}
_OPERATION: dict[str, Any] = {
    "id": "0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10",
    **_REQUEST,
    "state": "running",
    "submitted_by": "deploy",
    "submitted_at": "2026-06-01T09:30:00Z",
    "started_at": "2026-06-01T09:30:01Z",
    "finalized_at": None,
    "cursor": {"job_id": 41007},
    "total_matched": 47000,
    "processed": 12000,
    "skipped": 31,
    "errored": 0,
    "last_error": None,
    "runner_instance": "6a1c7f5e-7a0e-4a35-8ad0-1c0b7a1f3f2b",
    "retention_until": None,
    "updated_at": "2026-06-01T09:30:09Z",
    "reason": "mail provider is down",
    "undo_of": None,
    "undos": [],
}
_UNDO: dict[str, Any] = {
    **_OPERATION,
    "id": "7c1be0a2-51d5-4f0e-8f0f-2b6c3d9a1e44",
    "op_kind": "undo",
    "filter": {},
    "spec": {"operation_id": _OPERATION["id"], "op_kind": "move_queue"},
    "reason": "wrong queue",
    "undo_of": _OPERATION["id"],
}


def shown(*examples: dict[str, Any]) -> ConfigDict:
    """A strict model with these examples."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": list(examples)})


class PreviewRequest(BaseModel):
    """Which jobs would an operation change?"""

    model_config = shown(_REQUEST)

    op_kind: StrictStr = Field(description="set_priority or move_queue")
    filter: dict[str, Any] = Field(
        default_factory=dict,
        description="which jobs: kind, queue, ids, tag, state, created_at_gte, created_at_lt, …; "
        "all fields optional, a job must match every one given",
    )
    spec: dict[str, Any] = Field(
        default_factory=dict, description='what to do, such as {"priority": 1}'
    )
    allow_all: StrictBool = Field(
        default=False,
        validation_alias=AliasChoices("all", "allow_all"),
        description="confirms an operation on every job, that is an empty filter",
    )


class Terms(BaseModel):
    """Under what terms an operation is carried out."""

    reason: StrictStr | None = Field(default=None, description="free text for the record")
    idempotency_key: StrictStr | None = Field(
        default=None,
        description="a second submission under the same key returns the first operation",
    )
    priority: StrictInt = Field(
        default=PRIORITY_DEFAULT, description="of the operation itself, 1 (first) to 4"
    )
    max_rows_per_second: StrictInt | None = Field(
        default=None, description="how fast it may go; null: as fast as it can"
    )
    not_before: AwareDatetime | None = Field(
        default=None, description="it does not begin earlier; with a UTC offset"
    )
    max_jobs: StrictInt | None = Field(
        default=None, description="it takes at most so many jobs, those that its scan meets first"
    )
    plan_token: StrictStr | None = Field(
        default=None,
        description="that of a preview: refuse if there are more or fewer jobs than it counted",
    )


class SubmitRequest(PreviewRequest, Terms):
    """Change the jobs that match."""

    model_config = shown({**_REQUEST, "reason": "mail provider is down"})


class UndoRequest(Terms):
    """Take an operation back. Everything may be left out."""

    model_config = shown({"reason": "wrong queue"})


class OperationChange(BaseModel):
    """Ask for another state, another pace, or both. What isn't given stays as it is."""

    model_config = shown(
        {"state": "paused", "reason": "workers fall behind"}, {"max_rows_per_second": 500}
    )

    state: Literal["paused", "running", "cancelling"] | None = Field(
        default=None,
        description="paused: it stops after its present chunk and keeps its place; "
        "running: a paused one goes on where it was; cancelling: it ends",
    )
    max_rows_per_second: StrictInt | None = Field(
        default=None,
        description="faster counts at once, slower after the present chunk; null: no limit",
    )
    priority: StrictInt | None = Field(default=None, description="1 (first) to 4")
    reason: StrictStr | None = None


class SampleJob(BaseModel):
    """A job as a preview shows it."""

    model_config = ConfigDict(extra="allow")

    id: int
    kind: str
    queue: str
    state: str


class Estimate(BaseModel):
    """How long an operation takes."""

    duration_s: float
    rate_per_s: float
    measured: bool = Field(description="an operation of this kind ran here at that rate")


class Preview(BaseModel):
    """Which jobs an operation would change now; advisory, neither a lock nor a snapshot."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "total_matched": 47000,
                    "noop": 0,
                    "sample": [
                        {"id": 123, "kind": "send_email", "queue": "email", "state": "available"}
                    ],
                    "breakdown": {"queue": {"email": 47000}, "state": {"available": 47000}},
                    "ineligible": {"running": 50},
                    "estimate": {"duration_s": 2.35, "rate_per_s": 20000.0, "measured": False},
                    "plan_token": "awa1.eyJrIjoibW92ZV9xdWV1ZSJ9.c2lnbmVk",
                    "plan_expires_at": "2026-06-01T10:30:00Z",
                }
            ]
        },
    )

    total_matched: int = Field(
        description="jobs that the filter matches and the operation can change"
    )
    noop: int = Field(description="those of them that are at the target already")
    sample: list[SampleJob] = Field(description="the first few of them, in order of id")
    breakdown: dict[str, dict[str, int]] = Field(
        description="all of them by queue, kind, state and priority"
    )
    ineligible: dict[str, int] | None = Field(
        description="jobs that match but can't be changed, by state; null if counting takes too long"
    )
    estimate: Estimate = Field(description="how long the operation takes")
    plan_token: str | None = Field(
        description="for submit; null where the database role may not submit"
    )
    plan_expires_at: datetime | None = Field(description="until when the token is good")


class Operation(BaseModel):
    """A batch operation, with the column names of the table."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_OPERATION, _UNDO]})

    id: UUID
    op_kind: str
    filter: dict[str, Any]
    spec: dict[str, Any]
    state: OperationState
    submitted_by: str | None
    submitted_at: datetime
    started_at: datetime | None
    finalized_at: datetime | None
    cursor: dict[str, Any] | None
    total_matched: int | None = Field(description="null until the scan is done")
    processed: int
    skipped: int
    errored: int
    last_error: str | None
    runner_instance: UUID | None
    retention_until: datetime | None
    updated_at: datetime
    undo_of: UUID | None = Field(description="the operation that this one takes back")


class OperationPage(BaseModel):
    """A page of operations, newest first."""

    model_config = shown({"items": [_OPERATION], "next_cursor": None})

    items: list[Operation]
    next_cursor: str | None = Field(
        description="pass it as `cursor` for the next page; null: the end"
    )


class Hold(BaseModel):
    """Whether all operations are held, and then by whom, since when and why."""

    model_config = shown(
        {
            "held": True,
            "held_at": "2026-06-01T09:30:00Z",
            "held_by": "deploy",
            "reason": "the replica falls behind",
        }
    )

    held: bool
    held_at: datetime | None
    held_by: str | None
    reason: str | None


class Purged(BaseModel):
    """What a purge deleted."""

    model_config = shown({"operations": 12, "items": 47000, "more": False})

    operations: int
    items: int
    more: bool = Field(description="true: there is more that ended before the time; ask again")
