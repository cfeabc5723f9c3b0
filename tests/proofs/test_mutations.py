"""Each guard is needed: without it, its proof fails."""

import pytest

from awa.db.failures import is_transient
from awa.model.errors import AwaError
from tests.proofs.mutations import MUTATIONS
from tests.proofs.mutations.base import Mutation
from tests.proofs.stage import Stage

pytestmark = pytest.mark.lanes


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.guard)
async def test_the_proof_fails_without(stage: Stage, mutation: Mutation) -> None:
    await stage.rewrite(mutation.rewrites)
    with pytest.raises((AssertionError, AwaError, pytest.fail.Exception)) as failure:
        await mutation.proof(stage)
    # A promise broken or a deadlock; any other error would only say that the mutation is no SQL.
    broken = isinstance(failure.value, AssertionError | pytest.fail.Exception)
    assert broken or is_transient(failure.value)


def test_each_guard_is_named_once() -> None:
    names = [mutation.guard for mutation in MUTATIONS]
    assert len(set(names)) == len(names)
