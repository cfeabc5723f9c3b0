"""The table of commands: every group and command of `awa`, in the order that --help shows."""

import typer

from awa.cli import (
    batch_ops,
    bench,
    callbacks,
    cron,
    demo,
    dev,
    dlq,
    doctor,
    enqueue,
    jobs,
    maintenance,
    migrate,
    queues,
    serve,
    storage,
    worker,
)

_START = "Begin here"
_RUN = "Run"
_OPERATE = "Operate"


def add_groups(app: typer.Typer) -> None:
    """Hang every command on the program."""
    app.command("demo", rich_help_panel=_START)(demo.demo)
    app.command("dev", rich_help_panel=_START)(dev.dev)
    app.command("migrate", rich_help_panel=_START)(migrate.migrate)
    app.command("doctor", rich_help_panel=_START)(doctor.doctor)
    app.add_typer(storage.app, name="storage", rich_help_panel=_START)
    app.add_typer(worker.app, name="worker", rich_help_panel=_RUN)
    app.add_typer(maintenance.app, name="maintenance", rich_help_panel=_RUN)
    app.command("serve", rich_help_panel=_RUN)(serve.serve)
    app.command("bench", rich_help_panel=_RUN)(bench.bench)
    app.command("enqueue", rich_help_panel=_OPERATE)(enqueue.enqueue)
    app.add_typer(jobs.app, name="job", rich_help_panel=_OPERATE)
    app.add_typer(queues.app, name="queue", rich_help_panel=_OPERATE)
    app.add_typer(dlq.app, name="dlq", rich_help_panel=_OPERATE)
    app.add_typer(cron.app, name="cron", rich_help_panel=_OPERATE)
    app.add_typer(callbacks.app, name="callback", rich_help_panel=_OPERATE)
    app.add_typer(batch_ops.app, name="batch-ops", rich_help_panel=_OPERATE)
