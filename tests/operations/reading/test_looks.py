"""Several questions in one round trip: each has its own answer, and what goes wrong with one is told as by itself."""

import pytest
from psycopg import sql

from awa.model.errors import DatabaseError, TooSlow
from awa.operations.reading.bounds import bounded, clock_look
from awa.operations.reading.looks import Look, first, look, only, together
from tests.storage.world import World


def number(value: int) -> Look[int]:
    """A question with a known answer."""
    return Look(
        sql.SQL("SELECT %(value)s::int AS n"), {"value": value}, lambda rows: only(rows)["n"]
    )


async def test_each_question_has_its_own_answer(world: World) -> None:
    asked = {str(value): number(value) for value in range(40)} | {"now": clock_look()}
    seen = await together(world.conn, asked)
    now = seen.pop("now")
    assert seen == {str(value): value for value in range(40)}
    assert await look(world.conn, clock_look()) >= now
    assert await together(world.conn, {}) == {}
    assert first([]) is None


async def test_the_one_that_takes_too_long_is_told_and_the_transaction_goes_on(
    world: World,
) -> None:
    slow = Look(sql.SQL("SELECT pg_sleep(5)"), {}, list)
    async with world.conn.transaction():
        with pytest.raises(TooSlow, match="this look would take longer"):
            async with bounded(world.conn, "this look", "ask for less", max_ms=50):
                await together(world.conn, {"one": number(1), "slow": slow, "two": number(2)})
        assert await look(world.conn, number(3)) == 3
        assert await world.fetch("SELECT current_setting('statement_timeout')") == ("0",)


async def test_the_one_that_fails_is_told_as_it_would_be_by_itself(world: World) -> None:
    broken = Look(sql.SQL("SELECT 1 / 0 AS n"), {}, list)
    with pytest.raises(DatabaseError, match="division by zero"):
        await together(world.conn, {"one": number(1), "broken": broken, "two": number(2)})
    assert await together(world.conn, {"one": number(1)}) == {"one": 1}
