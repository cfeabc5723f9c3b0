"""A house that is lived in: jobs in every state, operations in every stage, a worker, a paused queue."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import awa
from tests.web.site import Site, eventually


@dataclass(frozen=True, slots=True)
class Furnished:
    """What there is to look at, by name."""

    running_job: int
    failed_job: int
    waiting_job: int
    callback_job: int
    completed_operation: Any
    running_operation: Any
    cancelled_operation: Any
    paused_operation: Any


async def furnish(site: Site) -> Furnished:
    """Fill the site; its worker goes on, and holds one job until the site is closed."""
    client = site.client
    arrived, forever = asyncio.Event(), asyncio.Event()

    @client.task(dict, kind="render_invoice", queue="invoices")
    async def render(job: awa.Job[Any]) -> Any:
        if job.args.get("card"):
            job.set_progress(60, "the bank has been asked")
            return awa.WaitForCallback(await job.register_callback(timeout_seconds=86_400))
        if job.args.get("slow"):
            arrived.set()
            await forever.wait()
        if job.args.get("bad"):
            raise awa.TerminalError("no template for the customer acme")
        return None

    await client.pause_queue("reports", paused_by="ada")
    await client.set_dlq("invoices", True)
    client.periodic("monthly-report", "0 6 1 * *", {"n": 1}, kind="monthly_report", queue="reports")
    await site.enqueue(2_400, queue="email", tags=["customer:acme"], args=_args("acme"))
    await site.enqueue(1_600, queue="email", tags=["customer:globex"], kind="send_text", priority=3)
    await site.enqueue(70, queue="reports", kind="monthly_report", priority=4)
    later = datetime.now(UTC) + timedelta(hours=5)
    waiting = await client.insert({"n": 1}, kind="monthly_report", queue="reports", run_at=later)
    await client.insert_many(
        [{"n": n} for n in range(120)], kind="render_invoice", queue="invoices"
    )
    failed = await client.insert({"bad": True}, kind="render_invoice", queue="invoices")
    callback = await client.insert({"card": "visa"}, kind="render_invoice", queue="invoices")
    running = await client.insert({"slow": True}, kind="render_invoice", queue="invoices")
    await site.work(("invoices", 8))
    await asyncio.wait_for(arrived.wait(), 60)
    await eventually(lambda: site.count(state="failed"))
    await eventually(lambda: _all_done(site))
    await eventually(lambda: site.count(state="waiting_external"))
    completed = await _operate(site, "move_queue", {"queue": "escalations"}, {"tag": "customer:acme"}, "provider is down; ask Ada")  # fmt: skip
    await client.wait_batch_operation(completed, timeout=60)
    cancelled = await _operate(site, "set_priority", {"priority": 2}, {"queue": "reports"}, None, limit=20)  # fmt: skip
    await eventually(lambda: _has_begun(site, cancelled))
    await client.cancel_batch_operation(cancelled)
    slow = await _operate(site, "set_priority", {"priority": 1}, {"kind": "send_text"}, "before the newsletter", limit=5)  # fmt: skip
    await eventually(lambda: _has_begun(site, slow))
    paused = await _operate(site, "set_priority", {"priority": 2}, {"kind": "send_text"}, "after the newsletter", limit=5)  # fmt: skip
    await eventually(lambda: _has_begun(site, paused))
    await client.change_batch_operation(paused, max_rows_per_second=2, reason="gently")
    await client.pause_batch_operation(paused, reason="the replica falls behind; Ada looks at it")
    return Furnished(
        running.id, failed.id, waiting.id, callback.id, completed, slow, cancelled, paused
    )


def _args(customer: str) -> dict[str, Any]:
    return {
        "to": f"ada@{customer}.example",
        "password": "do-not-show",
        "lines": [{"item": 1, "price": 9.5}, {"item": 2, "price": None}],
    }


async def _operate(
    site: Site, kind: str, spec: Any, where: Any, reason: str | None, *, limit: int | None = None
) -> Any:
    row = await site.client.submit_batch_operation(
        kind, spec, where, reason=reason, max_rows_per_second=limit
    )
    return row["id"]


async def _has_begun(site: Site, operation: Any) -> bool:
    row = await site.client.get_batch_operation(operation)
    return bool(row["processed"])


async def _all_done(site: Site) -> bool:
    return await site.count(queue="invoices", state="available") == 0
