"""How often somebody may be wrong."""

from awa.http.throttle import Throttle


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_some_failures_are_free_and_then_one_has_to_wait() -> None:
    clock = Clock()
    throttle = Throttle(at_once=3, interval_s=30, clock=clock)
    for _ in range(3):
        assert throttle.wait_s("a") == 0
        throttle.failed("a")
    assert throttle.wait_s("a") == 30
    clock.now += 29
    assert throttle.wait_s("a") == 1
    clock.now += 1
    assert throttle.wait_s("a") == 0
    throttle.failed("a")
    assert throttle.wait_s("a") == 30


def test_others_are_not_held_up() -> None:
    throttle = Throttle(at_once=1, clock=Clock())
    throttle.failed("a")
    assert throttle.wait_s("a") > 0
    assert throttle.wait_s("b") == 0


def test_all_is_forgiven_in_the_end() -> None:
    clock = Clock()
    throttle = Throttle(at_once=3, interval_s=30, clock=clock)
    for _ in range(3):
        throttle.failed("a")
    clock.now += 90
    for _ in range(3):
        assert throttle.wait_s("a") == 0
        throttle.failed("a")


def test_its_memory_is_bounded() -> None:
    throttle = Throttle(at_once=1, peers_max=10, clock=Clock())
    for number in range(1_000):
        throttle.failed(f"peer {number}")
    assert len(throttle) == 10
    assert throttle.wait_s("peer 999") > 0
