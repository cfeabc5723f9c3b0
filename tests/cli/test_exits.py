"""Each kind of error has its exit code, and no class is without one."""

import pytest

from awa.cli import exits
from awa.cli.complaints import describe
from awa.model import errors


def all_errors() -> list[type[errors.AwaError]]:
    found = [errors.AwaError]
    for kind in found:
        found += kind.__subclasses__()
    return found


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.DatabaseError, 1),
        (errors.SchemaNotMigrated, 1),
        (errors.ValidationError, 2),
        (errors.NotFound, 3),
        (errors.NotConfirmed, 4),
        (errors.ReadOnly, 4),
        (errors.Forbidden, 4),
        (errors.Conflict, 4),
        (errors.UniqueConflict, 4),
    ],
)
def test_the_contract(kind: type[errors.AwaError], code: int) -> None:
    assert exits.exit_code(kind("…")) == code


@pytest.mark.parametrize("kind", all_errors())
def test_every_error_has_a_code(kind: type[errors.AwaError]) -> None:
    assert exits.exit_code(kind("…")) in {1, 2, 3, 4}


def test_a_surprise_is_one_sentence_and_a_way_to_see_more() -> None:
    complaint = describe(ZeroDivisionError("division by zero"))
    assert complaint.status == exits.FAILED
    assert "division by zero" in complaint.message
    assert "--debug" in str(complaint.hint)


def test_ctrl_c_is_130() -> None:
    assert describe(KeyboardInterrupt()).status == 130
