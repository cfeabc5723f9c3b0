"""Every kind of operation has its words: the deed with its count before, what was done afterwards."""

import pytest

from awa.operations import kinds
from awa.web import deeds
from awa.web.deeds import DEEDS

MOVE = {"queue": "escalations"}
MOVE_FIRST = {"queue": "escalations", "priority": 1}


def test_every_kind_has_words_and_only_fields_that_it_takes() -> None:
    assert set(DEEDS) == set(kinds.names())
    for name, deed in DEEDS.items():
        assert set(deed.fields) <= set(kinds.get(name).spec_model.model_fields)


@pytest.mark.parametrize(
    ("op_kind", "spec", "jobs", "words"),
    [
        ("move_queue", MOVE, 47_000, "Move 47,000 jobs to escalations"),
        ("move_queue", MOVE_FIRST, 1, "Move 1 job to escalations with priority 1"),
        ("set_priority", {"priority": 4}, 12, "Give 12 jobs priority 4"),
    ],
)
def test_the_button_says_the_deed_with_its_count(
    op_kind: str, spec: dict[str, object], jobs: int, words: str
) -> None:
    assert deeds.button_words(op_kind, spec, jobs) == words


@pytest.mark.parametrize(
    ("state", "total", "processed", "words"),
    [
        ("pending", None, 0, "Move jobs to escalations"),
        ("scanning", 300, 0, "Moving jobs to escalations"),
        ("running", 47_000, 12, "Moving 47,000 jobs to escalations"),
        ("completed", 47_000, 47_000, "47,000 jobs moved to escalations"),
        ("completed", 47_000, 46_988, "46,988 of 47,000 jobs moved to escalations"),
        ("cancelled", None, 0, "0 of 0 jobs moved to escalations"),
    ],
)
def test_the_headline_follows_the_state(
    state: str, total: int | None, processed: int, words: str
) -> None:
    row = {"op_kind": "move_queue", "spec": MOVE, "state": state, "total_matched": total, "processed": processed}  # fmt: skip
    assert deeds.told(row) == words


@pytest.mark.parametrize(("op_kind", "spec"), [("purge", {"days": 3}), ("move_queue", {}), ("set_priority", {"x": 1})])  # fmt: skip
def test_what_this_version_does_not_know_is_told_as_it_is(
    op_kind: str, spec: dict[str, int]
) -> None:
    row = {"op_kind": op_kind, "spec": spec, "state": "running", "total_matched": 5, "processed": 0}
    assert op_kind in deeds.told(row)
    row["state"] = "completed"
    assert op_kind in deeds.told(row)
    assert deeds.about({"filter": {"of": "later"}}) == '{\n  "of": "later"\n}'


def test_the_effect_on_dispatch_is_told() -> None:
    told = " ".join(deeds.effects("move_queue", MOVE_FIRST, 9))
    assert "only workers of escalations take them" in told
    assert "Priority 1 is taken first" in told
    assert "can be cancelled" in told
    assert "can be cancelled" not in " ".join(deeds.effects("set_priority", {"priority": 2}, 1))
