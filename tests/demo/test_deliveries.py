"""The demo's input is real, signed, and broken in always the same places."""

from collections import Counter

import orjson

from awa.dev.deliveries import (
    SIGNATURE_KEY,
    Trouble,
    canonical,
    deliveries,
    jobs,
    repository_of,
    sign,
    trouble,
)
from awa.dev.demo_plan import BUSY_REPOSITORY, Plan

SECRET = b"agreed"


def test_the_data_is_what_the_story_says() -> None:
    assert len(deliveries()) == 255
    plan = Plan()
    assert (plan.total, plan.matching(BUSY_REPOSITORY)) == (51_000, 36_600)
    assert plan.forged == 51


def test_each_signature_fits_its_body_unless_it_is_forged() -> None:
    for number, job in enumerate(jobs(SECRET, range(1_000))):
        assert job.metadata is not None
        body = canonical(orjson.loads(job.args_json))
        fits = job.metadata[SIGNATURE_KEY] == sign(body, SECRET)
        assert fits == (trouble(number) is not Trouble.FORGED)


def test_trouble_comes_in_fixed_shares() -> None:
    counts = Counter(trouble(number) for number in range(1_000))
    assert counts == {
        Trouble.NONE: 989,
        Trouble.STUMBLES: 5,
        Trouble.BUSY: 5,
        Trouble.FORGED: 1,
    }


def test_a_body_has_one_spelling() -> None:
    assert canonical({"b": 1, "a": [2]}) == b'{"a":[2],"b":1}'


def test_a_repository_is_known_by_its_tag() -> None:
    assert repository_of(["source:github", "repo:a/b"]) == "a/b"
    assert repository_of(["source:github"]) == "(no repository)"
