"""Two-stage verifiers: which items reach the workers, which are reused, and what survives a kill."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.background import hurry, install_plugin, kill, runner_ends, stored, until_writing
from tests.helpers import add_items, make_project
from workbench.core.project import Project
from workbench.core.run import RunInfo, VerdictLine
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs import executor, local, runner
from workbench.runs.executor import LocalExecutor
from workbench.runs.lease import Lease
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.run_status import run_info, wait
from workbench.runs.runner import Runner
from workbench.runs.store import runs as rows
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import cancel, pause, resume, start
from workbench.verifiers.base import Pending
from workbench.verifiers.registry import Registry


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    monkeypatch.setattr(runner, "_POLL_S", 0.0)
    install_plugin(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path)
    yield made
    made.close()


def options(project: Project) -> dict[str, str]:
    return {"journal": str(project.path.with_name("journal")), "ms": "1"}


def worker_items(project: Project) -> list[int]:
    """Return the row ids of the items that workers received, in order."""
    journal = project.path.with_name("journal")
    return [int(line) for line in journal.read_text().split()] if journal.exists() else []


def add(project: Project, *completions: str, dataset: str = "sample") -> None:
    made = [{"dataset": dataset, "question_id": f"q{n}", "completion": text} for n, text in enumerate(completions)]
    add_items(project.database, made)


def run(project: Project, kind: str = "staged") -> RunInfo:
    """Claim the database, so that no other process becomes its runner, and do the whole run in this one."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, kind, options(project), workers=2)
    Runner(project.database, lease).work()
    return run_info(project, info.run)


def lines(project: Project) -> list[VerdictLine]:
    return list(verdict_lines(project, "staged"))


def no_pool(*_: object) -> Any:
    raise AssertionError("workers were started")


def test_each_stage_decides_its_items(project: Project) -> None:
    add(project, "now", "later a", "now")
    ended = run(project)
    assert (ended.state, ended.done, ended.reasons) == ("complete", 3, {"quick": 2, "compared": 1})
    line = lines(project)[1]
    assert (line.verdict, line.score, line.reason, line.rule) == ("incorrect", 0.25, "compared", "staged.later")
    assert (line.candidate_final, line.candidate_span, line.detail) == ("later a", (0, 7), "apart")
    assert worker_items(project) == [2]


def test_workers_are_started_only_when_an_item_needs_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "WorkerPool", no_pool)
    add(project, *["now"] * 3)
    assert run(project).state == "complete"


def test_equal_comparisons_are_made_once(project: Project) -> None:
    add(project, *["later a", "later b"] * 20)
    ended = run(project)
    assert (ended.done, ended.reasons) == (40, {"compared": 40})
    assert sorted(worker_items(project)) == [1, 2]
    assert [line.candidate_final for line in lines(project)] == ["later a", "later b"] * 20


def test_a_verifier_without_a_first_stage_sends_every_item_to_workers(project: Project) -> None:
    add(project, *["later a"] * 4)
    assert run(project, "slow-apart").reasons == {"slept": 4}
    assert sorted(worker_items(project)) == [1, 2, 3, 4]


def test_another_version_or_configuration_is_not_cached(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    add(project, "later a")
    run(project)
    monkeypatch.setenv("STAGED_VERSION", "2")
    run(project)
    assert worker_items(project) == [1, 1]
    lease = Lease.acquire(project.database)
    assert lease is not None
    start(project, "staged", {**options(project), "ms": "2"}, name="slower")
    Runner(project.database, lease).work()
    assert worker_items(project) == [1, 1, 1]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("deed", "verdict", "reason"),
    [
        ("hang", "abstain", "timeout"),
        ("crash", "abstain", "worker_died"),
        ("no memory", "abstain", "worker_died"),
        ("raise", "error", "internal"),
    ],
)
def test_a_bomb_in_the_second_stage_costs_only_its_own_verdict(
    project: Project, deed: str, verdict: str, reason: str
) -> None:
    bomb = f"later {deed}"
    add(project, "later a", bomb, *["now"] * 5, "later b")
    assert run(project).state == "complete"
    found = lines(project)[1]
    assert (found.verdict, found.reason, found.candidate_final) == (verdict, reason, bomb)
    assert [line.reason for line in lines(project)] == ["compared", reason, *["quick"] * 5, "compared"]
    add(project, bomb, dataset="again")
    run(project)
    assert len(worker_items(project)) == 4


@pytest.mark.soak
def test_items_that_ran_out_of_time_are_counted_and_judged_again(project: Project) -> None:
    add(project, "later a", "later hang", "now")
    ended = run(project)
    assert ended.timeouts == {"cpu": 1}
    line = lines(project)[1]
    assert (line.reason, line.rule) == ("timeout", "timeout.cpu")
    with project.database.write() as connection:
        connection.execute("UPDATE completion_text SET text = 'later on' WHERE text = 'later hang'")
    lease = Lease.acquire(project.database)
    assert lease is not None
    start(project, "staged", options(project), workers=2, retry_timeouts=True)
    Runner(project.database, lease).work()
    ended = run_info(project, ended.run)
    assert (ended.state, ended.done, ended.timeouts) == ("complete", 3, {})
    assert lines(project)[1].reason == "compared"


