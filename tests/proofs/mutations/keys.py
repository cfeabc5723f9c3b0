"""The guards of unique keys."""

from functools import partial

from tests.proofs import test_unique_changes, test_unique_races
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

FOLLOW = "055_unique_keys"

MUTATIONS = (
    Mutation(
        "a key whose holder is gone is tried again",
        (
            Rewrite(
                "105_enqueue_unique",
                "IF holder IS NOT NULL OR p_job IS NULL THEN RETURN holder; END IF;",
                "RETURN holder;",
            ),
        ),
        test_unique_races.test_a_holder_that_completes_between_two_looks_left_the_key_free,
    ),
    Mutation(
        "of a set those are tried again whose holder is gone",
        (
            Rewrite(
                "107_enqueue_unique_many",
                "WHERE u.id IS NOT NULL AND u.holder IS NULL) THEN\n",
                "WHERE false) THEN\n",
            ),
        ),
        test_unique_races.test_of_a_set_each_is_tried_again_whose_holder_completes_between_two_looks,
    ),
    Mutation(
        "a set takes its keys in their own order",
        (
            Rewrite(
                "107_enqueue_unique_many",
                "array_agg(k.key ORDER BY k.key) AS keys, array_agg(k.id ORDER BY k.key) AS ids",
                "array_agg(k.key ORDER BY k.id) AS keys, array_agg(k.id ORDER BY k.id) AS ids",
            ),
        ),
        test_unique_races.test_sets_with_the_same_keys_in_opposite_order_wait_in_one_line,
    ),
    Mutation(
        "the table of the keys is no key that is waited for",
        (Rewrite(FOLLOW, "    LOCK TABLE awa.unique_keys IN ROW EXCLUSIVE MODE;\n", ""),),
        test_unique_changes.test_a_table_that_is_being_vacuumed_is_waited_for_however_long_it_takes,
    ),
    Mutation(
        "a claim notes whose end has more to do",
        (Rewrite("200_claim_lane", "FILTER (WHERE k.keyed)", "FILTER (WHERE false)"),),
        test_unique_races.test_the_fast_end_frees_the_keys_that_the_claim_noted,
    ),
    Mutation(
        "the fast end leaves keyed positions to the general one",
        (
            Rewrite(
                "305_attempts",
                "CASE WHEN k.keyed IS NULL THEN k.own ELSE k.own - k.keyed END",
                "k.own",
            ),
        ),
        test_unique_races.test_the_fast_end_frees_the_keys_that_the_claim_noted,
    ),
    Mutation(
        "what is carried stays keyed",
        (Rewrite("607_carry", "nullif(c.keyed * still, '{}')", "NULL"),),
        test_unique_races.test_the_fast_end_frees_the_key_of_a_job_that_was_carried,
    ),
    Mutation(
        "a completed job whose key is held on gets a row",
        (
            Rewrite(
                "290_finish_variously",
                "OR awa.holds_key_in(r.unique_key, 'completed')",
                "OR false",
            ),
        ),
        test_unique_races.test_a_key_held_beyond_completion_goes_with_the_jobs_row,
    ),
    Mutation(
        "a claim lets keys go that running jobs don't hold",
        (
            Rewrite(
                "200_claim_lane",
                "IF keyed_ IS NOT NULL THEN PERFORM awa.follow_claimed(p_lane, keyed_); END IF;",
                "",
            ),
        ),
        test_unique_races.test_an_insert_before_such_a_claim_is_kept_out,
    ),
    Mutation(
        "a job gives back no key but its own",
        (
            Rewrite(
                FOLLOW,
                "awa.held_key(u.recipe, u.queue) AND k.job_id = u.id;\n    SELECT",
                "awa.held_key(u.recipe, u.queue);\n    SELECT",
            ),
        ),
        test_unique_races.test_a_job_that_lost_its_key_takes_no_others_along,
    ),
    Mutation(
        "an attempt's end waits for no key",
        (Rewrite(FOLLOW, "VOLATILE SET lock_timeout = '10ms' AS", "VOLATILE AS"),),
        test_unique_races.test_an_attempts_end_waits_for_no_insert,
    ),
    Mutation(
        "one key in somebody's hands doesn't cost the others theirs",
        (Rewrite(FOLLOW, "IF half = 0 THEN RETURN; END IF;", "RETURN;"),),
        test_unique_races.test_an_attempts_end_waits_for_no_insert,
    ),
    Mutation(
        "a move takes the key of the new queue first",
        (Rewrite("410_relocate", "IF p_queue IS NOT NULL THEN", "IF false THEN"),),
        partial(test_unique_races.test_an_insert_waits_for_a_move_into_its_queue, commit=True),
    ),
    Mutation(
        "a move gives the key of the old queue back",
        (Rewrite("405_move_keys", "WHERE u.id <> ALL (coalesce(kept, '{}'));", "WHERE false;"),),
        test_unique_races.test_an_insert_into_the_queue_that_a_job_leaves_has_the_key_after_it,
    ),
    Mutation(
        "a replacement asks again who has the key, after its locks",
        (
            Rewrite(
                "106_replace_holder",
                "WHERE k.key = p_key AND k.job_id = p_holder) THEN",
                "WHERE false) AND false THEN",
            ),
        ),
        test_unique_changes.test_a_job_that_moved_away_before_it_is_locked_left_its_key,
    ),
    Mutation(
        "only what waits is replaced",
        (
            Rewrite(
                "106_replace_holder",
                "IF why IS NOT NULL THEN RETURN CASE why WHEN 'locked' THEN 'again' ELSE 'conflict' END; END IF;",
                "IF why IS NOT NULL THEN RETURN 'replaced'; END IF;",
            ),
        ),
        test_unique_changes.test_a_job_that_is_claimed_before_it_is_locked_is_not_replaced,
    ),
    Mutation(
        "a dead letter's retry locks the job before it takes the key",
        (
            Rewrite(
                "440_retry_finished", "ORDER BY f.job_id FOR UPDATE) k;", "ORDER BY f.job_id) k;"
            ),
        ),
        test_unique_changes.test_a_purge_that_came_first_leaves_the_retry_no_key,
    ),
    Mutation(
        "a dead letter whose key is another's stays one",
        (
            Rewrite(
                "450_dead_letters",
                "AND f.job_id <> ALL (coalesce(kept.ids, '{}')) RETURNING f.*",
                "RETURNING f.*",
            ),
        ),
        partial(
            test_unique_changes.test_a_dead_letters_retry_waits_for_no_insert_and_the_books_balance,
            commit=True,
        ),
    ),
)
