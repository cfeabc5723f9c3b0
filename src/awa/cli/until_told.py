"""Programs that run until they are told to stop: Ctrl-C or SIGTERM once means in order, twice means now."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Iterator
from typing import Any, Final

from awa.cli.output import Output

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether, and how, the program was told to stop."""

    def __init__(self, out: Output, words: str) -> None:
        self._out, self._words = out, words
        self.told = asyncio.Event()
        self.by_ctrl_c = False

    async def wait(self) -> None:
        """Until somebody says stop."""
        await self.told.wait()

    async def begun(self, beginning: Coroutine[Any, Any, None]) -> bool:
        """Let something begin; False if the word to stop came first, and it was given up."""
        task = asyncio.ensure_future(beginning)
        told = asyncio.ensure_future(self.told.wait())
        try:
            await asyncio.wait((task, told), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
            await task
        except asyncio.CancelledError:
            return False
        finally:
            told.cancel()
            task.cancel()
        return True

    def hear(self, number: signal.Signals) -> None:
        """The first signal. The handlers are taken away, so that a second one has its usual effect."""
        self.by_ctrl_c = number == signal.SIGINT
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        self._out.say(f"\n{self._words}" if self._out.is_terminal else self._words)
        self.told.set()

    def leave(self) -> None:
        """End as the signal asks for: Ctrl-C counts as an interruption, SIGTERM as a good end."""
        if self.by_ctrl_c:
            raise KeyboardInterrupt


def take_sigterm_for_ctrl_c() -> None:
    """For programs that have a server to put away: `kill` ends them as cleanly as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)


def _as_ctrl_c(*_: object) -> None:
    # A shell without job control starts its background programs deaf to Ctrl-C; `kill` still has to end them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)


@contextlib.contextmanager
def until_told(out: Output, words: str) -> Iterator[Stop]:
    """Listen for Ctrl-C and SIGTERM while the block runs; `words` say what happens then."""
    stop = Stop(out, words)
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.hear, number)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
