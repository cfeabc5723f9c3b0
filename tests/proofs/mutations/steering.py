"""The guards of whoever steers batch operations. Their statements are the program's own, not functions of the database."""

from tests.proofs import test_operation_control as proofs
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Rewrite

LOCK = "\n   FOR NO KEY UPDATE"
HELD = "EXISTS (SELECT FROM awa.batch_operation_holds h WHERE h.released_at IS NULL) AS held"
SHARED = "pg_advisory_xact_lock_shared(4719, 0)"
PACE = "greatest(o.wait_until, o.paced_until, o.not_before)"
PACED = "paced_until = transaction_timestamp() + make_interval(secs => %(taken)s::float8 / b.max_rows_per_second)"

MUTATIONS = (
    Mutation(
        "a pause waits for the chunk that is under way",
        (Rewrite("operations/hold", LOCK, ""),),
        proofs.test_a_pause_waits_for_the_chunk_that_is_under_way,
    ),
    Mutation(
        "a step looks at the operation's state under its lock",
        (Rewrite("operations/hold", LOCK, ""),),
        proofs.test_a_chunk_that_waited_for_a_pause_is_not_begun,
    ),
    Mutation(
        "of two who steer an operation the second sees what the first did",
        (Rewrite("operations/hold", LOCK, ""),),
        proofs.test_of_a_cancel_and_a_pause_the_cancel_counts,
    ),
    Mutation(
        "the switch waits for the chunk that is under way",
        (Rewrite("operations/switch_shared", SHARED, "1"),),
        proofs.test_the_switch_waits_for_the_chunk_that_is_under_way,
    ),
    Mutation(
        "a step asks whether all are held when the switch can't be turned any more",
        (Rewrite("operations/hold", HELD, "false AS held"),),
        proofs.test_a_chunk_that_waited_for_the_switch_is_not_begun,
    ),
    Mutation(
        "no operation is chosen while all are held",
        (
            Rewrite(
                "operations/next",
                "NOT EXISTS (SELECT FROM awa.batch_operation_holds h WHERE h.released_at IS NULL)",
                "true",
            ),
        ),
        proofs.test_the_switch_waits_for_the_chunk_that_is_under_way,
    ),
    Mutation(
        "a paused operation is not chosen",
        (
            Rewrite(
                "operations/next", "'running', 'cancelling'", "'running', 'paused', 'cancelling'"
            ),
        ),
        proofs.test_paused_operations_are_not_served,
    ),
    Mutation(
        "a chunk waits for its pace",
        (Rewrite("operations/next", PACE, "greatest(o.wait_until, o.not_before)"),),
        proofs.test_a_chunk_is_not_begun_before_its_pace_allows_it,
    ),
    Mutation(
        "a chunk says when the next one may begin",
        (Rewrite("operations/change", PACED, "paced_until = NULL"),),
        proofs.test_a_chunk_is_not_begun_before_its_pace_allows_it,
    ),
    Mutation(
        "a pause keeps the pace",
        (
            Rewrite(
                "operations/transition",
                "wait_until = NULL,",
                "wait_until = NULL, paced_until = NULL,",
            ),
        ),
        proofs.test_a_chunk_is_not_begun_before_its_pace_allows_it,
    ),
)
