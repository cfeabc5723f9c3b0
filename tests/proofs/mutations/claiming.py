"""The guards of a claim: row locks, tombstones, what is owed, and the head of the lane."""

from tests.proofs import (
    test_claim_and_move,
    test_claim_heads,
)
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

READ_TOMBSTONES = "taken := taken - awa.tombstones_within(p_lane, taken);"

TRY_LANE = "IF NOT pg_try_advisory_xact_lock(4712, p_lane) THEN RETURN; END IF;"

READ_HIGH = (
    "    PERFORM awa.pause_point('claim.before_snapshot');\n"
    "    -- A new statement: head and snapshot together, after the lane's lock and before any row lock.\n"
)

READ_HEAD = "g.last_txid, g.current_slot, pg_current_snapshot()\n"

HEAD_INTO = "ids_until, open_slot, snap\n      FROM awa.ring g\n"

MUTATIONS = (
    Mutation(
        "claim reads tombstones in a new statement after its row locks: window",
        (
            Rewrite(
                "200_claim_lane",
                READ_TOMBSTONES,
                "taken := taken - awa.tombstones_within(p_lane, taken)"
                " * int8multirange(int8range(NULL, head_cursor));",
            ),
        ),
        test_claim_and_move.test_a_move_that_commits_between_a_claims_snapshot_and_its_lock_wins,
    ),
    Mutation(
        "the same for owed rows",
        (
            Rewrite(
                "200_claim_lane",
                READ_TOMBSTONES,
                "taken := taken - awa.tombstones_within(p_lane, taken)"
                " * (int8multirange(int8range(NULL, NULL)) - head_owed);",
            ),
        ),
        test_claim_and_move.test_the_same_for_an_owed_job,
    ),
    Mutation(
        "the same for late rows",
        (
            Rewrite(
                "200_claim_lane",
                READ_TOMBSTONES,
                "taken := taken - awa.tombstones_within(p_lane, taken)"
                " * (head_owed + int8multirange(int8range(head_cursor, NULL)));",
            ),
        ),
        test_claim_and_move.test_the_same_for_a_late_job,
    ),
    Mutation(
        "claim skips rows that others have locked: window",
        (
            Rewrite(
                "200_claim_lane",
                "LIMIT p_limit - o_jobs FOR UPDATE SKIP LOCKED",
                "LIMIT p_limit - o_jobs",
            ),
        ),
        test_claim_and_move.test_a_job_that_a_mover_holds_is_never_claimed,
    ),
    Mutation(
        "claim skips rows that others have locked: owed",
        (
            Rewrite(
                "190_claim_steps",
                "ORDER BY r.lane_seq FOR UPDATE SKIP LOCKED) k",
                "ORDER BY r.lane_seq) k",
            ),
        ),
        test_claim_and_move.test_an_owed_job_that_a_mover_holds_is_never_claimed,
    ),
    Mutation(
        "claim locks what it takes, so that a mover leaves it alone",
        (
            Rewrite(
                "200_claim_lane",
                "LIMIT p_limit - o_jobs FOR UPDATE SKIP LOCKED",
                "LIMIT p_limit - o_jobs",
            ),
        ),
        test_claim_and_move.test_a_claim_that_came_first_keeps_the_job,
    ),
    Mutation(
        "a locked row becomes owed",
        (Rewrite("190_claim_steps", "RETURN shown - p_taken;", "RETURN '{}';"),),
        test_claim_and_move.test_a_job_whose_mover_gave_up_is_served_next,
    ),
    Mutation(
        "a locked row stays owed",
        (Rewrite("190_claim_steps", "IF isempty(passed) THEN RETURN; END IF;", "RETURN;"),),
        test_claim_and_move.test_a_job_that_is_owed_and_locked_again_stays_owed,
    ),
    Mutation(
        "what is due beyond the limit stays owed",
        (
            Rewrite(
                "190_claim_steps",
                "o_left := p_due * int8multirange(int8range(examined, NULL));",
                "o_left := '{}';",
            ),
        ),
        test_claim_and_move.test_an_owed_job_beyond_the_limit_stays_owed,
    ),
    Mutation(
        "merely locked rows become owed though nothing was served",
        (
            Rewrite(
                "200_claim_lane",
                "owed := owed + awa.passed_over(p_lane, cursor_, window_end, found.seqs, found.n, snap, trusted);",
                "IF o_jobs > 0 THEN owed := owed + awa.passed_over("
                "p_lane, cursor_, window_end, found.seqs, found.n, snap, trusted); END IF;",
            ),
        ),
        test_claim_and_move.test_a_locked_job_stays_owed_though_nothing_was_served,
    ),
    Mutation(
        "the lane's lock comes before its head",
        (
            Rewrite("200_claim_lane", TRY_LANE, ""),
            Rewrite(
                "200_claim_lane",
                "PERFORM awa.pause_point('claim.after_snapshot');",
                f"PERFORM awa.pause_point('claim.after_snapshot'); {TRY_LANE}",
            ),
        ),
        test_claim_heads.test_a_lane_in_another_claimers_hands_is_passed_by,
    ),
    Mutation(
        "the head is read in a later statement than the lock",
        (
            Rewrite("200_claim_lane", TRY_LANE, ""),
            Rewrite("200_claim_lane", READ_HIGH, ""),
            Rewrite("200_claim_lane", READ_HEAD, READ_HEAD.replace("\n", ", free.lane\n")),
            Rewrite(
                "200_claim_lane",
                HEAD_INTO,
                "ids_until, open_slot, snap, at_limit\n      FROM awa.ring g CROSS JOIN (SELECT"
                " length(awa.pause_point('claim.before_snapshot')::text),"
                " pg_try_advisory_xact_lock(4712, p_lane) AS lane OFFSET 0) free\n",
            ),
            Rewrite(
                "200_claim_lane",
                "PERFORM awa.pause_point('claim.after_snapshot');",
                "IF NOT at_limit THEN RETURN; END IF; at_limit := false;",
            ),
        ),
        test_claim_heads.test_a_head_is_read_in_a_later_statement_than_the_lanes_lock,
    ),
    Mutation(
        "a head is carried under its lane's lock",
        (
            Rewrite(
                "610_prune",
                "PERFORM pg_advisory_xact_lock(4712, u.lane_id) FROM unnest(lanes[:heads_limit]) u(lane_id);",
                "",
            ),
        ),
        test_claim_heads.test_no_head_is_carried_while_a_claimer_works_on_the_lane,
    ),
)
