"""The remaining time of a run decreases steadily and is shown only once it can be estimated."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.runs.run_status import RunPace


def watched(rate: float, batch: int, items: int, *, every: float = 0.5, begins: float = 0.0) -> list[float | None]:
    """Return the remaining time at each look at a run of constant pace that commits in batches."""
    pace, estimates = RunPace(), []
    for look in range(int((begins + items / rate) / every)):
        now = look * every
        pace.observe(now, min(int(max(now - begins, 0) * rate) // batch * batch, items))
        estimates.append(pace.remaining_seconds(now, items))
    return estimates


@pytest.mark.parametrize("begins", [0.0, 20.0])
@pytest.mark.parametrize(("rate", "batch"), [(2.0, 1), (300.0, 500), (40.0, 500), (5_000.0, 500)])
def test_remaining_time_decreases_as_time_passes(rate: float, batch: int, begins: float) -> None:
    seconds = 240.0
    estimates = watched(rate, batch, int(rate * seconds), begins=begins)
    known = [(0.5 * look, to_go) for look, to_go in enumerate(estimates) if to_go is not None]
    assert known[0][0] <= begins + max(6.5, 5 * batch / rate)
    for now, to_go in known:
        assert to_go == pytest.approx(begins + seconds - now, abs=0.15 * seconds)
    leaps = [abs(after - before + 0.5) for (_, before), (_, after) in pairwise(known)]
    assert max(leaps[len(leaps) // 4 :]) <= 0.05 * seconds


def test_new_and_stalled_runs_have_no_remaining_time() -> None:
    pace = RunPace()
    for now in range(6):
        pace.observe(float(now), now * 10)
        assert pace.remaining_seconds(now, 100) is None
        assert pace.rate(now) == (None if now < 2 else 10.0)
    for now in (6, 7):
        pace.observe(float(now), now * 10)
    assert (pace.rate(7.0), pace.remaining_seconds(7.0, 100)) == (10.0, 3.0)
    assert pace.remaining_seconds(8.0, 100) == 2.0
    assert pace.remaining_seconds(30.0, 100) is None


def test_a_restarted_run_is_measured_anew() -> None:
    pace = RunPace()
    for second in range(10):
        pace.observe(float(second), 10 * second)
    pace.observe(10.0, 0)
    assert pace.rate(10.0) is None


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 10**7)), max_size=30), st.integers(0, 10**7))
@example([(0.0, 0), (0.0, 1), (0.0, 2)], 0)
@example([(0.0, 0), (0.0, 1), (5e-324, 2)], 0)
def test_any_observations_are_accepted(looks: list[tuple[float, int]], items: int) -> None:
    pace, now = RunPace(), 0.0
    for later, done in looks:
        now += later
        pace.observe(now, done)
        rate, to_go = pace.rate(now), pace.remaining_seconds(now, items)
        assert to_go is None or rate is not None
        assert rate is None or rate > 0
        assert to_go is None or to_go >= 0
