"""What can be copied does what it says: each command, run as it stands, submits the same operation."""

import asyncio
import shlex
import sys
import textwrap
from typing import Any

import pytest
from starlette.requests import Request

from awa.web.commands import Command, submit_commands
from tests.web.site import TOKENS, Site, site_of

OPERATIONS: list[dict[str, Any]] = [
    {"op_kind": "move_queue", "filter": {"queue": "email", "tag": "acme"}, "spec": {"queue": "x"}},
    {
        "op_kind": "set_priority",
        "filter": {
            "queue": """it's "quoted" $HOME `id` \\ %s""",
            "args_contains": {"näme": ["'", None, True, 1.5]},
            "error_contains": "-rf",
            "created_at_lt": "2026-06-01T00:00:00+00:00",
        },
        "spec": {"priority": 1},
        "reason": "--yes; it's\n<b>on fire</b> ☂",
    },
    {"op_kind": "set_priority", "filter": {}, "spec": {"priority": 4}, "reason": "all of them"},
    {
        "op_kind": "set_priority",
        "filter": {"queue": "email"},
        "spec": {"priority": 4},
        "priority": 1,
        "max_rows_per_second": 50,
        "max_jobs": 7,
    },
]


def commands_for(site: Site, operation: dict[str, Any]) -> dict[str, Command]:
    """The three ways, as a page of this site would show them."""
    host = site.url.removeprefix("http://").rstrip("/")
    scope = {
        "type": "http",
        "scheme": "http",
        "path": "/",
        "headers": [(b"host", host.encode())],
        "app": site.app,
    }
    return {one.name: one for one in submit_commands(Request(scope), operation)}


async def run(*words: str, stdin: str | None = None) -> str:
    """Run a program to its end and return what it printed."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(stdin.encode() if stdin else None)
    assert process.returncode == 0, err.decode()
    return out.decode()


async def newest(site: Site, operation: dict[str, Any]) -> dict[str, Any]:
    """The operation that was submitted last, as far as it was asked for."""
    row = (await site.client.list_batch_operations(limit=1))[0]
    return {name: row[name] for name in operation}


@pytest.mark.parametrize("operation", OPERATIONS, ids=["plain", "hostile", "all", "terms"])
async def test_each_command_submits_the_same_operation(
    site: Site, operation: dict[str, Any]
) -> None:
    shown = commands_for(site, operation)

    line = shlex.split(shown["Command line"].text)
    assert line[0] == "awa"
    options = ["--database-url", site.database_url]
    await run(sys.executable, "-m", "awa", *options, *line[1:], "--yes")
    assert await newest(site, operation) == operation

    await run("bash", "-c", shown["curl"].text)
    assert await newest(site, operation) == operation

    code = "import asyncio, awa\n\nasync def main():\n    async with awa.AsyncClient(%r) as client:\n%s\nasyncio.run(main())\n"
    body = textwrap.indent(shown["Python"].text, " " * 8)
    await run(sys.executable, "-", stdin=code % (site.database_url, body))
    assert await newest(site, operation) == operation
    assert len(await site.client.list_batch_operations()) == 3


async def test_a_server_with_tokens_wants_one_and_shows_none(database_url: str) -> None:
    async with site_of(database_url, tokens=True) as site:
        curl = commands_for(site, OPERATIONS[0])["curl"]
    assert '-H "Authorization: Bearer $AWA_TOKEN"' in curl.text
    assert "AWA_TOKEN holds an API token" in curl.note
    assert not any(token in curl.text for token in TOKENS.values())
