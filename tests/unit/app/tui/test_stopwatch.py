"""Focused time excludes unfocused intervals; keys and breaks are counted separately."""

from __future__ import annotations

from workbench.app.tui.pace import IDLE_S, AtWork, Elapsed, Stopwatch


class Clock:
    """Time that a test moves by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_open_and_focused_time_are_equal_while_focused() -> None:
    clock = Clock()
    work = AtWork(clock)
    watch = Stopwatch(work)
    for _ in range(3):
        clock.now += 20
        work.touch()
    assert watch.elapsed() == Elapsed(60_000, 60_000, 0)


def test_idle_time_stops_the_clock_after_a_minute() -> None:
    clock = Clock()
    work = AtWork(clock)
    watch = Stopwatch(work)
    clock.now += 10 * IDLE_S
    assert watch.elapsed() == Elapsed(600_000, 60_000, 0)
    work.touch()
    clock.now += 5
    assert watch.elapsed() == Elapsed(605_000, 65_000, 0)


def test_a_blurred_terminal_stops_the_clock() -> None:
    clock = Clock()
    work = AtWork(clock)
    watch = Stopwatch(work)
    clock.now += 2
    work.focus(False)
    clock.now += 30
    work.touch()
    clock.now += 30
    work.focus(True)
    clock.now += 3
    assert watch.elapsed() == Elapsed(65_000, 5_000, 0)


def test_a_key_press_implies_focus() -> None:
    clock = Clock()
    work = AtWork(clock)
    watch = Stopwatch(work)
    work.focus(False)
    clock.now += 30
    work.press()
    clock.now += 3
    assert watch.elapsed() == Elapsed(33_000, 3_000, 1)


def test_a_new_item_begins_at_zero() -> None:
    clock = Clock()
    work = AtWork(clock)
    watch = Stopwatch(work)
    clock.now += 9
    work.press()
    watch.start()
    clock.now += 1
    work.press()
    work.press()
    assert watch.elapsed() == Elapsed(1_000, 1_000, 2)
