"""`manage.py awa_worker`: run the tasks of Django until told to stop."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS

from awa.client import AsyncClient
from awa.contrib.django.clients import backends, make_client
from awa.model.errors import AwaError
from awa.worker.options import MAX_WORKERS_DEFAULT

ROLES = ("worker", "maintenance")


class Command(BaseCommand):
    """Run tasks, and keep house when elected."""

    help = "Run the tasks of Django with Awa, until Ctrl-C or SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument(
            "--queue",
            action="append",
            metavar="NAME[=N]",
            help="Take tasks from here, N at a time (10); may be said often. Else all that TASKS names.",
        )
        parser.add_argument(
            "--roles", default=",".join(ROLES), help="worker, maintenance, or both with a comma."
        )
        parser.add_argument(
            "--database",
            default=DEFAULT_DB_ALIAS,
            help="The alias in DATABASES that holds the jobs.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until told to stop."""
        roles = [role.strip() for role in options["roles"].split(",") if role.strip()]
        database = options["database"]
        queues = _queues(options["queue"], database) if "worker" in roles else []
        try:
            asyncio.run(self._work(make_client(database), queues, roles))
        except AwaError as problem:
            raise CommandError(str(problem)) from problem

    async def _work(
        self, client: AsyncClient, queues: list[tuple[str, int]], roles: list[str]
    ) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        async with client:
            await client.start(queues, roles=roles)
            names = ", ".join(f"{name} ({width} at a time)" for name, width in queues)
            self.stdout.write(
                f"Working on {names}. Ctrl-C stops." if names else "Keeping house. Ctrl-C stops."
            )
            self.stdout.flush()
            await stop.wait()
            # Once means in order; a second time it is the signal's own doing.
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
            self.stdout.write("Stopping: finishing what runs, claiming no more.")
            handed_back = await client.shutdown()
        self.stdout.write(f"Stopped; {handed_back or 'no'} unfinished tasks were handed back.")


def _queues(given: list[str] | None, database: str) -> list[tuple[str, int]]:
    """What was named, or else the queues of the backends on this database."""
    if given:
        return [_width(text) for text in given]
    named = {name for each in backends() if each.database == database for name in each.queues}
    if not named:
        raise CommandError(
            f"TASKS has no backend of Awa with queues on {database!r}; name one: --queue default"
        )
    return [(name, MAX_WORKERS_DEFAULT) for name in sorted(named)]


def _width(text: str) -> tuple[str, int]:
    name, equals, width = text.rpartition("=")
    if not equals:
        return text, MAX_WORKERS_DEFAULT
    if not width.isdecimal():
        raise CommandError(f"--queue {text!r}: expected NAME or NAME=N, such as email=50")
    return name, int(width)
