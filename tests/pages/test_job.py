"""One job: its life as far as it is known, and what can be done with it by forms alone."""

import pytest

from awa.storage import callbacks
from awa.storage.new_job import NewJob
from tests.pages.conftest import TOKENS, Visit, Visitor
from tests.storage.world import World


async def failed_job(world: World) -> int:
    (job_id,) = await world.enqueue(queue="email", max_attempts=3)
    error = {"error": "no answer", "kind": "ConnectionError", "traceback": "Traceback\n  line 7"}
    await world.finish(await world.claim(queue="email"), "failed", error=error)
    return job_id


async def test_its_life_is_told_in_order(console: Visitor, world: World) -> None:
    page = await console.get(f"/jobs/{await failed_job(world)}")
    told = [line.text for line in page.one("ol", class_="timeline").all("li")]
    assert told[0].startswith("Enqueued as k in email, priority 2")
    assert "claimed by" in told[1]
    assert "failed for good" in told[2]
    assert "ConnectionError: no answer" in told[2]
    assert "Traceback line 7" in told[2]


async def test_arguments_fold_without_scripts(console: Visitor, world: World) -> None:
    deep = '{"order": {"lines": [{"sku": "a", "paid": true, "note": null, "n": 1.5}]}}'
    (job_id,) = await world.enqueue(args_json=deep)
    tree = next((await console.get(f"/jobs/{job_id}")).all(class_="tree"))
    assert len(list(tree.all("details"))) == 4
    assert 'sku: "a"' in tree.text
    assert "paid: true" in tree.text
    assert "note: null" in tree.text
    assert "n: 1.5" in tree.text


async def test_arguments_that_are_enormous_stay_readable(console: Visitor, world: World) -> None:
    many = "[" + ",".join(["1"] * 2_000) + "]"
    deep = "[" * 60 + "]" * 60
    (job_id,) = await world.enqueue(args_json=f'{{"many": {many}, "deep": {deep}}}')
    page = await console.get(f"/jobs/{job_id}")
    assert page.says("and 1,500 more; the API gives all of them")
    assert page.says("deeper than 40 levels")


async def test_what_is_not_possible_says_why(console: Visitor, world: World) -> None:
    page = await console.get(f"/jobs/{await failed_job(world)}")
    posts = {form.attributes["action"].rpartition("/")[2] for form in page.all("form")}
    assert "retry" in posts
    assert not posts & {"cancel", "move", "priority"}
    assert page.says("Not possible: it has failed.")


async def test_a_waiting_job_is_moved_reprioritised_and_cancelled(
    console: Visitor, world: World
) -> None:
    (job_id,) = await world.enqueue(queue="email")
    there = f"/jobs/{job_id}"
    await console.send(await console.get(there), "/move", queue="escalations")
    await console.send(await console.get(there), "/priority", priority="1")
    page = await console.get(there)
    assert page.says(f"Job {job_id} has the priority 1.")
    job = await world.job(job_id)
    assert (job["queue"], job["priority"]) == ("escalations", 1)
    await console.send(page, "/cancel")
    assert (await console.get(there)).says(f"Job {job_id} is cancelled.")
    assert await world.state(job_id) == "cancelled"


async def test_a_failed_job_is_retried(console: Visitor, world: World) -> None:
    job_id = await failed_job(world)
    await console.send(await console.get(f"/jobs/{job_id}"), "/retry")
    assert await world.state(job_id) == "available"


async def test_what_changed_meanwhile_is_told_on_the_job_s_own_page(
    console: Visitor, world: World
) -> None:
    (job_id,) = await world.enqueue(queue="email")
    page = await console.get(f"/jobs/{job_id}")
    await world.finish(await world.claim(queue="email"))
    refused = await console.send(page, "/cancel", status=409)
    assert refused.says(f"Job {job_id} is completed and can't be cancelled.")
    assert refused.one("h1").text.endswith("completed")


async def test_a_queue_that_cannot_be_is_refused_with_its_reason(
    console: Visitor, world: World
) -> None:
    (job_id,) = await world.enqueue(queue="email")
    page = await console.get(f"/jobs/{job_id}")
    for queue in ("", "  ", "x" * 300):
        refused = await console.send(page, "/move", status=422, queue=queue)
        assert refused.one(class_="notice").text
    assert (await world.job(job_id))["queue"] == "email"


async def test_who_cancelled_is_an_operator(visit: Visit, world: World) -> None:
    (job_id,) = await world.enqueue(queue="email")
    console = visit(tokens=TOKENS)
    await console.log_in("operator")
    await console.send(await console.get(f"/jobs/{job_id}"), "/cancel")
    assert await world.state(job_id) == "cancelled"


