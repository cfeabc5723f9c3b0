"""Who is let in, who may only look, and what is said to whom."""

from tests.pages.conftest import REMOTE, TOKENS, Visit
from tests.storage.world import World


async def test_a_stranger_is_led_to_the_log_in_page_and_back(visit: Visit, world: World) -> None:
    await world.enqueue(queue="email")
    console = visit(tokens=TOKENS, below="/ops/awa")
    turned_away = await console.get("/jobs", q="queue:email", status=303)
    assert turned_away.location == "/ops/awa/login?next=%2Fops%2Fawa%2Fjobs%3Fq%3Dqueue%253Aemail"
    form = await console.get("/login", next="/ops/awa/jobs?q=queue:email")
    inside = await console.send(form, "/login", token="viewer-token-0123456789")
    assert inside.location == "/ops/awa/jobs?q=queue:email"
    assert (await console.get("/jobs", q="queue:email")).says("1 job in the queue email.")


async def test_a_wrong_token_is_told_and_not_repeated(visit: Visit) -> None:
    console = visit(tokens=TOKENS)
    page = await console.send(
        await console.get("/login"), "/login", status=401, token="wrong-token-0123456789"
    )
    assert page.says("The token is not known here.")
    assert "wrong-token-0123456789" not in page.html


async def test_log_in_leads_to_no_other_host(visit: Visit) -> None:
    console = visit(tokens=TOKENS)
    form = await console.get("/login", next="//evil.example/")
    assert form.form("/login").fields["next"] == "/"
    inside = await console.send(
        form, "/login", token="viewer-token-0123456789", next="https://evil.example/"
    )
    assert inside.location == "/"


async def test_logging_out_ends_the_session(visit: Visit) -> None:
    console = visit(tokens=TOKENS)
    await console.log_in("operator")
    page = await console.get("/")
    assert page.says("Role: operator")
    await console.send(page, "/logout")
    assert (await console.get("/", status=303)).location.startswith("/login")


async def test_a_console_without_tokens_offers_no_log_in(visit: Visit) -> None:
    console = visit()
    assert (await console.get("/login")).says("There is nothing to log in to")
    assert list((await console.get("/")).all("form", action="/logout")) == []


async def test_a_viewer_sees_everything_and_is_told_why_nothing_can_be_done(
    visit: Visit, world: World
) -> None:
    (job_id,) = await world.enqueue(queue="email")
    console = visit(tokens=TOKENS)
    await console.log_in("viewer")
    for path in (f"/jobs/{job_id}", "/queues/email", "/jobs"):
        page = await console.get(path)
        assert page.says("Your role is viewer: you can look at everything and change nothing.")
        posts = {f.attributes["action"] for f in page.all("form", method="post")}
        assert posts <= {"/theme", "/logout"}
    await console.get("/queue/drain", name="email", status=403)
    await console.get("/queue/limits", name="email", status=403)


async def test_read_only_says_why(visit: Visit, world: World) -> None:
    (job_id,) = await world.enqueue(queue="email")
    for console, why in (
        (visit(read_only=True), "it was started with --read-only"),
        (visit(local_writes=False), "it has no tokens and listens where others can reach it"),
        (
            visit(peer=REMOTE, allowed_hosts=["localhost"]),
            "without tokens only requests from the same machine",
        ),
    ):
        page = await console.get(f"/jobs/{job_id}")
        assert page.says(f"This console is read-only: {why}")
        refused = await console.client.post(f"/jobs/{job_id}/cancel", data={})
        assert refused.status_code == 403
    assert await world.state(job_id) == "available"


async def test_a_form_without_its_token_changes_nothing(visit: Visit, world: World) -> None:
    (job_id,) = await world.enqueue(queue="email")
    console = visit(tokens=TOKENS)
    await console.log_in("operator")
    page = await console.get(f"/jobs/{job_id}")
    refused = await console.send(page, "/cancel", status=403, csrf_token="made up")
    assert refused.says("Reload the page and try again")
    assert await world.state(job_id) == "available"


async def test_the_theme_is_kept_for_the_next_page(visit: Visit) -> None:
    console = visit()
    page = await console.get("/login")
    assert "data-theme" not in page.one("html").attributes
    form = (await console.get("/queues")).form("/theme")
    answer = await console.client.post(form.action, data={**form.fields, "theme": "dark"})
    assert answer.headers["location"] == "/queues"
    assert (await console.get("/queues")).one("html").attributes["data-theme"] == "dark"
    await console.client.post(form.action, data={**form.fields, "theme": "<script>"})
    assert "data-theme" not in (await console.get("/queues")).one("html").attributes
