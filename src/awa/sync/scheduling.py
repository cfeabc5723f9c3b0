"""The blocking client: Scheduling. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from typing import Any, Unpack

from awa.client.scheduling import _LEFT_OUT
from awa.model.cron import Missed
from awa.model.draft import JobOptions
from awa.model.job import Job
from awa.sync.base import Base


class Scheduling(Base):
    """As that of the async client."""

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
        return self.aio.periodic(
            name, cron_expr, args_type, args, timezone=timezone, missed=missed, **options
        )

    def list_cron_jobs(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> list[dict[str, Any]]:
        """Schedules by name: their times, next fires, last job, pause. `retired`: also those no program declares."""
        return self._portal.run(
            self.aio.list_cron_jobs(retired=retired, limit=limit, cursor=cursor)
        )

    def cron_jobs_page(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """As `list_cron_jobs`, and the cursor of the next page (None: the end)."""
        return self._portal.run(
            self.aio.cron_jobs_page(retired=retired, limit=limit, cursor=cursor)
        )

    def get_cron_job(self, name: str) -> dict[str, Any]:
        """One schedule. Raises NotFound."""
        return self._portal.run(self.aio.get_cron_job(name))

    def pause_cron_job(self, name: str, paused_by: str | None = None) -> dict[str, Any]:
        """Stop a schedule's fires. Raises NotFound."""
        return self._portal.run(self.aio.pause_cron_job(name, paused_by))

    def resume_cron_job(self, name: str) -> dict[str, Any]:
        """Let it fire again, from its next tick on. Raises NotFound."""
        return self._portal.run(self.aio.resume_cron_job(name))

    def trigger_cron_job(self, name: str) -> Job[Any]:
        """Enqueue a schedule's job now, beside its ticks; a paused one's, too. Raises NotFound, UniqueConflict."""
        return self._portal.run(self.aio.trigger_cron_job(name))
