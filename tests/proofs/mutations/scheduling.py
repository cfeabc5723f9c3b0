"""The guards of schedules."""

from tests.proofs import test_cron_races
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

MUTATIONS = (
    Mutation(
        "a tick is fired by whoever still sees it as the next",
        (Rewrite("720_cron", "AND c.next_fire_at = p_seen ", ""),),
        test_cron_races.test_two_leaders_fire_a_tick_once,
    ),
    Mutation(
        "a paused schedule is not fired",
        (Rewrite("720_cron", "AND c.paused_at IS NULL ", ""),),
        test_cron_races.test_a_pause_that_came_first_stops_the_fire,
    ),
    Mutation(
        "a retired schedule is not fired",
        (Rewrite("720_cron", "AND c.retired_at IS NULL ", ""),),
        test_cron_races.test_a_retirement_that_came_first_stops_the_fire,
    ),
    Mutation(
        "a schedule is locked while it is fired",
        (Rewrite("720_cron", "c.retired_at IS NULL FOR UPDATE;", "c.retired_at IS NULL;"),),
        test_cron_races.test_two_leaders_fire_a_tick_once,
    ),
)
