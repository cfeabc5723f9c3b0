"""What operators see: pages that neither skip nor repeat, and refusals of what is no page."""

import pytest

from awa.model.errors import ValidationError
from awa.operations import control, read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import Conn, add_jobs, claim_jobs, operate, run_to_end


async def test_operations_are_paged_newest_first(conn: Conn) -> None:
    ids = [
        (await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1}))["id"]
        for _ in range(7)
    ]
    seen, cursor = [], None
    while True:
        page, cursor = await read.operations_page(conn, limit=3, cursor=cursor)
        seen += [row["id"] for row in page]
        if cursor is None:
            break
    assert seen == ids[::-1]


async def test_operations_are_chosen_by_state(conn: Conn, runner: Runner) -> None:
    first = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    await run_to_end(runner)
    second = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    await control.cancel(conn, second["id"])
    third = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    for state, operation in [("completed", first), ("cancelled", second), ("pending", third)]:
        page, cursor = await read.operations_page(conn, state=state)
        assert [row["id"] for row in page] == [operation["id"]]
        assert cursor is None
    assert await read.active_counts(conn) == {
        "pending": 1,
        "scanning": 0,
        "running": 0,
        "paused": 0,
        "cancelling": 0,
    }


async def test_items_are_paged_and_chosen_by_outcome_and_reason(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 5) + await add_jobs(conn, 4, priority=1)
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"kind": "work"})
    page, cursor = await read.items_page(conn, done["id"], limit=7)
    assert [item["job_id"] for item in page] == ids[:7]
    page, cursor = await read.items_page(conn, done["id"], limit=7, cursor=cursor)
    assert [item["job_id"] for item in page] == ids[7:]
    assert cursor is None
    page, _ = await read.items_page(conn, done["id"], outcome="processed")
    assert [item["job_id"] for item in page] == ids[:5]
    page, _ = await read.items_page(conn, done["id"], outcome="skipped", reason="noop")
    assert [item["job_id"] for item in page] == ids[5:]
    page, _ = await read.items_page(conn, done["id"], reason="claimed")
    assert page == []
    assert await claim_jobs(conn, "default", 1)


@pytest.mark.parametrize("cursor", ["x", "", "!!", "MTIz", "LTE", "é"])
async def test_what_is_no_cursor_is_refused(conn: Conn, cursor: str) -> None:
    with pytest.raises(ValidationError, match="cursor"):
        await read.operations_page(conn, cursor=cursor)


async def test_what_is_no_choice_is_refused(conn: Conn) -> None:
    operation = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    with pytest.raises(ValidationError, match="state: expected one of pending, scanning"):
        await read.operations_page(conn, state="done")
    with pytest.raises(ValidationError, match="outcome: expected one of pending, processed"):
        await read.items_page(conn, operation["id"], outcome="done")
    for limit in (0, 1001, True, "5"):
        with pytest.raises(ValidationError, match="limit"):
            await read.operations_page(conn, limit=limit)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="cursor"):
        await read.items_page(conn, operation["id"], cursor="LTE")
