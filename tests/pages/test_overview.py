"""The first page answers "is it all right?", and the lists of kinds and runtimes say who is there."""

from uuid import uuid4

from awa.storage import runtimes
from tests.pages.conftest import Visitor
from tests.storage.world import World

EMPTY = {
    "/queues": "No queues yet",
    "/kinds": "No kinds yet",
    "/runtimes": "Nobody works",
    "/queues?search=x": "No queue has “x” in its name",
    "/kinds?search=x": "No kind has “x” in its name",
}


async def test_nobody_keeping_house_is_the_first_thing_said(console: Visitor, world: World) -> None:
    await world.enqueue(queue="email")
    page = await console.get("/")
    verdict = page.one(class_="verdict")
    assert verdict.one("h2").text == "Something is wrong"
    assert "1 job waits and 0 run" in verdict.text
    assert "Nobody keeps house" in verdict.text
    assert "bad" in verdict.attributes["class"].split()


async def test_each_part_of_the_whole_is_there(console: Visitor, world: World) -> None:
    await world.enqueue(4, queue="email")
    page = await console.get("/")
    parts = {
        element.attributes["data-part"]
        for element in page.all()
        if "data-part" in element.attributes
    }
    assert parts == {
        "verdict",
        "stats",
        "throughput",
        "pickup",
        "backlog",
        "operations",
        "totals",
        "runtimes",
        "storage",
    }
    labels = {one.text for one in page.all(class_="stat-label")}
    assert labels >= {"Started", "Completed", "Failed", "Waiting", "Oldest waiting", "Pickup p95"}
    assert page.one(class_="ring").attributes["aria-label"].startswith("Slot 0 of 8 is open")


async def test_an_empty_store_is_no_error(console: Visitor) -> None:
    page = await console.get("/")
    assert page.says("0 jobs wait and 0 run. 0 runtimes are alive.")
    assert page.says("No figures yet")


async def test_its_live_parts_ask_for_themselves(console: Visitor) -> None:
    page = await console.get("/")
    (live,) = [one for one in page.all("div") if "data-live" in one.attributes]
    again = await console.get(live.attributes["data-live"])
    assert again.one(class_="verdict").text == page.one(class_="verdict").text
    assert live.attributes["data-live-events"] == "/api/stats/events"


async def test_kinds_count_and_lead_to_their_jobs(console: Visitor, world: World) -> None:
    await world.enqueue(3, kind="send_email", queue="email")
    page = await console.get("/kinds")
    (row,) = page.one("tbody").all("tr")
    assert row.one("td", data_label="Available").text == "3"
    link = row.one("th").one("a").attributes["href"]
    assert (await console.get(link)).says("3 jobs of the kind send_email.")


async def test_runtimes_say_who_serves_what(console: Visitor, world: World) -> None:
    await runtimes.register(world.conn, uuid4(), ["worker"], {"email": 50}, "1.2.3")
    page = await console.get("/runtimes")
    (row,) = [one for one in page.one("tbody").all("tr") if "1.2.3" in one.text]
    assert row.one("td", data_label="Queues").text == "email 50"
    assert page.says("Nobody leads")


async def test_empty_lists_say_how_they_fill(console: Visitor) -> None:
    for path, word in EMPTY.items():
        page = await console.get(path)
        assert page.one(class_="empty-title").text == word
        way_out = [*page.one(class_="empty").all(class_="code"), *page.one(class_="empty").all("a")]
        assert way_out
