"""Bearer tokens: who they name, what they allow, and how little of them is kept.

A token is read from the environment (`AWA_API_TOKENS`) or from a file (`AWA_API_TOKENS_FILE`), one on a
line (in the environment a comma does as well):

    grafana:viewer:q7Wz…                    the token itself
    deploy:operator:sha256:9f86d081884c…    or its SHA-256, as `printf %s "$TOKEN" | sha256sum` prints it

From then on only the SHA-256 is in memory. A presented token is hashed and compared with every stored
hash in constant time, so neither a match nor its place in the list shows in the answer's timing. No
message here repeats any part of a token: a line is named by its number.
"""

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from awa.model.errors import FieldProblem, ValidationError

TOKEN_MIN_CHARS = 16
TOKEN_MAX_CHARS = 1_000
ACTOR_MAX_CHARS = 100
TOKENS_MAX = 1_000
TOKENS_FILE_MAX_BYTES = 1_000_000

_ACTOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@/+-]*")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_SHAPE = "name:role:token or name:role:sha256:<64 hex digits>"


class Role(IntEnum):
    """What a token may do; each role may also do what the ones below it may."""

    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is asking; `name` is what an operation records as `submitted_by`."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Token:
    """A token's holder and the SHA-256 of the token, never the token."""

    actor: Actor
    digest: bytes


@dataclass(frozen=True, slots=True)
class TokenTable:
    """All tokens that the server accepts; empty when it was given none."""

    tokens: tuple[Token, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tokens)

    def find(self, presented: str) -> Actor | None:
        """Give the holder of the presented token, or None."""
        token = self.find_token(presented)
        return None if token is None else token.actor

    def find_token(self, presented: str) -> Token | None:
        """Give the table's line for the presented token, or None; always looks at every line."""
        digest = hash_token(presented)
        found: Token | None = None
        for token in self.tokens:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found


def hash_token(token: str) -> bytes:
    """SHA-256 of a token's UTF-8 form: all that is ever stored of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def parse_tokens(lines: Iterable[str], *, source: str = "tokens") -> TokenTable:
    """Read token lines; blank lines and lines that begin with `#` are passed over.

    Raises ValidationError that names `source` and the line number, and nothing of the token.
    """
    tokens: list[Token] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            tokens.append(_parse_line(text, f"{source}, line {number}"))
    _check_together(tokens, source)
    return TokenTable(tuple(tokens))


def tokens_from_environment(environ: Mapping[str, str] | None = None) -> TokenTable:
    """Read `AWA_API_TOKENS_FILE` and `AWA_API_TOKENS`; both may be set, and neither."""
    environ = os.environ if environ is None else environ
    tokens: list[Token] = []
    if file := environ.get("AWA_API_TOKENS_FILE"):
        tokens += parse_tokens(_read_lines(Path(file)), source="AWA_API_TOKENS_FILE").tokens
    if text := environ.get("AWA_API_TOKENS"):
        lines = text.replace(",", "\n").splitlines()
        tokens += parse_tokens(lines, source="AWA_API_TOKENS").tokens
    _check_together(tokens, "AWA_API_TOKENS and AWA_API_TOKENS_FILE")
    return TokenTable(tuple(tokens))


def _read_lines(path: Path) -> list[str]:
    try:
        # One byte more than allowed is enough to know; the rest of a wrong file is not read.
        with path.open("rb") as file:
            data = file.read(TOKENS_FILE_MAX_BYTES + 1)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _refuse("AWA_API_TOKENS_FILE", f"the file cannot be read: {reason}") from None
    if len(data) > TOKENS_FILE_MAX_BYTES:
        raise _refuse("AWA_API_TOKENS_FILE", f"is longer than {TOKENS_FILE_MAX_BYTES} bytes")
    return text.splitlines()


def _parse_line(text: str, where: str) -> Token:
    name, _, rest = text.partition(":")
    role_name, _, secret = rest.partition(":")
    role = Role.__members__.get(role_name.strip().upper())
    if not secret:
        raise _refuse(where, f"must have the form {_SHAPE}")
    if not _ACTOR.fullmatch(name) or len(name) > ACTOR_MAX_CHARS:
        raise _refuse(
            where,
            f"the name must be 1 to {ACTOR_MAX_CHARS} letters, digits or . _ @ / + -, "
            "and begin with a letter or digit",
        )
    if role is None:
        raise _refuse(where, "the role must be one of viewer, operator, admin")
    return Token(Actor(name, role), _digest_of(secret, where))


def _digest_of(secret: str, where: str) -> bytes:
    marker, _, digest = secret.partition(":")
    if marker == "sha256":
        if not _DIGEST.fullmatch(digest):
            raise _refuse(where, "sha256: must be followed by 64 hex digits")
        return bytes.fromhex(digest)
    if not TOKEN_MIN_CHARS <= len(secret) <= TOKEN_MAX_CHARS:
        raise _refuse(
            where,
            f"a token has {TOKEN_MIN_CHARS} to {TOKEN_MAX_CHARS} characters; make a random one",
        )
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise _refuse(where, "a token consists of printable ASCII characters without spaces")
    return hash_token(secret)


def _check_together(tokens: list[Token], source: str) -> None:
    """One token names one actor, and one name has one role (it may have two tokens, for a rotation)."""
    if len(tokens) > TOKENS_MAX:
        raise _refuse(source, f"holds more than {TOKENS_MAX} tokens")
    roles: dict[str, Role] = {}
    holders: dict[bytes, str] = {}
    for token in tokens:
        name, role = token.actor.name, token.actor.role
        if roles.setdefault(name, role) is not role:
            raise _refuse(source, f"{name!r} appears with two roles")
        if holders.setdefault(token.digest, name) != name:
            raise _refuse(source, f"{holders[token.digest]!r} and {name!r} share one token")


def _refuse(where: str, why: str) -> ValidationError:
    return ValidationError(f"{where}: {why}", fields=(FieldProblem(where, why),))
