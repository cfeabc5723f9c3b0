"""Where the database is: from the command line, the environment or a context file; never a guess.

Passwords stay out of everything that is printed, also when libpq quotes a whole URL in its message.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from awa.model.errors import DatabaseError, FieldProblem, ValidationError

URL_VARIABLES: Final = ("AWA_DATABASE_URL", "DATABASE_URL")
CONTEXT_VARIABLE: Final = "AWA_CONTEXT"
PROJECT_CONTEXT: Final = Path(".awa/context.toml")
USER_CONTEXT: Final = Path("~/.config/awa/context.toml")

_SCHEMES: Final = ("postgresql://", "postgres://")
_URL_PASSWORD: Final = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s:@/?#]*:)(?!password@)[^\s/?#]*(?=@)"
)
_QUERY_PASSWORD: Final = re.compile(
    r"(?P<before>[?&\s](?:ssl)?password\s*=\s*)('[^']*'|[^\s&'\"]+)"
)


class NoDatabase(DatabaseError):
    """Nobody said where the database is."""


def find_url(given: str | None) -> str:
    """The database URL, checked for its form. Raises an error that names every way to give one."""
    url = given or _from_environment() or _from_context_file()
    if not url:
        raise NoDatabase(
            "no database was named",
            hint="Give --database-url postgresql://…, set AWA_DATABASE_URL, "
            "or use --embedded for a server of your own that needs no installation.",
        )
    return checked(url)


def checked(url: str) -> str:
    """Refuse what libpq would not understand, before anything tries to connect."""
    looks_like_url = "://" in url
    if looks_like_url and not url.startswith(_SCHEMES):
        scheme = url.split("://", 1)[0]
        raise _bad_url(f"the database URL begins with {scheme}://, not with postgresql://")
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # libpq's own message quotes the string with the password in it.
        raise _bad_url("the database URL cannot be read by libpq") from None
    return url


def without_passwords(text: str) -> str:
    """The text with each password in a URL or connection string replaced by ***."""
    text = _URL_PASSWORD.sub(r"\g<before>***", text)
    return _QUERY_PASSWORD.sub(r"\g<before>***", text)


def _from_environment() -> str | None:
    return next((os.environ[name] for name in URL_VARIABLES if os.environ.get(name)), None)


def _from_context_file() -> str | None:
    path = _context_file()
    if path is None:
        return None
    try:
        url = tomllib.loads(path.read_text()).get("database_url")
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValidationError(
            f"the context file {path} cannot be read: {error}",
            hint='It holds one line of TOML: database_url = "postgresql://…"',
        ) from error
    if url is not None and not isinstance(url, str):
        raise ValidationError(f"database_url in {path} is {url!r}, not a string")
    return url


def _context_file() -> Path | None:
    """The file that AWA_CONTEXT names, or .awa/context.toml here or above, or the user's own."""
    named = os.environ.get(CONTEXT_VARIABLE)
    if named:
        return Path(named)
    here = Path.cwd()
    places = [folder / PROJECT_CONTEXT for folder in (here, *here.parents)]
    return next((path for path in (*places, USER_CONTEXT.expanduser()) if path.is_file()), None)


def _bad_url(message: str) -> ValidationError:
    return ValidationError(
        message,
        hint="It looks like postgresql://user:password@host:5432/database",
        fields=(FieldProblem("database_url", message),),
    )
