"""What goes into and comes out of the routes about jobs and queues, as models.

A job's options are checked by the code that checks them for Python and the command line; the models here say
what there is and of which type, and make the OpenAPI page.
"""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    create_model,
    model_validator,
)

from awa.api.bodies import shown
from awa.model.filter import Moment
from awa.model.states import JobState

ENQUEUE_MAX_JOBS = 1_000

_NEW: dict[str, Any] = {
    "kind": "send_email",
    "args": {"to": "ada@example.com"},
    "queue": "email",
    "priority": 2,
    "tags": ["customer:acme"],
}
JOB: dict[str, Any] = {
    "id": 41007,
    "kind": "send_email",
    "queue": "email",
    "state": "available",
    "priority": 2,
    "attempt": 0,
    "max_attempts": 25,
    "args": {"to": "ada@example.com", "api_key": "•••"},
    "tags": ["customer:acme"],
    "metadata": {},
    "errors": [],
    "run_at": "2026-06-01T09:30:00Z",
    "created_at": "2026-06-01T09:30:00Z",
    "ready_at": "2026-06-01T09:30:00Z",
    "attempted_at": None,
    "finalized_at": None,
    "deadline_at": None,
    "runtime_id": None,
    "enqueue_shard": 0,
    "progress": None,
}
COUNT: dict[str, Any] = {"jobs": 47000, "exact": True, "bound": "exact"}
_BOUND = "exact, at_least (it stopped counting there) or about (from the leader's notes)"


class NewUnique(BaseModel):
    """What makes a job the same as another, and what happens then."""

    model_config = shown({"by_args": ["order"], "on_conflict": "ignore"}, {"key": "invoice-7"})

    by_args: StrictBool | list[StrictStr] | None = Field(
        default=None, description="all arguments (the default), none, or these fields of them"
    )
    by_queue: StrictBool | None = None
    by_period: StrictInt | None = Field(default=None, description="seconds")
    by_states: list[StrictStr] | None = Field(default=None, description="in which the key is held")
    key: StrictStr | None = Field(
        default=None, description="an own key, in place of kind and arguments"
    )
    on_conflict: StrictStr | None = Field(
        default=None, description="reject (the default), replace or ignore"
    )


class NewJob(BaseModel):
    """A job to be."""

    model_config = shown(_NEW)

    kind: StrictStr | None = Field(default=None, description="which handler runs it; required")
    args: dict[str, Any] = Field(default_factory=dict, description="what the handler is given")
    queue: StrictStr | None = None
    priority: StrictInt | None = Field(default=None, description="1 (first) to 4")
    max_attempts: StrictInt | None = None
    tags: list[StrictStr] | None = None
    metadata: dict[str, Any] | None = None
    run_at: Moment | None = Field(default=None, description="not before; with a UTC offset")
    ordering_key: StrictStr | None = None
    unique_opts: NewUnique | None = Field(
        default=None, description="unique by kind and by what it says; 409 with the holder"
    )
    concurrency_key: StrictStr | None = Field(
        default=None, description="of the jobs with this key only some run at once"
    )
    concurrency_limit: StrictInt | None = Field(
        default=None, description="how many of them; 1 when left out"
    )


class Enqueue(NewJob):
    """One job, or several as `jobs`; all are enqueued or none."""

    model_config = shown(_NEW, {"jobs": [_NEW, {**_NEW, "priority": 1}]})

    jobs: list[NewJob] | None = Field(default=None, min_length=1, max_length=ENQUEUE_MAX_JOBS)

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        alone = self.model_fields_set - {"jobs"}
        if self.jobs is not None and alone:
            raise ValueError(
                f"give either `jobs` or one job, not both ({', '.join(sorted(alone))})"
            )
        return self


class JobChange(BaseModel):
    """Another priority, another queue, or both, for a job that waits."""

    model_config = shown({"priority": 1}, {"queue": "escalations", "priority": 1})

    priority: StrictInt | None = Field(default=None, description="1 (first) to 4")
    queue: StrictStr | None = None


class QueueChange(BaseModel):
    """The limits that are to change; null takes one away, what isn't given stays as it is."""

    model_config = shown(
        {"max_running": 20}, {"rate_limit": 100, "rate_period_s": 1}, {"max_running": None}
    )

    max_running: StrictInt | None = Field(
        default=None, description="jobs that all workers together may run at once"
    )
    rate_limit: StrictInt | None = Field(
        default=None, description="jobs that all workers together may begin within the period"
    )
    rate_period_s: float | None = Field(
        default=None, description="seconds, 0.1 to 86,400; 1 when left out"
    )


