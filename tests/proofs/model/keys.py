"""Who holds which unique key, as the engine is meant to have it, and what open transactions have in their hands."""

from collections.abc import Iterable
from typing import NamedTuple

from tests.proofs.model.reference import Session

Key = tuple[str, str | None]

MASKS: tuple[tuple[str, ...], ...] = (
    ("scheduled", "available", "running", "retryable"),
    ("scheduled", "available", "retryable"),
    ("available",),
    ("running",),
    ("running", "completed", "failed"),
    ("running", "waiting_external"),
    ("scheduled", "available", "running", "completed", "retryable", "failed", "cancelled"),
)


class Unique(NamedTuple):
    """How a job is unique: by an own key, perhaps in its queue, in these states."""

    name: str
    by_queue: bool
    states: tuple[str, ...]

    def key(self, queue: str) -> Key:
        """The key it has in a queue."""
        return self.name, queue if self.by_queue else None


class Moving(NamedTuple):
    """A job, where it is, and the state that it leaves and enters."""

    job_id: int
    queue: str
    left: str
    entered: str


class Keys:
    """The keys that are committed, and on top of them what each open transaction has changed."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        self._sessions = list(sessions)
        self.holders: dict[Key, int] = {}
        self.recipes: dict[int, Unique] = {}

    def holder(self, key: Key, session: Session | None = None) -> int | None:
        """Who holds it, as a session sees it."""
        if session is not None and key in session.keys:
            return session.keys[key]
        return self.holders.get(key)

    def in_others_hands(self, key: Key, session: Session | None = None) -> bool:
        """Whether an open transaction has taken it or let it go, and nobody knows yet."""
        return any(key in other.keys for other in self._sessions if other is not session)

    def give(self, key: Key, job_id: int | None, session: Session | None = None) -> None:
        """It changes hands, now or when the session commits."""
        if session is not None and session.is_open:
            session.keys[key] = job_id
        elif job_id is None:
            self.holders.pop(key, None)
        else:
            self.holders[key] = job_id

    def settle(self, session: Session, *, commit: bool) -> None:
        """The session's transaction ends."""
        changed, session.keys, session.queues = session.keys, {}, {}
        session.is_open = False
        if commit:
            for key, job_id in changed.items():
                self.give(key, job_id)

    def follow(self, jobs: Iterable[Moving], session: Session | None = None) -> None:
        """Jobs of one statement go on by themselves: first all let go, then each takes what is free."""
        unique = [job for job in jobs if job.job_id in self.recipes]
        for job in unique:
            recipe = self.recipes[job.job_id]
            if job.left in recipe.states and job.entered not in recipe.states:
                self._release(job, session)
        for job in sorted(unique):
            recipe = self.recipes[job.job_id]
            if job.left not in recipe.states and job.entered in recipe.states:
                self.take(recipe.key(job.queue), job.job_id, session)

    def take(self, key: Key, job_id: int, session: Session | None = None) -> bool:
        """The job takes the key if it is free; whether it has it then."""
        if self.in_others_hands(key, session):
            return False
        if self.holder(key, session) is None:
            self.give(key, job_id, session)
        return self.holder(key, session) == job_id

    def order(
        self, jobs: Iterable[Moving], to: dict[int, str], session: Session | None = None
    ) -> dict[int, str]:
        """Jobs go by somebody's order, to these queues; those that must stay, and why: unique_conflict | locked."""
        kept: dict[int, str] = {}
        unique = [job for job in sorted(jobs) if job.job_id in self.recipes]
        for job in unique:
            recipe = self.recipes[job.job_id]
            key = recipe.key(to[job.job_id])
            if job.entered in recipe.states and not self.take(key, job.job_id, session):
                visible = self.holder(key, session)
                kept[job.job_id] = "locked" if visible is None else "unique_conflict"
        for job in unique:
            recipe = self.recipes[job.job_id]
            stays = job.entered in recipe.states and recipe.key(to[job.job_id]) == recipe.key(
                job.queue
            )
            if job.job_id not in kept and job.left in recipe.states and not stays:
                self._release(job, session)
        return kept

    def _release(self, job: Moving, session: Session | None) -> None:
        key = self.recipes[job.job_id].key(job.queue)
        if self.holder(key, session) == job.job_id:
            self.give(key, None, session)
