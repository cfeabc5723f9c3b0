"""Awa, a PostgreSQL-native job queue for Python.

client = awa.AsyncClient("postgresql://…")

@client.task(SendEmail, queue="email")
async def handle(job: awa.Job[SendEmail]) -> None: ...

await client.insert(SendEmail(to="ada@example.org"))
await client.start([("email", 50)])
"""

from awa import bridge
from awa.client import AsyncClient, Transaction
from awa.config import Settings
from awa.model.callback import CallbackFailed, CallbackRetried, CallbackTimedOut, CallbackToken
from awa.model.draft import Draft, JobOptions
from awa.model.drift import PlanDrifted
from awa.model.errors import (
    AwaError,
    Conflict,
    DatabaseError,
    FieldProblem,
    Forbidden,
    NotConfirmed,
    NotFound,
    ReadOnly,
    SchemaNotMigrated,
    Unauthorized,
    UniqueConflict,
    UnknownJobKind,
    ValidationError,
)
from awa.model.filter import JobFilter
from awa.model.follow_up import FollowUp
from awa.model.hook import JobEvent
from awa.model.job import Job
from awa.model.outcome import Cancel, RetryAfter, Snooze, TerminalError, WaitForCallback
from awa.model.plan import PlanExpired
from awa.model.states import JobState, OperationState
from awa.model.unique import UniqueOpts
from awa.node import Node
from awa.sync import Client

__all__ = [
    "AsyncClient",
    "AwaError",
    "CallbackFailed",
    "CallbackRetried",
    "CallbackTimedOut",
    "CallbackToken",
    "Cancel",
    "Client",
    "Conflict",
    "DatabaseError",
    "Draft",
    "FieldProblem",
    "FollowUp",
    "Forbidden",
    "Job",
    "JobEvent",
    "JobFilter",
    "JobOptions",
    "JobState",
    "Node",
    "NotConfirmed",
    "NotFound",
    "OperationState",
    "PlanDrifted",
    "PlanExpired",
    "ReadOnly",
    "RetryAfter",
    "SchemaNotMigrated",
    "Settings",
    "Snooze",
    "TerminalError",
    "Transaction",
    "Unauthorized",
    "UniqueConflict",
    "UniqueOpts",
    "UnknownJobKind",
    "ValidationError",
    "WaitForCallback",
    "bridge",
]
