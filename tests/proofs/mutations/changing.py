"""The guards of whatever changes waiting jobs: move, cancel, promotion."""

from tests.proofs import (
    test_cancel_and_move,
    test_claim_and_move,
    test_inverse_moves,
    test_promotion_and_move,
)
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

STILL_WAITING = """ FROM awa.still_waiting(a.ids, a.lanes, a.seqs, a.slots, a.txids) w,
                                 unnest(w.ids, w.lanes, w.seqs, w.slots) u;
"""

NOT_ASKED_AGAIN = """ FROM unnest(a.ids, a.lanes, a.seqs, a.slots) u;
"""

LOCK_NEWEST = "r.lane_seq = n.newest\n"

LOCK_NEWEST_WAITING = (
    "r.lane_seq = n.newest AND r.lane_seq IN (SELECT j.lane_seq FROM awa.waiting_jobs j)\n"
)

MUTATIONS = (
    Mutation(
        "a mover reads the head in a new statement after its locks",
        (
            Rewrite("400_lock_waiting", STILL_WAITING, NOT_ASKED_AGAIN),
            Rewrite("400_lock_waiting", LOCK_NEWEST, LOCK_NEWEST_WAITING),
        ),
        test_claim_and_move.test_a_claim_that_commits_between_a_moves_snapshot_and_its_lock_wins,
    ),
    Mutation(
        "a mover reads tombstones in a new statement after its locks",
        (
            Rewrite("400_lock_waiting", STILL_WAITING, NOT_ASKED_AGAIN),
            Rewrite("400_lock_waiting", LOCK_NEWEST, LOCK_NEWEST_WAITING),
        ),
        test_inverse_moves.test_a_move_between_another_moves_snapshot_and_its_lock_wins,
    ),
    Mutation(
        "a canceller reads tombstones in a new statement after its locks",
        (
            Rewrite("400_lock_waiting", STILL_WAITING, NOT_ASKED_AGAIN),
            Rewrite("400_lock_waiting", LOCK_NEWEST, LOCK_NEWEST_WAITING),
        ),
        test_cancel_and_move.test_a_move_between_a_cancels_snapshot_and_its_lock_wins,
    ),
    Mutation(
        "owed counts as unclaimed",
        (Rewrite("390_still_waiting", "OR r.lane_seq <@ h.owed\n", "\n"),),
        test_cancel_and_move.test_an_owed_job_can_still_be_cancelled,
    ),
    Mutation(
        "late counts as unclaimed",
        (
            Rewrite(
                "390_still_waiting", "AND NOT pg_visible_in_snapshot(r.txid, h.seen)", "AND false"
            ),
        ),
        test_cancel_and_move.test_a_late_job_can_still_be_cancelled,
    ),
    Mutation(
        "deferred rows are looked for before ready ones",
        (
            Rewrite(
                "400_lock_waiting",
                "              FROM (SELECT unnest(p_ids) AS id EXCEPT SELECT unnest(deferred)) u\n",
                "              FROM (SELECT unnest(p_ids) AS id EXCEPT SELECT unnest(deferred) LIMIT 0) u\n",
            ),
        ),
        test_promotion_and_move.test_a_job_promoted_while_a_move_looks_for_it_is_found_in_its_lane,
    ),
)
