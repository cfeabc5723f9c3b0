"""An event loop in a thread of its own, where a blocking caller has coroutines run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from awa.model.errors import Conflict

T = TypeVar("T")


class Portal:
    """The thread begins with the first call and ends with `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the portal's thread and wait for its result.

        Ctrl-C cancels it and waits until it has come to its end, so that nothing is left half done.
        """
        loop = self._running_loop()
        if threading.current_thread() is self._thread:
            work.close()
            raise Conflict(
                "a blocking call from the client's own event loop would wait for itself",
                hint="in an async handler use the async client: await client.aio.insert(…)",
            )
        result: Future[T] = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return result.result()
        except BaseException:
            if not result.done():
                result.cancel()
                asyncio.run_coroutine_threadsafe(_turn(), loop).result()
            raise

    @contextmanager
    def entered(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """An async context manager for a `with` block."""
        entered = self.run(_enter(manager))
        try:
            yield entered
        except BaseException as error:
            if not self.run(_leave(manager, error)):
                raise
        else:
            self.run(_leave(manager, None))

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="awa-portal", daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _enter(manager: AbstractAsyncContextManager[T]) -> T:
    return await manager.__aenter__()


async def _leave(manager: AbstractAsyncContextManager[Any], error: BaseException | None) -> bool:
    if error is None:
        return bool(await manager.__aexit__(None, None, None))
    return bool(await manager.__aexit__(type(error), error, error.__traceback__))


async def _turn() -> None:
    """Let the loop go round, so that a cancelled task has unwound."""
    for _ in range(3):
        await asyncio.sleep(0)
