"""The engine's own functions, called without a client: for rows about the database alone."""

import time
from typing import Any
from uuid import UUID, uuid4

import psycopg

from bench.statements import statement

CHUNK_JOBS = 10_000


def register(connection: psycopg.Connection[Any]) -> UUID:
    """A runtime that may claim."""
    runtime_id = uuid4()
    connection.execute(statement("register_runtime").encode(), {"id": runtime_id})
    return runtime_id


def enqueue(connection: psycopg.Connection[Any], queue: str, jobs: int) -> None:
    """Many small jobs, 10,000 a statement."""
    for first in range(0, jobs, CHUNK_JOBS):
        chunk = min(CHUNK_JOBS, jobs - first)
        connection.execute(statement("enqueue_small").encode(), {"queue": queue, "jobs": chunk})


def claim(
    connection: psycopg.Connection[Any], queue: str, jobs: int, runtime_id: UUID
) -> tuple[list[Any], float]:
    """One claim: its rows, and the seconds it took."""
    params = {"queue": queue, "jobs": jobs, "runtime_id": runtime_id}
    began = time.monotonic()
    found = connection.execute(statement("claim").encode(), params, binary=True).fetchall()
    return found, time.monotonic() - began


def complete(connection: psycopg.Connection[Any], claimed: list[Any], runtime_id: UUID) -> None:
    """End what was claimed."""
    connection.execute(
        statement("complete").encode(),
        {
            "runtime_id": runtime_id,
            "lane_ids": [row[1] for row in claimed],
            "claim_nos": [row[2] for row in claimed],
            "lane_seqs": [row[3] for row in claimed],
        },
    )
