"""What a mutation is."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tests.proofs.stage import Rewrite, Stage

Proof = Callable[[Stage], Awaitable[None]]


class Mutation(NamedTuple):
    """A guard in a few words, how it is taken out, and the proof that must notice."""

    guard: str
    rewrites: tuple[Rewrite, ...]
    proof: Proof
