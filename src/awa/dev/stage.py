"""Where the demo tells its story. The command line brings a stage for terminals, pipes and JSON."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Meter(Protocol):
    """Something that shows how far a piece of work is."""

    def at(self, done: int, *, total: int | None = None, **facts: Any) -> None:
        """Say how far it is."""


class Stage(Protocol):
    """What the demo needs from whoever shows it."""

    def step(self, title: str, words: str) -> None:
        """A chapter begins: what will happen and why it matters."""

    def say(self, words: str) -> None:
        """One sentence about what just happened."""

    def command(self, words: str) -> None:
        """The command that an operator would have typed for what follows."""

    def meter(self, label: str, total: int | None, unit: str) -> AbstractContextManager[Meter]:
        """Show progress while the block runs."""

    def preview(self, preview: Mapping[str, Any]) -> None:
        """What `awa batch-ops preview` prints."""

    def operation(self, row: Mapping[str, Any]) -> None:
        """What `awa batch-ops show` prints."""

    def repositories(self, rows: Sequence[tuple[str, int, int]]) -> None:
        """Name, deliveries and bytes of the busiest repositories."""

    def figures(self, rows: Sequence[tuple[str, int, str]]) -> None:
        """Names with numbers, and a word on each."""

    def checks(self, checks: Sequence[tuple[str, bool]]) -> None:
        """What must add up, and whether it does."""
