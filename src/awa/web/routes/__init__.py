"""The pages, one module a thing; ROUTERS is what the console consists of."""

from typing import Final

from fastapi import APIRouter

from awa.web.routes import (
    cron,
    dead_letters,
    job,
    jobs,
    kinds,
    new_operation,
    operation,
    operation_control,
    operations,
    overview,
    queue,
    queue_limits,
    queues,
    runtimes,
    session,
    undo_operation,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    session.router,
    overview.router,
    jobs.router,
    job.router,
    queues.router,
    queue.router,
    queue_limits.router,
    kinds.router,
    runtimes.router,
    cron.router,
    dead_letters.router,
    operations.router,
    new_operation.router,  # before the one below: "new" is no id
    operation.router,
    operation_control.router,
    undo_operation.router,
)
