"""Every command, option and exit code is told, and every command that a page shows can be typed."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from awa.cli import exits
from awa.cli.app import app
from awa.cli.groups import add_groups
from tests.docs.pages import Block, blocks, pages, spans, text_of
from tests.house.walk import ROOT

PAGE = "docs/reference/cli.md"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its path."""
    if not app.registered_groups:
        add_groups(app)
    yield from _below("awa", typer.main.get_command(app))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, found in inner.items():
        yield from _below(f"{path} {name}", found)


def test_every_command_is_told() -> None:
    told = {" ".join(span.split()) for span in spans(PAGE)}
    missing = [
        path
        for path, _ in commands()
        if not any(t == path or t.startswith(path + " ") for t in told)
    ]
    assert missing == []


def test_every_option_is_told() -> None:
    page = text_of(PAGE)
    missing = [
        f"{path} {option}"
        for path, command in commands()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--") and not re.search(rf"{option}\b", _part_of(page, path))
    ]
    assert missing == []


def _part_of(page: str, path: str) -> str:
    """The section of a command or of its group, and what is said of all commands."""
    sections = re.split(r"^##+ ", page, flags=re.M)
    return sections[0] + "".join(s for s in sections if path.startswith(_title(s)))


def _title(section: str) -> str:
    found = re.match(r"`(awa [a-z-]+(?: [a-z]+)?)", section)
    return found[1] if found else "\0"


def test_global_options_are_told() -> None:
    root = typer.main.get_command(app)
    page = text_of(PAGE)
    options = [option for parameter in root.params for option in parameter.opts]
    assert options
    assert [option for option in options if f"`{option}" not in page] == []


def test_every_exit_code_is_told() -> None:
    page = text_of("docs/reference/errors.md")
    codes = [
        value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)
    ]
    assert codes
    assert [code for code in codes if f"\n| {code} |" not in page] == []


SHELL = [block for page in pages() for block in blocks(page) if block.language == "sh"]


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_of_a_block_exist(block: Block) -> None:
    """Also of those blocks that are not run."""
    known = dict(commands())
    for words in _lines_of(block.text):
        if words[0] == "awa":
            _check_awa(words, known)
        elif words[0] == "make":
            makefile = (ROOT / "Makefile").read_text()
            assert re.search(rf"^{words[1]}:", makefile, re.M), words


def _check_awa(words: list[str], known: dict[str, Any]) -> None:
    root = typer.main.get_command(app)
    anywhere = {option for parameter in root.params for option in parameter.opts}
    plain = [word for word in words if word not in anywhere - {"--help"}]
    path = max((p for p in known if plain[: len(p.split())] == p.split()), key=len, default=None)
    assert path, f"no such command: {' '.join(words)}"
    options = {o for p in known[path].params for o in (*p.opts, *p.secondary_opts)}
    given = {word.partition("=")[0] for word in plain if word.startswith("-")}
    assert given - options - {"--help"} == set(), words


def _lines_of(text: str) -> Iterator[list[str]]:
    """The commands of a block, a list of words each."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words
