"""The guards of callbacks."""

from tests.proofs import test_callback_races
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

READ = "    SELECT k.* INTO c FROM awa.callbacks k WHERE k.callback_id = p_id;\n"
LOCK = "    PERFORM awa.lock_callbacks(ARRAY[p_id]);\n    PERFORM awa.pause_point('callback.after_lock');\n"

MUTATIONS = (
    Mutation(
        "an answer locks its callback",
        (Rewrite("460_callbacks", LOCK, "    PERFORM awa.pause_point('callback.after_lock');\n"),),
        test_callback_races.two_answers,
    ),
    Mutation(
        "what became of a callback is read after its lock",
        (Rewrite("460_callbacks", LOCK + READ, READ + LOCK),),
        test_callback_races.two_answers,
    ),
    Mutation(
        "a time-out leaves a callback that is being answered alone",
        (Rewrite("460_callbacks", LOCK, "    PERFORM awa.pause_point('callback.after_lock');\n"),),
        test_callback_races.test_a_time_out_leaves_a_callback_that_is_being_answered_alone,
    ),
    Mutation(
        "a time-out has the last word over a late answer",
        (Rewrite("460_callbacks", LOCK + READ, READ + LOCK),),
        test_callback_races.test_an_answer_waits_for_a_time_out_and_comes_too_late,
    ),
    Mutation(
        "an answer locks its job",
        (
            Rewrite(
                "460_callbacks", "AND d.callback_id = p_id FOR UPDATE;", "AND d.callback_id = p_id;"
            ),
        ),
        test_callback_races.test_a_cancel_does_not_take_what_is_being_answered,
    ),
    Mutation(
        "an answer is for the job that waits for it",
        (
            Rewrite(
                "460_callbacks",
                "WHERE d.job_id = c.job_id AND d.callback_id = p_id FOR UPDATE;",
                "WHERE d.job_id = c.job_id FOR UPDATE;",
            ),
        ),
        test_callback_races.test_an_older_callback_does_not_move_a_job_that_waits_for_another,
    ),
    Mutation(
        "an answer to an attempt that is over is told so",
        (Rewrite("460_callbacks", "NOT waits AND NOT awa.attempt_is_open(c)", "false"),),
        test_callback_races.test_a_rescue_that_came_first_leaves_nothing_to_wait,
    ),
    Mutation(
        "an answer after the time-out is late, whether the leader has been there or not",
        (Rewrite("460_callbacks", "WHEN p_resolution <> 'time_out' AND", "WHEN false AND"),),
        test_callback_races.test_an_answer_that_waited_beyond_the_time_out_is_late,
    ),
    Mutation(
        "what is to follow comes with the answer",
        (
            Rewrite(
                "465_apply_callbacks",
                "    PERFORM awa.insert_kept_follow_ups(moved.ids, moved.states);\n",
                "",
            ),
        ),
        test_callback_races.test_what_follows_an_answer_comes_with_it_and_goes_with_it,
    ),
    Mutation(
        "an attempt that comes to wait locks its callback",
        (
            Rewrite(
                "300_finish",
                "    IF p_callbacks IS NOT NULL THEN PERFORM awa.lock_callbacks(p_callbacks); END IF;\n",
                "",
            ),
        ),
        test_callback_races.test_a_heartbeat_counts_for_the_attempt_that_comes_to_wait,
    ),
    Mutation(
        "an attempt that comes to wait looks for its answer",
        (Rewrite("300_finish", "c.resolution IS NOT NULL AND c.applied_at IS NULL)", "false)"),),
        test_callback_races.test_an_attempt_that_comes_to_wait_meets_the_answer_that_was_first,
    ),
    Mutation(
        "a time-out that came first is met, too",
        (Rewrite("470_time_out_callbacks", "OR c.callback_id = ANY (running) THEN", "THEN"),),
        test_callback_races.test_an_attempt_that_comes_to_wait_meets_the_time_out_that_was_first,
    ),
    Mutation(
        "a time-out leaves a job in somebody's hands alone",
        (
            Rewrite(
                "470_time_out_callbacks",
                "AND (c.callback_id = ANY (waiting)\n",
                "AND (true OR c.callback_id = ANY (waiting)\n",
            ),
        ),
        test_callback_races.test_a_time_out_leaves_a_job_in_the_hands_of_a_cancel_alone,
    ),
    Mutation(
        "a time-out looks where the job is after its locks",
        (
            Rewrite(
                "470_time_out_callbacks",
                "CASE WHEN c.callback_id = ANY (waiting) OR c.callback_id = ANY (running) THEN 'time_out' ELSE 'abandoned' END",
                "'time_out'",
            ),
        ),
        test_callback_races.test_a_time_out_after_a_cancel_changes_nothing,
    ),
    Mutation(
        "promotion leaves jobs that wait for a callback alone",
        (Rewrite("310_promote", " AND d.state IN ('scheduled', 'retryable')", ""),),
        test_callback_races.test_only_an_answer_or_a_cancel_takes_a_job_out_of_its_wait,
    ),
    Mutation(
        "a retry leaves jobs that wait for a callback alone",
        (Rewrite("440_retry_finished", " AND d.state IN ('scheduled', 'retryable')", ""),),
        test_callback_races.test_only_an_answer_or_a_cancel_takes_a_job_out_of_its_wait,
    ),
    Mutation(
        "a move leaves jobs that wait for a callback alone",
        (Rewrite("410_relocate", "AND NOT o.waits ", ""),),
        test_callback_races.test_only_an_answer_or_a_cancel_takes_a_job_out_of_its_wait,
    ),
)
