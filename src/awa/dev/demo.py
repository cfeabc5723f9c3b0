"""The demo: 51,000 real jobs, two operations on them while they run, a worker killed, every job accounted for.

Nothing here is staged. The worker and the housekeeper are processes of their own, started by the
same commands that anyone would type; the worker dies by SIGKILL; the operations are submitted the
way an operator submits them. `Demo.play` is the table of contents.
"""

import asyncio
import secrets
import shlex
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from awa.client import AsyncClient
from awa.db import run
from awa.dev import demo_accounts as accounts
from awa.dev.children import Child, stop_all
from awa.dev.deliveries import deliveries, jobs
from awa.dev.demo_plan import (
    BUSY_REPOSITORY,
    HEARTBEAT_S,
    LEDGER_VARIABLE,
    OWN_QUEUE,
    PACE_VARIABLE,
    QUEUE,
    SECOND_WORKER_PACE_S,
    SECRET_VARIABLE,
    STALE_S,
    URGENT_SENDER,
    Plan,
)
from awa.dev.ledger import fold
from awa.dev.stage import Stage
from awa.model.states import FINAL_OPERATION_STATES
from awa.storage.enqueue import enqueue_many

CHUNK_JOBS: Final = 500
LOOK_EVERY_S: Final = 0.2
# A killed process may have had a claim under way that the server still commits.
SETTLE_S: Final = 0.5
WARM_UP_SHARE: Final = 0.05
BIGGEST_REPOSITORIES: Final = 5


