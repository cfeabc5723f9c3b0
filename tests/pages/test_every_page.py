"""What holds for each page: nothing inline, nothing from elsewhere, nothing unescaped, no link that leads nowhere."""

import re
from urllib.parse import urlsplit

import pytest

from tests.pages.conftest import Visit, Visitor
from tests.pages.reading import Page
from tests.storage.world import World

HOSTILE = "<script>alert('x')</script>\"'&"
PAGES = ("/", "/jobs", "/queues", "/kinds", "/runtimes", "/operations", "/login")
BELOW = "/ops/awa"


async def hostile_job(world: World) -> int:
    """A job whose every text wants to be HTML, that failed with a hostile error."""
    (job_id,) = await world.enqueue(
        queue=HOSTILE,
        kind=HOSTILE,
        tags=[HOSTILE],
        args_json='{"' + "<b>key</b>" + '": "</script><img src=x onerror=alert(1)>"}',
        metadata={"<i>m</i>": HOSTILE},
    )
    claimed = await world.claim(queue=HOSTILE)
    await world.finish(
        claimed, "failed", error={"error": HOSTILE, "kind": HOSTILE, "traceback": HOSTILE}
    )
    await world.enqueue(queue=HOSTILE, kind=HOSTILE, tags=[HOSTILE])
    return job_id


async def all_pages(visitor: Visitor, job_id: int) -> list[Page]:
    pages = [await visitor.get(path) for path in PAGES]
    pages.append(await visitor.get(f"/jobs/{job_id}"))
    pages.append(await visitor.get("/queue", name=HOSTILE))
    pages.append(await visitor.get("/queue/drain", name=HOSTILE))
    pages.append(await visitor.get("/queue/limits", name=HOSTILE))
    pages.append(await visitor.get("/jobs", q=HOSTILE, status=422))
    pages.append(await visitor.get("/jobs/0", status=404))
    pages.append(await visitor.get("/nothing/here", status=404))
    return pages


async def test_no_page_has_a_script_a_style_or_a_handler_in_it(
    console: Visitor, world: World
) -> None:
    for page in await all_pages(console, await hostile_job(world)):
        for element in page.all():
            assert element.name not in {"style", "iframe", "object", "embed", "base"}
            assert "style" not in element.attributes
            assert not [name for name in element.attributes if name.startswith("on")]
            if element.name == "script":
                assert element.attributes["src"]
                assert element.text == ""
        assert "<script>alert" not in page.html
        assert "<img" not in page.html


async def test_each_page_forbids_what_it_does_not_use(console: Visitor, world: World) -> None:
    for page in await all_pages(console, await hostile_job(world)):
        policy = page.answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http:" not in policy
        assert page.answer.headers["x-content-type-options"] == "nosniff"
        assert page.answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("below", ["", BELOW])
async def test_every_link_stays_below_the_path_and_leads_somewhere(
    visit: Visit, world: World, below: str
) -> None:
    console = visit(below=below)
    seen: set[str] = set()
    for page in await all_pages(console, await hostile_job(world)):
        for link in page.links():
            path = urlsplit(link).path
            assert not urlsplit(link).netloc
            if link.startswith("#"):
                continue
            assert path.startswith(f"{below}/"), link
            seen.add(link)
    answers = {link: (await console.client.get(link)).status_code for link in seen}
    expected = {f"{below}/jobs/0": 404, f"{below}/nothing/here": 404}
    dead = {link: status for link, status in answers.items() if status >= 400}
    assert dead.items() <= expected.items()


async def test_a_page_has_its_landmarks(console: Visitor, world: World) -> None:
    for page in await all_pages(console, await hostile_job(world)):
        assert len(list(page.all("h1"))) == 1
        assert page.one("html").attributes["lang"] == "en"
        assert page.one("title").text.endswith("· Awa")
        assert page.one("main").attributes["id"] == "main"
        assert page.one(class_="skip").attributes["href"] == "#main"
        ids = [e.attributes["id"] for e in page.all() if "id" in e.attributes]
        assert len(ids) == len(set(ids))


async def test_every_field_has_a_label_and_every_button_a_name(
    console: Visitor, world: World
) -> None:
    for page in await all_pages(console, await hostile_job(world)):
        labelled = {label.attributes.get("for") for label in page.all("label")}
        for control in [*page.all("input"), *page.all("select")]:
            if control.attributes.get("type") == "hidden":
                continue
            assert control.attributes.get("id") in labelled or "aria-label" in control.attributes
        for button in page.all("button"):
            # Two of them get their words when scripts run.
            assert button.text or {"aria-label", "data-select-all"} & set(button.attributes)


async def test_hostile_text_is_shown_as_it_is(console: Visitor, world: World) -> None:
    job_id = await hostile_job(world)
    page = await console.get(f"/jobs/{job_id}")
    assert page.one("h1").text.startswith(HOSTILE)
    assert page.says("</script><img src=x onerror=alert(1)>")
    assert page.one(class_="notice").text.count(HOSTILE) == 2


async def test_static_files_are_kept_for_a_year_under_the_hash_of_their_content(
    console: Visitor,
) -> None:
    page = await console.get("/login")
    (sheet, *_) = [e.attributes["href"] for e in page.all("link", rel="stylesheet")]
    kept = await console.client.get(sheet)
    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-type"].startswith("text/css")
    older = await console.client.get(re.sub(r"/static/\w+/", "/static/000000000000/", sheet))
    assert older.headers["cache-control"] == "no-cache"
    assert older.text == kept.text
    for name in ("../render.py", "..%2Frender.py", "css/none.css"):
        assert (await console.client.get(f"/static/x/{name}")).status_code == 404


async def test_a_program_that_asks_for_nothing_gets_the_error_of_the_api(console: Visitor) -> None:
    answer = await console.client.get("/nothing", headers={"Accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
