"""move_queue: waiting jobs go to another queue, and get another priority if one is given.

`{"queue": "escalations", "priority": 1}`. The destination may be paused, and need not exist yet.
"""

from typing import Any, Final

from pydantic import field_validator

from awa.model.limits import check_priority, check_queue
from awa.model.states import WAITING_STATES
from awa.operations.kinds.base import PLACED, RELOCATE, REPLACE, Kind, Params, Spec
from awa.operations.kinds.checks import told


class MoveQueue(Spec):
    """Where the jobs go; without a priority each keeps its own."""

    queue: str
    priority: int | None = None

    @field_validator("queue", mode="before")
    @classmethod
    def _queue(cls, value: Any) -> str:
        return told(check_queue, value)

    @field_validator("priority", mode="before")
    @classmethod
    def _priority(cls, value: Any) -> int | None:
        return None if value is None else told(check_priority, value)


def _params(spec: MoveQueue) -> Params:
    return {"to_queue": spec.queue, "to_priority": spec.priority}


KIND: Final = Kind(
    name="move_queue",
    about="move waiting jobs to another queue",
    spec_model=MoveQueue,
    eligible=WAITING_STATES,
    apply=RELOCATE,
    unchanged=PLACED,
    params=_params,
    put_back=REPLACE,
)
