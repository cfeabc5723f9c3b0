"""What an operator types is understood exactly, or refused with the word that is wrong and the nearest right one."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awa.model import search
from awa.model.errors import ValidationError
from awa.model.filter import JobFilter
from awa.model.states import JobState

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def meant(text: str) -> dict[str, Any]:
    """The filter's fields that a line gives."""
    return search.parse(text, now=NOW).filter.given()


def refused(text: str) -> list[dict[str, Any]]:
    """What is wrong with a line."""
    with pytest.raises(ValidationError) as caught:
        search.parse(text, now=NOW)
    assert caught.value.details is not None
    problems: list[dict[str, Any]] = caught.value.details["problems"]
    assert [p.message for p in caught.value.fields] == [p["message"] for p in problems]
    return problems


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ("   ", {}),
        ("queue:email", {"queue": "email"}),
        ("QUEUE:Email", {"queue": "Email"}),
        ("queue:email,text", {"queues": ["email", "text"]}),
        ("queue:email,", {"queues": ["email"]}),
        ('queue:"my queue"', {"queue": "my queue"}),
        ('queue:"a,b",c', {"queues": ["a,b", "c"]}),
        ("queue:a:b", {"queue": "a:b"}),
        ("kind:send_email", {"kind": "send_email"}),
        ("kind:send_*", {"kind_prefix": "send_"}),
        ('kind:"send_*"', {"kind": "send_*"}),
        ('kind:"my kind "*', {"kind_prefix": "my kind "}),
        ("kind:a kind:b,c", {"kind": "a", "kinds": ["b", "c"]}),
        ("tag:acme", {"tag": "acme"}),
        ("tag:a tag:b tag:a", {"tags_all": ["a", "b"]}),
        ("tag:a tag:a", {"tag": "a"}),
        ("tag:a,b", {"tags_any": ["a", "b"]}),
        ("tag:a tag:b,c", {"tag": "a", "tags_any": ["b", "c"]}),
        ("-tag:x", {"tags_none": ["x"]}),
        ("-tag:x,y -tag:z", {"tags_none": ["x", "y", "z"]}),
        ("state:available", {"state": JobState.AVAILABLE}),
        ("priority:2", {"priority": 2}),
        ("id:123,124", {"ids": [123, 124]}),
        ("id:none", {"ids": []}),
        ("attempt:3", {"attempt_gte": 3, "attempt_lt": 4}),
        ("attempt:>=3", {"attempt_gte": 3}),
        ("attempt:>3 attempt:<=9", {"attempt_gte": 4, "attempt_lt": 10}),
        ("created:>=2026-01-01T00:00Z", {"created_at_gte": NEW_YEAR}),
        ("created:>2026-01-01T00:00Z", {"created_at_gte": NEW_YEAR + TICK}),
        ("created:<2026-01-01T02:00+02:00", {"created_at_lt": NEW_YEAR}),
        ("created:<=2026-01-01T00:00Z", {"created_at_lt": NEW_YEAR + TICK}),
        ("run:<2026-01-01T00:00Z", {"run_at_lt": NEW_YEAR}),
        ("ended:>=2026-01-01T00:00Z", {"finalized_at_gte": NEW_YEAR}),
        ("age:>1h", {"created_at_lt": NOW - timedelta(hours=1)}),
        ("age:<2d12h", {"created_at_gte": NOW - timedelta(days=2, hours=12) + TICK}),
        ("age:<=90s", {"created_at_gte": NOW - timedelta(seconds=90)}),
        ("error:timeout", {"error_contains": "timeout"}),
        ('error:"timed out"', {"error_contains": "timed out"}),
        ("error:a,b", {"error_contains": "a,b"}),
        ('args:{"customer":"acme"}', {"args_contains": {"customer": "acme"}}),
        (
            'args:{"a": [1, {"b": null}]} queue:x',
            {"args_contains": {"a": [1, {"b": None}]}, "queue": "x"},
        ),
        (
            "  queue:email\tkind:send_*  tag:acme state:available  age:>1h ",
            {
                "queue": "email",
                "kind_prefix": "send_",
                "tag": "acme",
                "state": JobState.AVAILABLE,
                "created_at_lt": NOW - timedelta(hours=1),
            },
        ),
    ],
)
def test_a_line_means_a_filter(text: str, fields: dict[str, Any]) -> None:
    assert meant(text) == fields


