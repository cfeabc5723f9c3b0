"""The pages of the documentation, taken apart: headings, links, and fenced blocks with what a comment says of them.

A comment right before a fence tells the test run what to do with it:

    <!-- run: not, it needs a terminal -->     left out, and why
    <!-- run: save app.py -->                  a file in the page's folder, for later blocks
    <!-- run: background until Working on -->  started, and stopped when the page ends
    <!-- run: exit 3 -->                       a command that is meant to fail
    <!-- run: output -->                       before a `text` block: what the block before it prints
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.house.walk import ROOT

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\s*$")
DIRECTIVE = re.compile(r"<!--\s*run:\s*(?P<words>.*?)\s*-->")
HEADING = re.compile(r"^#{1,6}\s+(?P<title>.*)$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `words` is what the comment before it says."""

    page: str
    line: int
    language: str
    text: str
    words: str

    @property
    def verb(self) -> str:
        """The first word of the comment, without its comma."""
        return self.words.partition(" ")[0].rstrip(",")

    @property
    def rest(self) -> str:
        """The comment behind its first word."""
        return self.words.partition(" ")[2].strip()

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> tuple[Path, ...]:
    """Every page that belongs to the documentation."""
    top = sorted(ROOT.glob("*.md"))
    rooms = sorted((ROOT / "src").rglob("README.md"))
    return (*top, *sorted((ROOT / "docs").rglob("*.md")), *rooms)


def name_of(page: Path) -> str:
    """The page's path from the root of the project."""
    return str(page.relative_to(ROOT))


def text_of(*names: str) -> str:
    """The text of some pages."""
    return "\n".join((ROOT / name).read_text() for name in names)


def spans(name: str) -> set[str]:
    """What a page names in code spans."""
    return set(re.findall(r"`([^`\n]+)`", text_of(name)))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    words, inside, fence = "", None, re.compile("")
    body: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if inside is not None:
            if fence.match(line):
                start, language = inside
                found.append(Block(name_of(page), start, language, "\n".join(body) + "\n", words))
                words, inside, body = "", None, []
            else:
                body.append(line)
        elif opened := FENCE.match(line):
            inside = (number, opened["language"])
            fence = re.compile(rf"^{opened['indent']}```\s*$")
        elif said := DIRECTIVE.search(line):
            words = said["words"]
        elif line.strip():
            words = ""
    return found


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings have."""
    return {_anchor(found["title"]) for line in _prose(page) if (found := HEADING.match(line))}


def links(page: Path) -> list[str]:
    """The targets of a page's links."""
    return [found["target"] for line in _prose(page) for found in LINK.finditer(line)]


def _prose(page: Path) -> list[str]:
    """The page's lines outside of its fenced blocks."""
    lines, inside = [], False
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            lines.append(line)
    return lines


def _anchor(title: str) -> str:
    """As the usual renderers make it: lower case, punctuation dropped, spaces as hyphens."""
    plain = re.sub(r"[`*]|\]\([^)]*\)", "", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