class Why(BaseModel):
    """Why it is done, for the record."""

    model_config = shown({"reason": "the customer has left"}, {})

    reason: StrictStr | None = None


class ShownJob(BaseModel):
    """A job, its secrets hidden."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [JOB]})

    id: int
    kind: str
    queue: str
    state: JobState
    priority: int
    attempt: int
    max_attempts: int
    args: Any
    tags: list[str]
    metadata: dict[str, Any]
    errors: list[Any]
    run_at: datetime
    created_at: datetime
    ready_at: datetime | None
    attempted_at: datetime | None
    finalized_at: datetime | None
    deadline_at: datetime | None
    runtime_id: UUID | None
    enqueue_shard: int | None
    progress: Any


class JobPage(BaseModel):
    """Jobs, newest first."""

    model_config = shown({"items": [JOB], "next_cursor": "NDEwMDc"})

    items: list[ShownJob]
    next_cursor: str | None = Field(
        description="pass it as `cursor` to look further back; null: the end. A page may be short, or empty, and "
        "still have one: it stops looking after some tenths of a second"
    )


_DETAIL: dict[str, Any] = {
    **JOB,
    "masked": False,
    "events": [
        {"at": "2026-06-01T09:30:00Z", "what": "enqueued", "text": "Enqueued", "future": False}
    ],
    "operations": [],
    "runtime": None,
    "callbacks": [],
    "unique": {
        "by": ["kind", "arguments"],
        "states": ["scheduled", "available", "running", "retryable", "waiting_external"],
        "held": True,
        "holder": 41007,
        "told": "it holds its key, which keeps others out",
    },
    "concurrency": {"key": "tenant-7", "limit": 2, "used": 2, "admitted": False},
    "actions": {
        "cancel": None,
        "retry": "it is available already",
        "set_priority": None,
        "move": None,
    },
}


class JobDetail(ShownJob):
    """A job with its story."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_DETAIL]})

    masked: bool = Field(description="whether values of its arguments or metadata are hidden")
    events: list[dict[str, Any]] = Field(description="what happened to it, oldest first")
    operations: list[dict[str, Any]] = Field(description="batch operations that listed it")
    runtime: dict[str, Any] | None = Field(description="who runs it, or ran it last")
    callbacks: list[dict[str, Any]] = Field(description="its callbacks, newest first")
    unique: dict[str, Any] | None = Field(
        description="what its unique key is made of, and who holds it; null: it isn't unique"
    )
    concurrency: dict[str, Any] | None = Field(
        description="its concurrency key, how many jobs of it may run at once, how many have a place, and whether this one has"
    )
    actions: dict[str, str | None] = Field(
        description="cancel, retry, set_priority, move: null where possible, else why not"
    )


class EnqueuedJobs(BaseModel):
    """What was enqueued, in the order given."""

    model_config = shown({"items": [JOB]})

    items: list[ShownJob]


class Counted(BaseModel):
    """A number of jobs."""

    model_config = shown(COUNT)

    jobs: int
    exact: bool
    bound: str = Field(description=_BOUND)


class Drained(BaseModel):
    """What a drain cancelled."""

    model_config = shown({"queue": "email", "drained": 47000, "more": False})

    queue: str
    drained: int = Field(description="jobs that waited and are cancelled now")
    more: bool = Field(description="true: time was up and jobs still wait; ask again")


class QueueState(BaseModel):
    """What an operator said of a queue."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "queue": "email",
                    "paused": True,
                    "paused_by": "deploy",
                    "paused_at": "2026-06-01T09:30:00Z",
                    "enqueue_shards": 1,
                    "description": None,
                    "max_running": 20,
                    "rate_limit": 100,
                    "rate_period_s": 1.0,
                }
            ]
        },
    )

    queue: str
    paused: bool
    paused_by: str | None
    paused_at: datetime | None
    enqueue_shards: int
    max_running: int | None
    rate_limit: int | None
    rate_period_s: float | None


def page_of(name: str, row: dict[str, Any], what: str) -> type[BaseModel]:
    """The model of a page whose rows are told by an example."""

    page: type[BaseModel] = create_model(
        name,
        __config__=shown({"items": [row], "next_cursor": None}),
        __doc__=what,
        __module__=__name__,
        items=(list[dict[str, Any]], ...),
        next_cursor=(str | None, ...),
    )
    return page
