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
                "IF awa.has_newer_rows(p_slot, at_count) THEN RETURN 'busy'; END IF;",
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
                "IF live IS NOT NULL AND awa.has_closures_since(p_slot, p_keep_from) THEN RETURN 'young'; END IF;",
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
                "IF awa.has_closures_since(p_slot, p_keep_from) THEN RETURN 'young'; END IF;\n    SELECT array_agg",
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
                "607_carry",
                "ORDER BY t.first_seq DESC LIMIT 1), -1) < u.seq;",
                "LIMIT 0), -1) < u.seq;",
            ),
        ),
        test_prune_races.test_a_job_that_is_moved_after_the_count_is_not_carried,
    ),
    Mutation(
        "prune carries the heads",
        (
            Rewrite(
                "610_prune",
                "    PERFORM awa.carry_heads(p_slot, awa.lanes_headed_in(p_slot, NULL));\n",
                "",
            ),
        ),
        test_prune_races.test_a_head_that_lived_in_the_slot_goes_on_in_the_current_one,
    ),
    Mutation(
        "a slot is emptied when no older snapshot is left",
        (
            Rewrite(
                "610_prune",
                "IF awa.is_pinned(retired.retired_txid, retired.seen_at) THEN RETURN 'pinned'; END IF;",
                "",
            ),
        ),
        test_prune_races.test_a_dump_that_began_before_a_prune_has_the_carried_jobs,
    ),
    Mutation(
        "what was over at the retirement only has to be seen so by every reader, too",
        (
            Rewrite(
                "610_prune",
                "IF awa.is_pinned(retired.retired_txid, retired.seen_at) THEN RETURN 'pinned'; END IF;",
                "",
            ),
        ),
        test_prune_races.test_a_dump_that_began_before_a_job_left_the_slot_has_it,
    ),
    Mutation(
        "only snapshots that began before the retirement was seen keep a slot",
        (
            Rewrite(
                "605_slot_evidence",
                "\n           AND coalesce(a.xact_start, '-infinity') <= p_seen_at",
                "",
            ),
        ),
        test_prune_races.test_a_reader_that_began_after_the_slot_was_over_does_not_keep_it,
    ),
    Mutation(
        "a retirement counts as seen by a later transaction only",
        (
            Rewrite(
                "610_prune",
                "seen_at = NULL, counted = at_count",
                "seen_at = clock_timestamp(), counted = at_count",
            ),
        ),
        test_prune_races.test_a_slot_is_not_emptied_in_the_transaction_that_retires_it,
    ),
    Mutation(
        "a slot is not emptied in the transaction that retires it",
        (
            Rewrite(
                "610_prune",
                "IF retired.retired_txid = pg_current_xact_id_if_assigned() THEN RETURN 'more'; END IF;",
                "",
            ),
        ),
        test_prune_races.test_a_slot_is_not_emptied_in_the_transaction_that_retires_it,
    ),
    Mutation(
        "carried rows are taken out one by one and stay for older snapshots",
        (
            Rewrite(
                "610_prune",
                "    PERFORM awa.carry_heads(p_slot, awa.lanes_headed_in(p_slot, NULL));\n",
                "    PERFORM awa.carry_heads(p_slot, awa.lanes_headed_in(p_slot, NULL));\n"
                "    EXECUTE format('TRUNCATE awa.ready_entries_%s', p_slot);\n",
            ),
        ),
        test_prune_races.test_a_dump_that_began_before_a_prune_has_the_carried_jobs,
    ),
    Mutation(
        "what came into a retired slot is looked for before it is emptied",
        (
            Rewrite(
                "610_prune", "IF awa.has_newer_rows(p_slot, retired.counted) THEN", "IF false THEN"
            ),
        ),
        test_prune_races.test_a_job_that_comes_into_a_slot_that_is_over_is_carried,
    ),
    Mutation(
        "heads are carried in steps",
        (
            Rewrite(
                "610_prune", "heads_limit constant int := 500;", "heads_limit constant int := 5000;"
            ),
        ),
        test_prune_races.test_heads_are_carried_in_steps_that_a_server_has_locks_for,
    ),
    Mutation(
        "a prune reads the slot's tables before it asks how the slot stands",
        (
            Rewrite(
                "610_prune",
                "    is_empty := awa.slot_is_empty(p_slot);\n",
                "    is_empty := false;\n",
            ),
        ),
        test_prune_races.test_a_slot_that_is_being_emptied_is_left_to_that_prune,
    ),
)
