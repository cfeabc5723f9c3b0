"""Sessions as signed values: nothing of them is kept here but the key, and those that were ended early.

A session's cookie holds the name, a fingerprint of the token that was presented, when, and a random id. The
fingerprint is keyed: without the server's key nobody can try tokens against it. Role and rights aren't in it;
they are looked up with each request, so a token that leaves the table takes its sessions along.

The CSRF token is a signed value as well, bound to the session's id, so one session's doesn't fit another.
"""

import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from itsdangerous import BadData, URLSafeSerializer

from awa.http.tokens import Actor, Token, TokenTable
from awa.model.errors import FieldProblem, ValidationError

SECRET_VARIABLE = "AWA_SESSION_SECRET"
SECRET_MIN_CHARS = 32
SESSION_MAX_AGE_S = 12 * 3600.0
ENDED_MAX = 10_000
SIGNED_MAX_CHARS = 1_000
_SIGNER = {"key_derivation": "hmac", "digest_method": hashlib.sha256}


@dataclass(frozen=True, slots=True)
class Session:
    """A log-in that is still good."""

    id: str
    actor: Actor
    issued_at: datetime
    expires_at: datetime

    @property
    def actor_name(self) -> str:
        """Whose it is."""
        return self.actor.name


class Sessions:
    """Makes and reads the signed values of one server.

    Servers that share `secret` accept each other's sessions; without one the key is random and the sessions
    end with the process. Raises ValidationError for a secret that is too short.
    """

    def __init__(
        self,
        secret: str | None = None,
        *,
        max_age_s: float = SESSION_MAX_AGE_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.are_shared = secret is not None  # with servers that have the same secret
        key = checked_secret(secret) if secret is not None else secrets.token_hex(32)
        self.max_age_s = max_age_s
        self._clock = clock
        self._cookies = URLSafeSerializer(key, salt="awa.session", signer_kwargs=_SIGNER)
        self._forms = URLSafeSerializer(key, salt="awa.csrf", signer_kwargs=_SIGNER)
        self._fingerprint_key = hashlib.sha256(b"awa.fingerprint:" + key.encode()).digest()
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._holders: tuple[TokenTable, dict[str, Token]] = (TokenTable(), {})

    def begin(self, token: Token) -> str:
        """A new session of the token's holder, as the cookie's value."""
        return str(
            self._cookies.dumps(
                {
                    "id": secrets.token_urlsafe(12),
                    "name": token.actor.name,
                    "token": self._fingerprint(token),
                    "at": int(self._clock()),
                }
            )
        )

    def read(self, cookie: str, tokens: TokenTable) -> Session | None:
        """The session that a cookie stands for; None if it is not ours, too old, ended, or its token is gone."""
        seen = _load(self._cookies, cookie)
        if not isinstance(seen, dict) or not self._fresh(seen.get("at")):
            return None
        token = self._holder(str(seen.get("token")), tokens)
        if token is None or token.actor.name != seen.get("name") or seen.get("id") in self._ended:
            return None
        issued_at = datetime.fromtimestamp(seen["at"], UTC)
        expires_at = datetime.fromtimestamp(seen["at"] + self.max_age_s, UTC)
        return Session(str(seen["id"]), token.actor, issued_at, expires_at)

    def end(self, session: Session) -> None:
        """Accept the session no more. This process remembers it for as long as its cookie would be good; see ended.py."""
        self._ended[session.id] = session.expires_at.timestamp()
        now = self._clock()
        while self._ended and (
            next(iter(self._ended.values())) < now or len(self._ended) > ENDED_MAX
        ):
            self._ended.popitem(last=False)

    def left_s(self, session: Session) -> float:
        """For how many seconds the session's cookie is good yet."""
        return session.expires_at.timestamp() - self._clock()

    def csrf_token(self, bound_to: str) -> str:
        """What a form of ours carries; `bound_to` is the session's id, or a word for those without one."""
        return str(self._forms.dumps({"to": bound_to, "at": int(self._clock())}))

    def csrf_fits(self, presented: str, bound_to: str) -> bool:
        """Whether a form's token was made here, for the same session, and not too long ago."""
        seen = _load(self._forms, presented)
        return isinstance(seen, dict) and self._fresh(seen.get("at")) and seen["to"] == bound_to

    def _fresh(self, at: object) -> bool:
        return isinstance(at, int) and self._clock() < at + self.max_age_s

    def _fingerprint(self, token: Token) -> str:
        return hmac.new(self._fingerprint_key, token.digest, hashlib.sha256).hexdigest()[:32]

    def _holder(self, fingerprint: str, tokens: TokenTable) -> Token | None:
        if self._holders[0] is not tokens:
            self._holders = (tokens, {self._fingerprint(token): token for token in tokens.tokens})
        return self._holders[1].get(fingerprint)


def checked_secret(secret: str) -> str:
    """The secret, if it is long enough to be one. The message repeats nothing of it."""
    if len(secret.strip()) < SECRET_MIN_CHARS:
        why = f"must have at least {SECRET_MIN_CHARS} characters, such as `openssl rand -hex 32` prints"
        raise ValidationError(
            f"{SECRET_VARIABLE}: {why}", fields=(FieldProblem(SECRET_VARIABLE, why),)
        )
    return secret.strip()


def secret_from_environment(environ: Mapping[str, str] | None = None) -> str | None:
    """Read `AWA_SESSION_SECRET`; None if it isn't set."""
    secret = (os.environ if environ is None else environ).get(SECRET_VARIABLE)
    return checked_secret(secret) if secret else None


def _load(serializer: URLSafeSerializer, text: str) -> object:
    if len(text) > SIGNED_MAX_CHARS:
        return None
    try:
        return serializer.loads(text)
    except BadData:
        return None
