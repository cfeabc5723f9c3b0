"""Asking before something large or final: on a terminal only, and "no" unless told otherwise."""

from awa.cli.output import Output
from awa.model.errors import NotConfirmed


def confirm(out: Output, question: str) -> None:
    """Return if the answer is yes; raise NotConfirmed if it is no, or if nobody is there to ask."""
    if not out.can_ask:
        raise NotConfirmed(
            "This needs a confirmation, and there is no terminal to ask on",
            hint="Say --yes if you mean it.",
        )
    # rich's own prompts read a line and take Ctrl-C as KeyboardInterrupt, which is what we want.
    answer = out.console.input(f"{question} [dim]\\[y/N][/dim] ")
    if answer.strip().lower() not in {"y", "yes"}:
        raise NotConfirmed("Not confirmed; nothing was done")
