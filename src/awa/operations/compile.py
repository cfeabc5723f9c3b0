"""From a filter to SQL: the only place where it happens.

List, preview, scan and recheck all ask the database with what this makes, so an operator never sees
one population and changes another. A predicate speaks of the alias `j` and of columns by the names
of `awa.jobs`; it applies to that view, to `awa.waiting_jobs`, and to whatever a statement calls `j`
with the same columns. Values travel as parameters (`f_…`), never as text.

Each field has a cost that preview shows: `index` narrows the rows that are read, `scan` is asked of
every row that the other fields leave.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from psycopg import sql
from psycopg.types.json import Jsonb

from awa.model.filter import JobFilter
from awa.model.states import JobState

Cost = Literal["index", "scan"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What one field asks of a row, and what that costs."""

    text: str
    cost: Cost
    note: str


@dataclass(frozen=True, slots=True)
class FieldCost:
    """What preview says about one field of a filter."""

    field: str
    cost: Cost
    note: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """A filter as SQL over the alias `j`, with its parameters and its costs."""

    sql: sql.Composable
    params: dict[str, Any]
    costs: tuple[FieldCost, ...]

    @property
    def cost(self) -> Cost:
        """`index` if at least one field narrows the rows that are read."""
        return "index" if any(field.cost == "index" for field in self.costs) else "scan"

    @property
    def asks_for_places_only(self) -> bool:
        """Whether it is enough to know where a job waits, so that its row need not be read."""
        return all(field.field in PLACE_FIELDS for field in self.costs)


PLACE_FIELDS: Final = frozenset({"ids", "queue", "queues", "priority", "state"})

_EACH_ROW: Final = "compared with each row that the other fields leave"

# One condition a field, in the order of the filter's declaration; %(f_NAME)s is the field's value.
CONDITIONS: Final[dict[str, Condition]] = {
    "kind": Condition("j.kind = %(f_kind)s", "scan", _EACH_ROW),
    "queue": Condition("j.queue = %(f_queue)s", "index", "reads the lanes of this queue"),
    "ids": Condition("j.id = ANY (%(f_ids)s::bigint[])", "index", "one look-up an id"),
    "tag": Condition("j.tags @> ARRAY[%(f_tag)s::text]", "scan", _EACH_ROW),
    "state": Condition("j.state = %(f_state)s", "index", "reads the place of this state"),
    "created_at_gte": Condition("j.created_at >= %(f_created_at_gte)s", "scan", _EACH_ROW),
    "created_at_lt": Condition("j.created_at < %(f_created_at_lt)s", "scan", _EACH_ROW),
    "kinds": Condition("j.kind = ANY (%(f_kinds)s::text[])", "scan", _EACH_ROW),
    "kind_prefix": Condition("starts_with(j.kind, %(f_kind_prefix)s)", "scan", _EACH_ROW),
    "queues": Condition(
        "j.queue = ANY (%(f_queues)s::text[])", "index", "reads the lanes of these queues"
    ),
    "priority": Condition(
        "j.priority = %(f_priority)s::smallint", "index", "reads the lanes of this priority"
    ),
    "tags_any": Condition("j.tags && %(f_tags_any)s::text[]", "scan", _EACH_ROW),
    "tags_all": Condition("j.tags @> %(f_tags_all)s::text[]", "scan", _EACH_ROW),
    "tags_none": Condition("NOT j.tags && %(f_tags_none)s::text[]", "scan", _EACH_ROW),
    "attempt_gte": Condition("j.attempt >= %(f_attempt_gte)s", "scan", _EACH_ROW),
    "attempt_lt": Condition("j.attempt < %(f_attempt_lt)s", "scan", _EACH_ROW),
    "run_at_gte": Condition("j.run_at >= %(f_run_at_gte)s", "scan", _EACH_ROW),
    "run_at_lt": Condition("j.run_at < %(f_run_at_lt)s", "scan", _EACH_ROW),
    "finalized_at_gte": Condition(
        "j.finalized_at >= %(f_finalized_at_gte)s", "index", "by the time at which jobs ended"
    ),
    "finalized_at_lt": Condition(
        "j.finalized_at < %(f_finalized_at_lt)s", "index", "by the time at which jobs ended"
    ),
    "error_contains": Condition(
        "EXISTS (SELECT FROM jsonb_array_elements(j.errors) e"
        " WHERE strpos(e ->> 'error', %(f_error_contains)s) > 0)",
        "scan",
        "reads the errors of each row that the other fields leave",
    ),
    "args_contains": Condition(
        "awa.args_contain(j.args, %(f_args_contains)s::jsonb)",
        "scan",
        "parses the arguments of each row that the other fields leave; slow with large ones",
    ),
}

# A deferred job whose time came between scan and chunk is available now and still meant.
_PROMOTED: Final = Condition(
    "j.state IN (%(f_state)s, 'available')", "index", "reads the place of this state"
)
_DEFERRED: Final = frozenset({JobState.SCHEDULED, JobState.RETRYABLE})


def compile_filter(given: JobFilter, *, recheck: bool = False, ids: bool = True) -> Predicate:
    """The predicate of a filter; `recheck` admits deferred jobs that were promoted meanwhile.

    `ids=False` leaves the ids out, for statements that are asked of members of that set only: a job's
    id never changes, and a hundred thousand of them would travel with every chunk.
    """
    if given.matches_nothing():
        note = FieldCost("ids", "index", "no id was given, so nothing matches")
        return Predicate(sql.SQL("false"), {}, (note,))
    parts: list[sql.Composable] = [sql.SQL("true")]
    params: dict[str, Any] = {}
    costs: list[FieldCost] = []
    for name, value in given.given().items():
        if name == "ids" and not ids:
            continue
        condition = CONDITIONS[name]
        if recheck and name == "state" and value in _DEFERRED:
            condition = _PROMOTED
        # The texts are this module's own, with values as parameters.
        parts.append(sql.SQL(condition.text))
        params[f"f_{name}"] = _parameter(name, value)
        costs.append(FieldCost(name, condition.cost, condition.note))
    return Predicate(sql.SQL(" AND ").join(parts), params, tuple(costs))


def _parameter(name: str, value: Any) -> Any:
    if name == "args_contains":
        return Jsonb(value)
    return value.value if isinstance(value, JobState) else value
