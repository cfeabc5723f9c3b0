"""What happened is counted under one name, and the metrics can be read as Prometheus does."""

import asyncio
from dataclasses import dataclass

import prometheus_client
import pytest

import awa
from awa.events import batch, jobs, runtime
from awa.events.instruments import registry


@dataclass
class Work:
    n: int = 0


def value(name: str, **labels: str) -> float:
    return registry.get_sample_value(name, labels) or 0.0


@pytest.fixture
async def client(database_url: str) -> awa.AsyncClient:
    return awa.AsyncClient(database_url)


async def test_the_work_of_a_worker_is_counted(client: awa.AsyncClient) -> None:
    done, count = asyncio.Event(), 0
    queue = "counted"

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> awa.Snooze | None:
        nonlocal count
        count += 1
        if count == 3:
            done.set()
        if job.args.n == 1:
            raise RuntimeError
        return awa.Snooze(60) if job.args.n == 2 else None

    async with client:
        await client.insert_many([Work(n) for n in range(3)], queue=queue)
        await client.start([(queue, 3)], roles=["worker"])
        async with asyncio.timeout(60):
            await done.wait()
        await client.shutdown()
    assert value("awa_jobs_inserted_total", queue=queue) == 3
    assert value("awa_jobs_claimed_total", queue=queue) == 3
    for outcome in ("completed", "retried", "snoozed"):
        assert value("awa_jobs_ended_total", queue=queue, outcome=outcome) == 1, outcome
    assert value("awa_claim_duration_seconds_count", queue=queue) >= 1
    assert registry.get_sample_value("awa_jobs_running", {"queue": queue}) == 0


def test_batch_operations_are_counted_by_reason() -> None:
    batch.rows("set_priority", "skipped", 7, "claimed")
    batch.rows("set_priority", "skipped", 0, "claimed")
    labels = {"op_kind": "set_priority", "outcome": "skipped", "reason": "claimed"}
    assert value("awa_batch_rows_total", **labels) >= 7


def test_every_metric_that_is_named_can_be_read() -> None:
    text = prometheus_client.generate_latest(registry).decode()
    for name in (*jobs.names(), *batch.names(), *runtime.names()):
        assert f"# HELP {name} " in text, name
        assert name.startswith("awa_")