@pytest.mark.few(2)
@pytest.mark.parametrize(("ask", "state"), [(pause, "paused"), (cancel, "cancelled")])
def test_a_request_stops_both_stages_and_resume_continues_them(project: Project, ask: Any, state: str) -> None:
    add(project, *[f"later {number}" for number in range(20)], *["now"] * 20)
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, "staged", options(project), workers=2)
    with project.database.write() as connection:
        rows.take_next(connection)
    ask(project, info.run)
    Runner(project.database, lease).work()
    assert run_info(project, info.run).state == state
    lease = Lease.acquire(project.database)
    assert lease is not None
    resume(project, info.run)
    Runner(project.database, lease).work()
    assert run_info(project, info.run).state == "complete"
    assert stored(project, info.run) == set(range(1, 41))


@pytest.mark.soak
def test_a_killed_runner_loses_and_repeats_no_stored_result(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    add(project, *[f"later {number}" if number % 2 else "now" for number in range(1_000)])
    with runner_ends(project):
        info = start(project, "staged", options(project), workers=2)
        kept = set[int]()
        read = 0
        for _ in range(3):
            kill(until_writing(project, info.run, 1_000))
            now = stored(project, info.run)
            assert kept < now
            assert not kept & set(worker_items(project)[read:])
            kept, read = now, len(worker_items(project))
            start(project, "staged", options(project), workers=2)
        hurry()
        ended = wait(project, info.run)
        assert (ended.state, ended.done, len(stored(project, info.run))) == ("complete", 1_000, 1_000)
        assert not kept & set(worker_items(project)[read:])


class Sink(ResultSink):
    """Keeps what is committed, in order."""

    def __init__(self) -> None:
        self.results: list[tuple[int, Verdict]] = []
        self.closed = 0
        self.request: Exception | None = None
        self.go_on = Event()
        self.most_waiting = 0

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        assert len(results) <= local.MAX_GROUP_VERDICTS
        self.results += results

    def check(self) -> None:
        if self.request is not None:
            raise self.request


class LazyExecutor(LocalExecutor):
    """One worker, which answers nothing before `Sink.go_on`."""

    sink: Sink

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._pool = ThreadPoolExecutor(1)
        self._answers = list[Future[Verdict]]()

    def later(self, item: VerifierInput, deferred: Pending) -> Future[Verdict]:
        self._answers.append(self._pool.submit(self._answer))
        self.sink.most_waiting = max(self.sink.most_waiting, sum(not one.done() for one in self._answers))
        return self._answers[-1]

    def _answer(self) -> Verdict:
        self.sink.go_on.wait()
        time.sleep(0.001)
        return Verdict(outcome=Outcome.INCORRECT, reason="compared")

    def close(self) -> None:
        super().close()
        self.sink.closed += 1
        self.sink.go_on.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Sink:
    LazyExecutor.sink = Sink()
    monkeypatch.setattr(local, "LocalExecutor", LazyExecutor)
    return LazyExecutor.sink


def judge(sink: Sink, texts: Iterable[str]) -> None:
    verifier: Any = Registry().load("staged")
    chunks = (
        [VerifierInput(item=number, question="", reference="", completion=text)] for number, text in enumerate(texts)
    )
    judge_locally(verifier, ("staged", {}), 2, chunks, sink)


def test_the_first_stage_does_not_wait_for_the_second(sink: Sink) -> None:
    def texts() -> Iterator[str]:
        yield from ["later a", *["now"] * 1_200]
        sink.go_on.set()

    judge(sink, texts())
    assert [verdict.reason for _, verdict in sink.results] == [*["quick"] * 1_200, "compared"]
    assert sink.closed == 1


def test_a_request_ends_the_workers_at_once(sink: Sink) -> None:
    def texts() -> Iterator[str]:
        yield from ["later a", "later b"]
        sink.request = LookupError("pause")
        yield from ["now"] * 1_200

    with pytest.raises(LookupError, match="pause"):
        judge(sink, texts())
    assert (sink.results, sink.closed) == ([], 1)


@pytest.mark.parametrize(("text", "most"), [("later {}", 10), ("later", 10), ("later {}" + 100 * ".", 5)])
def test_the_queue_of_items_is_bounded(sink: Sink, monkeypatch: pytest.MonkeyPatch, text: str, most: int) -> None:
    monkeypatch.setattr(local, "MAX_WAITING_ITEMS", 10)
    monkeypatch.setattr(local, "MAX_WAITING_CHARACTERS", 500)
    sink.go_on.set()
    judge(sink, (text.format(number) for number in range(200)))
    assert (len(sink.results), len(dict(sink.results))) == (200, 200)
    assert 1 < sink.most_waiting <= most
