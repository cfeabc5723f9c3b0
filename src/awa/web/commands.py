"""The same operation as a line for a shell, for curl and for Python: exact, to be copied and run as it stands."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request

from awa.http.context import served
from awa.http.paths import local_path
from awa.model.limits import PRIORITY_DEFAULT

# Terms, as they are when nobody says otherwise.
_USUAL: Final = {"priority": PRIORITY_DEFAULT, "max_rows_per_second": None, "max_jobs": None}


@dataclass(frozen=True, slots=True)
class Command:
    """One way to say it."""

    name: str
    text: str
    note: str = ""


def submit_commands(request: Request, operation: Mapping[str, Any]) -> list[Command]:
    """How an operation like this one (op_kind, filter, spec, reason) is submitted elsewhere."""
    return [
        Command(
            "Command line",
            _cli(operation),
            "Shows the preview and asks, and submits nothing if the jobs drift meanwhile; --yes answers beforehand.",
        ),
        Command("curl", _curl(request, operation), _curl_note(request)),
        Command("Python", _python(operation)),
    ]


def undo_commands(request: Request, operation: Mapping[str, Any]) -> list[Command]:
    """How an operation is undone elsewhere."""
    wanted = str(operation["id"])
    path = f"/api/batch-ops/{wanted}/undo"
    return [
        Command(
            "Command line",
            f"awa batch-ops undo {wanted}",
            "Shows which jobs are as it left them and asks; --yes answers beforehand.",
        ),
        Command("curl", " \\\n  ".join(_posted(request, path, {})), _curl_note(request)),
        Command("Python", f"undo = await client.undo_batch_operation({wanted!r})"),
    ]


def _posted(request: Request, path: str, body: Mapping[str, Any]) -> list[str]:
    url = f"{request.url.scheme}://{request.url.netloc}{local_path(request, path)}"
    lines = [f"curl -fsS {shlex.quote(url)}"]
    if served(request).access.wants_log_in:
        lines.append('-H "Authorization: Bearer $AWA_TOKEN"')
    lines.append("-H 'Content-Type: application/json'")
    lines.append(f"-d {shlex.quote(_json(body))}")
    return lines


def _cli(operation: Mapping[str, Any]) -> str:
    words = [
        "awa batch-ops submit",
        f"--op-kind {shlex.quote(operation['op_kind'])}",
        f"--filter {shlex.quote(_json(operation['filter']))}",
        f"--spec {shlex.quote(_json(operation['spec']))}",
    ]
    if _names_nothing(operation["filter"]):
        words.append("--all")
    if operation.get("reason"):
        # With "=", since a reason may begin with a dash.
        words.append(f"--reason={shlex.quote(operation['reason'])}")
    words += [f"--{name.replace('_', '-')} {value}" for name, value in _terms(operation).items()]
    return " ".join(words)


def _curl(request: Request, operation: Mapping[str, Any]) -> str:
    return " \\\n  ".join(_posted(request, "/api/batch-ops", _body(operation)))


def _curl_note(request: Request) -> str:
    if served(request).access.wants_log_in:
        return "AWA_TOKEN holds an API token with the role operator."
    return "Without tokens it has to run on the server's machine."


def _python(operation: Mapping[str, Any]) -> str:
    arguments = [repr(operation["op_kind"]), repr(dict(operation["spec"]))]
    arguments.append(f"filter={dict(operation['filter'])!r}")
    if _names_nothing(operation["filter"]):
        arguments.append("allow_all=True")
    if operation.get("reason"):
        arguments.append(f"reason={operation['reason']!r}")
    arguments += [f"{name}={value!r}" for name, value in _terms(operation).items()]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"operation = await client.submit_batch_operation(\n{inner})"


def _body(operation: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: operation[name] for name in ("op_kind", "filter", "spec")}
    if _names_nothing(operation["filter"]):
        body["all"] = True
    if operation.get("reason"):
        body["reason"] = operation["reason"]
    return body | _terms(operation)


def _terms(operation: Mapping[str, Any]) -> dict[str, int]:
    """What is unusual about how it goes; a time before which it was not to begin is over when it is done again."""
    return {
        name: operation[name]
        for name, usual in _USUAL.items()
        if name in operation and operation[name] != usual
    }


def _names_nothing(given: Mapping[str, Any]) -> bool:
    return not any(name != "ids" or value for name, value in given.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
