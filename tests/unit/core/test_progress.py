"""Progress: the completed part, the remaining time, and cancellation."""

from __future__ import annotations

import threading

import pytest

from workbench.core.progress import Listener, Step, Stopped, listening_with, raise_if_cancelled, step, stepping


def after(pace: list[tuple[float, int]], total: int = 1000) -> Step:
    """A step that advanced so, as seconds since it began and units."""
    made = Step("reading", total, "rows", 0.0)
    for when, by in pace:
        made.advance(by, when)
    return made


def test_a_slow_start_gives_no_absurd_estimate() -> None:
    # Two seconds of preparation, then 100 a second: by its mean pace the whole would seem to take far longer.
    made = after([(2.0, 1), *((2.0 + 0.2 * n, 20) for n in range(1, 26))])
    left = made.seconds_left(7.0) or 0.0
    assert left == pytest.approx(5.0, rel=0.05)
    mean = (1000 - made.done) * 7.0 / made.done
    assert abs(left - 5.0) < abs(mean - 5.0)


def test_the_remaining_time_needs_a_known_pace() -> None:
    assert after([]).seconds_left(1.0) is None
    assert after([(0.5, 3)]).seconds_left(1.0) is None
    assert after([(0.5, 3), (1.0, 3)]).seconds_left(1.0) is None
    assert Step("x", None, "", 0.0).seconds_left(9.0) is None


def test_the_recent_pace_counts_and_a_stall_increases_the_estimate() -> None:
    # Slow for long, then quick: the slow part is forgotten.
    pace = [(float(n), 1) for n in range(1, 60)] + [(60.0 + 0.5 * n, 10) for n in range(1, 41)]
    made = after(pace)
    left = made.seconds_left(80.0) or 0.0
    assert left == pytest.approx((1000 - made.done) / 20, rel=0.1)
    assert (made.seconds_left(90.0) or 0) > 1.5 * left


def test_a_step_beyond_its_total_takes_no_time() -> None:
    assert after([(1.0, 100), (2.0, 900), (3.0, 500)]).seconds_left(4.0) == 0


def test_steps_are_reported_only_in_their_thread() -> None:
    listener = Listener()
    seen: list[list[tuple[str, int, int | None]]] = []

    def look() -> None:
        seen.append([(one.what, one.done, one.total) for one in listener.current_steps()])

    with listening_with(listener):
        for value in stepping("abc", "outer"):
            with step("inner") as advance:
                advance(7)
                if value == "b":
                    look()
    look()

    def elsewhere() -> None:
        for _ in stepping("x", "elsewhere"):
            look()

    other = threading.Thread(target=elsewhere)
    other.start()
    other.join()
    assert seen == [[("outer", 1, 3), ("inner", 7, None)], [], []]


def test_many_values_are_reported_together() -> None:
    listener, reports = Listener(), 0
    counted = Step.advance

    with listening_with(listener), pytest.MonkeyPatch.context() as patch:

        def count(self: Step, by: int, now: float) -> None:
            nonlocal reports
            reports += 1
            counted(self, by, now)

        patch.setattr(Step, "advance", count)
        assert sum(1 for _ in stepping(range(100_000), "writing")) == 100_000
    assert reports == 200


def test_abandoned_work_stops_at_its_next_step() -> None:
    over = threading.Event()
    done = []

    def count() -> None:
        for number in stepping(range(10), "counting"):
            done.append(number)
            if number == 3:
                over.set()

    with listening_with(Listener(over.is_set)), pytest.raises(Stopped):
        count()
    assert done == [0, 1, 2, 3]
    stopped = Listener()
    stopped.stop()
    with listening_with(stopped), pytest.raises(Stopped):
        raise_if_cancelled()
    raise_if_cancelled()