class Demo:
    """One showing, on an empty database. `folder` takes the workers' records and logs."""

    def __init__(self, url: str, folder: Path, stage: Stage, plan: Plan) -> None:
        self._url, self._folder, self._stage, self._plan = url, folder, stage, plan
        self._client = AsyncClient(url)
        self._secret = secrets.token_hex(32)
        self._children: list[Child] = []

    async def play(self) -> bool:
        """Tell the whole story; True if every sum came out right."""
        began = time.monotonic()
        try:
            async with self._client:
                await self._migrate()
                await self._enqueue()
                worker = await self._start()
                move = await self._move()
                priority = await self._reprioritise()
                held = await self._pull_the_plug(worker)
                await self._carry_on()
                return await self._account(move, priority, held, began)
        finally:
            self._stop_children()

    async def _migrate(self) -> None:
        self._stage.step(
            "Create the schema",
            "Awa lives in one schema of your database. Running this again does nothing.",
        )
        self._stage.command("awa migrate")
        names = await self._client.migrate()
        self._stage.say(f"Applied {', '.join(names)}.")

    async def _enqueue(self) -> None:
        total = self._plan.total
        self._stage.step(
            f"Enqueue {total:,} real jobs",
            f"{len(deliveries())} webhook deliveries that GitHub publishes as examples, "
            f"{self._plan.rounds} times over, 11 KB each on average, in sets of {CHUNK_JOBS}. Each is "
            f"signed as its sender would sign it; {self._plan.forged} are signed with a wrong secret.",
        )
        self._stage.command(
            f"awa enqueue --file github-webhooks.ndjson.gz --repeat {self._plan.rounds}"
        )
        began, done = time.monotonic(), 0
        source = jobs(self._secret.encode(), range(total))
        with self._stage.meter("Enqueueing", total, "jobs") as meter:
            while chunk := list(islice(source, CHUNK_JOBS)):
                async with self._client.connection() as conn:
                    done += len(await enqueue_many(conn, QUEUE, chunk))
                meter.at(done)
        seconds = time.monotonic() - began
        self._stage.say(f"{done:,} jobs in {seconds:.1f} s, {done / seconds:,.0f} a second.")

    async def _start(self) -> Child:
        self._stage.step(
            "Put a housekeeper and a worker to work",
            "Two processes. The housekeeper promotes, rescues and carries out operations; it needs "
            "no worker. The worker checks each signature and counts deliveries by repository; some "
            "of its handlers stumble on purpose and are tried again.",
        )
        house = self._child("maintenance", ("maintenance", "run"), {})
        worker = self._worker(self._plan.first_pace_s)
        self._stage.say(f"Housekeeper is process {house.pid}, worker is process {worker.pid}.")
        await self._work_until(round(self._plan.total * WARM_UP_SHARE), "Working")
        return worker

    async def _move(self) -> dict[str, Any]:
        matching = self._plan.matching(BUSY_REPOSITORY)
        self._stage.step(
            "Move a backlog while it is being worked on",
            f"One repository sends {matching:,} of the {self._plan.total:,} jobs and everybody waits "
            f"behind it. It gets a queue of its own. Jobs that the worker claims first are skipped.",
        )
        return await self._operate(
            "move_queue",
            {"tag": BUSY_REPOSITORY},
            {"queue": OWN_QUEUE},
            "everybody waits behind one repository",
        )

    async def _reprioritise(self) -> dict[str, Any]:
        self._stage.step(
            "Let some jobs go first",
            f"What {URGENT_SENDER.partition(':')[2]} itself sent is urgent: priority 1 instead of 2.",
        )
        return await self._operate(
            "set_priority", {"tag": URGENT_SENDER}, {"priority": 1}, "these are urgent"
        )

    async def _pull_the_plug(self, worker: Child) -> int:
        self._stage.step(
            "Pull the plug",
            "SIGKILL, in the middle of everything: no farewell, no clean-up.",
        )
        self._stage.command(f"kill -9 {worker.pid}")
        worker.kill()
        self._children.remove(worker)
        await asyncio.sleep(SETTLE_S)
        async with self._client.connection() as conn:
            held = int(await run.value(conn, "dev/demo_held", {"pid": worker.pid}))
        self._stage.say(
            f"The worker is gone. {held:,} jobs were in its hands; after {STALE_S:g} s of silence "
            "the housekeeper takes them back."
        )
        return held

    async def _carry_on(self) -> None:
        self._stage.step(
            "Start another worker", "It knows nothing of the first one. This one is fast."
        )
        worker = self._worker(SECOND_WORKER_PACE_S)
        self._stage.say(f"The new worker is process {worker.pid}.")
        await self._work_until(self._plan.total, "Working")

    async def _account(
        self, move: Mapping[str, Any], priority: Mapping[str, Any], held: int, began: float
    ) -> bool:
        self._stage.step(
            "Add it all up",
            "From two witnesses: the database, and what the handlers wrote down themselves.",
        )
        async with self._client.connection() as conn:
            totals = await run.row(conn, "dev/demo_totals")
            endings = await self._endings()
        assert totals is not None
        ledger = fold(self._folder)
        books = accounts.Books(
            enqueued=self._plan.total,
            forged=self._plan.forged,
            held_when_killed=held,
            totals=totals,
            endings=endings,
            move=move,
            priority=priority,
            ledger=ledger,
        )
        found = ledger.biggest(BIGGEST_REPOSITORIES)
        self._stage.repositories([(r.name, r.deliveries, r.bytes) for r in found])
        self._stage.figures(accounts.figures(books))
        checks = accounts.checks(books)
        self._stage.checks(checks)
        self._stage.say(f"The whole story took {time.monotonic() - began:.0f} s.")
        return all(holds for _, holds in checks)

    async def _operate(
        self, op_kind: str, filter_: dict[str, Any], spec: dict[str, Any], reason: str
    ) -> dict[str, Any]:
        """Preview, submit and watch one operation, as an operator does."""
        wish = f"--op-kind {op_kind} --filter {_quoted(filter_)} --spec {_quoted(spec)}"
        self._stage.command(f"awa batch-ops preview {wish}")
        self._stage.preview(await self._client.preview_batch_operation(op_kind, spec, filter_))
        self._stage.command(f"awa batch-ops submit {wish} --yes --watch")
        row = await self._client.submit_batch_operation(op_kind, spec, filter_, reason=reason)
        with self._stage.meter(op_kind, None, "jobs") as meter:
            while row["state"] not in FINAL_OPERATION_STATES:
                await asyncio.sleep(LOOK_EVERY_S)
                self._check_children()
                row = await self._client.get_batch_operation(row["id"])
                accounted = row["processed"] + row["skipped"] + row["errored"]
                meter.at(accounted, total=row["total_matched"], state=row["state"])
        self._stage.operation(row)
        self._stage.say(
            f"{row['processed']:,} jobs were changed. {row['skipped']:,} were claimed or done "
            "before their turn came, and are as they were."
        )
        return row

    async def _work_until(self, wanted: int, label: str) -> None:
        """Follow the work until so many jobs have ended."""
        with self._stage.meter(label, self._plan.total, "jobs") as meter:
            while True:
                endings = await self._endings()
                done = sum(endings.get(name, 0) for name in ("completed", "recorded", "failed"))
                meter.at(done)
                if done >= wanted:
                    return
                self._check_children()
                await asyncio.sleep(LOOK_EVERY_S)

    async def _endings(self) -> dict[str, int]:
        async with self._client.connection() as conn:
            rows = await run.rows(conn, "dev/demo_progress")
        return {row["outcome"]: row["attempts"] for row in rows}

    def _worker(self, pace_s: float) -> Child:
        widths = [f"--queue={queue}={self._plan.width}" for queue in (QUEUE, OWN_QUEUE)]
        run_it = ("worker", "run", "awa.dev.demo_worker:client", "--roles=worker", *widths)
        return self._child("worker", run_it, {PACE_VARIABLE: str(pace_s)})

    def _child(self, name: str, arguments: tuple[str, ...], more: Mapping[str, str]) -> Child:
        environment = {
            **more,
            "AWA_DATABASE_URL": self._url,
            "AWA_HEARTBEAT_INTERVAL_S": str(HEARTBEAT_S),
            "AWA_RUNTIME_STALE_S": str(STALE_S),
            SECRET_VARIABLE: self._secret,
            LEDGER_VARIABLE: str(self._folder),
        }
        self._stage.command(shlex.join(["awa", *arguments]) + " &")
        child = Child(name, arguments, environment, self._folder / f"{name}.log")
        self._children.append(child)
        return child

    def _check_children(self) -> None:
        for child in self._children:
            child.check()

    def _stop_children(self) -> None:
        stop_all(self._children)


def _quoted(document: Mapping[str, Any]) -> str:
    return shlex.quote(orjson.dumps(document).decode())
