"""How a command fails: one sentence and a hint on stderr, or the HTTP error object with `--json`.

Whatever a command raises ends here. An operator never sees a traceback unless `--debug` or
AWA_DEBUG asks for it: a traceback says where the program was, not what to do.
"""

import os
import re
import sys
import traceback
from dataclasses import dataclass, field
from difflib import get_close_matches
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

import orjson
import typer

from awa.cli import exits
from awa.cli.urls import without_passwords
from awa.model.errors import AwaError


class Interrupted(Exception):
    """Ctrl-C, together with what it left behind in words."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One failure as it is shown: `code` as over HTTP, `status` for the shell."""

    code: str
    message: str
    status: int
    hint: str | None = None
    fields: tuple[dict[str, str], ...] = ()
    details: dict[str, Any] | None = field(default=None)

    def as_error_object(self) -> dict[str, Any]:
        """The shape that the HTTP API answers with, so that one parser serves both."""
        body: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "fields": list(self.fields),
        }
        if self.hint:
            body["hint"] = self.hint
        if self.details:
            body["details"] = self.details
        return {"error": body}


def complain(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """Say on stderr what went wrong and return the exit code."""
    if debug and not isinstance(error, KeyboardInterrupt | Interrupted):
        traceback.print_exception(error, file=sys.stderr)
    complaint = describe(error)
    text = _json_text(complaint) if as_json else _plain_text(complaint)
    _write(without_passwords(text))
    return complaint.status


def describe(error: BaseException) -> Complaint:
    """Decide once what an exception means to the one who typed the command."""
    match error:
        case Interrupted():
            return Complaint("interrupted", str(error), exits.INTERRUPTED)
        case KeyboardInterrupt():
            return Complaint("interrupted", "Interrupted.", exits.INTERRUPTED)
        case AwaError():
            return _of_awa(error)
        case typer.TyperException():
            return _of_usage(error)
        case typer.Abort():
            return Complaint("not_confirmed", "Not confirmed; nothing was done.", exits.REFUSED)
        case ModuleNotFoundError() if error.name and not error.name.startswith("awa"):
            return _of_missing_module(error.name)
        case OSError() if error.filename:
            message = f"{error.filename}: {error.strerror or error}."
            return Complaint("os", message, exits.FAILED)
    return _of_surprise(error)


def _of_awa(error: AwaError) -> Complaint:
    return Complaint(
        error.code,
        _sentence(error.message),
        exits.exit_code(error),
        error.hint,
        tuple({"field": f.field, "message": f.message} for f in error.fields),
        error.details,
    )


def _of_usage(error: typer.TyperException) -> Complaint:
    """What typer refused: an unknown option, a missing argument, a value of the wrong type."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "awa"
    status = exits.WRONG_INPUT if error.exit_code == 2 else exits.FAILED
    told = error.format_message().replace("\n", " ").replace(": Value error, ", ": ")
    words = told.strip() or f"{command} needs a command"
    return Complaint("usage", _sentence(words + _nearest(words, context)), status, _help(command))


def _help(command: str) -> str:
    return f"{command} --help shows what it takes."


def _nearest(words: str, context: Any) -> str:
    """A question about the nearest command, if an unknown one was typed."""
    unknown = re.fullmatch(r"No such command '(.*)'\.?", words)
    known = list(getattr(context.command, "commands", ())) if unknown and context else []
    close = get_close_matches(unknown[1], known, n=1) if unknown else []
    return f" Did you mean {close[0]!r}?" if close else ""


def _of_missing_module(name: str) -> Complaint:
    extra = "server" if name in {"fastapi", "uvicorn", "jinja2", "starlette"} else None
    hint = f"Install it: pip install 'awa-jobs[{extra}]'" if extra else f"Install {name}."
    return Complaint("missing", f"The package {name!r} is not installed.", exits.FAILED, hint)


def _of_surprise(error: BaseException) -> Complaint:
    return Complaint(
        "internal",
        f"Awa ran into something it did not expect: {type(error).__name__}: {error}",
        exits.FAILED,
        "Run it again with --debug for the whole traceback.",
    )


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _begun(hint: str) -> str:
    """With a capital, as a sentence begins; a command stays as it has to be typed."""
    return hint if hint.startswith("awa ") else hint[:1].upper() + hint[1:]


def _plain_text(complaint: Complaint) -> str:
    label = "" if complaint.status == exits.INTERRUPTED else _red("Error: ")
    lines = [f"{label}{complaint.message}"]
    lines += [
        f"  {f['field']}: {f['message']}"
        for f in complaint.fields
        if f["message"] not in complaint.message
    ]
    if complaint.hint:
        lines.append(f"Hint: {_begun(complaint.hint)}")
    return "\n".join(lines)


def _json_text(complaint: Complaint) -> str:
    return orjson.dumps(complaint.as_error_object(), default=str).decode()


def _write(text: str) -> None:
    """To stderr; on a terminal lines are broken between words."""
    if sys.stderr.isatty():
        width = get_terminal_size().columns
        lines = [fill(line, width, break_long_words=False) for line in text.splitlines()]
        text = "\n".join(lines)
    print(text, file=sys.stderr)


def _red(text: str) -> str:
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        return f"\x1b[1;31m{text}\x1b[0m"
    return text
