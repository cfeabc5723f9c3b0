"""The checks return what is right and say what was seen when it is not."""

from collections.abc import Callable

import pytest

from awa.model.errors import ValidationError
from awa.model.limits import (
    check_idempotency_key,
    check_kind,
    check_max_attempts,
    check_page,
    check_priority,
    check_queue,
    check_reason,
    check_tags,
)


def test_what_is_right_is_returned() -> None:
    assert check_queue("email") == "email"
    assert check_queue("x" * 200) == "x" * 200
    assert check_priority(4) == 4
    assert check_tags(["a", "b", "a"]) == ["a", "b"]
    assert check_reason("  incident 12 ") == "incident 12"
    assert check_reason(" ") is None
    assert check_reason(None) is None


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (check_queue, "", "queue: must not be empty"),
        (check_queue, "  ", "queue: must not be empty"),
        (check_queue, "x" * 201, "queue: at most 200 characters, got 201"),
        (check_queue, " a", "queue: must not begin or end with white space, got ' a'"),
        (check_queue, "a\nb", "queue: must not hold control characters, got 'a\\nb'"),
        (check_queue, "\ud800", "queue: must be valid Unicode, got '\\ud800'"),
        (check_queue, None, "queue: expected a text, got nothing"),
        (check_kind, 7, "kind: expected a text, got int 7"),
        (check_priority, 0, "priority: must be between 1 and 4, got 0"),
        (check_priority, 5, "priority: must be between 1 and 4, got 5"),
        (check_priority, True, "priority: expected a whole number, got bool True"),
        (check_priority, 1.0, "priority: expected a whole number, got float 1.0"),
        (check_priority, "1", "priority: expected a whole number, got str '1'"),
        (check_max_attempts, 0, "max_attempts: must be between 1 and 1000, got 0"),
        (check_tags, "urgent", "tags: expected a list of texts, got the text 'urgent'"),
        (check_tags, [str(n) for n in range(101)], "tags: at most 100 tags, got 101"),
        (check_reason, "x" * 2001, "reason: at most 2000 characters, got 2001"),
        (check_reason, "a\x00b", "reason: must not hold the NUL character"),
        (check_page, 1001, "limit: must be between 1 and 1000, got 1001"),
        (check_idempotency_key, "", "idempotency_key: must not be empty"),
    ],
)
def test_what_is_wrong_is_refused_by_name(
    check: Callable[[object], object], value: object, message: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        check(value)
    assert refused.value.message == message
    assert [problem.field for problem in refused.value.fields] == [message.partition(":")[0]]