@pytest.mark.parametrize(
    ("text", "word", "message", "suggestion"),
    [
        ("queu:email", "queu:email", "'queu' is no word of a search, did you mean 'queue'?", "queue:email"),
        ("status:running", "status:running", "'status' is no word of a search, did you mean 'state'?", "state:running"),
        ("xyzzy:1", "xyzzy:1", "'xyzzy' is no word of a search; known are queue, kind, tag", None),
        ("acme", "acme", "'acme' does not say where to look; write queue:acme, kind:acme or tag:acme", "tag:acme"),
        ('"timed out"', '"timed out"', '"timed out" does not say where to look', 'error:"timed out"'),
        ("123", "123", "'123' alone says too little; for the job write id:123", "id:123"),
        ("state:availble", "state:availble", "state: there is no state 'availble', did you mean 'available'?", "state:available"),
        ("state:zzz", "state:zzz", "state: there is no state 'zzz'; known are scheduled", None),
        ("state:available,running", "state:available,running", "state: only one state at a time", None),
        ("queue:", "queue:", "queue: has no value; write queue:email", None),
        ("queue:>a", "queue:>a", 'queue is not compared with >; write queue:email, or queue:">a" for the text itself', None),
        ("queue:a queue:b", "queue:b", "queue:b asks the same as queue:a a second time, and both would have to hold; for either of them write queue:a,b", None),
        ("tag:a,b tag:c,d", "tag:c,d", "tag:c,d asks the same as tag:a,b a second time; keep one of them", None),
        ("age:>1h created:<2026-01-01T00:00Z", "created:<2026-01-01T00:00Z", "created:<2026-01-01T00:00Z asks the same as age:>1h", None),
        ("queue:a*", "queue:a*", "queue: the star is for kinds only", None),
        ("kind:a*b", "kind:a*b", "kind: a star can only stand at the end", None),
        ("kind:*", "kind:*", "kind:* is every kind; leave the word out", None),
        ("kind:a*,b", "kind:a*,b", "kind: a beginning with a star stands alone", None),
        ("-queue:a", "-queue:a", "only a tag can be excluded (-tag:…), not 'queue'", None),
        ("priority:9", "priority:9", "priority: must be at most 4, got int 9", None),
        ("priority:high", "priority:high", "priority: expected a whole number, got 'high'", None),
        ("priority:>2", "priority:>2", "priority is not compared with >; write priority:2", None),
        ("id:1,x", "id:1,x", "id: expected a whole number, got 'x'", None),
        ("id:0", "id:0", "id: must be at least 1", None),
        ("attempt:>=3 attempt:<3", "attempt:>=3", "attempt: the bounds are reversed: attempt:>=… must be below attempt:<…", None),
        ("created:2026-01-01T00:00Z", "created:2026-01-01T00:00Z", "created: say on which side", None),
        ("created:>2026-01-01", "created:>2026-01-01", "created: '2026-01-01' does not say which time zone", "created:>2026-01-01T00:00Z"),
        ("created:>yesterday", "created:>yesterday", "created: 'yesterday' is no date and time", None),
        ("created:>9999-12-31T23:59:59.999999Z", "created:>9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999+00:00 is too far away", None),
        ("age:1h", "age:1h", "age: say on which side, age:>1h or age:<1h", None),
        ("age:>soon", "age:>soon", "age: 'soon' is no duration; write 90s", None),
        ("age:>999999999w", "age:>999999999w", "age: '999999999w' is no duration", None),
        ('queue:"a', 'queue:"a', "a quotation mark is opened and never closed", None),
        ('queue:"\\x" tag:"b"', 'queue:"\\x" tag:"b"', "between quotation marks the rules of JSON hold", None),
        ('queue:"a"b', 'queue:"a"b', "queue: after the quotation mark a blank is missing", None),
        ('queue:" "', 'queue:" "', "queue: must not be empty", None),
        ("args:5", "args:5", "args: takes a JSON object or list", None),
        ('args:{"a":', 'args:{"a":', "args: this is not JSON", None),
        ("args:{}x", "args:{}x", "args: after the JSON a blank is missing", None),
        ("args:" + "[" * 30_000, "args:" + "[" * 30_000, "args: this is not JSON: it is too large or too deep", None),
        ("args:[" + "9" * 5_000 + "]", "args:[" + "9" * 5_000 + "]", "args: this is not JSON: it is too large or too deep", None),
        ('args:[1e999]', 'args:[1e999]', "args: is not JSON", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_what_was_meant(
    text: str, word: str, message: str, suggestion: str | None
) -> None:
    (problem,) = refused(text)
    assert text[problem["start"] : problem["end"]] == problem["word"] == word
    assert problem["message"].startswith(message)
    assert problem["suggestion"] == suggestion


def test_all_problems_are_told_at_once_and_a_suggestion_keeps_the_rest_of_the_line() -> None:
    first, second = refused("queu:a kind:b stat:c tag:d")
    assert first["suggestion"] == "queue:a kind:b stat:c tag:d"
    assert second["suggestion"] == "queu:a kind:b state:c tag:d"


def test_a_line_has_a_limit() -> None:
    (problem,) = refused("tag:a " * 6_000)
    assert problem["message"] == "the search is 36000 characters long, at most 32000 are read"


def test_every_word_has_an_example_that_is_understood() -> None:
    for word in search.WORDS:
        (chip,) = search.parse(word.example, now=NOW).chips
        assert chip.name == word.name


def test_chips_know_their_place_and_their_words() -> None:
    text = "  queue:email   age:>1h -tag:x"
    queue, age, tag = search.parse(text, now=NOW).chips
    assert [text[c.start : c.end] for c in (queue, age, tag)] == [
        "queue:email",
        "age:>1h",
        "-tag:x",
    ]
    assert queue.sentence == "in the queue email"
    assert age.sentence == "older than 1h (created before 2026-06-01 11:00:00 UTC)"
    assert tag.sentence == "without the tag x"


def test_an_age_is_frozen_to_an_instant() -> None:
    line = search.parse("queue:email age:>1h age:<=2d", now=NOW)
    assert line.relative
    assert line.frozen == "queue:email created:<2026-06-01T11:00:00Z created:>=2026-05-30T12:00:00Z"
    later = search.parse(line.frozen, now=NOW + timedelta(days=9))
    assert later.filter == line.filter
    assert not later.relative


def test_words_can_be_taken_away_and_replaced() -> None:
    line = search.parse('tag:a queue:"my queue" tag:b state:failed', now=NOW)
    assert line.without(1) == "tag:a tag:b state:failed"
    assert line.having("state", "state:available") == 'tag:a queue:"my queue" tag:b state:available'
    assert line.having("tag", None) == 'queue:"my queue" state:failed'
    assert line.having("priority", "priority:1") == f"{line.text} priority:1"
    assert search.word("queue", "my queue") == 'queue:"my queue"'


def test_a_filter_is_told_in_plain_words() -> None:
    told = search.phrases(
        {
            "queue": "email",
            "kinds": ["a", "b", "c"],
            "tags_all": ["x", "y"],
            "tags_none": ["z"],
            "created_at_lt": "2026-06-01T11:00:00Z",
            "attempt_gte": 1,
            "error_contains": "timed out",
            "args_contains": {"customer": "acme"},
            "ids": list(range(1, 2001)),
        }
    )
    assert set(told) == {
        "in the queue email",
        "of the kind a, b or c",
        "with the tags x and y",
        "without the tag z",
        "created before 2026-06-01 11:00:00 UTC",
        "with at least 1 attempt begun",
        "with an error that contains “timed out”",
        'whose arguments contain {"customer": "acme"}',
        "with one of 2,000 given ids",
    }
    assert (
        search.sentence({"queue": "email", "tag": "a"}) == "jobs in the queue email, with the tag a"
    )
    assert search.sentence({}) == "all jobs"


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
).filter(lambda name: bool(name.strip()))
LISTS = st.lists(NAMES, min_size=1, max_size=4)
MOMENTS = st.datetimes(
    timezones=st.sampled_from(
        [UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=9))]
    )
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: isinstance(value, dict | list))  # fmt: skip
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "kind": NAMES,
    "queue": NAMES,
    "ids": st.lists(st.integers(1, 2**63 - 1), max_size=4),
    "tag": NAMES,
    "state": st.sampled_from(JobState),
    "kinds": LISTS,
    "kind_prefix": NAMES,
    "queues": LISTS,
    "priority": st.integers(1, 4),
    "tags_any": LISTS,
    "tags_all": LISTS,
    "tags_none": LISTS,
    "error_contains": NAMES,
    "args_contains": JSON,
}
FILTERS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({}, optional=FIELDS)


