"""Watching a batch operation until it ends.

Watching is only looking: whoever stops watching stops nothing, and any number of people may look.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from awa.cli.progress import progress
from awa.cli.render_operations import operation_page
from awa.cli.session import Session
from awa.model.errors import AwaError
from awa.model.states import FINAL_OPERATION_STATES, OperationState
from awa.operations import read, switch

LOOK_EVERY_S: Final = 0.2
# Until then nothing has changed, and the number of jobs isn't known yet.
# The switch that holds all operations leaves these alone.
_UNHELD: Final = FINAL_OPERATION_STATES | {OperationState.PAUSED, OperationState.CANCELLING}
_BEFORE_THE_FIRST_CHANGE: Final = frozenset({OperationState.PENDING, OperationState.SCANNING})


class OperationFailed(AwaError):
    """The operation that was watched ended without doing its work."""

    code = "operation_failed"


async def watch(session: Session, operation_id: UUID) -> None:
    """Show an operation's progress until it ends, then its report. Raises if it ended `failed`."""
    again = f"awa batch-ops watch {operation_id}"
    session.if_interrupted = f"Stopped watching; the operation goes on. Look again: {again}"
    row = await _until_ended(session, operation_id)
    if session.out.as_json:
        session.out.json(row)
    else:
        session.out.show(operation_page(row))
    if row["state"] == OperationState.FAILED:
        raise OperationFailed(
            f"the operation failed: {row['last_error'] or 'no error was recorded'}",
            hint=f"awa batch-ops items {operation_id} --outcome errored shows each job's error.",
        )


def accounted(row: Mapping[str, Any]) -> int:
    """How many of the operation's jobs have been dealt with, one way or another."""
    return int(row["processed"] + row["skipped"] + row["errored"])


async def _until_ended(session: Session, operation_id: UUID) -> dict[str, Any]:
    row = await _look(session, operation_id)
    with progress(session.out, row["op_kind"], None, "jobs") as bar:
        while True:
            facts = {key: row[key] for key in ("id", "state", "processed", "skipped", "errored")}
            phase = row["paused_from"] or row["state"]
            total = None if phase in _BEFORE_THE_FIRST_CHANGE else row["total_matched"]
            bar.at(accounted(row), total=total, label=_doing(row), **facts)
            if row["state"] in FINAL_OPERATION_STATES:
                return row
            await asyncio.sleep(LOOK_EVERY_S)
            row = await _look(session, operation_id)


def _doing(row: Mapping[str, Any]) -> str:
    """What is going on, where that isn't plain from the figures."""
    match row["state"]:
        case state if row["held"] and state not in _UNHELD:
            return f"{row['op_kind']}: {state}, all operations are held by {row['held']['held_by']}"
        case OperationState.PENDING:
            return f"{row['op_kind']}: waiting for the maintenance leader"
        case OperationState.SCANNING:
            return f"{row['op_kind']}: listing jobs, {row['total_matched'] or 0:,} so far"
        case OperationState.PAUSED:
            return f"{row['op_kind']}: paused by {row['paused_by']}"
    return str(row["op_kind"])


async def _look(session: Session, operation_id: UUID) -> dict[str, Any]:
    async with session.client.connection() as conn:
        row = await read.get(conn, operation_id)
        hold = await switch.present(conn)
    return {**row, "held": hold if hold["held"] else None}
