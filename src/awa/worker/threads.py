"""Threads for plain handlers: as many as run at once, made when first needed.

They are daemon threads. A handler that never returns can't be stopped in Python; with the standard
executor it would also keep the interpreter from leaving after a shutdown that has handed its job back.
Results come back to the event loop in sets: one wake-up of the loop, however many threads ended.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from awa.model.errors import Conflict

T = TypeVar("T")


def from_thread(loop: asyncio.AbstractEventLoop, wish: Coroutine[Any, Any, T]) -> T:
    """Do something of the event loop's for a plain handler, in whose thread this is called; answers its result."""
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        wish.close()
        raise Conflict(
            "this would wait for the event loop that it runs in",
            hint="in an async handler await the method without _sync",
        )
    return asyncio.run_coroutine_threadsafe(wish, loop).result()


class _Call(NamedTuple):
    context: contextvars.Context
    function: Callable[[Any], Any]
    argument: Any
    answer: asyncio.Future[Any]


class Threads:
    """Runs plain functions beside the event loop that made it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._threads = 0
        self._busy = 0
        self._told = False
        self._lock = threading.Lock()

    async def run(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Call `function(argument)` in a thread; a cancelled caller leaves the thread running."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._busy += 1
        if self._busy > self._threads:
            self._threads += 1
            threading.Thread(
                target=self._serve, name=f"awa-handler-{self._threads}", daemon=True
            ).start()
        self._calls.put(_Call(contextvars.copy_context(), function, argument, answer))
        return await answer

    def stop(self) -> None:
        """Let the threads go as soon as they are idle."""
        for _ in range(self._threads):
            self._calls.put(None)
        self._threads = 0

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            result, problem = None, None
            try:
                result = call.context.run(call.function, call.argument)
            except BaseException as raised:  # the loop's side decides what it means
                problem = raised
            self._done.append((call.answer, result, problem))
            with self._lock:
                told, self._told = self._told, True
            if not told:
                try:
                    self._loop.call_soon_threadsafe(self._collect)
                except RuntimeError:
                    return  # the loop has closed; nobody waits for this result
            call = result = problem = None  # an idle thread keeps no job alive

    def _collect(self) -> None:
        """On the loop: hand out what the threads have finished."""
        with self._lock:
            self._told = False
        while self._done:
            answer, result, problem = self._done.popleft()
            self._busy -= 1
            if answer.done():
                continue  # its caller was cancelled meanwhile
            if problem is None:
                answer.set_result(result)
            elif isinstance(problem, Exception | SystemExit) and not isinstance(
                problem, StopIteration
            ):
                answer.set_exception(problem)
            else:  # one of these would end the event loop, or can't be set
                answer.set_exception(RuntimeError(f"the handler raised {problem!r}"))
