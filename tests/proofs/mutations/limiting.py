"""The guards of limits."""

from tests.proofs import test_queue_limits
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

MUTATIONS = (
    Mutation(
        "one claim of a queue with a running limit at a time",
        (
            Rewrite(
                "205_queue_limits",
                "IF NOT pg_try_advisory_xact_lock(4717, hashtext(p_queue)) THEN",
                "IF false THEN",
            ),
        ),
        test_queue_limits.test_of_two_claims_at_once_one_counts_and_the_other_comes_again,
    ),
    Mutation(
        "one claim of a queue with a rate at a time",
        (
            Rewrite(
                "205_queue_limits",
                "IF NOT pg_try_advisory_xact_lock(4717, hashtext(p_queue)) THEN",
                "IF false THEN",
            ),
        ),
        test_queue_limits.test_the_same_for_a_rate,
    ),
    Mutation(
        "a limit is counted in a new statement after its lock",
        (
            Rewrite(
                "205_queue_limits",
                "LANGUAGE plpgsql VOLATILE AS $$\nDECLARE\n    limits record;",
                "LANGUAGE plpgsql STABLE AS $$\nDECLARE\n    limits record;",
            ),
            Rewrite(
                "206_counted_claims",
                "count_running(p_lanes int[]) RETURNS bigint\nLANGUAGE sql VOLATILE",
                "count_running(p_lanes int[]) RETURNS bigint\nLANGUAGE sql STABLE",
            ),
        ),
        test_queue_limits.test_a_claim_that_began_before_another_was_committed_counts_it,
    ),
    Mutation(
        "a limit is read again after its lock",
        (
            Rewrite(
                "205_queue_limits",
                "LANGUAGE plpgsql VOLATILE AS $$\nDECLARE\n    limits record;",
                "LANGUAGE plpgsql STABLE AS $$\nDECLARE\n    limits record;",
            ),
        ),
        test_queue_limits.test_a_limit_that_was_set_while_a_claim_waited_for_its_turn_counts,
    ),
    Mutation(
        "claims of a queue with a limit follow each other in time",
        (Rewrite("210_claim", "        claimed_at_ := clock_timestamp();", "        "),),
        test_queue_limits.test_claims_follow_each_other_in_time,
    ),
    Mutation(
        "a slot is kept while a rate counts its claims",
        (
            Rewrite(
                "610_prune",
                "greatest(p_keep_s, (SELECT max(m.rate_period_s) FROM awa.queue_meta m))",
                "p_keep_s",
            ),
        ),
        test_queue_limits.test_a_slot_that_a_rate_still_counts_is_not_emptied,
    ),
    Mutation(
        "a carried claim keeps its total",
        (
            Rewrite(
                "607_carry",
                "SELECT c.claim_no, c.cursor, c.claimed_at, c.deadline_at, c.total, c.runtime_id,",
                "SELECT c.claim_no, c.cursor, c.claimed_at, c.deadline_at, 0, c.runtime_id,",
            ),
        ),
        test_queue_limits.test_a_claim_that_is_carried_keeps_its_place_in_the_count,
    ),
)
