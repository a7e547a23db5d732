"""The runner in this process: what ends a run, and what must not end the runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.background import install_plugin, stored
from tests.helpers import add_items, make_project, numbered
from tests.servers.scripted import scripted
from workbench.config import trust
from workbench.core.project import Project, open_project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, Verdict
from workbench.runs import local, runner, verifying
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.local import judge_locally
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.store import runs as rows
from workbench.runs.store import verdicts
from workbench.runs.verdict_files import verdict_counts, verdict_lines
from workbench.runs.verifying import cancel, pause, resume, start
from workbench.verifiers.judges.verifier import LlmJudge


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    monkeypatch.setattr(runner, "_POLL_S", 0.0)


@pytest.fixture
def lease(tmp_path: Path) -> Iterator[Lease]:
    """Claim the database for this process so that no front end starts a runner."""
    project = make_project(tmp_path, numbered(30))
    made = Lease.acquire(project.database)
    assert made is not None
    yield made
    project.close()


@pytest.fixture
def project(lease: Lease, tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db")
    yield opened
    opened.close()


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)


def work(project: Project, lease: Lease) -> None:
    Runner(project.database, lease).work()


def put_run(project: Project, kind: str, version: str = "1") -> int:
    """A queued run as another version of this program could have left it."""
    with project.database.write() as connection:
        made = rows.add_verifier(connection, name=kind, kind=kind, options={}, config={}, config_hash="other")
        run = rows.add(connection, made, version)
        rows.queue(connection, run, Selection(), 30, 2)
    return run


def test_a_run_ends_complete_with_every_verdict(project: Project, lease: Lease) -> None:
    info = start(project, "exact")
    work(project, lease)
    ended = run_info(project, info.run)
    assert (ended.state, ended.items, ended.done, ended.verdicts, ended.reasons) == (
        "complete",
        30,
        30,
        {"correct": 15, "incorrect": 15, "abstain": 0, "error": 0},
        {"text_equal": 15, "text_differs": 15},
    )
    assert ended.completed_at is not None
    line = next(verdict_lines(project, "exact"))
    assert (line.question_id, line.completion_id, line.verdict, line.dataset) == ("q0", "c0", "correct", "sample")
    assert (line.reference_final, line.candidate_final) == ("7", "7")
    assert line.candidate_span is not None
    assert r"So \boxed{7}."[slice(*line.candidate_span)] == "7"
    assert line.ms > 0


def test_new_items_extend_the_same_run(project: Project, lease: Lease) -> None:
    first = start(project, "exact")
    work(project, lease)
    add_items(project.database, numbered(4, dataset="more"))
    again = _after_new_lease(project, lambda: start(project, "exact"))
    assert (again.run, again.items, again.done, again.selected, again.reused) == (first.run, 34, 30, 34, 30)
    ended = run_info(project, first.run)
    assert (ended.state, ended.done, len(stored(project, first.run))) == ("complete", 34, 34)


def _after_new_lease(project: Project, act: Callable[[], RunInfo]) -> RunInfo:
    """Claim the database again (the runner gave it up when idle), act, and work."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = act()
    work(project, lease)
    return info


def test_a_resumed_run_includes_new_items(project: Project, lease: Lease) -> None:
    first = start(project, "exact")
    work(project, lease)
    add_items(project.database, numbered(4, dataset="more"))
    _after_new_lease(project, lambda: resume(project, first.run))
    assert run_info(project, first.run).done == 34


def test_only_the_selection_is_judged(project: Project, lease: Lease) -> None:
    selection = Selection((parse_condition("gold=correct"),), 5)
    info = start(project, "exact", selection=selection)
    work(project, lease)
    assert (info.items, info.selected) == (5, 5)
    assert [line.completion_id for line in verdict_lines(project, "exact")] == ["c0", "c2", "c4", "c6", "c8"]
    assert verdict_counts(project, info.run, selection)["correct"] == 5


