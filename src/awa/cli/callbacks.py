"""`awa callback …`: answer a callback that a job waits for, or look at it."""

from typing import Annotated, Any

import typer

from awa.cli.session import Session, run
from awa.cli.values import json_value
from awa.model.callback import Action, check_callback_id
from awa.operations import callbacks

app = typer.Typer(help="Callbacks: answer one, look at it.", no_args_is_help=True)

CallbackId = Annotated[str, typer.Argument(metavar="ID", help="The callback's id.")]
By = Annotated[str | None, typer.Option("--by", help="Who answers; kept with the callback.")]
Payload = Annotated[
    str | None, typer.Option(metavar="JSON", help="What comes with it; any JSON, or @file.")
]
Error = Annotated[str | None, typer.Option(help="What went wrong, in a sentence.")]


@app.command("complete")
def complete(
    context: typer.Context, callback_id: CallbackId, *, payload: Payload = None, by: By = None
) -> None:
    """Complete the job that waits; the payload stays in its metadata."""
    said = {"payload": None if payload is None else json_value(payload, "--payload")}
    _answer(context, callback_id, Action.COMPLETE, by, said)


@app.command("fail")
def fail(
    context: typer.Context, callback_id: CallbackId, *, error: Error = None, by: By = None
) -> None:
    """Fail the job that waits for good."""
    _answer(context, callback_id, Action.FAIL, by, {"error": error})


@app.command("retry")
def retry(
    context: typer.Context, callback_id: CallbackId, *, error: Error = None, by: By = None
) -> None:
    """Give the job that waits its next attempt, after a backoff."""
    _answer(context, callback_id, Action.RETRY, by, {"error": error})


@app.command("resume")
def resume(
    context: typer.Context, callback_id: CallbackId, *, payload: Payload = None, by: By = None
) -> None:
    """Run the job that waits again at once, as the same attempt, with the payload."""
    said = {"payload": None if payload is None else json_value(payload, "--payload")}
    _answer(context, callback_id, Action.RESUME, by, said)


@app.command("heartbeat")
def heartbeat(
    context: typer.Context,
    callback_id: CallbackId,
    *,
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds from now until the time-out; as before if left out."),
    ] = None,
    by: By = None,
) -> None:
    """Put the time-out off: somebody is still at it."""
    _answer(context, callback_id, Action.HEARTBEAT, by, {"timeout_seconds": timeout})


@app.command("show")
def show(context: typer.Context, callback_id: CallbackId) -> None:
    """Show a callback, and how its job stands."""
    check_callback_id(callback_id, field="ID")

    async def work(session: Session) -> None:
        session.out.record(await session.client.get_callback(callback_id))

    run(context, work)


def _answer(
    context: typer.Context, callback_id: str, action: Action, by: str | None, said: dict[str, Any]
) -> None:
    check_callback_id(callback_id, field="ID")

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            came = await callbacks.answer(conn, callback_id, action, by=by, **said)
        session.out.result(came, _told(came))

    run(context, work)


def _told(came: dict[str, Any]) -> str:
    match came["outcome"]:
        case "extended":
            return f"Job {came['job_id']} goes on waiting, until {came['expires_at']:%Y-%m-%d %H:%M:%S %Z}."
        case "recorded":
            return f"The attempt of job {came['job_id']} still runs; it finds the answer when it comes to wait."
        case _:
            return f"Job {came['job_id']} is {came['state']} now."
