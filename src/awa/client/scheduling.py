"""Schedules: jobs that are enqueued again and again, at the times of a cron expression."""

from __future__ import annotations

from typing import Any, Unpack

from awa.client.base import Base
from awa.model.cron import Missed, make_schedule
from awa.model.draft import JobOptions
from awa.model.errors import Conflict
from awa.model.job import Job
from awa.operations import cron

_LEFT_OUT: Any = object()


class Scheduling(Base):
    """The client's chapter on schedules."""

    def periodic(
        self,
        name: str,
        cron_expr: str,
        args_type: Any,
        args: Any = _LEFT_OUT,
        *,
        timezone: str = "UTC",
        missed: Missed | str = Missed.COALESCE,
        **options: Unpack[JobOptions],
    ) -> None:
        """Declare a schedule: `periodic("report", "0 9 * * 1-5", Report(…), timezone="Europe/Berlin")`.

        Five fields (minute, hour, day, month, weekday) or six with seconds first, read in `timezone`. The type of the
        arguments may stand before them. Fires that no leader was there for become one job (`missed="coalesce"`) or
        one each ("catch_up"). Options as for `insert`, without `run_at`. Written down when a worker of this client
        starts; a schedule that no living worker of this `app` declares any more is retired. Programs that share a
        database need an `app` of their own. Raises ValidationError, and Conflict for a name that was given before.
        """
        given = args_type if args is _LEFT_OUT else args
        schedule = make_schedule(
            name,
            cron_expr,
            given,
            timezone=timezone,
            missed=missed,
            tasks=self.tasks,
            options=options,
        )
        if name in self.schedules:
            raise Conflict(
                f"there is a schedule {name!r} already", hint="give one of them another name"
            )
        self.schedules[name] = schedule

    async def list_cron_jobs(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> list[dict[str, Any]]:
        """Schedules by name: their times, next fires, last job, pause. `retired`: also those no program declares."""
        rows, _next = await self.cron_jobs_page(retired=retired, limit=limit, cursor=cursor)
        return rows

    async def cron_jobs_page(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """As `list_cron_jobs`, and the cursor of the next page (None: the end)."""
        async with self.connection() as conn:
            return await cron.page(conn, retired=retired, limit=limit, cursor=cursor)

    async def get_cron_job(self, name: str) -> dict[str, Any]:
        """One schedule. Raises NotFound."""
        async with self.connection() as conn:
            return await cron.get(conn, name)

    async def pause_cron_job(self, name: str, paused_by: str | None = None) -> dict[str, Any]:
        """Stop a schedule's fires. Raises NotFound."""
        async with self.connection() as conn:
            return await cron.pause(conn, name, paused_by)

    async def resume_cron_job(self, name: str) -> dict[str, Any]:
        """Let it fire again, from its next tick on. Raises NotFound."""
        async with self.connection() as conn:
            return await cron.resume(conn, name)

    async def trigger_cron_job(self, name: str) -> Job[Any]:
        """Enqueue a schedule's job now, beside its ticks; a paused one's, too. Raises NotFound, UniqueConflict."""
        async with self.connection() as conn:
            return await cron.trigger(conn, name)
