"""Callbacks as values: the token that a handler passes on, the actions somebody outside has, and their signatures.

A token is the callback's id, as text. With a secret and an address it also makes signed URLs: whoever holds one may do
what it says, once, until it expires, and nothing else. Such a URL is a capability, so it is treated like a password.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit
from uuid import UUID

import orjson

from awa.model import exact
from awa.model.errors import AwaError, FieldProblem, ValidationError, invalid_field
from awa.model.outcome import DELAY_MAX_S, TerminalError

SECRET_VARIABLE: Final = "AWA_CALLBACK_SECRET"
URL_VARIABLE: Final = "AWA_CALLBACK_URL"
SECRET_MIN_CHARS: Final = 32
TIMEOUT_DEFAULT_S: Final = 3_600.0
TIMEOUT_MIN_S: Final = 0.001
# A URL is good for a day longer than its callback was to wait, since heartbeats may put the time-out off.
URL_MARGIN_S: Final = 86_400.0
PAYLOAD_MAX_BYTES: Final = 1024 * 1024
ERROR_MAX_CHARS: Final = 4_000
RESULT_KEY: Final = "_awa_callback"


class Action(StrEnum):
    """What somebody outside can say to a callback."""

    COMPLETE = "complete"
    FAIL = "fail"
    RETRY = "retry"
    RESUME = "resume"
    HEARTBEAT = "heartbeat"


class CallbackTimedOut(AwaError):
    """No answer came in time to a callback that a handler waits for."""

    code: ClassVar[str] = "callback_timed_out"


class CallbackRetried(AwaError):
    """The answer to a callback that a handler waits for is: try again."""

    code: ClassVar[str] = "callback_retried"


class CallbackFailed(TerminalError):
    """The answer to a callback that a handler waits for is a failure; not caught, it fails the job for good."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("error", "the callback reported a failure")))
        self.error = dict(error)


class CallbackToken(str):
    """A callback that a handler registered: its id as text, and what makes signed URLs of it."""

    expires_at: datetime
    _signer: Signer | None

    @classmethod
    def make(
        cls, callback_id: UUID, expires_at: datetime, signer: Signer | None = None
    ) -> CallbackToken:
        """The token of a callback that was just registered."""
        token = cls(callback_id)
        token.expires_at = expires_at
        token._signer = signer
        return token

    @property
    def id(self) -> UUID:
        """The callback's id."""
        return UUID(self)

    def url(
        self, action: Action | str = Action.COMPLETE, *, valid_seconds: float | None = None
    ) -> str:
        """A signed URL to POST to: whoever has it may do this action. Good for a day longer than the time-out, unless told.

        Raises ValidationError if AWA_CALLBACK_SECRET or AWA_CALLBACK_URL isn't set.
        """
        signer = self._needed_signer()
        return signer.url(self.id, check_action(action), self._until_s(valid_seconds))

    def signature(self, action: Action | str, *, valid_seconds: float | None = None) -> str:
        """The value of the header X-Awa-Signature for this action, for callers that keep it out of the URL."""
        signer = self._needed_signer()
        until_s = self._until_s(valid_seconds)
        return f"{until_s}.{signer.signature(self.id, check_action(action), until_s)}"

    def _needed_signer(self) -> Signer:
        if self._signer is None:
            raise _not_configured(SECRET_VARIABLE)
        return self._signer

    def _until_s(self, valid_seconds: float | None) -> int:
        if valid_seconds is None:
            return int(self.expires_at.timestamp() + URL_MARGIN_S)
        if not 0 < valid_seconds <= DELAY_MAX_S:
            raise invalid_field(
                "valid_seconds",
                f"must be above 0 and at most {DELAY_MAX_S:.0f}, got {valid_seconds}",
            )
        return int(time.time() + valid_seconds)


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Signs and checks the actions of callbacks. The first secret signs, all of them are accepted."""

    secrets: tuple[bytes, ...]
    base_url: str | None = None

    @classmethod
    def of(cls, secret: str | None, base_url: str | None = None) -> Signer | None:
        """From settings; None without a secret. Raises ValidationError for one that is too short, or no http URL."""
        if not secret or not secret.strip():
            return None
        secrets = secret.split()
        if any(len(one) < SECRET_MIN_CHARS for one in secrets):
            why = f"must have at least {SECRET_MIN_CHARS} characters, such as `openssl rand -hex 32` prints"
            raise ValidationError(
                f"{SECRET_VARIABLE}: {why}", fields=(FieldProblem("callback_secret", why),)
            )
        return cls(tuple(one.encode() for one in secrets), _checked_url(base_url))

    def url(self, callback_id: UUID, action: Action, until_s: int) -> str:
        """The signed URL of an action."""
        if self.base_url is None:
            raise _not_configured(URL_VARIABLE)
        signed = self.signature(callback_id, action, until_s)
        return f"{self.base_url}{path_of(callback_id, action)}?expires={until_s}&signature={signed}"

    def signature(self, callback_id: UUID, action: Action, until_s: int) -> str:
        """The signature of an action until a time, in seconds since 1970."""
        return _signed(self.secrets[0], callback_id, action, until_s)

    def accepts(
        self, callback_id: UUID, action: Action, until_s: int, presented: str, now_s: float
    ) -> bool:
        """Whether a signature is good: made with one of the secrets for just this, and not expired."""
        given = presented.encode()
        fits = False
        for secret in self.secrets:  # all of them, so that time tells nothing
            known = _signed(secret, callback_id, action, until_s).encode()
            fits = hmac.compare_digest(known, given) or fits
        return fits and now_s < until_s


def path_of(callback_id: UUID, action: Action) -> str:
    """Where an action is POSTed to."""
    return f"/api/callbacks/{callback_id}/{action}"


def check_action(action: object) -> Action:
    """complete, fail, retry, resume or heartbeat."""
    try:
        return Action(action)  # type: ignore[arg-type]
    except ValueError:
        raise invalid_field(
            "action", f"expected one of {', '.join(Action)}, got {action!r}"
        ) from None


def check_callback_id(callback: object, *, field: str = "callback_id") -> UUID:
    """A callback's id: a token, a UUID, or its text."""
    if isinstance(callback, UUID):
        return callback
    try:
        return UUID(callback)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError):
        raise invalid_field(field, f"expected the id of a callback, got {callback!r}") from None


