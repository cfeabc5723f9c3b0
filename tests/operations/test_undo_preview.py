"""The preview of an undo counts what is as the operation left it, says why the rest isn't, and its token holds the undo to that."""

from typing import Any

import pytest

from awa.model.drift import PlanDrifted
from awa.model.errors import Conflict, NotFound, ValidationError
from awa.operations import undo as undoing
from awa.operations.preview import preview
from awa.operations.runner import Runner
from awa.operations.undo import preview_undo, undo
from awa.storage import change
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    operate,
    promote,
    run_to_end,
)
from tests.storage.world import World

TO = {"queue": "esc"}


@pytest.fixture(params=["by id", "by walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Few jobs are found one by one, many by a walk through the backlog; both must say the same."""
    if request.param == "by walk":
        monkeypatch.setattr(undoing, "BY_ID_MAX_JOBS", 0)
    return str(request.param)


async def scattered(conn: Conn, runner: Runner) -> Row:
    """An operation over nine jobs, of which four are as it left them."""
    world = await World.on(conn)
    first, second, away, back, cancelled, *_ = await add_jobs(conn, 7)
    scheduled, other = await add_scheduled(conn, 2, priority=3)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await promote(conn, [scheduled])
    _, ends = await world.claim(queue="esc", limit=2)
    await world.finish([ends])
    await world.move([away, other], "elsewhere")
    await world.move([back], "elsewhere")
    await world.move([back], "esc")
    await world.cancel([cancelled])
    assert {first, second} != {away, back}
    return moved


@pytest.mark.usefixtures("way")
async def test_it_counts_what_its_undo_then_puts_back(conn: Conn, runner: Runner) -> None:
    moved = await scattered(conn, runner)
    seen = await preview_undo(conn, moved["id"])
    assert (seen["total_matched"], seen["noop"], seen["undo_of"]) == (3, 0, moved["id"])
    assert seen["breakdown"] == {
        "queue": {"esc": 3},
        "kind": {"work": 3},
        "state": {"available": 3},
        "priority": {"2": 2, "3": 1},
    }
    assert seen["ineligible"] == {
        "claimed": 1,
        "finished": 1,
        "cancelled": 1,
        "moved": 2,
        "changed_since": 1,
    }
    assert [job["before"] for job in seen["sample"]] == 3 * [{"queue": "default"}]
    begun = await undo(conn, moved["id"], plan_token=seen["plan_token"])
    await run_to_end(runner)
    done = await check_sums(conn, begun["id"])
    assert done["totals"]["processed"] == {"changed": seen["total_matched"]}
    assert done["totals"]["skipped"] == seen["ineligible"]


@pytest.mark.usefixtures("way")
async def test_a_plan_that_drifted_is_refused(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 5)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    seen = await preview_undo(conn, moved["id"])
    async with conn.transaction():
        await change.cancel_waiting(conn, await change.lock_waiting(conn, ids[:1]))
    with pytest.raises(PlanDrifted, match="5 jobs planned, 4 now: 1 fewer in queue esc"):
        await undo(conn, moved["id"], plan_token=seen["plan_token"])
    again = await preview_undo(conn, moved["id"])
    assert again["total_matched"] == 4
    assert (await undo(conn, moved["id"], plan_token=again["plan_token"]))["state"] == "pending"


async def test_a_token_of_something_else_is_refused(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    other = await operate(conn, runner, "set_priority", {"priority": 1}, {"kind": "work"})
    tokens: list[Any] = [
        (await preview(conn, "move_queue", {"kind": "work"}, TO))["plan_token"],
        (await preview_undo(conn, other["id"]))["plan_token"],
        "no token",
    ]
    for token in tokens:
        with pytest.raises(ValidationError):
            await undo(conn, moved["id"], plan_token=token)


@pytest.mark.usefixtures("way")
async def test_what_was_taken_back_already_is_not_counted_again(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 5)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await undo(conn, moved["id"], max_jobs=2)
    await run_to_end(runner)
    seen = await preview_undo(conn, moved["id"])
    assert (seen["total_matched"], seen["ineligible"]) == (3, {})


async def test_what_can_not_be_undone_has_no_preview(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await undo(conn, moved["id"])
    with pytest.raises(Conflict, match="is being undone"):
        await preview_undo(conn, moved["id"])
    with pytest.raises(NotFound):
        await preview_undo(conn, "no uuid")
