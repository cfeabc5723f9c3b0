"""What producers of unique jobs do: they come in, are kept out, are ignored, or replace who waits."""

from functools import partial

import hypothesis.strategies as st
from hypothesis.stateful import rule

from awa.model.errors import UniqueConflict
from awa.storage.enqueue import NewJob, enqueue_many, enqueue_one
from tests.proofs.model.keys import MASKS, Key, Moving, Unique
from tests.proofs.model.reference import QUEUES, WAITING, Job, Session
from tests.proofs.model.rules_of_house import House
from tests.proofs.model.rules_of_work import numbers

recipes = st.builds(
    Unique, st.sampled_from(["u1"] * 4 + ["u2"]), st.booleans(), st.sampled_from(MASKS)
)
HOLDERS = "SELECT coalesce(array_agg(job_id ORDER BY job_id), '{}') FROM awa.unique_keys"


class Uniqueness(House):
    """Rules of producers of unique jobs."""

    @rule(
        number=numbers,
        queue=st.sampled_from(QUEUES),
        recipe=recipes,
        policy=st.sampled_from(["reject", "ignore", "replace", "replace"]),
        later=st.booleans(),
        priority=st.sampled_from([1, 2]),
        keep_open=st.booleans(),
    )
    def enqueue_a_unique_one(
        self,
        *,
        number: int,
        queue: str,
        recipe: Unique,
        policy: str,
        later: bool,
        priority: int,
        keep_open: bool,
    ) -> None:
        """One job, or what its key's holder makes of it."""
        producer = self.producers[1 if policy == "replace" else number]
        if keep_open and producer is self.producers[0]:
            self.run(self.begin(producer))
        if not self._would_wait(producer, recipe.key(queue), policy):
            like = Job(queue, priority, "scheduled" if later else "available", 2)
            self.run(self._enqueue_unique(producer, like, recipe, policy))

    def _would_wait(self, producer: Session, key: Key, policy: str) -> bool:
        """For the end of a transaction, with its key or its holder; and a model of that would have to think ahead."""
        if self.keys.in_others_hands(key, producer):
            return True
        holder = self.keys.holder(key, producer)
        return policy == "replace" and holder in self.held_by_others(producer)

    async def _enqueue_unique(
        self, producer: Session, like: Job, recipe: Unique, policy: str
    ) -> None:
        new = await self._new(like, recipe, policy)
        key = recipe.key(like.queue)
        holder = self.keys.holder(key, producer)
        if holder is not None and (policy == "reject" or not self._replaceable(holder, policy)):
            try:
                await enqueue_one(producer.world.conn, like.queue, new)
            except UniqueConflict as conflict:
                assert conflict.job_id == holder  # noqa: PT017
                return
            raise AssertionError(f"job {holder} holds {key} and kept nobody out")
        done = await enqueue_one(producer.world.conn, like.queue, new)
        if holder is None:
            assert done.insertion == "inserted"
            self._came_in(producer, done.job_id, like, recipe)
        else:
            assert (done.job_id, done.insertion) == (
                holder,
                "ignored" if policy == "ignore" else "replaced",
            )
            if policy == "replace":
                self._replaced(holder, like)

    async def _new(self, like: Job, recipe: Unique, policy: str) -> NewJob:
        opts = {
            "key": recipe.name,
            "by_queue": recipe.by_queue,
            "by_states": list(recipe.states),
            "on_conflict": policy,
        }
        run_at = await self.house.now(later_s=60) if like.state == "scheduled" else None
        return NewJob(
            "k",
            "{}",
            priority=like.priority,
            run_at=run_at,
            max_attempts=like.max_attempts,
            unique_opts=opts,
        )

    def _replaceable(self, holder: int, policy: str) -> bool:
        return policy == "ignore" or self.model.jobs[holder].state in WAITING

    def _came_in(self, producer: Session, job_id: int, like: Job, recipe: Unique) -> None:
        self.keys.recipes[job_id] = recipe
        if like.state in recipe.states:
            self.keys.give(recipe.key(like.queue), job_id, producer)
        self.now_or_at_commit(producer, partial(self.model.add, job_id, like))
        if producer.is_open:
            producer.pending.append(job_id)

    def _replaced(self, holder: int, like: Job) -> None:
        job = self.model.jobs[holder]
        before = job.state
        job.priority = like.priority
        if like.state == "available":
            job.state = "available"
        elif before == "available":
            job.state = "scheduled"
        self.keys.follow([Moving(holder, job.queue, before, job.state)])

    @rule(
        queue=st.sampled_from(QUEUES),
        chosen=st.lists(recipes, min_size=2, max_size=4),
    )
    def enqueue_a_set_of_unique_ones(self, *, queue: str, chosen: list[Unique]) -> None:
        """They go as they would one by one, in one statement."""
        if not any(self.keys.in_others_hands(recipe.key(queue)) for recipe in chosen):
            self.run(self._enqueue_set(queue, chosen))

    async def _enqueue_set(self, queue: str, chosen: list[Unique]) -> None:
        producer = self.producers[1]
        like = Job(queue, 2, "available", 2)
        new = [await self._new(like, recipe, "ignore") for recipe in chosen]
        for recipe, done in zip(
            chosen, await enqueue_many(producer.world.conn, queue, new), strict=True
        ):
            holder = self.keys.holder(recipe.key(queue))
            if holder is None:
                assert done.insertion == "inserted"
                self._came_in(producer, done.job_id, Job(queue, 2, "available", 2), recipe)
            else:
                assert (done.job_id, done.insertion) == (holder, "ignored")

    async def look_at_keys(self) -> None:
        """Each key is held by the one job that the model has, or by nobody."""
        (held,) = await self.house.fetch(HOLDERS)
        assert held == sorted(self.keys.holders.values())
