"""set_priority: waiting jobs get another priority; `{"priority": 1}`."""

from typing import Any, Final

from pydantic import field_validator

from awa.model.limits import check_priority
from awa.model.states import WAITING_STATES
from awa.operations.kinds.base import PLACED, RELOCATE, REPLACE, Kind, Params, Spec
from awa.operations.kinds.checks import told


class SetPriority(Spec):
    """The priority that the jobs get, 1 (first) to 4."""

    priority: int

    @field_validator("priority", mode="before")
    @classmethod
    def _priority(cls, value: Any) -> int:
        return told(check_priority, value)


def _params(spec: SetPriority) -> Params:
    return {"to_queue": None, "to_priority": spec.priority}


KIND: Final = Kind(
    name="set_priority",
    about="give waiting jobs another priority",
    spec_model=SetPriority,
    eligible=WAITING_STATES,
    apply=RELOCATE,
    unchanged=PLACED,
    params=_params,
    put_back=REPLACE,
)