def test_a_limit_counts_judged_items(project: Project, lease: Lease) -> None:
    start(project, "exact", selection=Selection((), 3))
    work(project, lease)
    again = _after_new_lease(project, lambda: start(project, "exact", selection=Selection((), 5)))
    assert (again.selected, again.reused) == (5, 3)
    assert len(stored(project, again.run)) == 5


def test_a_limit_can_end_at_a_window_boundary(project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_WINDOW", 4)
    monkeypatch.setattr(verdicts, "_TEXTS_PER_READ", 3)
    monkeypatch.setattr(local, "MAX_GROUP_VERDICTS", 2)
    info = start(project, "exact", selection=Selection((parse_condition("gold=correct"),), 7))
    work(project, lease)
    assert len(stored(project, info.run)) == 7
    _after_new_lease(project, lambda: start(project, "exact"))
    assert stored(project, info.run) == set(range(1, 31))


@pytest.mark.few(4)
@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("verifier", ["moody", "moody-inline"])
@pytest.mark.parametrize(
    ("deed", "detail"),
    [
        ("raise", "ValueError: no such thing"),
        ("nonsense", "the verifier returned a str instead of a Verdict"),
    ],
)
def test_an_exception_or_invalid_result_is_an_error_verdict(
    project: Project, lease: Lease, verifier: str, deed: str, detail: str
) -> None:
    add_items(project.database, [{"dataset": "moods", "completion": mood} for mood in (deed, "fine")])
    info = start(project, verifier, selection=Selection((parse_condition("dataset=moods"),)))
    work(project, lease)
    line, _ = verdict_lines(project, verifier)
    assert (line.verdict, line.reason, line.detail) == ("error", "internal", detail)
    assert run_info(project, info.run).state == "complete"


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("verifier", ["moody", "moody-inline"])
def test_a_run_whose_items_all_fail_inside_the_verifier_is_not_complete(
    project: Project, lease: Lease, verifier: str
) -> None:
    add_items(project.database, [{"dataset": "moods", "completion": "raise"} for _ in range(3)])
    info = start(project, verifier, selection=Selection((parse_condition("dataset=moods"),)))
    work(project, lease)
    ended = run_info(project, info.run)
    assert (ended.state, ended.done, ended.message) == (
        "failed",
        0,
        "Every item failed inside the verifier: ValueError: no such thing",
    )


@pytest.mark.usefixtures("plugin")
def test_a_run_that_fails_does_not_stop_the_next(project: Project, lease: Lease) -> None:
    add_items(project.database, [{"dataset": "moods", "completion": "no memory"}])
    failing = start(project, "moody-inline")
    next_one = start(project, "exact")
    work(project, lease)
    failed = run_info(project, failing.run)
    assert failed.state == "failed"
    assert failed.message is not None
    assert "p.db.runner.log" in failed.message
    assert failed.completed_at is None
    assert run_info(project, next_one.run).state == "complete"


@pytest.mark.parametrize(
    ("kind", "version", "message"),
    [("gone", "1", "no verifier named 'gone'"), ("exact", "0", "The run is of exact 0; version 1 is installed")],
)
def test_a_changed_verifier_fails_its_run(
    project: Project, lease: Lease, kind: str, version: str, message: str
) -> None:
    run = put_run(project, kind, version)
    work(project, lease)
    failed = run_info(project, run)
    assert (failed.state, failed.done) == ("failed", 0)
    assert message in (failed.message or "")


def test_a_prompt_changed_during_a_run_is_named_and_not_used(project: Project, lease: Lease, tmp_path: Path) -> None:
    prompt = tmp_path / "copy" / "prompt" / "w_ref.txt"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("{question}{answer}{completion}")
    with scripted(lambda _: "Yes") as server:
        options = {"published": str(tmp_path / "copy"), "base_url": server.url, "model": "m"}
        run = start(project, "llm-judge", options).run
        prompt.write_text("Other: {question}{answer}{completion}")
        trust.accept_grants(project.path, trust.grants_of(LlmJudge(**options).servers(), options))
        work(project, lease)
        failed = run_info(project, run)
        assert (failed.state, failed.done, server.received) == ("failed", 0, [])
        assert "changed since the run was started: template_sha256 is " in (failed.message or "")
        prompt.write_text("{question}{answer}{completion}")
        again = Lease.acquire(project.database)
        assert again is not None
        assert start(project, "llm-judge", options).run == run
        work(project, again)
        assert run_info(project, run).state == "complete"


def test_a_stored_verdict_is_never_overwritten(project: Project, lease: Lease) -> None:
    info = start(project, "exact", selection=Selection((), 1))
    work(project, lease)
    with pytest.raises(Exception, match="UNIQUE"), project.database.write() as connection:
        verdicts.put(connection, info.run, [(1, Verdict(outcome=Outcome.ERROR))])
    assert [line.verdict for line in verdict_lines(project, "exact")] == ["correct"]


@pytest.mark.few(4)
@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(("ask", "state"), [(pause, "paused"), (cancel, "cancelled")])
@pytest.mark.parametrize("kind", ["slow", "slow-apart"])
def test_a_request_stops_the_run_and_resume_continues_it(
    project: Project, lease: Lease, kind: str, ask: Callable[[Project, int], RunInfo], state: str
) -> None:
    info = start(project, kind, workers=2)
    with project.database.write() as connection:
        rows.take_next(connection)
    assert ask(project, info.run).request is not None
    work(project, lease)
    stopped = run_info(project, info.run)
    assert (stopped.state, stopped.request, stopped.completed_at) == (state, None, None)
    _after_new_lease(project, lambda: resume(project, info.run))
    assert run_info(project, info.run).state == "complete"
    assert len(stored(project, info.run)) == 30


def test_items_imported_during_the_scan_are_judged_too(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = start(project, "exact")
    judge, joined = judge_locally, list[RunInfo]()

    def judge_and_import(*arguments: Any) -> None:
        judge(*arguments)
        if not joined:
            add_items(project.database, numbered(4, dataset="more"))
            joined.append(start(project, "exact"))

    monkeypatch.setattr(runner, "judge_locally", judge_and_import)
    work(project, lease)
    assert (joined[0].run, joined[0].state, joined[0].selected) == (info.run, "running", 34)
    ended = run_info(project, info.run)
    assert (ended.state, ended.items, ended.done, len(stored(project, info.run))) == ("complete", 34, 34, 34)


@pytest.mark.parametrize(("ask", "state"), [(pause, "paused"), (cancel, "cancelled")])
def test_a_replaced_runner_changes_nothing_when_it_wakes(
    project: Project,
    lease: Lease,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Project, int], RunInfo],
    state: str,
) -> None:
    info = start(project, "exact")
    judge = judge_locally

    def judge_and_stall(*arguments: Any) -> None:
        judge(*arguments)
        # Its lock was deleted.
        lease.release()
        assert ask(project, info.run).state == state

    monkeypatch.setattr(runner, "judge_locally", judge_and_stall)
    with pytest.raises(LeaseLost):
        work(project, lease)
    assert run_info(project, info.run).state == state


def test_a_runner_whose_run_was_requeued_changes_nothing(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = start(project, "exact", selection=Selection((), 3))
    judge = judge_locally

    def judge_and_stall(*arguments: Any) -> None:
        judge(*arguments)
        lease.release()
        start(project, "exact")

    monkeypatch.setattr(runner, "judge_locally", judge_and_stall)
    monkeypatch.setattr(verifying, "ensure_runner", lambda _: None)
    with pytest.raises(LeaseLost):
        work(project, lease)
    left = run_info(project, info.run)
    assert (left.state, left.done, left.items) == ("queued", 3, 30)


def test_unreadable_items_fail_the_run(project: Project, lease: Lease) -> None:
    with project.database.write() as connection:
        connection.execute("DELETE FROM completion_text WHERE id = 7")
    info = start(project, "exact")
    work(project, lease)
    ended = run_info(project, info.run)
    assert (ended.state, ended.done) == ("failed", 29)
    assert "doctor" in (ended.message or "")
