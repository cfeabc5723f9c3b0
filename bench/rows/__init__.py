"""The rows of the benchmark: each measures one subject and answers figures for its lines of the budget."""

from collections.abc import Callable

from bench.arena import Arena
from bench.rows import (
    backlog,
    canonical,
    dead_rows,
    drain,
    enqueue,
    idle_poll,
    latency,
    move,
    open_writer,
    pages,
    payloads,
    profile,
    reader,
    singles,
    unique,
    wal,
)
from bench.wanted import Figure

Row = Callable[[Arena], dict[str, Figure]]

ROWS: dict[str, Row] = {
    "drain": drain.measure,
    "enqueue": enqueue.measure,
    "singles": singles.measure,
    "payloads": payloads.measure,
    "latency": latency.measure,
    "wal": wal.measure,
    "open-writer": open_writer.measure,
    "idle-poll": idle_poll.measure,
    "dead-rows": dead_rows.measure,
    "reader": reader.measure,
    "backlog": backlog.measure,
    "move": move.measure,
    "pages": pages.measure,
    "profile": profile.measure,
    "unique": unique.measure,
    "canonical": canonical.measure,
}
