"""Focused time leaves out what nobody looked at."""

from __future__ import annotations

from workbench.tui.stopwatch import IDLE_S, Elapsed, Stopwatch


class Clock:
    """Time that a test moves by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_open_and_focused_time_are_the_same_while_somebody_is_there() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    for _ in range(3):
        clock.now += 20
        watch.touch()
    assert watch.elapsed() == Elapsed(60_000, 60_000)


def test_idle_time_stops_the_clock_after_a_minute() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now += 10 * IDLE_S
    assert watch.elapsed() == Elapsed(600_000, 60_000)
    watch.touch()
    clock.now += 5
    assert watch.elapsed() == Elapsed(605_000, 65_000)


def test_a_blurred_terminal_stops_the_clock() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now += 2
    watch.focus(False)
    clock.now += 30
    watch.touch()
    clock.now += 30
    watch.focus(True)
    clock.now += 3
    assert watch.elapsed() == Elapsed(65_000, 5_000)


def test_a_new_item_begins_at_zero() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now += 9
    watch.start()
    clock.now += 1
    assert watch.elapsed() == Elapsed(1_000, 1_000)
