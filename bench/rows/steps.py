"""What several rows do: fill a queue, drain it, and say how fast that went."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import awa
from bench.arena import Arena
from bench.figures import rate
from bench.peers import System, run

BATCHES = {
    "awa": 5_000,
    "awa canonical": 5_000,
    "PgQueuer": 2_000,
    "awa-pg": 5_000,
    "procrastinate": 5_000,
}
"""Jobs a bulk call, the best of 500 to 10,000 for each."""
REAL_BATCHES = {"awa": 250, "PgQueuer": 250, "awa-pg": 250}
"""The same for the real payloads, 2.5 MB a call."""


def real_payloads() -> str:
    """The file of real webhook deliveries that the package ships for its demo."""
    return str(Path(awa.__file__).parent / "dev" / "data" / "github-webhooks.ndjson.gz")


def fill(url: str, system: System, count: int, payloads: str | None = None) -> dict[str, Any]:
    """Enqueue in bulk, in a process of its own."""
    batch = (BATCHES if payloads is None else REAL_BATCHES)[system.name]
    return run(system, "enqueue", url, count=count, batch=batch, payloads=payloads)


@dataclass(frozen=True, slots=True)
class Drained:
    """Jobs a second of a bulk enqueue and of the drain after it, and the CPU time that a drained job took."""

    enqueued: float
    drained: float
    cpu_us: float
    """Of the worker process and the server together: what other users of the machine cannot distort."""


def fill_and_drain(
    arena: Arena, system: System, count: int, payloads: str | None = None
) -> Drained:
    """Enqueue in bulk, then let one worker process do it all."""
    with arena.fresh(system) as url:
        filled = fill(url, system, count, payloads)
        before_s = arena.server_cpu_s(url)
        drained = run(system, "drain", url, count=count)
        server_s = arena.server_cpu_s(url) - before_s
    seen = Drained(
        rate(count, filled["seconds"]),
        rate(count, drained["seconds"]),
        (server_s + drained["cpu_seconds"]) / count * 1e6,
    )
    arena.say(
        f"{system.name}: {seen.enqueued:,.0f} enqueued, {seen.drained:,.0f} drained a second,"
        f" {seen.cpu_us:.1f} µs of CPU a job (server {server_s / count * 1e6:.1f})"
    )
    return seen
