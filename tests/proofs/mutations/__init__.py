"""Every guard of the engine, a change that takes it out, and the script that must then fail.

A guard that can be removed without a test failing is a guess. So each is removed once, in a database of the test's own
(`Stage.rewrite`), and its script must end in an AssertionError. The texts are those of src/awa/sql; one that isn't
found any more fails loudly, and is then brought up to date here together with the function.
"""

from tests.proofs.mutations import (
    admitting,
    advancing,
    answering,
    changing,
    claiming,
    ending,
    keys,
    limiting,
    pruning,
    reading,
    scheduling,
    snapshots,
    steering,
    undoing,
)

MUTATIONS = (
    *claiming.MUTATIONS,
    *admitting.MUTATIONS,
    *advancing.MUTATIONS,
    *snapshots.MUTATIONS,
    *changing.MUTATIONS,
    *ending.MUTATIONS,
    *keys.MUTATIONS,
    *limiting.MUTATIONS,
    *pruning.MUTATIONS,
    *reading.MUTATIONS,
    *scheduling.MUTATIONS,
    *answering.MUTATIONS,
    *steering.MUTATIONS,
    *undoing.MUTATIONS,
)
