"""The guards of the end of an attempt."""

from tests.proofs import test_ending_twice, test_settling
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

MUTATIONS = (
    Mutation(
        "finish locks the claim rows",
        (Rewrite("305_attempts", "c.slot FOR UPDATE OF c;", "c.slot;"),),
        test_ending_twice.test_the_second_of_two_finishers_waits_and_changes_nothing,
    ),
    Mutation(
        "finish reads closures in a new statement after its locks",
        (
            Rewrite("305_attempts", "ORDER BY c.lane_id, c.claim_no, c.slot FOR UPDATE OF c;", ";"),
            Rewrite(
                "305_attempts",
                "WHERE p_runtime IS NULL OR c.runtime_id = p_runtime\n",
                "WHERE p_runtime IS NULL OR c.runtime_id = p_runtime FOR UPDATE OF c\n",
            ),
        ),
        test_ending_twice.test_the_second_of_two_finishers_waits_and_changes_nothing,
    ),
    Mutation(
        "what has ended is not ended again",
        (
            Rewrite(
                "305_attempts",
                "c.seqs * d.seqs - coalesce(",
                "c.seqs * d.seqs - '{}'::int8multirange * coalesce(",
            ),
        ),
        test_ending_twice.test_a_finisher_that_came_first_leaves_nothing_to_rescue,
    ),
    Mutation(
        "a rescue has the last word over a late finisher",
        (Rewrite("305_attempts", "c.slot FOR UPDATE OF c;", "c.slot;"),),
        test_ending_twice.test_a_rescue_that_came_first_leaves_nothing_to_a_late_finisher,
    ),
    Mutation(
        "a rescue owes follow-ups of those jobs alone that it failed itself",
        (Rewrite("510_rescue", " WHERE u.seq = ANY (failed)", ""),),
        test_ending_twice.test_a_worker_that_failed_the_job_itself_first_leaves_nothing_owed,
    ),
    Mutation(
        "a heartbeat takes the locks of finish",
        (
            Rewrite(
                "500_runtimes", "    PERFORM awa.lock_claims(p_lanes, p_claim_nos, p_seqs);\n", ""
            ),
        ),
        test_ending_twice.test_a_heartbeat_writes_no_attempt_down_that_is_ending,
    ),
    Mutation(
        "a claim that landed after the death of its runtime is looked for again",
        (
            Rewrite(
                "510_rescue",
                "(p_by_deadline OR r.state <> 'alive')",
                "(p_by_deadline OR r.ended_at = p_now)",
            ),
        ),
        test_ending_twice.test_a_claim_that_lands_after_its_runtime_was_declared_dead_is_taken_back,
    ),
    Mutation(
        "a claim asks again whether its runtime lives, when it has its id",
        (
            Rewrite(
                "210_claim",
                "    PERFORM awa.require_alive(p_runtime);\n    RETURN QUERY\n",
                "    RETURN QUERY\n",
            ),
        ),
        test_settling.test_a_claim_that_looked_before_the_end_and_has_its_id_after_it_is_refused,
    ),
    Mutation(
        "a runtime is settled by transactions and not by the clock",
        (
            Rewrite(
                "510_rescue",
                "r.settle_from <= pg_snapshot_xmin(pg_current_snapshot())",
                "r.ended_at < now_ - interval '1 hour'",
            ),
        ),
        test_settling.test_a_claim_that_commits_days_after_its_runtime_ended_is_rescued,
    ),
    Mutation(
        "a runtime is settled from an id, not from the end of a snapshot",
        (
            Rewrite(
                "510_rescue",
                "SET settle_from = pg_current_xact_id()",
                "SET settle_from = pg_snapshot_xmax(pg_current_snapshot())",
            ),
        ),
        test_settling.test_an_id_beyond_the_end_of_the_rescues_snapshot_is_waited_for,
    ),
)
