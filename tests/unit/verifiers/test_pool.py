"""Nothing a verifier does to its worker affects the owner of the pool or the next item."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

import psutil
import pytest

from tests.background import PATIENCE_S
from tests.workers import answered, submit, verdicts_in
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool

MEMORY = 300_000_000


def _item(number: int, completion: str) -> VerifierInput:
    return VerifierInput(item=number, question="", reference="", completion=completion)


def _pool(workers: int = 1, deadline: float = 1.0, **options: str) -> WorkerPool:
    return WorkerPool(("hostile", options), workers, deadline=deadline, memory_bytes=MEMORY)


def _run(pool: WorkerPool, completions: Iterable[str]) -> list[Verdict]:
    """Verdicts in the order of the items."""
    return verdicts_in(pool, [_item(number, text) for number, text in enumerate(completions)])


def _until_free(pool: WorkerPool) -> None:
    while not pool.free:
        pool.wait(5)


def _gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _wait_until_gone(pids: list[int], seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not all(_gone(pid) for pid in pids):
        assert time.monotonic() < end, f"still alive: {[pid for pid in pids if not _gone(pid)]}"
        time.sleep(0.02)


@pytest.mark.few(5)
@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("deed", "outcome", "reason"),
    [
        ("hang", Outcome.ABSTAIN, "timeout"),
        ("compute", Outcome.ABSTAIN, "timeout"),
        ("segfault", Outcome.ABSTAIN, "worker_died"),
        ("memory", Outcome.ABSTAIN, "worker_died"),
        ("hide memory", Outcome.ABSTAIN, "worker_died"),
        ("exit", Outcome.ABSTAIN, "worker_died"),
        ("raise", Outcome.ERROR, "internal"),
        ("nonsense", Outcome.ERROR, "internal"),
        ("unsendable", Outcome.ERROR, "internal"),
        ("wrong type", Outcome.ERROR, "internal"),
    ],
)
def test_a_hostile_item_gets_its_reason_and_the_next_one_is_answered(deed: str, outcome: Outcome, reason: str) -> None:
    with _pool() as pool:
        hostile, tame = _run(pool, [deed, "tame"])
    assert (hostile.outcome, hostile.reason) == (outcome, reason)
    assert (tame.outcome, tame.score) == (Outcome.CORRECT, 4.0)


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("deed", "cause"),
    [
        ("hang", "cpu"),
        ("compute", "cpu"),
        ("compute in children", "cpu"),
        ("compute a while", "cpu"),
        ("sleep", "wall"),
    ],
)
def test_a_timeout_names_the_exceeded_limit(deed: str, cause: str) -> None:
    with _pool(deadline=0.2) as pool:
        late, tame = _run(pool, [deed, "tame"])
    assert (late.reason, late.rule) == ("timeout", f"timeout.{cause}")
    assert (late.detail or "").startswith(f"timeout: {cause}")
    assert tame.outcome is Outcome.CORRECT


@pytest.mark.usefixtures("hostile")
def test_a_worker_without_a_processor_keeps_its_time() -> None:
    with _pool(deadline=0.5) as pool:
        _until_free(pool)
        os.kill(pool.pids[1], signal.SIGSTOP)
        submit(pool, _item(1, "tame"))
        waited = time.monotonic() + 1.5
        while time.monotonic() < waited:
            assert pool.wait(0.1) == []
        os.kill(pool.pids[1], signal.SIGCONT)
        while not (found := answered(pool)):
            pass
    assert [verdict.outcome for _, verdict in found] == [Outcome.CORRECT]


@pytest.mark.usefixtures("hostile")
def test_a_late_answer_is_discarded() -> None:
    with _pool(deadline=0.2) as pool:
        _until_free(pool)
        submit(pool, _item(1, "compute a while"))
        burnt = psutil.Process(pool.pids[1])
        while sum(burnt.cpu_times()[:2]) < 0.3 or burnt.status() != psutil.STATUS_SLEEPING:
            time.sleep(0.01)
        ((_, verdict),) = answered(pool)
    assert (verdict.reason, verdict.rule) == ("timeout", "timeout.cpu")


@pytest.mark.usefixtures("hostile")
def test_running_out_of_memory_is_reported() -> None:
    with _pool() as pool:
        assert _run(pool, ["memory"])[0].detail == "out of memory"


@pytest.mark.usefixtures("hostile")
def test_a_verifier_that_forks_answers_once() -> None:
    with _pool() as pool:
        verdicts = _run(pool, ["fork", "tame", "nonsense", "fork", "tame!"])
    assert [verdict.score for verdict in verdicts] == [4.0, 4.0, None, 4.0, 5.0]


@pytest.mark.usefixtures("hostile")
def test_leftover_processes_end_with_the_pool() -> None:
    with _pool() as pool:
        _run(pool, ["daemon", "segfault", "tame"])
        there = [process.pid for process in psutil.Process(pool.pids[0]).children(recursive=True)]
        assert set(there) > set(pool.pids[1:])
    _wait_until_gone(there)


@pytest.mark.usefixtures("hostile")
def test_output_of_a_verifier_is_discarded(capfd: pytest.CaptureFixture[str]) -> None:
    with _pool() as pool:
        assert _run(pool, ["print"])[0].outcome is Outcome.CORRECT
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("hostile")
def test_long_texts_are_truncated() -> None:
    with _pool() as pool:
        (talked,) = _run(pool, ["talk"])
    assert talked.detail is not None
    assert 1_000 < len(talked.detail) < 100_000


@pytest.mark.usefixtures("hostile")
def test_a_hanging_worker_does_not_hold_up_the_others() -> None:
    with _pool(workers=2) as pool:
        verdicts = _run(pool, ["hang", *["tame"] * 40])
    assert [verdict.reason for verdict in verdicts] == ["timeout", *[None] * 40]


@pytest.mark.usefixtures("hostile")
def test_megabytes_arrive_complete() -> None:
    with _pool() as pool:
        sizes = [20_000_000, 3, 5_000_000]
        assert [verdict.score for verdict in _run(pool, ["é" * size for size in sizes])] == sizes


@pytest.mark.usefixtures("hostile")
def test_a_worker_that_stops_reading_misses_only_its_deadline() -> None:
    with _pool(deadline=0.2) as pool:
        _until_free(pool)
        os.kill(pool.pids[1], signal.SIGSTOP)
        stopped, tame = _run(pool, ["x" * 20_000_000, "tame"])
    assert (stopped.outcome, stopped.reason) == (Outcome.ABSTAIN, "timeout")
    assert tame.outcome is Outcome.CORRECT


@pytest.mark.usefixtures("hostile")
def test_a_worker_that_dies_idle_is_replaced_without_loss() -> None:
    with _pool() as pool:
        _until_free(pool)
        os.kill(pool.pids[1], signal.SIGKILL)
        _wait_until_gone([pool.pids[1]])
        pool.wait(5)
        assert _run(pool, ["tame"])[0].outcome is Outcome.CORRECT


@pytest.mark.usefixtures("hostile")
def test_a_worker_that_has_grown_large_answers_and_is_replaced() -> None:
    with _pool(deadline=5) as pool:
        first, same, grown, fresh = _run(pool, ["tame", "tame", "grow", "tame"])
    assert first.detail == same.detail == grown.detail != fresh.detail
    assert fresh.outcome is Outcome.CORRECT


@pytest.mark.usefixtures("hostile")
def test_an_interrupt_does_not_disturb_workers() -> None:
    with _pool() as pool:
        _until_free(pool)
        for pid in pool.pids:
            os.kill(pid, signal.SIGINT)
        assert _run(pool, ["tame"])[0].detail == str(pool.pids[1])


@pytest.mark.usefixtures("hostile")
def test_a_verifier_that_cannot_start_is_an_error_not_a_loop() -> None:
    spare = str(os.getpid())
    with (
        _pool(start="exit", spare=spare) as pool,
        pytest.raises(VerifierError, match="3 worker processes in a row"),
    ):
        _run(pool, ["tame"])
    with _pool(start="raise", spare=spare) as pool, pytest.raises(VerifierError, match="no licence found"):
        _run(pool, ["tame"])
    with pytest.raises(UsageError, match="no option"):
        _pool(colour="red")


@pytest.mark.usefixtures("hostile")
def test_the_end_of_the_server_is_an_error_not_a_loop() -> None:
    with _pool() as pool:
        _until_free(pool)
        server, *workers = pool.pids
        os.kill(server, signal.SIGKILL)
        _wait_until_gone(workers)
        with pytest.raises(VerifierError, match="has ended"):
            _run(pool, ["tame", "tame"])


@pytest.mark.usefixtures("hostile")
def test_closing_ends_every_process() -> None:
    with _pool(workers=2) as pool:
        while pool.free < 2:
            pool.wait(5)
        submit(pool, _item(1, "compute"))
        pids = pool.pids
        assert len(pids) == 3
    _wait_until_gone(pids)


@pytest.mark.soak
@pytest.mark.usefixtures("hostile")
def test_the_kernel_ends_a_worker_without_supervision() -> None:
    with _pool(deadline=0.1) as pool:
        _until_free(pool)
        submit(pool, _item(1, "compute"))
        _wait_until_gone([pool.pids[1]], 300)


_OWNER = """
import sys
sys.path[:] = {path!r}
from workbench.core.verdict import VerifierInput
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.wire import WorkerTask
pool = WorkerPool(("hostile", {{}}), 2, deadline=600.0)
while pool.free < 2:
    pool.wait(5)
for number in (1, 2):
    pool.submit(WorkerTask([VerifierInput(item=number, question="", reference="", completion="compute")]))
print(*pool.pids, flush=True)
pool.wait(600)
"""


@pytest.mark.usefixtures("hostile")
def test_workers_in_the_middle_of_a_computation_die_with_a_killed_owner() -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER.format(path=sys.path)], stdout=subprocess.PIPE, text=True)
    pids: list[int] = []
    try:
        with owner:
            assert owner.stdout is not None
            pids = [int(pid) for pid in owner.stdout.readline().split()]
            assert len(pids) == 3
            assert not any(_gone(pid) for pid in pids)
            owner.kill()
        _wait_until_gone(pids)
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
