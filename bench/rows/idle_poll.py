"""A poll that finds nothing, while a transaction that has put a million jobs into the lane stays open."""

from bench.arena import Arena
from bench.figures import median, percentile
from bench.peers import AWA
from bench.rows.engine import claim, complete, enqueue, register
from bench.wanted import Figure

QUEUE = "bench"
POLL_JOBS = 500
POLLS = 1_000


def measure(arena: Arena) -> dict[str, Figure]:
    """The lane has been at work before, so it has a head and a history."""
    uncommitted = arena.scaled(1_000_000, 10_000)
    polls = arena.scaled(POLLS, 50)
    with (
        arena.fresh(AWA) as url,
        arena.connect(url) as producer,
        arena.connect(url) as worker,
    ):
        runtime_id = register(worker)
        enqueue(producer, QUEUE, POLL_JOBS)
        claimed, _ = claim(worker, QUEUE, POLL_JOBS, runtime_id)
        complete(worker, claimed, runtime_id)
        with producer.transaction(force_rollback=True):
            enqueue(producer, QUEUE, uncommitted)
            times_ms = [claim(worker, QUEUE, POLL_JOBS, runtime_id)[1] * 1000 for _ in range(polls)]
    return {
        "idle-poll": Figure(median(times_ms), "ms", note=f"the first took {times_ms[0]:.1f} ms"),
        "idle-poll-p99": Figure(percentile(times_ms, 0.99), "ms"),
    }
