"""The guards of whoever takes an operation back."""

from tests.proofs import test_undo_races as proofs
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

NOT_UNDONE = """
       AND NOT EXISTS (SELECT FROM awa.batch_operations u
                        WHERE u.undo_of = o.id AND u.state IN ('pending', 'scanning', 'running', 'paused', 'cancelling'))
), gone"""

MUTATIONS = (
    Mutation(
        "a job is put back from the very position where it was left",
        (Rewrite("415_put_back", "WHEN p_seq = p_now_seq THEN", "WHEN p_seq > 0 THEN"),),
        proofs.test_a_job_that_was_moved_away_and_back_is_left_alone,
    ),
    Mutation(
        "a job is put back from the queue in which it was left",
        (Rewrite("415_put_back", "p_now_queue <> p_queue OR ", ""),),
        proofs.test_a_deferred_job_that_was_moved_on_is_left_alone,
    ),
    Mutation(
        "a job that was left deferred is put back unless it was tried since",
        (Rewrite("415_put_back", "p_seq IS NULL AND p_now_attempt = p_attempt", "p_seq IS NULL"),),
        proofs.test_a_job_that_was_tried_since_is_left_alone,
    ),
    Mutation(
        "an item keeps where its job was left",
        (
            Rewrite(
                "operations/change",
                "lane_id = o.lane_id, lane_seq = o.lane_seq",
                "lane_id = o.lane_id, lane_seq = i.lane_seq",
            ),
        ),
        proofs.test_a_move_that_comes_while_a_job_is_put_back_gets_nothing,
    ),
    Mutation(
        "an item keeps the stamps that its job had",
        (Rewrite("410_relocate", "w.lane_seq <> w.id GROUP", "w.lane_seq = 0 GROUP"),),
        proofs.test_stamps_that_were_there_before_are_there_afterwards,
    ),
    Mutation(
        "an undo takes its operation's stamps away",
        (
            Rewrite(
                "410_relocate",
                "CASE WHEN p_before ? 'queue' THEN '_awa_original_queue' END,\n                       CASE",
                "NULL, CASE",
            ),
        ),
        proofs.test_stamps_that_were_there_before_are_there_afterwards,
    ),
    Mutation(
        "of two who undo an operation the second sees what the first did",
        (Rewrite("operations/hold", "\n   FOR NO KEY UPDATE", ""),),
        proofs.test_of_two_undos_the_second_hears_of_the_first,
    ),
    Mutation(
        "a purge looks for an undo under its lock",
        (Rewrite("operations/expire", NOT_UNDONE, "\n), gone"),),
        proofs.test_nor_if_the_undo_came_between_a_purges_snapshot_and_its_lock,
    ),
    Mutation(
        "a purge says that it has begun",
        (
            Rewrite(
                "operations/expire",
                "coalesce(o.purge_began_at, clock_timestamp())",
                "NULL",
            ),
        ),
        proofs.test_what_is_being_deleted_is_not_undone,
    ),
)
