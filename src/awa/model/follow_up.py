"""A follow-up: a job that a task wants when one of its jobs has ended."""

from __future__ import annotations

from typing import Generic, TypeVar, Unpack

from awa.model.draft import JobOptions

A = TypeVar("A")


class FollowUp(Generic[A]):
    """A job to be, for `on_completed` and `on_failed`: `FollowUp(Invoice(7), queue="billing", priority=1)`.

    Options are those of `insert`. Arguments alone, without a FollowUp around them, go to their task's queue.
    """

    __slots__ = ("args", "options")

    def __init__(self, args: A, **options: Unpack[JobOptions]) -> None:
        self.args = args
        self.options = options
