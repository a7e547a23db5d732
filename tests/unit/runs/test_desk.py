"""A verifier on call: what becomes of those who wait when its workers can't start, die, or are closed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.background import install_plugin, until
from workbench.core.errors import VerifierError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs import executor as desks
from workbench.runs.executor import DeskClosed, Left, LocalExecutor
from workbench.runs.long_texts import LongTexts
from workbench.verifiers.base import Pending
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.registry import Registry


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)


def make(kind: str = "staged", deadline: float | None = None, **options: str) -> LocalExecutor:
    return LocalExecutor(Registry().local(kind, options), (kind, options), 1, deadline)


@pytest.fixture
def desk() -> Iterator[LocalExecutor]:
    made = make(ms="1")
    yield made
    made.close()


def item(completion: str) -> VerifierInput:
    return VerifierInput(item=0, question="q", reference="r", completion=completion)


def reasons(desk: LocalExecutor, *completions: str) -> list[str | None]:
    return [verdict.reason for verdict in desk.judge([item(text) for text in completions])]


def test_workers_start_with_the_first_item_that_needs_one(desk: LocalExecutor) -> None:
    before = threading.active_count()
    assert reasons(desk, "now") == ["quick"]
    assert (desk.state, threading.active_count()) == ("idle", before)
    assert reasons(desk, "later a", "now") == ["compared", "quick"]
    assert (desk.state, threading.active_count()) == ("ready", before + 1)


def test_a_comparison_is_remembered_with_its_own_item_s_final_answer(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    desk = make(ms="1", journal=str(journal))
    reasons(desk, "later a", "later a", "later b")
    first = desk.first(item("later a"))
    assert not isinstance(first, Left)
    assert (first.reason, first.candidate_final) == ("compared", "later a")
    assert len(journal.read_text().split()) == 2
    assert reasons(desk, "later raise", "later raise") == ["internal", "internal"]
    assert isinstance(desk.first(item("later raise")), Left)
    desk.close()


def test_what_a_verifier_without_a_first_stage_says_is_told_whole() -> None:
    desk = make("slow-apart", ms="1")
    assert [verdict.candidate_final for verdict in desk.judge([item("a"), item("b")])] == ["1", "2"]
    desk.close()


def test_workers_that_can_t_start_are_an_error_and_are_tried_again(
    desk: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise VerifierError("no memory")

    monkeypatch.setattr(desks, "WorkerPool", broken)
    for _ in range(2):
        with pytest.raises(VerifierError, match="no memory"):
            desk.judge([item("later a")])
    until(lambda: desk.state == "failed")
    assert reasons(desk, "now") == ["quick"]
    monkeypatch.setattr(desks, "WorkerPool", WorkerPool)
    assert reasons(desk, "later a") == ["compared"]


def test_workers_that_are_killed_are_an_error_once(desk: LocalExecutor) -> None:
    assert reasons(desk, "later a") == ["compared"]
    processes = psutil.Process().children(recursive=True)
    for process in processes:
        process.kill()
    until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes))
    with pytest.raises(VerifierError, match="has ended"):
        desk.judge([item("later b")])
    assert reasons(desk, "later b") == ["compared"]


def test_closing_tells_those_who_wait() -> None:
    desk = make(ms="60000", deadline=60)
    left = desk.first(item("later a"))
    assert isinstance(left, Left)
    waiting = desk.later(item("later a"), left)
    desk.close()
    with pytest.raises(DeskClosed):
        waiting.result()
    with pytest.raises(DeskClosed):
        desk.later(item("later a"), left)


async def test_a_process_for_long_texts_that_ends_is_replaced() -> None:
    long = LongTexts(("staged", {"ms": "1"}), 1)
    assert isinstance(await long.first(item("later a")), Pending)
    for process in psutil.Process().children():
        process.kill()
    with pytest.raises(VerifierError, match="has ended"):
        await long.first(item("now"))
    assert isinstance(await long.first(item("now")), Verdict)
    await long.close()
