"""Every limit has a name here, its unit last, and one check that says what was seen.

The checks return what they were given, so that they can stand where the value is used.
"""

from collections.abc import Iterable
from typing import Final

from awa.model.errors import ValidationError, invalid_field

QUEUE_NAME_MAX_CHARS: Final = 200
KIND_MAX_CHARS: Final = 200
TAG_MAX_CHARS: Final = 200
TAGS_MAX_COUNT: Final = 100
ORDERING_KEY_MAX_CHARS: Final = 200
REASON_MAX_CHARS: Final = 2_000
ACTOR_MAX_CHARS: Final = 200
IDEMPOTENCY_KEY_MAX_CHARS: Final = 200
CONCURRENCY_KEY_MAX_CHARS: Final = 200
CONCURRENCY_LIMIT_MAX: Final = 1_000

PRIORITY_FIRST: Final = 1
PRIORITY_LAST: Final = 4
PRIORITY_DEFAULT: Final = 2
QUEUE_DEFAULT: Final = "default"

MAX_ATTEMPTS_DEFAULT: Final = 25
MAX_ATTEMPTS_MAX: Final = 1_000
ENQUEUE_SHARDS_MAX: Final = 64
ROWS_PER_SECOND_MAX: Final = 1_000_000
ARGS_MAX_BYTES: Final = 100 * 1024 * 1024
METADATA_MAX_BYTES: Final = 1024 * 1024

PAGE_DEFAULT_ROWS: Final = 50
PAGE_MAX_ROWS: Final = 1_000

JOB_ID_MAX: Final = 2**63 - 1
FILTER_IDS_MAX_COUNT: Final = 100_000


def check_queue(name: object, *, field: str = "queue") -> str:
    """A queue name: text, not blank, at most 200 characters, no control characters."""
    return _check_name(name, field, QUEUE_NAME_MAX_CHARS)


def check_kind(name: object, *, field: str = "kind") -> str:
    """The name of a kind of job, under the same rules as a queue name."""
    return _check_name(name, field, KIND_MAX_CHARS)


def check_tag(tag: object, *, field: str = "tags") -> str:
    """One tag, under the same rules as a queue name."""
    return _check_name(tag, field, TAG_MAX_CHARS)


def check_tags(tags: Iterable[object], *, field: str = "tags") -> list[str]:
    """The tags of one job, in order and without doubles."""
    if isinstance(tags, str):
        raise invalid_field(field, f"expected a list of texts, got the text {tags!r}")
    checked = list(dict.fromkeys(check_tag(tag, field=field) for tag in tags))
    if len(checked) > TAGS_MAX_COUNT:
        raise invalid_field(field, f"at most {TAGS_MAX_COUNT} tags, got {len(checked)}")
    return checked


def check_priority(priority: object, *, field: str = "priority") -> int:
    """1 (first) to 4."""
    return check_whole_number(priority, field, PRIORITY_FIRST, PRIORITY_LAST)


def check_rows_per_second(rate: object, *, field: str = "max_rows_per_second") -> int:
    """How many rows a batch operation may change in a second. Raises ValidationError."""
    return check_whole_number(rate, field, 1, ROWS_PER_SECOND_MAX)


def check_max_attempts(attempts: object, *, field: str = "max_attempts") -> int:
    """1 to 1000."""
    return check_whole_number(attempts, field, 1, MAX_ATTEMPTS_MAX)


def check_shards(shards: object, *, field: str = "shards") -> int:
    """1 to 64."""
    return check_whole_number(shards, field, 1, ENQUEUE_SHARDS_MAX)


def check_ordering_key(key: object, *, field: str = "ordering_key") -> str:
    """The key whose jobs share a shard."""
    return _check_name(key, field, ORDERING_KEY_MAX_CHARS)


def check_concurrency_key(key: object, *, field: str = "concurrency_key") -> str:
    """The key of which only some jobs run at once."""
    return _check_name(key, field, CONCURRENCY_KEY_MAX_CHARS)


def check_concurrency_limit(limit: object, *, field: str = "concurrency_limit") -> int:
    """How many jobs of a key run at once, 1 to 1000."""
    return check_whole_number(limit, field, 1, CONCURRENCY_LIMIT_MAX)


def check_actor(actor: object, *, field: str = "actor") -> str:
    """Who does it: a token's name or a database role."""
    return _check_name(actor, field, ACTOR_MAX_CHARS)


def check_reason(reason: object, *, field: str = "reason") -> str | None:
    """Free text that an operator gives; blank counts as none."""
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise _wrong_type(field, "a text", reason)
    if len(reason) > REASON_MAX_CHARS:
        raise invalid_field(field, f"at most {REASON_MAX_CHARS} characters, got {len(reason)}")
    if "\x00" in reason:
        raise invalid_field(field, "must not hold the NUL character")
    _refuse_surrogates(field, reason)
    return reason.strip() or None


def check_idempotency_key(key: object, *, field: str = "idempotency_key") -> str:
    """The caller's own name for one submission."""
    return _check_name(key, field, IDEMPOTENCY_KEY_MAX_CHARS)


def check_page(limit: object, *, field: str = "limit") -> int:
    """How many rows a list may return at once."""
    return check_whole_number(limit, field, 1, PAGE_MAX_ROWS)


def check_whole_number(value: object, field: str, lowest: int, highest: int) -> int:
    """A whole number within bounds; True and 1.0 are not whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(field, "a whole number", value)
    if not lowest <= value <= highest:
        raise invalid_field(field, f"must be between {lowest} and {highest}, got {value}")
    return value


def _check_name(name: object, field: str, max_chars: int) -> str:
    if not isinstance(name, str):
        raise _wrong_type(field, "a text", name)
    if not name.strip():
        raise invalid_field(field, "must not be empty")
    if len(name) > max_chars:
        raise invalid_field(field, f"at most {max_chars} characters, got {len(name)}")
    if name != name.strip():
        raise invalid_field(field, f"must not begin or end with white space, got {name!r}")
    if any(ord(char) < 32 or ord(char) == 127 for char in name):
        raise invalid_field(field, f"must not hold control characters, got {name!r}")
    _refuse_surrogates(field, name)
    return name


def _refuse_surrogates(field: str, text: str) -> None:
    # JSON may bring half of a surrogate pair; it cannot be stored as UTF-8.
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise invalid_field(field, f"must be valid Unicode, got {text!r}")


def _wrong_type(field: str, expected: str, seen: object) -> ValidationError:
    return invalid_field(field, f"expected {expected}, got {_named(seen)}")


def _named(seen: object) -> str:
    return "nothing" if seen is None else f"{type(seen).__name__} {seen!r}"
