"""How values become JSON, and answers that need not be sent twice."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import orjson
import pytest
from fastapi import Request

from awa.http.etag import with_etag
from awa.http.json import to_json
from awa.operations.reading.counts import Count


@dataclass(frozen=True)
class Plain:
    """A value without a form of its own."""

    at: datetime


def test_values_have_one_form() -> None:
    known = UUID("0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10")
    value = {1: Count(3), "plain": Plain(datetime(2026, 6, 1, tzinfo=UTC)), "id": known}
    assert orjson.loads(to_json(value)) == {
        "1": {"jobs": 3, "exact": True, "bound": "exact"},
        "plain": {"at": "2026-06-01T00:00:00Z"},
        "id": str(known),
    }


def test_what_has_no_form_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        to_json({"value": object()})


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("TAG", 304),
        ('"other", TAG', 304),
        ("*", 304),
        ('"other"', 200),
        ("", 200),
        ("TAG-", 200),
    ],
)
def test_an_answer_that_is_there_is_not_sent_again(given: str, status: int) -> None:
    def request(tag: str) -> Request:
        headers = [(b"if-none-match", tag.encode())]
        return Request({"type": "http", "method": "GET", "path": "/", "headers": headers})

    tag = with_etag(request(""), {"a": 1}).headers["etag"]
    answer = with_etag(request(given.replace("TAG", tag)), {"a": 1})
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "Authorization, Cookie"
