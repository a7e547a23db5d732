"""A limit on attempts that fail."""

from __future__ import annotations

from workbench.app.web.serve.server import Throttle


def test_after_so_many_failures_one_waits_out_the_window() -> None:
    now = [0.0]
    throttle = Throttle(most=3, window_s=60, clock=lambda: now[0])
    for _ in range(3):
        assert not throttle.is_closed("a")
        throttle.failed("a")
        now[0] += 1
    assert throttle.is_closed("a")
    assert not throttle.is_closed("b")
    now[0] = 61
    assert not throttle.is_closed("a")
    throttle.failed("a")
    throttle.failed("a")
    assert throttle.is_closed("a")


def test_only_so_many_are_remembered() -> None:
    throttle = Throttle(most=1, size=10)
    for number in range(1_000):
        throttle.failed(str(number))
    assert len(throttle._failures) == 10
    assert throttle.is_closed("999")
