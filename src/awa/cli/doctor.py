"""`awa doctor`: what is right with this installation, what is not, and what to do about it.

Each check is one function that turns facts into findings; none of them changes anything. A failed
check makes the exit code 1, a warning does not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from shlex import quote
from typing import Any, Final

import typer
from rich.table import Table
from rich.text import Text

from awa.cli import doctor_schema
from awa.cli.complaints import describe
from awa.cli.findings import Finding, Verdict
from awa.cli.options import options_of
from awa.cli.output import Output, number
from awa.cli.progress import clock
from awa.cli.render_operations import held_words
from awa.cli.session import Session, database, run_client
from awa.client import AsyncClient
from awa.config import Settings
from awa.db import run as statements
from awa.db.migrate import pending
from awa.db.run import Connection
from awa.maintenance.ring import slot_age_s
from awa.model.errors import AwaError, SchemaNotMigrated
from awa.operations import switch

LEASE_NAME: Final = "maintenance"
CLOCK_APART_S: Final = 2.0
OLD_TRANSACTION_S: Final = 300.0
OLD_JOB_S: Final = 300.0
OWED_MAX: Final = 10_000
OWED_LATE_S: Final = 60.0


class Unwell(AwaError):
    """At least one check failed."""

    code = "unwell"


_SIGNS: Final = {
    Verdict.OK: ("ok", "green"),
    Verdict.WARNING: ("warn", "yellow"),
    Verdict.FAILED: ("FAIL", "bold red"),
}


def doctor(context: typer.Context) -> None:
    """Look for what is wrong: server, schema, leader, workers, queues."""
    options = options_of(context)
    out = Output(as_json=options.as_json)
    with database(options) as url:
        try:
            findings = run_client(AsyncClient(url), options, _examine, must_fit=False)
        except AwaError as error:
            findings = [Finding("server", Verdict.FAILED, describe(error).message, error.hint)]
    _report(out, findings)
    failed = [finding.check for finding in findings if finding.verdict is Verdict.FAILED]
    if failed:
        raise Unwell(f"not well: {', '.join(failed)}", hint="The lines above say what to do.")


async def _examine(session: Session) -> list[Finding]:
    settings = Settings.from_env()
    async with session.client.connection() as conn:
        server = await statements.row(conn, "cli/doctor_server")
        assert server is not None
        findings = list(_server(server))
        schema = await _schema(conn)
        findings.append(schema)
        if schema.verdict is not Verdict.OK:
            return findings
        findings += await _storage(conn, settings)
        params = {"stale_s": settings.runtime_stale_s, "lease": LEASE_NAME}
        house = await statements.row(conn, "cli/doctor_house", params)
        assert house is not None
        findings += _house(house)
        findings += _held(await switch.present(conn))
        owed = {"stale_s": settings.runtime_stale_s, "limit": OWED_MAX}
        findings += _owed(await statements.rows(conn, "reading/owed_follow_ups", owed), settings)
        queues = await statements.rows(conn, "cli/doctor_queues", params)
        return [*findings, *_queues(queues)]


def _server(facts: Mapping[str, Any]) -> Iterator[Finding]:
    if facts["in_recovery"]:
        yield Finding(
            "server", Verdict.FAILED, "This server is a read-only standby.", "Name the primary."
        )
    else:
        yield Finding(
            "server", Verdict.OK, f"PostgreSQL {facts['version']}, awa {version('awa-jobs')}."
        )
    apart = abs((facts["now"] - datetime.now(UTC)).total_seconds())
    if apart > CLOCK_APART_S:
        words = f"This machine's clock and the database's are {clock(apart)} apart."
        yield Finding("clock", Verdict.WARNING, words, "The database's decides; set the other.")
    oldest = facts["oldest_transaction_s"] or 0.0
    if oldest > OLD_TRANSACTION_S:
        words = f"A transaction has been open for {clock(oldest)}."
        hint = "Old row versions pile up behind it; pg_stat_activity names it."
        yield Finding("transactions", Verdict.WARNING, words, hint)


async def _schema(conn: Connection) -> Finding:
    try:
        missing = await pending(conn)
    except SchemaNotMigrated as error:
        return Finding("schema", Verdict.FAILED, describe(error).message, error.hint)
    if missing:
        words = f"{number(len(missing), 'migration')} pending: {', '.join(missing)}."
        return Finding("schema", Verdict.FAILED, words, "Run: awa migrate")
    return Finding("schema", Verdict.OK, "Up to date.")


async def _storage(conn: Connection, settings: Settings) -> list[Finding]:
    """What only a schema that fits can be asked; a role that may not read it hears of its rights alone."""
    facts = await statements.row(conn, "cli/doctor_rights")
    assert facts is not None
    found = list(doctor_schema.rights(facts))
    if found[0].verdict is Verdict.FAILED:
        return found
    found += doctor_schema.drift(await statements.rows(conn, "cli/doctor_drift"))
    ring = await statements.row(conn, "reading/ring")
    stored = await statements.row(conn, "convert/storage")
    assert ring is not None
    assert stored is not None
    age_s = slot_age_s(settings, ring["slots"])
    snapshot = await statements.row(conn, "reading/oldest_snapshot")
    return [*found, *doctor_schema.space(stored["storage"], ring, age_s, snapshot)]


def _house(facts: Mapping[str, Any]) -> Iterator[Finding]:
    left = facts["lease_left_s"]
    waiting = number(facts["operations"], "batch operation")
    if left is not None and left > 0:
        yield Finding("leader", Verdict.OK, f"Somebody keeps house; {waiting} under way.")
    else:
        words = "Nobody keeps house: nothing is promoted, rescued or moved."
        words += f" {waiting} wait for it." if facts["operations"] else ""
        hint = "Start awa maintenance run, or a worker with the role maintenance."
        yield Finding("leader", Verdict.WARNING, words, hint)
    if facts["workers"]:
        yield Finding("workers", Verdict.OK, f"{number(facts['workers'], 'runtime')} at work.")
    else:
        yield Finding("workers", Verdict.WARNING, "No worker is running.", "awa worker run …")
    if facts["silent"]:
        words = f"{number(facts['silent'], 'runtime')} stopped giving signs of life."
        yield Finding("runtimes", Verdict.WARNING, words, "The leader will rescue their jobs.")


def _held(hold: Mapping[str, Any]) -> Iterator[Finding]:
    if hold["held"]:
        yield Finding(
            "batch operations", Verdict.WARNING, held_words(hold), "awa batch-ops release"
        )


def _owed(rows: list[dict[str, Any]], settings: Settings) -> Iterator[Finding]:
    """Only workers can settle what is to follow a job that the leader failed; it waits for them, and not for ever."""
    for row in rows:
        words = f"{number(row['owed'], 'follow-up')} of {row['kind']} owed, the oldest for {clock(row['oldest_s'])}"
        if not row["known"]:
            hint = (
                f"Start a worker whose task for it has an on_failed, within {settings.failed_retention_hours:g} h:"
                " then they are given up."
            )
            words = f"{words}, and no worker knows its on_failed."
            yield Finding("follow-ups", Verdict.WARNING, words, hint)
        elif row["oldest_s"] > OWED_LATE_S:
            hint = "Workers that know the kind are running; their logs say what keeps them."
            yield Finding("follow-ups", Verdict.WARNING, f"{words}.", hint)


def _queues(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        backlog = (
            f"{number(row['available'], 'job')} waiting, the oldest for {clock(row['oldest_s'])}"
        )
        check = f"queue {row['queue']}"
        if row["paused"]:
            words = f"Paused with {backlog}."
            yield Finding(check, Verdict.WARNING, words, f"awa queue resume {_named(row['queue'])}")
        elif not row["workers"]:
            hint = f"awa worker run … --queue {quote(row['queue'])}"
            yield Finding(check, Verdict.WARNING, f"No worker takes it; {backlog}.", hint)
        elif row["oldest_s"] > OLD_JOB_S:
            hint = "More workers, or more width (--queue name=N)."
            yield Finding(check, Verdict.WARNING, f"Falls behind: {backlog}.", hint)
        else:
            yield Finding(check, Verdict.OK, f"{backlog}.")


def _named(queue: str) -> str:
    """The name as an argument: one that begins with a dash would be taken for an option."""
    return f"-- {quote(queue)}" if queue.startswith("-") else quote(queue)


def _report(out: Output, findings: list[Finding]) -> None:
    if out.as_json:
        well = all(finding.verdict is not Verdict.FAILED for finding in findings)
        out.json({"ok": well, "findings": [asdict(finding) for finding in findings]})
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(style="bold", overflow="fold", max_width=max(out.console.width // 3, 1))
    table.add_column(overflow="fold")
    for finding in findings:
        sign, style = _SIGNS[finding.verdict]
        words = Text(finding.words)
        if finding.hint:
            words.append(f"\n{finding.hint}", style="dim")
        table.add_row(Text(sign, style=style), Text(finding.check), words)
    out.show(table)
