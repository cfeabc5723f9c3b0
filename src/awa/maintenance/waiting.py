"""Waiting that ends early: every loop here sleeps on an event, so that a stop is a stop at once."""

import asyncio
from contextlib import suppress


async def wait(event: asyncio.Event, seconds: float) -> bool:
    """Wait until the event is set or the time is over; says whether the event is set."""
    if seconds > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
    else:
        await asyncio.sleep(0)
    return event.is_set()
