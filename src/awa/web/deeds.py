"""What each kind of operation is called and does, in the words that an operator reads before pressing a button.

The kinds themselves know nothing of pages. A kind that this table lacks, as a newer program may have left in the
history, is told by its name and its spec.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from awa.model import search
from awa.model.errors import ValidationError
from awa.model.states import FINAL_OPERATION_STATES
from awa.model.steering import changes_in_words
from awa.operations import kinds
from awa.operations.kinds import Kind
from awa.web.words import number, things

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Deed:
    """One kind in words."""

    kind: str
    label: str
    about: str
    fields: tuple[str, ...]
    done: Callable[[Spec], str]
    """Behind a number of jobs, as what became of them: "moved to escalations"."""
    button: Callable[[str, Spec], str]
    """The deed with its count: "Move 47,000 jobs to escalations"."""
    doing: Callable[[str, Spec], str]
    """The same while it is done: "Moving 47,000 jobs to escalations"."""
    changes: Callable[[Spec], dict[str, Any]]
    """The columns of a job that are different afterwards."""


def _priority_done(spec: Spec) -> str:
    return f"given priority {spec['priority']}"


def _move_done(spec: Spec) -> str:
    with_priority = spec.get("priority")
    return f"moved to {spec['queue']}" + (
        f" with priority {with_priority}" if with_priority is not None else ""
    )


def _move_button(jobs: str, spec: Spec) -> str:
    return f"Move {jobs} to {_move_done(spec).removeprefix('moved to ')}"


DEEDS: Final[Mapping[str, Deed]] = {
    deed.kind: deed
    for deed in (
        Deed(
            kind="move_queue",
            label="Move to another queue",
            about="They leave their queue and wait in another one, behind the jobs that wait there already.",
            fields=("queue", "priority"),
            done=_move_done,
            button=_move_button,
            doing=lambda jobs, spec: _move_button(jobs, spec).replace("Move", "Moving", 1),
            changes=lambda spec: {
                name: spec[name] for name in ("queue", "priority") if spec.get(name) is not None
            },
        ),
        Deed(
            kind="set_priority",
            label="Give another priority",
            about="They stay in their queue and are claimed sooner or later than before.",
            fields=("priority",),
            done=_priority_done,
            button=lambda jobs, spec: f"Give {jobs} priority {spec['priority']}",
            doing=lambda jobs, spec: f"Giving {jobs} priority {spec['priority']}",
            changes=lambda spec: {"priority": spec["priority"]},
        ),
    )
}


# No search finds its jobs, so it isn't among those that are offered for one.
_UNDO: Final = Deed(
    kind=kinds.UNDO,
    label="Undo",
    about="They get back what another operation changed of them, if they are as it left them.",
    fields=(),
    done=lambda spec: "put back",
    button=lambda jobs, spec: f"Put {jobs} back",
    doing=lambda jobs, spec: f"Putting {jobs} back",
    changes=lambda spec: {},
)
_ALL: Final = {**DEEDS, kinds.UNDO: _UNDO}


def kind_of(op_kind: str) -> Kind:
    """The kind itself, for what the engine knows of it."""
    return kinds.get(op_kind)


def done_words(op_kind: str, spec: Spec) -> str:
    """What an operation does to its jobs: "moved to escalations"."""
    deed = _ALL.get(op_kind)
    try:
        return deed.done(spec) if deed else _plain(op_kind, spec)
    except KeyError:  # SQL may have stored any spec
        return _plain(op_kind, spec)


def button_words(op_kind: str, spec: Spec, jobs: int) -> str:
    """The deed with its count, as the button says it."""
    return _ALL[op_kind].button(things(jobs), spec)


def told(row: Mapping[str, Any]) -> str:
    """An operation's headline: "Moving 47,000 jobs to escalations", "46,988 of 47,000 jobs moved to escalations"."""
    total = row["total_matched"]
    if row["state"] not in FINAL_OPERATION_STATES:
        # While the scan counts, the count says nothing yet.
        return _doing(row, "jobs" if total is None or phase(row) == "scanning" else things(total))
    changed = row["processed"]
    count = things(changed) if changed == total else f"{number(changed)} of {things(total or 0)}"
    return f"{count} {done_words(row['op_kind'], row['spec'])}"


def phase(row: Mapping[str, Any]) -> str:
    """Where an operation is, or was when it was paused."""
    return str(row.get("paused_from") or row["state"])


def pace_words(row: Mapping[str, Any]) -> str:
    """How fast an operation may go, and its own priority."""
    limit = row["max_rows_per_second"]
    rate = "as fast as it can" if limit is None else f"at most {number(limit)} jobs a second"
    return f"{rate}, own priority {row['priority']}"


def _doing(row: Mapping[str, Any], jobs: str) -> str:
    deed = _ALL.get(row["op_kind"])
    try:
        if deed is not None:
            return (deed.button if phase(row) == "pending" else deed.doing)(jobs, row["spec"])
    except KeyError:  # SQL may have stored any spec
        pass
    return _plain(row["op_kind"], row["spec"])


def effects(op_kind: str, spec: Spec, jobs: int) -> list[str]:
    """What dispatch makes of it, in whole sentences."""
    said = []
    if op_kind == "move_queue":
        said.append(
            f"From then on only workers of {spec['queue']} take them. They line up behind the jobs of the same "
            "priority that wait there, in their present order."
        )
    priority = spec.get("priority")
    if priority is not None:
        said.append(_PRIORITY_EFFECTS[priority])
    said.append(
        "A job that a worker takes before its turn comes is left alone and counted as skipped; "
        "jobs that are enqueued from now on are not touched."
    )
    if jobs > 1:
        said.append(
            "It goes chunk by chunk while workers go on working, and can be cancelled at any time; "
            "what is changed by then stays changed."
        )
    return said


_PRIORITY_EFFECTS: Final = {
    1: "Priority 1 is taken first: everything of priority 2 to 4 in the same queue waits until these are through.",
    2: "Priority 2 is the usual one; only priority 1 is taken before it.",
    3: "Priority 3 is taken when nothing of priority 1 and 2 waits in the same queue, or when it has waited long.",
    4: "Priority 4 is taken last, when nothing else waits in the same queue, or when it has waited long.",
}


def _plain(op_kind: str, spec: Spec) -> str:
    return f"given to {op_kind} {json.dumps(spec, ensure_ascii=False, default=str)}"


def about(row: Mapping[str, Any]) -> str:
    """An operation in a list: to which jobs."""
    if row.get("undo_of") is not None:
        return f"what operation {str(row['undo_of'])[:8]} changed"
    try:
        return search.sentence(row["filter"])
    except ValidationError:  # SQL may have stored any filter
        return json_text(row["filter"])


def json_text(value: Any) -> str:
    """JSON as people read it."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


# What the templates of operations use besides what every page has.
TELLING: Final[dict[str, Any]] = {
    "told": told,
    "about": about,
    "json_text": json_text,
    "phase": phase,
    "pace_words": pace_words,
    "changes_in_words": changes_in_words,
}
