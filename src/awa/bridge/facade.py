"""A connection of any library, looking like psycopg's async one, so that inserting is written once.

Only what the statements of an insert or a look use is there: cursors that execute and fetch.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from psycopg.rows import dict_row, tuple_row

from awa.bridge.speaker import Answer, Params, Speaker, Statement


class Facade:
    """Stands for an AsyncConnection."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def cursor(self, *, binary: bool = False, row_factory: Any = tuple_row) -> _Cursor:
        """A cursor that gives tuples, or dicts with `dict_row`."""
        return _Cursor(self._speaker, binary=binary, named=row_factory is dict_row)


class _Cursor:
    def __init__(self, speaker: Speaker, *, binary: bool, named: bool) -> None:
        self._speaker = speaker
        self._binary = binary
        self._named = named
        self._answer = Answer((), ())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    async def execute(self, statement: Statement, params: Params = None) -> None:
        self._answer = await self._speaker.run(statement, params, binary=self._binary)

    @property
    def description(self) -> Any:
        return self._answer.columns

    async def fetchall(self) -> list[Any]:
        columns, rows = self._answer
        if self._named:
            return [dict(zip(columns, row, strict=True)) for row in rows]
        return [tuple(row) for row in rows]
