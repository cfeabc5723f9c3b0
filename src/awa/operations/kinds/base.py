"""What a kind of operation has to say of itself; everything else is the same for all of them.

A kind is one file: its spec (a pydantic model), the states whose jobs it may change, the statement
that changes a set of them, and the statement's parameters. The runner scans, locks, rechecks and
accounts; the kind's statement (sql/operations/apply/…) reads the jobs from `chosen` and answers
job_id, state (processed | skipped | errored), reason, error and before. No kind needs a migration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic import ValidationError as PydanticError

from awa.model.errors import FieldProblem, invalid_field, invalid_fields
from awa.model.filter import JobFilter
from awa.model.problems import field_problems
from awa.model.states import TERMINAL_STATES, JobState

Params: TypeAlias = dict[str, Any]


class Spec(BaseModel):
    """Base of all specs: strict, nothing unknown, never changed after it was checked."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of operation."""

    name: str
    about: str
    spec_model: type[Spec]
    eligible: frozenset[JobState]
    apply: str
    """Name of the statement that changes the chosen jobs."""
    unchanged: str
    """Name of the condition under which a job is at the target already, so that its item will be `noop`."""
    params: Callable[[Any], Params]
    """The statement's parameters, from a checked spec."""
    put_back: str | None = None
    """Name of the statement that gives jobs back what this kind changed; None: it can't be undone."""

    def parse_spec(self, given: object) -> Spec:
        """The spec that was given as JSON, or `ValidationError` with a problem for each field."""
        if isinstance(given, self.spec_model):
            return given
        if not isinstance(given, Mapping):
            seen = type(given).__name__
            raise invalid_fields("spec", [FieldProblem("spec", f"expected an object, got {seen}")])
        try:
            return self.spec_model.model_validate(dict(given))
        except PydanticError as problem:
            raise invalid_fields(
                "spec", field_problems(problem, self.spec_model.model_fields)
            ) from None

    def check_filter(self, given: JobFilter) -> None:
        """Refuse a filter that no job of this kind's states can match: it would do nothing, quietly."""
        if given.state is not None and given.state not in self.eligible:
            allowed = ", ".join(state for state in JobState if state in self.eligible)
            raise invalid_field(
                "state", f"{self.name} changes jobs that are {allowed}, not {given.state}"
            )
        for field in ("finalized_at_gte", "finalized_at_lt"):
            if getattr(given, field) is not None and not self.eligible & TERMINAL_STATES:
                raise invalid_field(
                    field, f"{self.name} changes waiting jobs, and those have not ended"
                )


def spec_json(spec: Spec) -> dict[str, Any]:
    """What is stored and shown of a spec: only what was said."""
    return spec.model_dump(mode="json", exclude_none=True)


RELOCATE: Final = "operations/apply/relocate"
PLACED: Final = "operations/unchanged/relocate"
REPLACE: Final = "operations/put_back/relocate"
