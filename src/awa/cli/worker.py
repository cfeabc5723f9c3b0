"""`awa worker run MODULE:CLIENT`: run the handlers of a user's module until told to stop."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from awa.cli.loading import load_client
from awa.cli.logs import log_to_stderr
from awa.cli.options import Options, options_of
from awa.cli.session import Session, database, run_client, tell_children
from awa.cli.until_told import until_told
from awa.cli.urls import URL_VARIABLES, NoDatabase
from awa.cli.values import queue_spec
from awa.client import AsyncClient
from awa.model.errors import AwaError, ValidationError
from awa.model.limits import QUEUE_DEFAULT, check_queue
from awa.worker.options import QueueOptions, queue_options

app = typer.Typer(help="Run handlers.", no_args_is_help=True)

ROLES: Final = ("worker", "maintenance")


@app.callback()
def _worker() -> None:
    """Run handlers."""


@app.command("run")
def run(
    context: typer.Context,
    client: Annotated[
        str, typer.Argument(metavar="MODULE:CLIENT", help="An AsyncClient: myapp.jobs:client.")
    ],
    *,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=N][:OPTION=VALUE,…]",
            help="Take jobs from here, N at a time; may be said often. Options: rate (jobs begun per second), "
            "deadline (seconds), and with --max-workers weight and min.",
        ),
    ] = None,
    max_workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Slots that all queues share, by their weight."),
    ] = None,
    roles: Annotated[
        str, typer.Option(metavar="ROLES", help="worker, maintenance, or both with a comma.")
    ] = ",".join(ROLES),
) -> None:
    """Run jobs until Ctrl-C or SIGTERM; then finish or hand back what is running."""
    options = options_of(context)
    said = [_spec(text) for text in queue or ()]
    wanted = _roles(roles)
    log_to_stderr(debug=options.debug)
    with _database_if_named(options) as missing:
        found = _load(client, missing)
        specs = _queues(found, said) if "worker" in wanted else []
        # Checked here for the widths that are told; the client does it once more.
        queues = queue_options(specs, max_workers)
        run_client(found, options, lambda session: work(session, queues, wanted, max_workers))


async def work(
    session: Session,
    queues: Sequence[QueueOptions],
    roles: Sequence[str],
    max_workers: int | None = None,
) -> None:
    """Start the client, say so, wait to be told, stop it in order."""
    with until_told(session.out, "Stopping: finishing what runs, claiming no more.") as stop:
        begin = session.client.start(queues, max_workers=max_workers, roles=roles)
        if await stop.begun(begin):
            widths = {one.queue: one.max_workers for one in queues}
            running: dict[str, Any] = {"queues": widths, "roles": list(roles)}
            if max_workers is not None:
                running["max_workers"] = max_workers
            session.out.result({"running": running}, _words(queues, roles, max_workers))
            await stop.wait()
    handed_back = await session.client.shutdown()
    session.if_interrupted = f"Stopped; {handed_back or 'no'} unfinished jobs were handed back."
    if not stop.by_ctrl_c:
        session.out.result({"stopped": {"handed_back": handed_back}}, session.if_interrupted)
    stop.leave()


def _spec(text: str) -> dict[str, Any]:
    spec = queue_spec(text)
    check_queue(spec["queue"], field="--queue")
    return spec


def _roles(text: str) -> list[str]:
    roles = [role.strip() for role in text.split(",") if role.strip()]
    for role in roles:
        if role not in ROLES:
            raise ValidationError(f"--roles names {role!r}", hint=f"Known are {', '.join(ROLES)}.")
    if not roles:
        raise ValidationError("--roles is empty", hint=f"Known are {', '.join(ROLES)}.")
    return roles


@contextmanager
def _database_if_named(options: Options) -> Iterator[NoDatabase | None]:
    """Let the user's module find the database that the options name, if they name one.

    A client with a URL of its own needs none; yields what to say if it turns out to need one.
    """
    try:
        with database(options) as url:
            tell_children(url)
            yield None
    except NoDatabase as missing:
        yield missing


def _load(spec: str, missing: NoDatabase | None) -> AsyncClient:
    try:
        return load_client(spec)
    except AwaError as error:
        if missing is not None and _wants_a_database(error):
            raise missing from None
        raise


def _wants_a_database(error: AwaError) -> bool:
    """Whether a module could not be imported because it looked for the URL that nobody gave."""
    looked_up = isinstance(error.__cause__, KeyError) and error.__cause__.args[0] in URL_VARIABLES
    return looked_up or error.message.startswith("no database")


def _queues(client: AsyncClient, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was named, or else the queues that the handlers were registered for."""
    if said:
        return said
    named = {task.queue or QUEUE_DEFAULT for task in client.tasks}
    return [{"queue": name} for name in sorted(named or {QUEUE_DEFAULT})]


def _words(queues: Sequence[QueueOptions], roles: Sequence[str], max_workers: int | None) -> str:
    parts = []
    if "worker" in roles:
        names = ", ".join(f"{one.queue} ({one.max_workers} at a time)" for one in queues)
        together = f", {max_workers} together" if max_workers is not None else ""
        parts.append(f"working on {names}{together}")
    if "maintenance" in roles:
        parts.append("keeping house when elected")
    return f"{' and '.join(parts).capitalize()}. Ctrl-C stops."
