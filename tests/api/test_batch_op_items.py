"""What became of each job: pages of items, and the report as a file."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest
from psycopg import AsyncConnection

from awa.operations import report
from tests.api.conftest import MOVE, Ask, error_of, fields_of

PROCESSED_AT = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
NASTY = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'say "hi", twice\r\nplease', "plain", "ü"]


@pytest.fixture
async def operation(api: httpx.AsyncClient, conn: AsyncConnection[Any]) -> str:
    """An operation with nine items whose errors are nasty, and one that was processed."""
    found: str = (await api.post("/api/batch-ops", json=MOVE)).json()["id"]
    async with conn.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO awa.batch_operation_items (operation_id, job_id, state, reason, error, processed_at)"
            " VALUES (%s, %s, 'errored', 'unexpected', %s, %s)",
            [(found, at, text, PROCESSED_AT) for at, text in enumerate(NASTY, start=1)],
        )
    await conn.execute(
        "INSERT INTO awa.batch_operation_items (operation_id, job_id, state, processed_at, before)"
        " VALUES (%s, 100, 'processed', %s, %s)",
        (found, PROCESSED_AT, '{"queue": "email"}'),
    )
    return found


async def test_items_go_by_page(api: httpx.AsyncClient, operation: str) -> None:
    seen: list[int] = []
    cursor: str | None = None
    for _ in range(3):
        params = {"limit": "4"} | ({"cursor": cursor} if cursor else {})
        page = (await api.get(f"/api/batch-ops/{operation}/items", params=params)).json()
        seen += [one["job_id"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert (seen, cursor) == ([*range(1, 10), 100], None)


async def test_items_can_be_narrowed(api: httpx.AsyncClient, operation: str) -> None:
    async def ids(**params: str) -> list[int]:
        answer = await api.get(f"/api/batch-ops/{operation}/items", params=params)
        return [one["job_id"] for one in answer.json()["items"]]

    assert await ids(outcome="processed") == [100]
    assert await ids(outcome="errored", reason="unexpected") == [*range(1, 10)]
    assert await ids(reason="claimed") == []


@pytest.mark.parametrize("where", ["items", "report.csv", "report.ndjson", "events"])
async def test_an_unknown_operation_has_none(api: httpx.AsyncClient, where: str) -> None:
    for unknown in ("00000000-0000-0000-0000-000000000000", "nonsense"):
        error_of(await api.get(f"/api/batch-ops/{unknown}/{where}"), 404, "not_found")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("outcome=done", "outcome"),
        ("limit=0", "limit"),
        ("cursor=nonsense", "cursor"),
        ("reason=" + "x" * 201, "reason"),
        ("outcom=processed", "outcom"),
    ],
)
async def test_a_wrong_query_is_refused(
    api: httpx.AsyncClient, operation: str, query: str, field: str
) -> None:
    assert fields_of(await api.get(f"/api/batch-ops/{operation}/items?{query}")) == {field}


async def test_an_unchanged_page_is_not_sent_again(api: httpx.AsyncClient, operation: str) -> None:
    path = f"/api/batch-ops/{operation}"
    for asked in (f"{path}/items", "/api/batch-ops", path):
        first = await api.get(asked)
        again = await api.get(asked, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    tag = {"If-None-Match": (await api.get(path)).headers["etag"]}
    await api.patch(f"/api/batch-ops/{operation}", json={"state": "cancelling"})
    assert (await api.get(path, headers=tag)).status_code == 200


async def test_the_report_is_a_file_that_reads_back_as_it_was(
    api: httpx.AsyncClient, operation: str
) -> None:
    answer = await api.get(f"/api/batch-ops/{operation}/report.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    name = f'attachment; filename="awa-operation-{operation}.csv"'
    assert answer.headers["content-disposition"] == name
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [int(row["job_id"]) for row in rows] == [*range(1, 10), 100]
    assert [row["error"].removeprefix("'") for row in rows[:9]] == NASTY
    assert json.loads(rows[-1]["before"]) == {"queue": "email"}
    assert datetime.fromisoformat(rows[0]["processed_at"]) == PROCESSED_AT


async def test_no_cell_of_the_report_is_a_formula(api: httpx.AsyncClient, operation: str) -> None:
    answer = await api.get(f"/api/batch-ops/{operation}/report.csv")
    for row in csv.reader(io.StringIO(answer.text, newline="")):
        for cell in row:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), row


async def test_the_report_for_programs_has_one_object_a_line(
    api: httpx.AsyncClient, operation: str
) -> None:
    answer = await api.get(f"/api/batch-ops/{operation}/report.ndjson", params={"reason": "x"})
    assert answer.content == b""
    answer = await api.get(f"/api/batch-ops/{operation}/report.ndjson")
    rows = [orjson.loads(line) for line in answer.content.splitlines()]
    assert [row["error"] for row in rows[:9]] == NASTY
    assert set(rows[0]) == set(report.COLUMNS)


async def test_a_long_report_is_made_page_by_page(
    api: httpx.AsyncClient,
    operation: str,
    conn: AsyncConnection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report, "PAGE_ROWS", 3)
    for after in ("csv", "ndjson"):
        answer = await api.get(f"/api/batch-ops/{operation}/report.{after}")
        lines = list(csv.reader(io.StringIO(answer.text, newline="")))
        assert len(lines) == 10 + (after == "csv")


async def test_it_can_say_what_has_become_of_the_jobs(
    api: httpx.AsyncClient, operation: str, conn: AsyncConnection[Any]
) -> None:
    found = await conn.execute(
        "SELECT awa.enqueue('work', queue => 'email'), awa.enqueue('work', run_at => now() + '1 day')"
    )
    first, second = await found.fetchone() or (0, 0)
    await conn.execute("DELETE FROM awa.batch_operation_items")
    for job_id in (first, second, 4_711):
        await conn.execute(
            "INSERT INTO awa.batch_operation_items (operation_id, job_id, state) VALUES (%s, %s, 'processed')",
            (operation, job_id),
        )
    path = f"/api/batch-ops/{operation}/report.ndjson"
    answer = await api.get(path, params={"with_jobs": "true"})
    rows = {one["job_id"]: one for one in map(orjson.loads, answer.content.splitlines())}
    assert (rows[first]["job_state"], rows[first]["job_queue"]) == ("available", "email")
    assert (rows[second]["job_state"], rows[second]["job_queue"]) == ("scheduled", "default")
    assert rows[4_711]["job_state"] is None


async def test_a_report_that_breaks_off_is_not_taken_for_a_whole_one(
    ask: Ask, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "PAGE_ROWS", 3)
    whole = report.page

    async def breaks(*args: Any, after: int, **more: Any) -> Any:
        if after:
            raise RuntimeError("the server went away")
        return await whole(*args, after=after, **more)

    monkeypatch.setattr(report, "page", breaks)
    with pytest.raises(RuntimeError, match="went away"):
        await ask().get(f"/api/batch-ops/{operation}/report.csv")
