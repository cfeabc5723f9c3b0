"""For the tests of programs that use Awa: run jobs without a worker, and see what was inserted.

    await drain(client, "email")                          everything due is run, here, one job after the other
    await run_job(client, SendEmail(…))                   one handler, without a database
    await assert_enqueued(client, SendEmail, count=1)     fails with a list of what is there instead

Each has a twin for blocking tests: `drain_sync`, `run_job_sync`, `assert_enqueued_sync`. Databases to test on are
in `awa.testing.fixtures`, which pytest loads with `pytest_plugins = ["awa.testing.fixtures"]`.
"""

from awa.testing.blocking import assert_enqueued_sync, drain_sync, run_job_sync
from awa.testing.draining import DrainedTooMany, drain
from awa.testing.enqueued import assert_enqueued
from awa.testing.ran import Following, Ran
from awa.testing.running import run_job
from awa.testing.twins import twin

__all__ = [
    "DrainedTooMany",
    "Following",
    "Ran",
    "assert_enqueued",
    "assert_enqueued_sync",
    "drain",
    "drain_sync",
    "run_job",
    "run_job_sync",
    "twin",
]
