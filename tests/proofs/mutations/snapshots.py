"""The guards around the one snapshot that decides a claim, and around positions and ids."""

from tests.proofs import (
    test_open_transactions,
)
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

SHOWN_BY_SNAPSHOT = "(r.lane_seq < trusted OR pg_visible_in_snapshot(r.txid, snap))"

BEFORE_TOMBSTONES = "PERFORM awa.pause_point('claim.before_tombstones');"

MUTATIONS = (
    Mutation(
        "S is from before the locks",
        (
            Rewrite(
                "200_claim_lane",
                BEFORE_TOMBSTONES,
                BEFORE_TOMBSTONES + " snap := pg_current_snapshot();",
            ),
        ),
        test_open_transactions.test_a_job_that_commits_while_the_claim_holds_its_locks_comes_late,
    ),
    Mutation(
        "the window is filtered by S",
        (
            Rewrite(
                "200_claim_lane",
                f"AND {SHOWN_BY_SNAPSHOT}\n                   AND (NOT has_tombstones",
                "AND (NOT has_tombstones",
            ),
        ),
        test_open_transactions.test_a_job_that_commits_after_the_claims_snapshot_is_served_once,
    ),
    Mutation(
        "late by S and not by a later snapshot",
        (
            Rewrite(
                "200_claim_lane",
                "head_seen, snap, trusted);",
                "head_seen, pg_current_snapshot(), trusted);",
            ),
            Rewrite(
                "200_claim_lane",
                "p_limit, snap, trusted);",
                "p_limit, pg_current_snapshot(), trusted);",
            ),
        ),
        test_open_transactions.test_a_late_job_that_commits_after_the_claims_snapshot_is_served_once,
    ),
    Mutation(
        "late in the whole region below the cursor: transactions of the list",
        (
            Rewrite(
                "190_claim_steps",
                "FROM unnest(ended) e CROSS JOIN",
                "FROM unnest(ended[:0]) e CROSS JOIN",
            ),
        ),
        test_open_transactions.test_a_job_of_a_transaction_known_to_run_comes_late,
    ),
    Mutation(
        "late in the whole region below the cursor: transactions beyond the list",
        (
            Rewrite(
                "190_claim_steps",
                "FROM gaps g CROSS JOIN",
                "FROM (SELECT * FROM gaps LIMIT 0) g CROSS JOIN",
            ),
        ),
        test_open_transactions.test_a_job_of_a_transaction_younger_than_the_snapshot_comes_late,
    ),
    Mutation(
        "late only below the old cursor",
        (
            Rewrite(
                "200_claim_lane",
                "awa.late_positions(p_lane, head_cursor,",
                "awa.late_positions(p_lane, 9223372036854775807,",
            ),
        ),
        test_open_transactions.test_jobs_that_came_since_the_last_claim_are_served_once_in_parts,
    ),
    Mutation(
        "the transaction's id before its position",
        (
            Rewrite(
                "100_enqueue", "own_txid constant xid8 := pg_current_xact_id();", "own_txid xid8;"
            ),
            Rewrite(
                "100_enqueue",
                "SELECT p.n, p.n, own_txid,",
                "SELECT p.n, p.n, pg_current_xact_id(),",
            ),
        ),
        test_open_transactions.test_a_transaction_has_its_id_before_it_holds_a_position,
    ),
    Mutation(
        "CACHE 1",
        (
            Rewrite(
                "010_isolation",
                "-- Stops at a named place",
                "ALTER SEQUENCE awa.job_positions CACHE 20;\n-- Stops at a named place",
            ),
        ),
        test_open_transactions.test_a_job_enqueued_after_a_claim_in_one_transaction_is_served,
    ),
    Mutation(
        "the cursor goes no further than the sequence went",
        (Rewrite("200_claim_lane", "high + 1, cursor_);", "high + 100, cursor_);"),),
        test_open_transactions.test_a_job_enqueued_after_a_claim_in_one_transaction_is_served,
    ),
)
