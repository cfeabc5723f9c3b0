"""The worker of `awa dev`: the demo's handlers, and two schedules, so that there is something to see of those too."""

import logging
from typing import Any, Final

from awa.dev.demo_worker import client
from awa.dev.seed import WORKED_QUEUE
from awa.model.job import Job

__all__ = ["client"]

KIND: Final = "measure_backlog"

log = logging.getLogger("awa.dev")


@client.task(dict, kind=KIND)
async def measure_backlog(job: Job[dict[str, Any]]) -> None:
    """Say in the log what waits at this moment."""
    for row in await client.queue_stats():
        log.info("for %s: %s jobs wait in %s", job.args["for"], row["available"], row["queue"])


client.periodic(
    "backlog-each-minute",
    "* * * * *",
    {"for": "the chart"},
    kind=KIND,
    queue=WORKED_QUEUE,
    priority=1,
)
client.periodic(
    "backlog-on-workdays",
    "30 8 * * 1-5",
    {"for": "the morning mail"},
    kind=KIND,
    queue=WORKED_QUEUE,
    priority=1,
    timezone="Europe/Berlin",
)
