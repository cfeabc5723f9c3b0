"""A plan: what a preview counted, sealed, so that a submission can be held to it.

Between a preview and the submission the backlog goes on living. The token that a preview hands out says what was
counted, for exactly this kind, spec and filter, and until when it is good. It is signed, so that it comes back as it
was made; it is no right to anything, and nothing but a means to compare. To whoever carries it, it is opaque.

Filter and spec are held as digests of a canonical form: the order of ids and names, and the offset of a time, make
no other filter.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Self

from awa.model.errors import Conflict, FieldProblem, ValidationError, invalid_field
from awa.model.filter import JobFilter

PREFIX: Final = "awa1"
TOKEN_MAX_CHARS: Final = 16_000
QUEUES_MAX: Final = 10
DIGEST_CHARS: Final = 32
MINUTES_DEFAULT: Final = 60.0
DRIFT_PERCENT_DEFAULT: Final = 1.0
DRIFT_JOBS_DEFAULT: Final = 10
# The order of these says nothing.
_SETS: Final = frozenset({"ids", "kinds", "queues", "tags_any", "tags_all", "tags_none"})


class PlanExpired(Conflict):
    """The plan's time is over: what was counted then says too little of now."""

    code: ClassVar[str] = "plan_expired"


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """How long a plan is good, and how much its jobs may drift."""

    minutes: float = MINUTES_DEFAULT
    drift_percent: float = DRIFT_PERCENT_DEFAULT
    drift_jobs: int = DRIFT_JOBS_DEFAULT

    def tolerance(self, planned: int) -> int:
        """So many jobs more or less are still the same deed.

        The larger of a share and a number of jobs; but that number is never more than a tenth of the plan, so that of
        a handful of jobs not one may be another.
        """
        return max(int(planned * self.drift_percent / 100), min(self.drift_jobs, planned // 10))


@dataclass(frozen=True, slots=True)
class Count:
    """Eligible jobs, how many of them are at the target already, and where all of them are."""

    jobs: int
    noop: int = 0
    queues: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)

    @property
    def changing(self) -> int:
        """Jobs that would be changed."""
        return self.jobs - self.noop


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be done to which jobs; all of it checked."""

    op_kind: str
    filter: JobFilter
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a preview counted, for which kind, filter and spec."""

    op_kind: str
    filter: str
    spec: str
    count: Count
    made_at: datetime
    expires_at: datetime
    nonce: str

    @classmethod
    def make(cls, matter: Matter, count: Count, now: datetime, minutes: float) -> Self:
        """The plan of a preview made now. Of many queues it keeps the greatest."""
        greatest = sorted(count.queues.items(), key=lambda pair: (-pair[1], pair[0]))[:QUEUES_MAX]
        kept = Count(count.jobs, count.noop, dict(greatest), dict(count.states))
        until = now + timedelta(minutes=minutes)
        nonce = secrets.token_urlsafe(9)
        which, what = digest_of_filter(matter.filter), digest(matter.spec)
        return cls(matter.op_kind, which, what, kept, now, until, nonce)

    def check_fits(self, matter: Matter) -> None:
        """Refuse to be used for another kind, filter or spec: ValidationError with the parts that differ."""
        differing = []
        if self.op_kind != matter.op_kind:
            why = f"the plan was made for {self.op_kind}, not for {matter.op_kind}"
            differing.append(FieldProblem("op_kind", why))
        if self.filter != digest_of_filter(matter.filter):
            differing.append(FieldProblem("filter", "is another one than the plan was made for"))
        if self.spec != digest(matter.spec):
            differing.append(FieldProblem("spec", "is another one than the plan was made for"))
        if differing:
            parts = " and ".join(problem.field for problem in differing)
            raise ValidationError(
                f"the plan token was made for another {parts}; nothing was submitted",
                hint="preview what you mean to submit, and submit it with that preview's token",
                fields=differing,
            )

    def check_fresh(self, now: datetime) -> None:
        """Refuse when its time is over: PlanExpired."""
        if now >= self.expires_at:
            raise PlanExpired(
                f"the plan token was good until {_instant(self.expires_at)}; nothing was submitted",
                hint="preview again, look at the new numbers, and submit with the new token",
                details={
                    "made_at": self.made_at.isoformat(),
                    "expires_at": self.expires_at.isoformat(),
                },
            )


def seal(plan: Plan, secret: bytes) -> str:
    """The token of a plan."""
    said = {
        "k": plan.op_kind,
        "f": plan.filter,
        "s": plan.spec,
        "n": plan.count.jobs,
        "u": plan.count.noop,
        "q": plan.count.queues,
        "t": plan.count.states,
        "at": plan.made_at.timestamp(),
        "to": plan.expires_at.timestamp(),
        "id": plan.nonce,
    }
    payload = _encoded(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode())
    return f"{PREFIX}.{payload}.{_signature(payload, secret)}"


def unseal(token: object, secret: bytes) -> Plan:
    """The plan of a token that was made with this secret and not changed since, else ValidationError."""
    if not isinstance(token, str):
        raise invalid_field("plan_token", f"expected a text, got {type(token).__name__}")
    readable = len(token) <= TOKEN_MAX_CHARS and token.isascii()
    parts = token.strip().split(".") if readable else []
    if len(parts) != 3 or parts[0] != PREFIX:
        raise _not_ours("is not a plan token")
    # The signature first: of what is not ours nothing is read.
    if not hmac.compare_digest(_signature(parts[1], secret), parts[2]):
        raise _not_ours("was not made by this database, or was changed since")
    said = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    return Plan(
        op_kind=said["k"],
        filter=said["f"],
        spec=said["s"],
        count=Count(said["n"], said["u"], said["q"], said["t"]),
        made_at=datetime.fromtimestamp(said["at"], UTC),
        expires_at=datetime.fromtimestamp(said["to"], UTC),
        nonce=said["id"],
    )


def digest_of_filter(filter: JobFilter) -> str:
    """The digest of a filter, the same for all ways to write it."""
    return digest({name: _canonical(name, value) for name, value in filter.given().items()})


def digest(value: Mapping[str, Any]) -> str:
    """A digest of JSON, whatever the order of its fields."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def _canonical(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return sorted(set(value)) if name in _SETS else value


def _signature(payload: str, secret: bytes) -> str:
    said = f"{PREFIX}.{payload}".encode()
    return _encoded(hmac.new(secret, said, hashlib.sha256).digest())


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _instant(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _not_ours(why: str) -> ValidationError:
    return invalid_field(
        "plan_token",
        f"{why}; nothing was submitted",
        hint="copy the whole token of a preview, or preview again",
    )
