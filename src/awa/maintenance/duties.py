"""The table of duties: what the leader does, how often, and how much of it in one transaction.

The runner of batch operations is no row of this table: it runs beside the duties (see operations.py).
"""

import sys

from awa.config import Settings
from awa.maintenance import (
    activity,
    admission,
    ageing,
    callbacks,
    cron,
    cursors,
    gauges,
    promotion,
    rescuing,
    restore,
    retention,
    ring,
)
from awa.maintenance.duty import Duty
from awa.operations import retention as operations

# Counting a slot of many millions of rows takes longer than any other duty may. Not too long: after the leader's
# death its statement still runs to its end or this limit, and the next leader waits for that.
PRUNE_STATEMENT_MAX_MS = 30_000

# No bound of its own: it does all there is in one go, so it never runs again at once.
ONCE = sys.maxsize


def duties(settings: Settings) -> tuple[Duty, ...]:
    """The duties under these settings."""
    return (
        Duty("promotion", 0.2, promotion.BOUND_JOBS, promotion.run_once),
        Duty("admission", 0.5, admission.BOUND_KEYS, admission.admitter()),
        Duty("cron", 0.5, cron.BOUND_SCHEDULES, cron.fire),
        Duty("cron-retirement", 10.0, ONCE, cron.retire),
        Duty("rescue", 1.0, rescuing.BOUND_ATTEMPTS, rescuing.rescuer(settings)),
        Duty("callback-time-outs", 1.0, callbacks.BOUND_CALLBACKS, callbacks.run_once),
        Duty("ageing", 5.0, ONCE, ageing.ager(settings)),
        Duty("cursors", 1.0, cursors.BOUND_LANES, cursors.run_once),
        Duty("rotation", _share(settings, 10, 30.0), ONCE, ring.rotator(settings)),
        Duty("prune", _share(settings, 4, 60.0), 1, ring.pruner(settings), PRUNE_STATEMENT_MAX_MS),
        Duty("job-retention", 60.0, retention.BOUND_JOBS, retention.job_retainer(settings)),
        Duty(
            "callback-retention",
            60.0,
            retention.BOUND_CALLBACKS,
            retention.callback_retainer(settings),
        ),
        Duty("dlq-retention", 60.0, retention.BOUND_LETTERS, retention.letter_retainer(settings)),
        Duty("operation-retention", 60.0, operations.CHUNK_ITEMS, operations.run_once),
        Duty(
            "follow-up-retention",
            60.0,
            retention.BOUND_FOLLOW_UPS,
            retention.follow_up_retainer(settings),
        ),
        Duty("session-retention", 60.0, retention.BOUND_SESSIONS, retention.forget_sessions),
        Duty("runtime-retention", 300.0, retention.BOUND_RUNTIMES, retention.forget_runtimes),
        Duty("restore", 60.0, ONCE, restore.run_once),
        Duty("gauges", 5.0, ONCE, gauges.run_once),
        Duty("activity", activity.INTERVAL_S, ONCE, activity.run_once),
    )


def _share(settings: Settings, parts: int, most_s: float) -> float:
    """A beat fine enough for the time that a slot of the ring stays open, `most_s` at most."""
    return max(0.5, min(most_s, ring.slot_age_s(settings, ring.SLOTS) / parts))
