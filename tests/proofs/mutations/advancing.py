"""The guards of a cursor that is moved without a claim."""

from tests.proofs import test_advance
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

FILE = "220_advance_cursors"

MUTATIONS = (
    Mutation(
        "a cursor is moved under its lane's lock",
        (
            Rewrite(
                FILE,
                "IF NOT pg_try_advisory_xact_lock(4712, p_lane) THEN RETURN false; END IF;",
                "",
            ),
        ),
        test_advance.test_a_lane_in_a_claimers_hands_is_left_alone,
    ),
    Mutation(
        "the lock is held while a cursor is moved",
        (
            Rewrite(
                FILE,
                "IF NOT pg_try_advisory_xact_lock(4712, p_lane) THEN RETURN false; END IF;",
                "IF NOT pg_try_advisory_lock(4712, p_lane) THEN RETURN false; END IF;"
                " PERFORM pg_advisory_unlock(4712, p_lane);",
            ),
        ),
        test_advance.test_a_lane_whose_cursor_is_moved_is_passed_by_claimers,
    ),
    Mutation(
        "a moved cursor's head keeps what was owed",
        (Rewrite(FILE, "owed := head.owed;", "owed := '{}';"),),
        test_advance.test_what_was_owed_stays_owed,
    ),
    Mutation(
        "a moved cursor's head owes what came late",
        (Rewrite(FILE, "IF head.seen IS NOT NULL THEN", "IF false THEN"),),
        test_advance.test_what_came_late_is_owed,
    ),
    Mutation(
        "a moved cursor's snapshot is from before its walk",
        (Rewrite(FILE, "'{}', head.snap, owed);", "'{}', pg_current_snapshot(), owed);"),),
        test_advance.test_a_job_that_is_committed_after_the_walk_comes_late,
    ),
    Mutation(
        "a cursor passes only what is covered by a tombstone",
        (
            Rewrite(
                FILE,
                "EXIT WHEN dead_to IS NULL OR dead_to < next_seq;",
                "dead_to := greatest(dead_to, next_seq);",
            ),
        ),
        test_advance.test_a_job_of_a_mover_that_gives_up_is_not_passed,
    ),
)
