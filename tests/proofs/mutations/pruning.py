"""The guards of prune."""

from tests.proofs import (
    test_prune_races,
)
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

MUTATIONS = (
    Mutation(
        "prune locks the tables in the order of a claim",
        (
            Rewrite(
                "610_prune",
                "LOCK TABLE awa.lane_claims_%1$s, awa.ready_entries_%1$s,",
                "LOCK TABLE awa.ready_entries_%1$s, awa.lane_claims_%1$s,",
            ),
        ),
        test_prune_races.test_a_claim_that_is_under_way_is_waited_for_and_goes_on,
    ),
    Mutation(
        "prune looks under its lock for rows that came after the count",
        (
            Rewrite(
                "610_prune",
                "IF awa.has_newer_rows(p_slot, counted) THEN RETURN 'busy'; END IF;",
                "",
            ),
        ),
        test_prune_races.test_a_job_that_commits_after_the_count_keeps_its_slot,
    ),
    Mutation(
        "prune looks under its lock for attempts that ended after the count",
        (
            Rewrite(
                "610_prune",
                "IF live IS NOT NULL AND awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;",
                "",
            ),
        ),
        test_prune_races.test_a_job_that_completes_after_the_count_is_kept_as_long_as_others,
    ),
    Mutation(
        "prune looks for attempts that ended between its look for young ones and its count",
        (
            Rewrite(
                "610_prune",
                "IF awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;\n    SELECT array_agg",
                "SELECT array_agg",
            ),
        ),
        test_prune_races.test_a_job_that_completes_between_the_two_looks_is_kept_as_long_as_others,
    ),
    Mutation(
        "prune carries what still lives",
        (Rewrite("610_prune", "PERFORM awa.carry_live(p_slot, live_lanes, live);", ""),),
        test_prune_races.test_a_job_that_is_claimed_after_the_count_is_carried_as_running,
    ),
    Mutation(
        "prune does not carry what was moved after the count",
        (
            Rewrite(
                "610_prune",
                "ORDER BY t.first_seq DESC LIMIT 1), -1) < u.seq;",
                "LIMIT 0), -1) < u.seq;",
            ),
        ),
        test_prune_races.test_a_job_that_is_moved_after_the_count_is_not_carried,
    ),
    Mutation(
        "prune carries the heads",
        (Rewrite("610_prune", "    PERFORM awa.carry_heads(p_slot);\n", ""),),
        test_prune_races.test_a_head_that_lived_in_the_slot_goes_on_in_the_current_one,
    ),
)
