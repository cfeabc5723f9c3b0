"""The budget table: every line that `make bench` prints, in order. The figures come from the rows of `bench.rows`.

A row may have several lines, since one measurement often answers several wishes. A line whose figure is missing is
printed all the same, as not run or as failed with the reason. A line without limits is there to compare.
"""

from bench.wanted import Line, at_least, at_most

LINES: tuple[Line, ...] = (
    Line(
        "drain-pgqueuer",
        "drain",
        "drain of no-op jobs, one worker process",
        (at_least(4, of="PgQueuer"),),
    ),
    Line(
        "drain-awa-pg",
        "drain",
        "drain of no-op jobs, one worker process",
        (at_least(12, of="awa-pg"),),
    ),
    Line("drain-cpu", "drain", "CPU time of worker and server a drained job", of="PgQueuer"),
    Line("bulk-pgqueuer", "enqueue", "bulk enqueue", of="PgQueuer"),
    Line("bulk-cpu", "enqueue", "CPU time of client and server a job", of="awa-pg"),
    Line("bulk-awa-pg", "enqueue", "bulk enqueue", (at_least(2, of="awa-pg"),)),
    Line(
        "bulk-insert",
        "enqueue",
        "bulk enqueue, against one plain INSERT … SELECT",
        of="plain INSERT",
    ),
    Line(
        "singles-notify",
        "singles",
        "single enqueues at concurrency 20, nobody idle",
        (at_least(0.8, of="without notify"),),
    ),
    Line(
        "singles-listening",
        "singles",
        "single enqueues at concurrency 20, a worker listening",
        (at_least(0.8, of="without notify"),),
    ),
    Line(
        "singles-pgqueuer",
        "singles",
        "single enqueues at concurrency 20",
        (at_least(1, of="PgQueuer"),),
    ),
    Line(
        "singles-locks",
        "singles",
        "sessions seen waiting for a lock during them",
        (at_most(0, "of 100 looks"),),
    ),
    Line(
        "real-enqueue",
        "payloads",
        "enqueue of the real payloads",
        (at_least(2, of="best Python peer"),),
    ),
    Line(
        "real-drain",
        "payloads",
        "drain of the real payloads",
        (at_least(2, of="best Python peer"),),
    ),
    Line(
        "pickup-p50",
        "latency",
        "pickup latency at 100 jobs/s, median",
        (at_most(4, "ms"), at_most(1, of="PgQueuer")),
    ),
    Line(
        "pickup-p99",
        "latency",
        "pickup latency at 100 jobs/s, 99th percentile",
        (at_most(7, "ms"), at_most(1, of="PgQueuer")),
    ),
    Line(
        "wal",
        "wal",
        "WAL per job, enqueue to completed, small arguments",
        (at_most(1_000, "bytes"),),
    ),
    Line(
        "open-writer",
        "open-writer",
        "drain with a write transaction open and 10,000 enqueues rolled back",
        (at_least(0.8, of="without"),),
    ),
    Line(
        "idle-poll",
        "idle-poll",
        "poll of an idle lane with 1 million uncommitted rows in it, median",
        (at_most(5, "ms"),),
    ),
    Line(
        "idle-poll-p99",
        "idle-poll",
        "the same, slowest of 1,000 polls but ten",
    ),
    Line(
        "dead-rows",
        "dead-rows",
        "dead rows in the ring tables after 100,000 jobs",
        (at_most(0, "rows"),),
    ),
    Line(
        "reader",
        "reader",
        "drain under an idle-in-transaction reader",
        (at_least(0.9, of="without"),),
    ),
    Line(
        "backlog",
        "backlog",
        "claim rate with a backlog of 10 million",
        (at_least(0.8, of="100,000"),),
    ),
    Line(
        "get-job",
        "backlog",
        "get one job by id, 10 million stored, median of 200",
        (at_most(5, "ms"),),
    ),
    Line(
        "move-rate",
        "move",
        "batch move of 1 million waiting jobs",
        (at_least(30_000, "rows/s"), at_least(0.3, of="plain UPDATE")),
    ),
    Line(
        "move-flat",
        "move",
        "its rate, against the same for 10,000",
        (at_least(0.7, of="10,000"),),
    ),
    Line("move-chunk", "move", "its chunks, 99th percentile", (at_most(100, "ms"),)),
    Line(
        "move-pickup",
        "move",
        "pickup p99 of another queue meanwhile",
        (at_most(2, of="without the operation"),),
    ),
    Line(
        "move-pause",
        "move",
        "longest pause between two chunks while 100 other jobs/s run",
        (at_most(1_000, "ms"),),
    ),
    Line(
        "move-awa-pg",
        "move",
        "batch move while 100 other jobs/s run, against awa-pg's when idle",
        (at_least(1, of="awa-pg"),),
    ),
    Line(
        "pages-median",
        "pages",
        "slowest read of the console and API at a million jobs, median",
        (at_most(200, "ms"),),
    ),
    Line(
        "pages-p99",
        "pages",
        "slowest read by its 99th percentile",
        (at_most(500, "ms"),),
    ),
    Line(
        "canonical-drain-pgqueuer",
        "canonical",
        "drain on the canonical storage, one worker process",
        (at_least(1, of="PgQueuer"),),
    ),
    Line(
        "canonical-drain-procrastinate",
        "canonical",
        "drain on the canonical storage, one worker process",
        (at_least(1, of="procrastinate"),),
    ),
    Line(
        "canonical-bulk-pgqueuer",
        "canonical",
        "bulk enqueue on the canonical storage",
        (at_least(1, of="PgQueuer"),),
    ),
    Line(
        "canonical-bulk-procrastinate",
        "canonical",
        "bulk enqueue on the canonical storage",
        (at_least(1, of="procrastinate"),),
    ),
    Line(
        "unique-cpu",
        "unique",
        "a unique job's CPU time of the server, enqueue to completed, in sets of 500",
        of="not unique",
    ),
    Line(
        "unique-held-on",
        "unique",
        "the same with a key that completed jobs hold on",
        of="not unique",
    ),
    Line("profile-wall", "profile", "one job's share of a drain: wall time"),
    Line("profile-database", "profile", "of it the database, of wall", of="wall"),
    Line("profile-driver", "profile", "of it the driver's CPU time, of wall", of="wall"),
    Line("profile-python", "profile", "of it Python's other CPU time, of wall", of="wall"),
)
