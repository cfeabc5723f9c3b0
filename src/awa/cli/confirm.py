"""Asking before something large or final: on a terminal only, and "no" unless told otherwise."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from awa.cli.output import Output
from awa.model.errors import NotConfirmed


def confirm(out: Output, question: str) -> None:
    """Return if the answer is yes; raise NotConfirmed if it is no, or if nobody is there to ask."""
    if not out.can_ask:
        raise NotConfirmed(
            "This needs a confirmation, and there is no terminal to ask on",
            hint="Say --yes if you mean it.",
        )
    with _interruptible():
        try:
            answer = out.console.input(f"{escape(question)} [dim]\\[y/N][/dim] ")
        except (KeyboardInterrupt, EOFError):
            out.console.print()  # what comes next begins a line of its own
            raise
    if answer.strip().lower() not in {"y", "yes"}:
        raise NotConfirmed("Not confirmed; nothing was done")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C breaks off the reading. asyncio's own handler would only note it, and wait for the answer."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