@pytest.mark.parametrize(
    ("action", "said", "state"),
    [
        ("complete", '{"paid": 7}', "completed"),
        ("resume", "", "available"),
        ("retry", "the bank is closed", "retryable"),
        ("fail", "no money", "failed"),
    ],
)
async def test_a_job_that_waits_for_a_callback_says_so_and_is_answered(
    *, console: Visitor, world: World, action: str, said: str, state: str
) -> None:
    job_id, callback = await world.waiting()
    page = await console.get(f"/jobs/{job_id}")
    assert page.says("Waits for a callback")
    assert page.says(str(callback))
    assert page.says("Not possible: it waits for a callback; answer that instead.")
    assert page.says("Do not wait any longer")
    told = [line.text for line in page.one("ol", class_="timeline").all("li")]
    assert "Attempt 1 ended, to wait for a callback" in told[2]
    assert "The wait for the callback ends" in told[3]
    await console.send(page, f"/callbacks/{callback}", answer=action, said=said)
    answered = await console.get(f"/jobs/{job_id}")
    assert answered.says(f"The callback is answered; job {job_id} is {state} now.")
    assert answered.says(", by local")
    assert not answered.says("Waits for a callback")
    assert await world.state(job_id) == state
    late = await console.send(page, f"/callbacks/{callback}", status=409, answer="fail", said="")
    assert late.says("nothing was changed")


async def test_a_job_that_waits_says_what_will_follow_it(console: Visitor, world: World) -> None:
    job_id, callback = await world.waiting()
    assert not (await console.get(f"/jobs/{job_id}")).says("will follow")
    note = ("notes", NewJob("note", "{}"))
    await callbacks.keep_follow_ups(world.conn, {callback: ([note], [note, note])})
    page = await console.get(f"/jobs/{job_id}")
    assert page.says(
        "If it is completed, 1 job will follow. If it fails for good, 2 jobs will follow."
    )


async def test_an_answer_that_is_no_json_is_refused_on_the_page(
    console: Visitor, world: World
) -> None:
    job_id, callback = await world.waiting()
    page = await console.get(f"/jobs/{job_id}")
    refused = await console.send(
        page, f"/callbacks/{callback}", status=422, answer="complete", said="{"
    )
    assert refused.says("is not JSON")
    assert await world.state(job_id) == "waiting_external"


async def test_jobs_that_wait_for_a_callback_have_a_tab_of_their_own(
    console: Visitor, world: World
) -> None:
    job_id, _ = await world.waiting()
    await world.enqueue()
    tab = await console.get("/jobs", q="state:waiting_external")
    assert tab.says("Waiting external 1")
    assert f"/jobs/{job_id}" in tab.html


async def test_a_job_that_waits_for_its_concurrency_key_says_so(
    console: Visitor, world: World
) -> None:
    first, second, third = await world.enqueue_keyed(3, key="tenant 7", limit=2)
    assert (await console.get(f"/jobs/{third}")).says(
        "2 of 2 jobs of the key “tenant 7” run, or are about to."
    )
    assert not (await console.get(f"/jobs/{second}")).says("Waits for its concurrency key")
    assert (await console.get(f"/jobs/{first}")).says("tenant 7, at most 2")


async def test_a_unique_job_says_who_has_its_key(console: Visitor, world: World) -> None:
    waits = ["scheduled", "available", "retryable"]
    job = await world.enqueue_unique(by_states=waits, by_queue=True)
    there = f"/jobs/{job}"
    assert (await console.get(there)).says("by kind, arguments, queue; it holds its key")
    attempts = await world.claim()
    assert (await console.get(there)).says("its key is not held while it is running")
    other = await world.enqueue_unique(by_states=waits, by_queue=True)
    await world.finish(attempts, "returned")
    page = await console.get(there)
    assert page.says(f"it goes on without its key, which job {other} holds")
    assert any(link.attributes.get("href", "").endswith(f"/jobs/{other}") for link in page.all("a"))


async def test_a_move_that_meets_a_unique_key_is_refused_on_the_page(
    console: Visitor, world: World
) -> None:
    job = await world.enqueue_unique(by_queue=True)
    other = await world.enqueue_unique(queue="there", by_queue=True)
    there = f"/jobs/{job}"
    page = await console.send(await console.get(there), "/move", 409, queue="there")
    assert page.says(f"job {other} holds its unique key in queue there")
