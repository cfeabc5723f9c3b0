"""Preview shows what an operation would touch and changes nothing."""

import pytest

from awa.model.errors import ValidationError
from awa.operations import preview as module
from awa.operations.preview import preview
from awa.operations.runner import Runner
from tests.operations.kit import Conn, add_jobs, add_scheduled, claim_jobs, operate, value


async def test_counts_sample_breakdown_and_costs(conn: Conn) -> None:
    ready = await add_jobs(conn, 12, queue="a", kind="x")
    await add_scheduled(conn, 3, queue="a", kind="y", priority=4)
    await add_jobs(conn, 5, queue="b", kind="x")
    seen = await preview(conn, "set_priority", {"queue": "a", "tags_none": ["t"]}, {"priority": 1})
    assert seen["total_matched"] == 15
    assert seen["sample"] == [
        {"id": job_id, "kind": "x", "queue": "a", "state": "available", "priority": 2}
        for job_id in ready[:10]
    ]
    assert seen["breakdown"] == {
        "queue": {"a": 15},
        "kind": {"x": 12, "y": 3},
        "state": {"available": 12, "scheduled": 3},
        "priority": {"2": 12, "4": 3},
    }
    assert [(cost["field"], cost["cost"]) for cost in seen["costs"]] == [
        ("queue", "index"),
        ("tags_none", "scan"),
    ]
    assert seen["cost"] == "index"
    assert seen["filter"] == {"queue": "a", "tags_none": ["t"]}
    assert seen["requires_allow_all"] is False


async def test_what_may_not_be_changed_is_counted_by_state(conn: Conn) -> None:
    await add_jobs(conn, 10)
    await claim_jobs(conn, "default", 4)
    seen = await preview(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    assert (seen["total_matched"], seen["ineligible"]) == (6, {"running": 4})


async def test_what_would_take_too_long_is_not_counted(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_jobs(conn, 2_000)
    await claim_jobs(conn, "default", 2_000)
    monkeypatch.setattr(module, "INELIGIBLE_MAX_MS", 1)
    seen = await preview(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    assert (seen["total_matched"], seen["ineligible"]) == (0, None)
    assert await value(conn, "SHOW statement_timeout") == "0"


async def test_an_empty_filter_is_shown_what_all_means(conn: Conn) -> None:
    await add_jobs(conn, 3, queue="a")
    await add_jobs(conn, 4, queue="b")
    seen = await preview(conn, "set_priority", {}, {"priority": 1})
    assert (seen["total_matched"], seen["requires_allow_all"]) == (7, True)
    nothing = await preview(conn, "set_priority", {"ids": []}, {"priority": 1})
    assert (nothing["total_matched"], nothing["requires_allow_all"]) == (0, True)
    assert nothing["sample"] == []


async def test_preview_is_allowed_where_nothing_may_be_changed(conn: Conn) -> None:
    await add_jobs(conn, 3)
    await conn.execute("SET default_transaction_read_only = on")
    seen = await preview(conn, "move_queue", {"kind": "work"}, {"queue": "b"})
    assert seen["total_matched"] == 3


async def test_preview_and_scan_count_the_same(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 30, queue="a", tags=["x"])
    await add_scheduled(conn, 20, queue="b", tags=["x"])
    await claim_jobs(conn, "a", 7)
    seen = await preview(conn, "set_priority", {"tag": "x"}, {"priority": 1})
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"tag": "x"})
    assert seen["total_matched"] == done["total_matched"] == 43


@pytest.mark.parametrize(
    ("op_kind", "where", "spec"),
    [
        ("nothing", {"queue": "a"}, {"priority": 1}),
        ("set_priority", {"queue": ""}, {"priority": 1}),
        ("set_priority", {"queue": "a"}, {"priority": 9}),
        ("set_priority", {"state": "running"}, {"priority": 1}),
    ],
)
async def test_preview_refuses_what_submit_refuses(
    conn: Conn, op_kind: str, where: dict[str, object], spec: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        await preview(conn, op_kind, where, spec)
