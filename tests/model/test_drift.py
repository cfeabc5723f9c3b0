"""How far the jobs of a plan have drifted, told so that an operator knows where."""

import pytest

from awa.model.drift import Drift, PlanDrifted, drift_between
from awa.model.plan import Count


def drift(planned: Count, now: Count, tolerance: int = 0) -> Drift:
    found = drift_between(planned, now, tolerance)
    assert found is not None
    return found


def count(noop: int = 0, **queues: int) -> Count:
    total = sum(queues.values())
    return Count(total, noop, queues, {"available": total})


def test_within_the_tolerance_there_is_none() -> None:
    assert drift_between(count(a=100), count(a=110), 10) is None
    assert drift_between(count(a=100), count(a=90), 10) is None
    assert drift_between(count(a=100), count(a=111), 10) is not None
    assert drift_between(count(a=100), count(a=89), 10) is not None


def test_it_says_how_many_and_where() -> None:
    planned = Count(47_000, 0, {"email": 46_000, "sms": 1_000}, {"available": 47_000})
    now = Count(
        47_310, 0, {"email": 46_350, "sms": 960}, {"available": 47_000, "waiting_external": 310}
    )
    found = drift(planned, now)
    assert found.sentence() == (
        "47,000 jobs planned, 47,310 now: 350 more in queue email, 40 fewer in queue sms; "
        "310 more waiting external"
    )
    assert found.details() == {
        "planned": 47_000,
        "now": 47_310,
        "difference": 310,
        "tolerance": 0,
        "planned_noop": 0,
        "now_noop": 0,
        "queues": [
            {"queue": "email", "planned": 46_000, "now": 46_350, "difference": 350},
            {"queue": "sms", "planned": 1_000, "now": 960, "difference": -40},
        ],
        "states": [{"state": "waiting_external", "planned": 0, "now": 310, "difference": 310}],
    }


def test_queues_that_the_plan_has_not_kept_are_told_in_one_sum() -> None:
    planned = Count(100, 0, {"a": 60}, {"available": 100})
    found = drift(planned, count(a=50, b=20, c=50))
    assert [(one.value, one.planned, one.now) for one in found.queues] == [
        ("a", 60, 50),
        (None, 40, 70),
    ]
    assert "10 fewer in queue a, 30 more in other queues" in found.sentence()


def test_queues_that_are_new_or_empty_are_told_by_name() -> None:
    found = drift(count(a=5), count(b=1))
    assert found.sentence() == (
        "5 jobs planned, 1 now: 5 fewer in queue a, 1 more in queue b; 4 fewer available"
    )


def test_only_the_greatest_differences_are_told() -> None:
    now = count(**{f"q{number:02}": number for number in range(1, 31)})
    found = drift(count(), now)
    assert len(found.queues) == 10
    assert "30 more in queue q30, 29 more in queue q29, 28 more in queue q28, and elsewhere" in (
        found.sentence()
    )


@pytest.mark.parametrize(
    ("planned_noop", "now_noop", "words"),
    [(0, 60, "100 jobs would have changed as planned, 40 now: 60 more at the target already"),
     (60, 0, "40 jobs would have changed as planned, 100 now: 60 fewer at the target already")],
)  # fmt: skip
def test_as_many_jobs_of_which_others_are_at_the_target_are_another_deed(
    planned_noop: int, now_noop: int, words: str
) -> None:
    found = drift(count(planned_noop, a=100), count(now_noop, a=100), 10)
    assert found.sentence() == words


def test_the_refusal_says_it_all() -> None:
    error = PlanDrifted.of(drift(count(a=10), count(a=50), 1))
    assert (error.code, error.details) == ("plan_drifted", error.drift.details())
    assert "10 jobs planned, 50 now: 40 more in queue a" in error.message
    assert "nothing was submitted" in error.message
