"""The page of a new operation understands what links and forms send it, and says at its place what is wrong."""

import re
from html import unescape
from urllib.parse import urlencode

import httpx
import pytest

from awa.operations import plan as plans
from tests.web.site import WAIT_S, Site


async def page_of(site: Site, **asked: str) -> str:
    """The text of the page, without its markup."""
    async with httpx.AsyncClient(base_url=site.url, timeout=WAIT_S) as browser:
        answer = await browser.get(f"operations/new?{urlencode(asked)}")
    assert answer.status_code == 200
    words = re.sub(r"<[^>]+>", " ", answer.text)
    return " ".join(unescape(words).split())


async def test_chosen_rows_are_words_of_the_search(site: Site) -> None:
    await site.enqueue(9, queue="email")
    said = await page_of(site, ids="2,3,5")
    assert "with the id 2, 3 or 5" in said
    assert "3 jobs can be changed" in said
    said = await page_of(site, ids="2,3", q="queue:nowhere")
    assert "No job matches." in said


async def test_too_many_chosen_rows_are_refused_with_what_to_do(site: Site) -> None:
    said = await page_of(site, ids=",".join(str(n) for n in range(1, 1_002)))
    assert "More than 1,000 jobs by their ids; narrow the search" in said


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"op_kind": "move_queue"}, "say which"),
        ({"op_kind": "move_queue", "spec.queue": "x" * 201}, "at most 200 characters"),
        ({"op_kind": "set_priority"}, "say which"),
        ({"op_kind": "set_priority", "spec.priority": "9"}, "expected a whole number, got str '9'"),
        ({"op_kind": "purge_everything"}, "There is no operation 'purge_everything' on this page."),
        ({"op_kind": "move_queue", "spec.queue": "a", "q": "state:running"}, "Only for jobs that are scheduled, available or retryable, and the search asks for others."),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_told_at_its_place(
    site: Site, asked: dict[str, str], told: str
) -> None:
    await site.enqueue(2, queue="email")
    said = await page_of(site, **{"q": "queue:email", "check": "1"} | asked)
    assert told in said
    assert "Something above is not right yet." in said or "Nothing fits" in said


async def test_jobs_that_cannot_be_changed_are_told_with_their_states(site: Site) -> None:
    await site.enqueue(5, queue="email")
    await site.client.cancel(1)
    await site.client.cancel(2)
    said = await page_of(site, q="queue:email")
    assert re.search(r"3 jobs can be changed *, of (about )?5 jobs that match\.", said)
    assert "The others stay as they are: 2 cancelled." in said


async def test_jobs_that_are_there_already_are_told_and_not_counted(site: Site) -> None:
    await site.enqueue(5, queue="email")
    await site.enqueue(3, queue="bulk")
    asked = {"q": "kind:send_email", "op_kind": "move_queue", "spec.queue": "bulk", "check": "1"}
    said = await page_of(site, **asked)
    assert "5 jobs will be moved to bulk." in said
    assert "3 jobs more are there already and will be counted as skipped." in said
    assert "Move 5 jobs to bulk" in said
    said = await page_of(site, **asked | {"spec.priority": "1"})
    assert "8 jobs will be moved to bulk with priority 1." in said
    assert "will be counted as skipped" not in said
    said = await page_of(site, **asked | {"q": "queue:bulk"})
    assert "There is nothing to change." in said


async def test_a_role_that_may_not_sign_a_check_is_told_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(*_: object) -> None:
        return None

    monkeypatch.setattr(plans, "_seal", unreadable)
    await site.enqueue(5, queue="email")
    asked = {"q": "queue:email", "op_kind": "move_queue", "spec.queue": "bulk", "check": "1"}
    said = await page_of(site, **asked)
    assert "5 jobs will be moved to bulk." in said
    assert "Nothing can be submitted from here" in said
    assert "Move 5 jobs" not in said


async def test_the_estimate_states_its_rate(site: Site) -> None:
    await site.enqueue(6_000, queue="email")
    asked = {"q": "queue:email", "op_kind": "set_priority", "spec.priority": "1", "check": "1"}
    assert "at 20,000/s, which is assumed: none has run here yet" in await page_of(site, **asked)
    await site.work()
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 3}, {"queue": "email"}
    )
    await site.client.wait_batch_operation(row["id"], timeout=60)
    assert "as fast as the last such operation here" in await page_of(site, **asked)