def check_timeout(seconds: object, *, field: str = "timeout_seconds") -> float:
    """Seconds until a callback times out."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise invalid_field(field, f"expected a number of seconds, got {seconds!r}")
    if not TIMEOUT_MIN_S <= seconds <= DELAY_MAX_S:
        raise invalid_field(
            field, f"must be between {TIMEOUT_MIN_S} and {DELAY_MAX_S:.0f}, got {seconds}"
        )
    return float(seconds)


def check_payload(payload: object, *, field: str = "payload") -> Any:
    """Any JSON, as plain values, up to a megabyte. NUL, which jsonb can't hold, is refused."""
    try:
        written = exact.dumps({field: payload})
    except orjson.JSONEncodeError as problem:
        raise invalid_field(field, f"can't be stored: {problem}") from problem
    if b"\\u0000" in written:
        raise invalid_field(field, "must not hold the NUL character")
    if len(written) > PAYLOAD_MAX_BYTES:
        raise invalid_field(
            field, f"at most {PAYLOAD_MAX_BYTES} bytes, got {len(written)}",
            hint="store the document elsewhere, and send where it is",
        )  # fmt: skip
    return exact.loads(written)[field]


def check_error(error: object) -> dict[str, Any] | None:
    """What went wrong outside: a sentence, or an object with `error` and whatever else is known. None says nothing."""
    if error is None:
        return None
    given = {"error": error} if isinstance(error, str) else error
    if not isinstance(given, Mapping) or not isinstance(given.get("error"), str):
        raise invalid_field(
            "error", f"expected a sentence, or an object with a text `error`, got {error!r}"
        )
    told: dict[str, Any] = check_payload(dict(given), field="error")
    told["error"] = told["error"][:ERROR_MAX_CHARS]
    return told


def _signed(secret: bytes, callback_id: UUID, action: Action, until_s: int) -> str:
    said = f"POST\n{path_of(callback_id, action)}\n{callback_id}\n{until_s}"
    return hmac.new(secret, said.encode(), hashlib.sha256).hexdigest()


def _checked_url(base_url: str | None) -> str | None:
    if base_url is None:
        return None
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        why = "expected where `awa serve` is reached from outside, such as https://jobs.example.org"
        raise ValidationError(f"{URL_VARIABLE}: {why}", fields=(FieldProblem("callback_url", why),))
    return base_url.rstrip("/")


def _not_configured(variable: str) -> ValidationError:
    return ValidationError(
        f"a signed URL of a callback needs {variable}, which isn't set",
        hint="set AWA_CALLBACK_SECRET (`openssl rand -hex 32`) and AWA_CALLBACK_URL where handlers run, and the same secret "
        "where `awa serve` does",
    )
