"""Many items are read by a pool of processes: each exactly once and with the same result, whichever processes die."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from tests.background import install_plugin, until
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs import executor as module
from workbench.runs.executor import BATCH_ITEMS, LocalExecutor
from workbench.runs.local import ResultSink, judge_locally
from workbench.verifiers.registry import Registry

HELPERS = 2
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    monkeypatch.setattr(module, "MIN_ITEMS_FOR_HELPERS", BATCH_ITEMS)


@pytest.fixture
def readers() -> Iterator[LocalExecutor]:
    options = {"caller": str(os.getpid())}
    with LocalExecutor(Registry().local("reading", options), ("reading", options), HELPERS + 1) as made:
        yield made


def item(number: int, completion: str = "now") -> VerifierInput:
    return VerifierInput(item=number, question="q", reference="r", completion=completion)


def until_read_elsewhere(readers: LocalExecutor, found: Counter[int], processes: int) -> Iterator[VerifierInput]:
    """Items without end, as long as so many other processes have not read any."""
    number = 0
    while len(found.keys() - {os.getpid()}) < processes:
        yield item(number, "now" if number % 3 else f"later {number}")
        number += 1


def read(readers: LocalExecutor, items: Iterable[VerifierInput], found: Counter[int]) -> list[int]:
    """The items in the order in which they were answered; ``found`` counts which process read how many."""
    numbers = []
    for one, answer in readers.answers(items):
        numbers.append(one.item)
        if isinstance(answer, Verdict):
            assert answer.detail is not None
            found[int(answer.detail)] += 1
        else:
            assert answer.key == one.completion.encode()
    return numbers


def test_all_processes_read_and_each_item_is_read_once(readers: LocalExecutor) -> None:
    found = Counter[int]()
    numbers = read(readers, until_read_elsewhere(readers, found, HELPERS), found)
    assert sorted(numbers) == list(range(len(numbers)))
    assert found.keys() - {os.getpid()} <= {process.pid for process in psutil.Process().children(recursive=True)}
    assert found[os.getpid()] >= BATCH_ITEMS


def test_few_items_start_no_process(readers: LocalExecutor) -> None:
    assert read(readers, map(item, range(BATCH_ITEMS - 1)), Counter()) == list(range(BATCH_ITEMS - 1))
    assert readers.state == "idle"


def test_many_calls_of_few_items_start_no_process(readers: LocalExecutor) -> None:
    threads, found = threading.active_count(), Counter[int]()
    for number in range(2 * BATCH_ITEMS):
        assert read(readers, [item(number)], found) == [number]
    assert (threading.active_count(), found) == (threads, {os.getpid(): 2 * BATCH_ITEMS})


def test_the_caller_reads_all_if_no_process_can_start(readers: LocalExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(subprocess, "Popen", refused)
    found = Counter[int]()
    assert sorted(read(readers, map(item, range(10 * BATCH_ITEMS)), found)) == list(range(10 * BATCH_ITEMS))
    assert found == {os.getpid(): 10 * BATCH_ITEMS}


def test_items_of_a_dead_process_are_read_by_the_caller(readers: LocalExecutor) -> None:
    found = Counter[int]()
    read(readers, until_read_elsewhere(readers, found, HELPERS), found)
    assert sorted(read(readers, (item(n, "end") for n in range(20 * BATCH_ITEMS)), Counter())) == list(
        range(20 * BATCH_ITEMS)
    )
    assert read(readers, [item(0), item(1)], Counter()) == [0, 1]


def test_abandoned_answers_are_not_given_to_later_items(readers: LocalExecutor) -> None:
    found = Counter[int]()
    read(readers, until_read_elsewhere(readers, found, HELPERS), found)
    left = readers.answers(map(item, range(100_000, 100_000 + 20 * BATCH_ITEMS)))
    assert len(list(islice(left, 2))) == 2
    del left
    assert sorted(read(readers, map(item, range(10 * BATCH_ITEMS)), found)) == list(range(10 * BATCH_ITEMS))


def test_batches_of_long_items_are_small(readers: LocalExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_BATCH_CHARACTERS", 5)
    found, taken, most = Counter[int](), list[int](), 0

    def counted() -> Iterator[VerifierInput]:
        for one in until_read_elsewhere(readers, found, HELPERS):
            taken.append(one.item)
            yield one

    for answered, (_, answer) in enumerate(readers.answers(counted()), 1):
        if isinstance(answer, Verdict):
            found[int(answer.detail or 0)] += 1
        most = max(most, len(taken) - answered)
    # Question and answer are two characters, a completion three or more: two items at most are a batch, of which the
    # caller and each process have one, and one each waits for them.
    assert 0 < most <= 2 * (1 + 2 * HELPERS)


class _StoredResults(ResultSink):
    """Collect the results that a run stores."""

    def __init__(self) -> None:
        self.found: dict[int, Verdict] = {}

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        assert not self.found.keys() & dict(results).keys()
        self.found.update(results)

    def recall(self, key: bytes) -> Verdict | None:
        return None

    def check(self) -> None:
        """Nothing ends the work early."""


def test_several_processes_give_the_verdicts_of_one() -> None:
    rows = [json.loads(line) for line in (ROOT / "sample_data" / "tuples.jsonl").read_text().splitlines()]
    items = [
        VerifierInput(item=number, question=row["question"], reference=row["answer"], completion=row["completion"])
        for number, row in enumerate(rows * (1 + 20 * BATCH_ITEMS // len(rows)))
    ]
    kept = [_StoredResults(), _StoredResults()]
    for workers, sink in zip((1, 3), kept, strict=True):
        chunks = (items[at : at + 500] for at in range(0, len(items), 500))
        judge_locally(Registry().load("rules"), ("rules", {}), workers, chunks, sink)
    alone, together = ({n: structs.replace(one, ms=0.0) for n, one in sink.found.items()} for sink in kept)
    assert len(alone) == len(items)
    assert together == alone


def test_a_verifier_on_call_reads_many_items_in_parallel() -> None:
    others = psutil.Process().children(recursive=True)
    executor = LocalExecutor(Registry().local("reading", {}), ("reading", {}), HELPERS + 1)
    found = set[str | None]()
    rows = [item(7, "\ud800" if number == 5 else "now") for number in range(10 * BATCH_ITEMS)]

    def several() -> bool:
        verdicts = executor.judge(rows)
        assert [number for number, verdict in enumerate(verdicts) if verdict.reason != "quick"] == [5]
        found.update(verdict.detail for verdict in verdicts)
        return len(found) > 2

    until(several)
    executor.close()
    assert [one for one in psutil.Process().children(recursive=True) if one not in others] == []
