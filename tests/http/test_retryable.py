"""What may succeed when it is asked again is told so; other trouble with the database stays in the log."""

import orjson

from awa.http.problems import of_awa_error
from awa.model.errors import DatabaseError


def test_a_deadlock_says_what_happened_and_to_ask_again() -> None:
    trouble = DatabaseError(
        "two transactions waited for each other's locks",
        hint="Run the whole transaction again.",
        details={"retryable": True, "sqlstate": "40P01"},
    )
    answer = of_awa_error(trouble)
    error = orjson.loads(answer.body)["error"]
    assert (answer.status_code, error["code"]) == (503, "database")
    assert error["message"] == trouble.message
    assert error["hint"] == trouble.hint
    assert error["details"]["retryable"] is True
    assert int(answer.headers["Retry-After"]) > 0


def test_other_trouble_is_kept_to_the_log() -> None:
    error = orjson.loads(of_awa_error(DatabaseError("host db7 said no")).body)["error"]
    assert error["message"] == "the database cannot answer now"
    assert "db7" not in str(error)
