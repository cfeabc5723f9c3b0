"""The guards of concurrency keys."""

from tests.proofs import test_concurrency_keys as proofs
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

FILE = "315_admissions"

MUTATIONS = (
    Mutation(
        "a place is locked before it is taken",
        (
            Rewrite(
                FILE,
                "CONTINUE WHEN NOT pg_try_advisory_xact_lock(4718, hashtext(format('%s %s', free, p_key)));",
                "",
            ),
        ),
        proofs.test_an_enqueue_that_stays_open_keeps_one_place_and_delays_nobody,
    ),
    Mutation(
        "a place is looked at again under its lock",
        (
            Rewrite(
                FILE,
                "         WHERE NOT EXISTS (SELECT FROM awa.concurrency_admissions a WHERE a.key = p_key AND a.place = free);",
                "        ON CONFLICT (key, place) DO UPDATE SET job_id = excluded.job_id;",
            ),
        ),
        proofs.test_the_second_of_two_enqueues_finds_the_place_taken,
    ),
    Mutation(
        "who hands a place on locks who is next",
        (
            Rewrite(
                FILE,
                "LIMIT cardinality(p_places) FOR UPDATE SKIP LOCKED) k;",
                "LIMIT cardinality(p_places)) k;",
            ),
        ),
        proofs.test_two_ends_let_one_waiting_job_in_once,
    ),
    Mutation(
        "who fills a place locks who is next",
        (Rewrite(FILE, "LIMIT free FOR UPDATE SKIP LOCKED) k;", "LIMIT free) k;"),),
        proofs.test_two_who_fill_places_let_one_waiting_job_in_once,
    ),
    Mutation(
        "a place is handed on only to a job whose limit allows it",
        (
            Rewrite(
                FILE,
                "EXIT WHEN used + n > parked.limits[n] OR p_places[n] > parked.limits[n];",
                "",
            ),
        ),
        proofs.test_a_job_with_a_lower_limit_waits_until_fewer_run,
    ),
    Mutation(
        "promotion leaves a keyed job in front of the door",
        (
            Rewrite(
                "310_promote",
                "WHERE d.job_id = ANY (p_ids) AND d.concurrency_key IS NOT NULL",
                "WHERE d.job_id = ANY (p_ids) AND false",
            ),
        ),
        proofs.test_a_promoted_job_waits_for_its_place,
    ),
    Mutation(
        "promotion passes parked jobs by",
        (Rewrite("310_promote", " AND d.state IN ('scheduled', 'retryable')", ""),),
        proofs.test_a_promoted_job_waits_for_its_place,
    ),
    Mutation(
        "a retry passes parked jobs by",
        (Rewrite("440_retry_finished", " AND d.state IN ('scheduled', 'retryable')", ""),),
        proofs.test_a_promotion_that_was_faster_has_the_place,
    ),
    Mutation(
        "a cancel gives the place away",
        (
            Rewrite(
                "420_cancel",
                "    IF done.keyed IS NOT NULL THEN PERFORM awa.release_places(own_txid, done.keyed, done.keys); END IF;\n",
                "",
            ),
        ),
        proofs.test_a_cancel_hands_the_place_on_when_it_commits,
    ),
    Mutation(
        "an end gives the place away",
        (Rewrite("290_finish_variously", " LEFT JOIN places ON true;", ";"),),
        proofs.test_a_place_is_handed_to_who_was_enqueued_before_the_end_looked,
    ),
    Mutation(
        "a job that is handed back keeps its place",
        (Rewrite("290_finish_variously", " AND j.outcome <> 'returned' HAVING", " HAVING"),),
        proofs.test_a_job_that_is_handed_back_keeps_its_place,
    ),
    Mutation(
        "a claim notes that the end of a keyed job has more to do",
        (Rewrite("200_claim_lane", " OR e.concurrency_key IS NOT NULL AS keyed", " AS keyed"),),
        proofs.test_a_plain_completion_hands_the_place_on,
    ),
)
