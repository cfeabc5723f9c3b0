"""Single enqueues from 20 tasks at once: what the idle-gated notification costs, and whether anybody waits for a lock.

The queue has been used before: its first job makes a lane, which is another matter. "Without notify" is the very same insert in a database where the function that looks for a sleeper does nothing.
"""

import threading
import time
from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median, rate
from bench.peers import AWA, PGQUEUER, System, run, running
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure

CONCURRENCY = 20
LOOKS = 100


def measure(arena: Arena) -> dict[str, Figure]:
    """With and without notify, with nobody idle and with a worker listening, and PgQueuer; in turns."""
    count = arena.scaled(5_000, 200)
    seen = in_turns(
        arena.rounds,
        {
            "plain": partial(_rate, arena, AWA, count, notify=False),
            "gated": partial(_rate, arena, AWA, count),
            "PgQueuer": partial(_rate, arena, PGQUEUER, count),
            "plain, listening": partial(_rate_listening, arena, count, notify=False),
            "gated, listening": partial(_rate_listening, arena, count, notify=True),
        },
    )
    rates = {name: median(runs) for name, runs in seen.items()}
    return {
        "singles-notify": Figure(rates["gated"], "jobs/s", rates["plain"]),
        "singles-listening": Figure(rates["gated, listening"], "jobs/s", rates["plain, listening"]),
        "singles-pgqueuer": Figure(rates["gated"], "jobs/s", rates["PgQueuer"]),
        "singles-locks": Figure(_lock_waits(arena, count), "looks of 100"),
    }


def _rate(arena: Arena, system: System, count: int, *, notify: bool = True) -> float:
    with arena.fresh(system) as url:
        if not notify:
            _silence(arena, url)
        fill(url, system, 1)
        return _enqueue(url, system, count)


def _rate_listening(arena: Arena, count: int, *, notify: bool) -> float:
    """The same while one worker takes the jobs away, so that it is idle now and then."""
    with arena.fresh(AWA) as url:
        if not notify:
            _silence(arena, url)
        fill(url, AWA, 1)
        with running(AWA, "attend", url) as worker:
            worker.event("ready")
            return _enqueue(url, AWA, count)


def _enqueue(url: str, system: System, count: int) -> float:
    done = run(system, "singles", url, count=count, concurrency=CONCURRENCY)
    return rate(count, done["seconds"])


def _silence(arena: Arena, url: str) -> None:
    with arena.connect(url) as connection:
        connection.execute(statement("without_notify").encode())


def _lock_waits(arena: Arena, count: int) -> int:
    """In how many of 100 looks some session waited for another one's lock, while 20 tasks enqueue."""
    with arena.fresh(AWA) as url, arena.connect(url) as watcher:
        fill(url, AWA, 1)
        producer = threading.Thread(target=_enqueue, args=(url, AWA, 2 * count), daemon=True)
        producer.start()
        time.sleep(arena.scaled(1, 0))
        waits = 0
        for _ in range(LOOKS):
            (waiting,) = watcher.execute(statement("lock_waits").encode()).fetchone() or (0,)
            waits += waiting > 0
            time.sleep(0.01)
        producer.join()
    return waits
