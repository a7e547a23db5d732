"""A verifier on call: waiting callers when its workers cannot start, die, or are closed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from tests.background import install_plugin, until
from workbench.core.errors import VerifierError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs import executor as module
from workbench.runs.executor import ExecutorClosed, LocalExecutor
from workbench.verifiers.base import Pending
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.registry import Registry


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)


def make(kind: str = "staged", deadline: float | None = None, **options: str) -> LocalExecutor:
    return LocalExecutor(Registry().local(kind, options), (kind, options), 1, deadline)


@pytest.fixture
def executor() -> Iterator[LocalExecutor]:
    made = make(ms="1")
    yield made
    made.close()


def item(completion: str, number: int = 0) -> VerifierInput:
    return VerifierInput(item=number, question="q", reference="r", completion=completion)


def reasons(executor: LocalExecutor, *completions: str) -> list[str | None]:
    return [verdict.reason for verdict in executor.judge([item(text) for text in completions])]


def threads(executor: LocalExecutor) -> int:
    """Return the number of threads that look after its workers; other tests may have left some."""
    found = (getattr(one, "_target", None) for one in threading.enumerate() if one.name == "workbench-executor")
    return sum(getattr(target, "__self__", None) is executor for target in found)


def test_workers_start_with_the_first_item_that_needs_one(executor: LocalExecutor) -> None:
    assert reasons(executor, "now") == ["quick"]
    assert (executor.state, threads(executor)) == ("idle", 0)
    assert reasons(executor, "later a", "now") == ["compared", "quick"]
    assert (executor.state, threads(executor)) == ("ready", 1)


def test_a_cached_comparison_has_the_final_answer_of_its_item(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    executor = make(ms="1", journal=str(journal))
    reasons(executor, "later a", "later a", "later b")
    first = executor.judge_first_stage(item("later a"))
    assert not isinstance(first, Pending)
    assert (first.reason, first.candidate_final) == ("compared", "later a")
    assert len(journal.read_text().split()) == 2
    assert reasons(executor, "later raise", "later raise") == ["internal", "internal"]
    assert isinstance(executor.judge_first_stage(item("later raise")), Pending)
    executor.close()


def test_an_answer_may_arrive_before_the_caller_has_its_future(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons(executor, "later a")
    with monkeypatch.context() as patched:
        jobs = executor._jobs
        at_once = SimpleNamespace(put=executor._take, get=jobs.get, get_nowait=jobs.get_nowait)
        patched.setattr(executor, "_jobs", at_once)
        found = executor.later(item("later a"), Pending(b"later a"))
    assert found.result().reason == "compared"


def test_a_verifier_without_a_first_stage_returns_whole_verdicts() -> None:
    executor = make("slow-apart", ms="1")
    assert [verdict.candidate_final for verdict in executor.judge([item("a", 1), item("b", 2)])] == ["1", "2"]
    executor.close()


def test_workers_that_cannot_start_are_an_error_and_retried(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise VerifierError("no memory")

    monkeypatch.setattr(module, "WorkerPool", broken)
    for _ in range(2):
        with pytest.raises(VerifierError, match="no memory"):
            executor.judge([item("later a")])
    until(lambda: executor.state == "failed")
    assert reasons(executor, "now") == ["quick"]
    monkeypatch.setattr(module, "WorkerPool", WorkerPool)
    assert reasons(executor, "later a") == ["compared"]


def test_workers_that_are_killed_are_an_error_once(executor: LocalExecutor) -> None:
    assert reasons(executor, "later a") == ["compared"]
    processes = psutil.Process().children(recursive=True)
    for process in processes:
        process.kill()
    until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes))
    with pytest.raises(VerifierError, match="has ended"):
        executor.judge([item("later b")])
    assert reasons(executor, "later b") == ["compared"]


def test_closing_wakes_waiting_callers() -> None:
    executor = make(ms="60000", deadline=60)
    left = executor.judge_first_stage(item("later a"))
    assert isinstance(left, Pending)
    waiting = executor.later(item("later a"), left)
    executor.close()
    with pytest.raises(ExecutorClosed):
        waiting.result()
    with pytest.raises(ExecutorClosed):
        executor.later(item("later a"), left)


def test_a_worker_that_ends_in_the_first_stage_is_an_error_once(executor: LocalExecutor) -> None:
    found = executor.elsewhere([item("later a"), item("now")]).result()
    assert [type(one) for one in found] == [Pending, Verdict]
    reading = make("reading")
    with pytest.raises(VerifierError, match="has ended"):
        reading.elsewhere([item("end")]).result()
    assert [type(one) for one in reading.elsewhere([item("now")]).result()] == [Verdict]
    reading.close()


def test_a_spare_worker_runs_the_first_stage_while_others_are_slow() -> None:
    options = {"ms": "60000"}
    executor = LocalExecutor(Registry().local("staged", options), ("staged", options), 1, 60, spare=1)
    slow = [executor.later(item(text), Pending(text.encode())) for text in ("later a", "later b", "later c")]
    assert [type(one) for one in executor.elsewhere([item("now")]).result()] == [Verdict]
    assert not any(one.done() for one in slow)
    executor.close()
