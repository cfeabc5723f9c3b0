"""A gate that claim calls pass one by one, and that can be shut until none is under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

EMPTYING_TIMEOUT_S: Final = 5.0


class Gate:
    """`async with gate:` around a call; `async with gate.emptied() as quiet:` keeps new ones out."""

    __slots__ = ("_empty", "_inside", "_open")

    def __init__(self) -> None:
        self._inside = 0
        self._open = asyncio.Event()
        self._open.set()
        self._empty = asyncio.Event()
        self._empty.set()

    async def __aenter__(self) -> None:
        while not self._open.is_set():
            await self._open.wait()
        self._inside += 1
        self._empty.clear()

    async def __aexit__(self, *_: object) -> None:
        self._inside -= 1
        if self._inside == 0:
            self._empty.set()

    @asynccontextmanager
    async def emptied(self) -> AsyncIterator[bool]:
        """Keep new calls out; False if those inside didn't come out in time."""
        self._open.clear()
        try:
            async with asyncio.timeout(EMPTYING_TIMEOUT_S):
                await self._empty.wait()
        except TimeoutError:
            pass
        try:
            yield self._inside == 0
        finally:
            self._open.set()
