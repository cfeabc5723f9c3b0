"""Handlers that wait for a callback, in tests of programs: drained, and answered in between."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

import awa
from awa.testing import drain, run_job


@dataclass
class Charge:
    amount: int = 7


def program(database_url: str) -> tuple[awa.AsyncClient, list[awa.CallbackToken]]:
    client, tokens = awa.AsyncClient(database_url), list[awa.CallbackToken]()

    @client.task(Charge)
    async def charge(job: awa.Job[Charge]) -> Any:
        if job.callback_result is not None:
            job.update_metadata({"paid": job.callback_result})
            return None
        tokens.append(await job.register_callback(timeout_seconds=60))
        return awa.WaitForCallback(tokens[-1])

    return client, tokens


async def test_a_drained_job_waits_and_goes_on_when_it_is_answered(database_url: str) -> None:
    client, tokens = program(database_url)
    async with client:
        await client.insert(Charge())
        (waits,) = await drain(client)
        assert (waits.outcome, waits.job.state) == ("waiting", "waiting_external")
        assert await drain(client) == []
        await client.resume_external(tokens[0], {"by": "visa"})
        (done,) = await drain(client)
        assert (done.outcome, done.job.metadata["paid"]) == ("completed", {"by": "visa"})


async def test_a_handler_that_is_run_by_itself_gets_a_token_that_nobody_can_answer(
    database_url: str,
) -> None:
    client, tokens = program(database_url)
    ran = await run_job(client, Charge())
    assert (ran.outcome, isinstance(tokens[0].id, UUID)) == ("waiting", True)
    resumed = {"_awa_callback": {"id": str(tokens[0]), "resolution": "resume", "payload": 5}}
    assert (await run_job(client, Charge(), metadata=resumed)).job.metadata["paid"] == 5

    @client.task(dict, kind="waits")
    async def waits(job: awa.Job[Any]) -> None:
        await job.wait_for_callback(await job.register_callback())

    with pytest.raises(awa.Conflict, match=r"use awa\.testing\.drain"):
        await run_job(client, {}, kind="waits")
