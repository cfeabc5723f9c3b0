"""The state of the whole, looked at once a second at most, however many pages and programs ask."""

from typing import Any

from awa.http.context import Served
from awa.operations.reading import stats

YOUNG_ENOUGH_S = 1.0


async def overview(context: Served) -> dict[str, Any]:
    """What `stats.overview` says, at most `YOUNG_ENOUGH_S` old. Whoever gets it must not change it."""

    async def look() -> dict[str, Any]:
        async with context.reading() as conn:
            stale_after_s = context.settings.runtime_stale_s / 2
            return await stats.overview(conn, stale_after_s=stale_after_s)

    return await context.recent.get("overview", YOUNG_ENOUGH_S, look)
