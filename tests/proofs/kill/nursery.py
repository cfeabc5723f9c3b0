"""A warm parent that forks workers and leaders on demand: `python -m tests.proofs.kill.nursery URL`.

One line on its input names what to fork, one line on its output the process. A fork costs milliseconds where a new
interpreter would cost half a second, so hundreds of processes can live and die within a minute. The parent itself opens
no connection and runs no event loop, so there is nothing that a child could inherit by mistake.
"""

import asyncio
import contextlib
import logging
import os
import random
import signal
import sys

import awa
from awa.config import Settings
from awa.maintenance.leader import Timing
from awa.sql import catalog

log = logging.getLogger("nursery")

WORKED_QUEUES = ("default", "other")
NEVER_S = 3600.0
# Answers how often this attempt has been begun; more than once must never be.
EFFECT = """
    INSERT INTO effects AS e (job_id, attempt) VALUES (%s, %s)
    ON CONFLICT (job_id, attempt) DO UPDATE SET times = e.times + 1
"""


def main() -> None:
    """Forks until the input ends, then takes the children along."""
    # Read once, here: somebody may be at work on the files.
    catalog.migrations()
    catalog.definitions()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    children: list[int] = []
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _live(line.strip(), sys.argv[1])
        children.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _live(role: str, url: str) -> None:
    """The child's whole life; it never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.close(0)
    random.seed()
    logging.basicConfig(level=logging.WARNING, format=f"{os.getpid()} {role}: %(message)s")
    try:
        asyncio.run(_work(url) if role == "worker" else _lead(url))
    except BaseException:
        log.exception("it ended by itself")
    os._exit(1)


def _settings() -> Settings:
    """Quick to notice a death, and chunks so small that an operation takes many."""
    return Settings(
        heartbeat_interval_s=0.2,
        runtime_stale_s=1.0,
        poll_min_ms=5,
        poll_max_ms=50,
        batch_chunk_ms=20,
        batch_concurrency=3,
    )


async def _work(url: str) -> None:
    client = awa.AsyncClient(url, settings=_settings(), listen=random.random() < 0.5)

    @client.task(dict, kind="work")
    async def work(job: awa.Job[dict[str, object]]) -> None:
        async with client.connection() as conn:
            await conn.execute(EFFECT, [job.id, job.attempt])
        await asyncio.sleep(random.random() * 0.02)

    await client.start([(queue, 10) for queue in WORKED_QUEUES], roles={"worker"})
    await asyncio.sleep(NEVER_S)


def _timing(_: Settings) -> Timing:
    """A lease that outlasts a pause of the machine; the siege frees that of the killed, so look for it often."""
    return Timing(lease_ttl_s=10.0, renew_interval_s=0.2, renew_again_s=0.1, stand_interval_s=0.1)


async def _lead(url: str) -> None:
    Timing.of = _timing  # type: ignore[method-assign, assignment]
    client = awa.AsyncClient(url, settings=_settings(), listen=False)
    await client.start(roles={"maintenance"})
    await asyncio.sleep(NEVER_S)


if __name__ == "__main__":
    main()
