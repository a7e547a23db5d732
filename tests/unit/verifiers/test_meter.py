"""The measured time of a process does not depend on the load of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.background import PATIENCE_S
from workbench.verifiers.meter import WALL_TIME_FACTOR, Meter, ProcessUsage

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(600)"
IN_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SPIN!r}])"


@contextmanager
def process(source: str, *, on: int | None = None, niceness: int = 0) -> Iterator[int]:
    """A process that does this, on one processor if it is named."""

    def prepare() -> None:
        os.setsid()
        os.nice(niceness)
        if on is not None:
            os.sched_setaffinity(0, {on})

    with subprocess.Popen([sys.executable, "-c", source], preexec_fn=prepare) as found:
        try:
            yield found.pid
        finally:
            os.killpg(found.pid, 9)


def until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_sleeping_takes_wall_time_and_computing_takes_both() -> None:
    with process(SLEEP) as sleeper, process(SPIN) as spinner:
        meters = [Meter(sleeper), Meter(spinner)]
        until(lambda: meters[0].spent().wall > 0.3 and meters[1].spent().cpu > 0.3)
        asleep, spinning = (meter.spent() for meter in meters)
        for meter in meters:
            meter.close()
    assert asleep.cpu < asleep.wall
    assert spinning.cpu > 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how long a process waits for a processor")
def test_waiting_for_a_processor_takes_no_time() -> None:
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel doesn't tell")
    core = min(os.sched_getaffinity(0))
    with process(SPIN, on=core), process(SPIN, on=core, niceness=15) as starved:
        meter, began = Meter(starved), time.monotonic()
        until(lambda: time.monotonic() - began > 1 and meter.spent().cpu > 0)
        spent, elapsed = meter.spent(), time.monotonic() - began
        meter.close()
    assert spent.exact
    assert spent.wall - spent.cpu < 0.3 * elapsed
    assert spent.cpu < 0.7 * elapsed


@pytest.mark.parametrize(("tree", "live"), [(True, False), (False, True)])
def test_child_processes_count(tree: bool, live: bool) -> None:
    with process(IN_A_CHILD) as parent:
        meter, alone = Meter(parent, tree=tree), Meter(parent)
        until(lambda: meter.spent(live=live).cpu > 0.2)
        assert alone.spent().cpu < meter.spent(live=live).cpu
        meter.restart()
        assert meter.spent(live=live).cpu < 60
        for one in (meter, alone):
            one.close()


def test_an_ended_process_counts_with_its_last_value() -> None:
    with process(SPIN) as pid:
        meter = Meter(pid)
        until(lambda: meter.spent().cpu > 0.1)
    assert meter.spent().cpu > 0.1
    meter.close()
    meter.close()


def test_a_missing_process_takes_no_time() -> None:
    assert Meter(None).spent().cpu == 0


def test_the_exceeded_limit_is_named() -> None:
    assert ProcessUsage(0.9, 9.9, exact=True).over(1) is None
    assert ProcessUsage(1.0, 1.0, exact=True).over(1) == "cpu"
    assert ProcessUsage(0.9, WALL_TIME_FACTOR, exact=False).over(1) == "wall"
    assert ProcessUsage(0.9, 9.8, exact=True).left(1) == pytest.approx(0.1)
    assert ProcessUsage(2.0, 99.0, exact=True).left(1) > 0


@pytest.mark.parametrize(("cpu", "wall", "exact", "charged"), [(10, 1, True, 10), (1, 10, True, 10), (1, 20, False, 2)])
def test_a_budget_is_charged_with_processor_time_of_all_threads(
    cpu: float, wall: float, exact: bool, charged: float
) -> None:
    assert ProcessUsage(cpu=cpu, wall=wall, exact=exact).own == charged