@st.composite
def any_filter(draw: st.DrawFn) -> dict[str, Any]:
    """A filter with any of its fields, bounds in order."""
    fields: dict[str, Any] = draw(FILTERS)
    for name in ("created_at", "run_at", "finalized_at"):
        _bounds(draw, fields, name, MOMENTS)
    _bounds(draw, fields, "attempt", st.integers(0, 32_767))
    return fields


def _bounds(
    draw: st.DrawFn, fields: dict[str, Any], name: str, values: st.SearchStrategy[Any]
) -> None:
    low, high = draw(st.none() | values), draw(st.none() | values)
    if low is not None and high is not None and low >= high:
        high = None
    fields |= {f"{name}_{side}": v for side, v in (("gte", low), ("lt", high)) if v is not None}


def test_every_field_of_the_filter_is_tried() -> None:
    bounds = {
        f"{n}_{s}"
        for n in ("created_at", "run_at", "finalized_at", "attempt")
        for s in ("gte", "lt")
    }
    assert bounds | set(FIELDS) == set(JobFilter.model_fields)


@given(any_filter())
def test_whatever_a_filter_holds_survives_the_way_to_text_and_back(fields: dict[str, Any]) -> None:
    text = search.write(fields)
    line = search.parse(text, now=NOW)
    assert line.filter == search.normal(fields)
    assert search.normal(line.filter) == line.filter
    assert search.write(line.filter) == text
    assert not line.relative
    assert search.parse(line.frozen, now=NOW).filter == line.filter
    for index in range(len(line.chips)):
        search.parse(line.without(index), now=NOW)
    assert len(search.phrases(fields)) == len(JobFilter.parse(fields).given())


LINES = r"(-?[a-z]{2,8}:[<>=]{0,2}[\"a*,{\[0-9:Z ]{0,9} ?){1,4}"


@given(st.text(max_size=60) | st.from_regex(LINES))
def test_any_text_is_understood_or_refused_in_words(text: str) -> None:
    try:
        line = search.parse(text, now=NOW)
    except ValidationError:
        for problem in refused(text):
            assert problem["message"]
            assert text[problem["start"] : problem["end"]] == problem["word"]
    else:
        assert search.parse(search.write(line.filter), now=NOW).filter == line.filter
