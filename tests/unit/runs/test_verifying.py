"""Runs as front ends see them, with the real runner in its own process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import hurry, install_plugin, kill, runner_ends, runner_pid, stored, until, until_writing
from tests.helpers import add_items, make_project, numbered
from workbench.core.errors import RunError, UsageError, VerifierError
from workbench.core.project import Project, open_project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection, parse_condition
from workbench.runs import run_status, verdict_files, verifying
from workbench.runs.run_status import Watch, run_info, runs, wait
from workbench.runs.verifying import start
from workbench.verifiers.text import exact

ITEMS = 1200


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as made:
        yield made


@pytest.fixture
def other(project: Project) -> Iterator[Project]:
    """The same database in a second front end."""
    opened = open_project(project.path)
    yield opened
    opened.close()


def check(project: Project) -> None:
    reader = project.database.reader()
    assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_name_is_bound_to_one_configuration(project: Project) -> None:
    info = start(project, "slow", {"ms": "0"}, selection=Selection((), 1))
    assert wait(project, info.run).state == "complete"
    with pytest.raises(UsageError, match=r"'slow' has another configuration: ms is 0.0, not 50.0") as refused:
        start(project, "slow")
    assert "--name" in refused.value.hint
    own = start(project, "slow", {"ms": "1"}, name="slower", selection=Selection((), 1))
    assert own.run != info.run
    again = start(project, "slower", selection=Selection((), 1))
    assert (again.run, again.kind, again.verifier) == (own.run, "slow", "slower")
    with pytest.raises(UsageError, match="it is slow, not exact"):
        start(project, "exact", name="slower")
    kinds = {kind.name: kind for kind in verifying.kinds(project)}
    assert [named.name for named in kinds["slow"].configured] == ["slow", "slower"]
    assert kinds["slow"].configured[0].options == {"ms": "0"}
    assert kinds["exact"].configured == []


def test_a_run_that_cannot_start_stores_nothing(project: Project) -> None:
    with pytest.raises(UsageError, match="no verifier named 'exakt'"):
        start(project, "exakt")
    with pytest.raises(UsageError, match="no option 'colour'"):
        start(project, "slow", {"colour": "red"})
    with pytest.raises(UsageError, match="'odd' is not a valid state"):
        start(project, "exact", selection=Selection((parse_condition("state=odd"),)))
    with pytest.raises(UsageError, match="its own verdicts"):
        start(project, "exact", selection=Selection((parse_condition("verdict:exact=none"),)))
    with pytest.raises(UsageError, match="not a valid verifier name"):
        start(project, "exact", name="a=b")
    assert verifying.configured(project) == []
    assert run_status.runs(project) == []


def test_a_new_version_is_a_new_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    old = start(project, "exact", selection=Selection((), 2))
    wait(project, old.run)
    monkeypatch.setattr(exact, "version", "2")
    new = start(project, "exact", selection=Selection((), 2))
    assert new.run != old.run
    assert (new.version, new.reused) == ("2", 0)
    # The runner's process has version 1.
    failed = wait(project, new.run)
    assert failed.state == "failed"
    assert {line.run for line in verdict_files.verdict_lines(project, "exact")} == {old.run}
    assert list(verdict_files.verdict_lines(project, "exact", new.run)) == []


def test_a_run_on_a_field_of_an_earlier_version_is_started_again_on_other_items(project: Project) -> None:
    info = start(project, "exact", selection=Selection((), 3))
    wait(project, info.run)
    with project.database.write() as connection:
        old = '{"conditions":[{"field":"shard","operator":"=","value":"1/3"}],"limit":null}'
        connection.execute("UPDATE runs SET selection = ?, state = 'paused' WHERE id = ?", (old, info.run))
    assert run_info(project, info.run).selection == "shard=1/3"
    with pytest.raises(UsageError, match="'shard'") as refused:
        verifying.resume(project, info.run)
    assert "verify DB VERIFIER" in refused.value.hint
    again = start(project, "exact", selection=Selection((), 5))
    assert (again.run, again.reused) == (info.run, 3)
    assert wait(project, again.run).state == "complete"


def test_verdicts_of_an_unknown_verifier_name_the_known_ones(project: Project) -> None:
    with pytest.raises(UsageError, match="'ghost'") as unknown:
        verdict_files.verdict_lines(project, "ghost")
    assert "none has been run" in unknown.value.hint
    info = start(project, "exact", selection=Selection((), 1))
    wait(project, info.run)
    with pytest.raises(UsageError, match="'ghost'") as unknown:
        verdict_files.verdict_lines(project, "ghost")
    assert "exact" in unknown.value.hint
    with pytest.raises(UsageError, match="no run 9"):
        verdict_files.verdict_lines(project, "exact", 9)


def test_an_empty_selection_stores_no_run_and_starts_no_runner(project: Project) -> None:
    with pytest.raises(UsageError, match="No item has the dataset 'none'"):
        start(project, "exact", selection=Selection((parse_condition("dataset=none"),)))
    assert runs(project) == []
    assert runner_pid(project) is None


def test_a_start_joins_the_active_run(project: Project, other: Project) -> None:
    info = start(project, "slow")
    until_writing(project, info.run, ITEMS)
    joined = start(other, "slow")
    assert joined.run == info.run
    with pytest.raises(RunError, match="active on other items") as refused:
        start(other, "slow", selection=Selection((), 5))
    assert f"cancel {info.run}" in refused.value.hint
    seen: list[RunInfo] = []

    def see(look: RunInfo) -> None:
        seen.append(look)
        if look.rate is not None:
            hurry()

    ended = wait(other, joined.run, see)
    assert (ended.state, ended.done) == ("complete", ITEMS)
    assert [look.done for look in seen] == sorted(look.done for look in seen)
    assert any(look.rate is not None for look in seen)
    assert run_info(project, info.run).verdicts == {"correct": ITEMS, "incorrect": 0, "abstain": 0, "error": 0}


@pytest.mark.soak
def test_pause_cancel_and_resume_from_two_front_ends(project: Project, other: Project) -> None:
    info = start(project, "slow-apart", workers=2)
    until_writing(project, info.run, ITEMS)
    verifying.pause(other, info.run)
    assert verifying.wait_for_request(project, info.run).state == "paused"
    kept = stored(project, info.run)
    assert verifying.resume(project, info.run).state in ("queued", "running")
    until_writing(other, info.run, ITEMS)
    verifying.cancel(project, info.run)
    assert verifying.wait_for_request(other, info.run).state == "cancelled"
    assert kept < stored(project, info.run)
    assert verifying.cancel(other, info.run).state == "cancelled"
    with pytest.raises(RunError, match="nothing to pause"):
        verifying.pause(project, info.run)
    verifying.resume(other, info.run)
    hurry()
    assert wait(project, info.run).done == ITEMS


def test_without_a_runner_the_front_end_updates_the_run_itself(project: Project) -> None:
    info = start(project, "slow")
    kill(until_writing(project, info.run, ITEMS))
    assert not run_info(project, info.run).alive
    assert verifying.pause(project, info.run).state == "paused"
    assert verifying.cancel(project, info.run).state == "cancelled"
    assert runner_pid(project) is None


def test_killed_runners_lose_and_repeat_nothing(project: Project, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    kept: set[int] = set()
    read = 0
    for _ in range(3):
        info = start(project, "slow", {"journal": str(journal)})
        kill(until_writing(project, info.run, ITEMS))
        asked = journal.read_text().split("\n")
        # No request stored before the runner started was repeated, and nothing stored was lost.
        assert not kept & {int(item) for item in asked[read:] if item}
        assert kept < stored(project, info.run)
        kept, read = stored(project, info.run), len(asked) - 1
        assert set(range(1, len(kept) + 1)) == kept
    hurry()
    ended = wait(project, info.run)
    assert (ended.state, ended.done) == ("complete", ITEMS)
    assert not kept & {int(item) for item in journal.read_text().split("\n")[read:] if item}
    check(project)


def test_waiting_starts_another_runner(project: Project) -> None:
    info = start(project, "slow-apart", workers=2)
    pids: list[int] = []

    def kill_once(look: RunInfo) -> None:
        if not pids and look.done:
            pids.append(until_writing(project, info.run, ITEMS))
            kill(pids[0])
            hurry()

    ended = wait(project, info.run, kill_once)
    assert (ended.state, len(stored(project, info.run))) == ("complete", ITEMS)
    assert pids
    assert runner_pid(project) not in pids
    check(project)


def test_a_terminated_runner_leaves_its_run_queued(project: Project) -> None:
    info = start(project, "slow")
    kill(until_writing(project, info.run, ITEMS), signal.SIGTERM)
    left = run_info(project, info.run)
    assert (left.state, left.alive) == ("queued", False)
    assert 0 < left.done < ITEMS
    hurry()
    assert wait(project, info.run).done == ITEMS


@pytest.mark.soak
def test_a_verifier_that_keeps_killing_the_runner_fails(project: Project) -> None:
    add_items(project.database, [{"dataset": "moods", "completion": "crash"}])
    info = start(project, "moody-inline", selection=Selection((parse_condition("dataset=moods"),)))
    with pytest.raises(RunError, match="without a new verdict"):
        wait(project, info.run)
    assert run_info(project, info.run).state == "failed"


def test_a_plugin_that_hangs_and_crashes_is_survived(project: Project) -> None:
    moods = ["fine", "hang", "crash", "raise", "fine"]
    add_items(project.database, [{"dataset": "moods", "completion": mood} for mood in moods])
    info = start(project, "moody", selection=Selection((parse_condition("dataset=moods"),)))
    assert wait(project, info.run).state == "complete"
    found = [(line.verdict, line.reason) for line in verdict_files.verdict_lines(project, "moody")]
    assert found == [
        ("correct", None),
        ("abstain", "timeout"),
        ("abstain", "worker_died"),
        ("error", "internal"),
        ("correct", None),
    ]


def test_a_broken_plugin_is_listed_with_the_reason(project: Project, tmp_path: Path) -> None:
    points = next((tmp_path / "site").glob("*.dist-info/entry_points.txt"))
    points.write_text(points.read_text() + "broken = no_such_module:Broken\n")
    kinds = {kind.name: kind for kind in verifying.kinds(project)}
    assert kinds["broken"].broken is not None
    assert kinds["broken"].version is None
    with pytest.raises(VerifierError, match="can't be imported"):
        start(project, "broken")


def test_runs_are_listed_with_their_pace(project: Project) -> None:
    start(project, "exact", selection=Selection((), 3))
    slow = start(project, "slow")
    watch = Watch(project)
    seen: list[RunInfo] = []

    def has_pace() -> bool:
        # The snapshot is compared, because the run continues and may already be over.
        seen[:] = watch.runs()
        return any(info.rate for info in seen)

    until(has_pace)
    exact, at_work = seen
    assert (exact.state, exact.items, exact.done, exact.pid) == ("complete", 3, 3, None)
    assert (at_work.run, at_work.state, at_work.pid) == (slow.run, "running", runner_pid(project))
    assert at_work.alive
    assert at_work.heartbeat is not None
    verifying.cancel(project, slow.run)
