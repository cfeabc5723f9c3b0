"""The guards of the views, and some that a single session can show."""

from collections.abc import Awaitable, Callable

from tests.proofs import test_claim_and_move, test_open_transactions
from tests.proofs.mutations.base import Mutation, Proof
from tests.proofs.stage import Actor, Rewrite, Stage
from tests.storage import test_ageing, test_isolation, test_relocate, test_rotate


def _alone(test: Callable[[Actor], Awaitable[None]]) -> Proof:
    """A test of one session as a proof."""

    async def proof(stage: Stage) -> None:
        await test(await stage.actor())

    return proof


async def _refused(actor: Actor) -> None:
    await test_isolation.test_a_verb_refuses_a_frozen_snapshot(actor, "enqueue", "repeatable read")


MUTATIONS = (
    Mutation(
        "owed jobs are seen waiting",
        (
            Rewrite(
                "107_lane_waiting",
                "unnest(h.owed) g",
                "unnest(h.owed * '{}'::int8multirange) g",
            ),
        ),
        test_claim_and_move.test_an_owed_job_is_seen_waiting,
    ),
    Mutation(
        "late jobs are seen waiting",
        (
            Rewrite(
                "107_lane_waiting",
                "AND NOT pg_visible_in_snapshot(k.txid, h.seen) OFFSET 0",
                "AND false OFFSET 0",
            ),
        ),
        test_open_transactions.test_a_late_job_is_seen_waiting,
    ),
    Mutation(
        "a job that is owed and late is seen once",
        (Rewrite("107_lane_waiting", "AND NOT e.lane_seq <@ h.owed", ""),),
        test_open_transactions.test_jobs_owed_as_one_range_around_an_open_enqueue_are_served_once,
    ),
    Mutation(
        "frozen snapshots are refused",
        (Rewrite("010_isolation", "NOT IN ('read committed', 'read uncommitted')", "= 'any'"),),
        _alone(_refused),
    ),
    Mutation(
        "a demoted job's age begins anew",
        (
            Rewrite(
                "405_leave_lane",
                "(lane_seq, job_id, txid, created_at, run_at, lane_id,",
                "(lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id,",
            ),
            Rewrite(
                "405_leave_lane",
                "k.job_id, p_txid, k.created_at,",
                "k.job_id, p_txid, k.ready_at, k.created_at,",
            ),
        ),
        _alone(test_ageing.test_a_demoted_job_is_not_aged_straight_back),
    ),
    Mutation(
        "jobs of several lanes are moved in their old order",
        (Rewrite("405_leave_lane", "ORDER BY r.lane_seq OFFSET 0) k", "OFFSET 0) k"),),
        _alone(test_relocate.test_a_set_from_several_lanes_keeps_its_order_too),
    ),
    Mutation(
        "stamps are written once",
        (
            Rewrite(
                "405_leave_lane",
                "ELSE k.stamp || k.metadata END",
                "ELSE k.metadata || k.stamp END",
            ),
        ),
        _alone(test_relocate.test_stamps_say_where_it_came_from_once_and_only_what_changed),
    ),
    Mutation(
        "the ring moves into empty slots only",
        (
            Rewrite(
                "600_rotate",
                "IF NOT awa.slot_is_empty(next_slot) THEN RETURN 'blocked'; END IF;",
                "",
            ),
        ),
        _alone(test_rotate.test_the_ring_stands_still_before_a_slot_that_is_not_empty),
    ),
)
