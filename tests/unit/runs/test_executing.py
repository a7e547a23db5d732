"""Runs that execute programs, in this process with a scripted sandbox: stored outcomes and how runs end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.background import stored
from tests.coding import ScriptedSandbox, make_code_project
from tests.helpers import make_project
from workbench.coding.problems import results
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.trust import UnsafeError
from workbench.core.code import Execution, Failure, Program
from workbench.core.errors import RunError, UsageError, VerifierError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection, parse_condition
from workbench.runs import executing, runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.store import runs, verdicts
from workbench.runs.trust import NotTrustedError
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import pause, resume, start
from workbench.verifiers.execution import levels

SOLUTIONS: dict[str, list[dict[str, Any]]] = {
    "add": [{"completion": text} for text in ("pp", "pf", "ss", "die")],
    "double": [{"completion": "p"}, {"completion": "e"}],
    "prose": [{"completion": "It is 7."}],
}


def outcome(program: Program, seed: int) -> Execution:
    """A solution's text is the letters that come of it; "die" takes the harness along, "seed" follows the seed."""
    if program.source == "die":
        return Execution(outcomes="n" * len(program.tests), level="L3", harness_killed=True)
    letters = ("p" if seed % 2 == 0 else "f") * 9 if program.source == "seed" else program.source * 9
    letters = letters[: len(program.tests)]
    failures = tuple(Failure(position=n, outcome=letter) for n, letter in enumerate(letters) if letter != "p")
    return Execution(outcomes=letters, level="L3", forgeable=letters.count("p"), ms=1.5, failures=failures)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedSandbox]:
    """The sandboxes that were opened."""
    made: list[ScriptedSandbox] = []

    def pool(level: Any, workers: int, *, settings: Any) -> ScriptedSandbox:
        made.append(ScriptedSandbox(level, workers, settings, outcome))
        return made[-1]

    monkeypatch.setattr(executing, "SandboxPool", pool)
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L3")
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    monkeypatch.setattr(runner, "_POLL_S", 0.0)
    return made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    made = make_code_project(tmp_path, SOLUTIONS)
    yield made
    made.close()


@pytest.fixture
def lease(project: Project, opened: list[ScriptedSandbox]) -> Lease:
    """Claim the database for this process so that no front end starts a runner."""
    return claimed(project)


def claimed(project: Project) -> Lease:
    made = Lease.acquire(project.database)
    assert made is not None
    return made


def work(project: Project, lease: Lease) -> None:
    Runner(project.database, lease).work()


def ran(project: Project, lease: Lease, **options: str) -> RunInfo:
    info = start(project, "execution", options)
    work(project, lease)
    return run_info(project, info.run)


def outcomes(project: Project, **asked: Any) -> dict[str, str]:
    return {line.completion_id: line.outcomes for line in results(project, **asked)}


def test_every_item_gets_its_verdict_and_every_solution_its_outcomes(
    project: Project, lease: Lease, opened: list[ScriptedSandbox]
) -> None:
    info = ran(project, lease)
    assert (info.state, info.verdicts) == ("complete", {"correct": 2, "incorrect": 3, "abstain": 1, "error": 1})
    lines = {line.completion_id: line for line in verdict_lines(project, "execution")}
    assert [lines[f"add/{n}"].reason for n in range(4)] == ["tests_passed", "assertion", "syntax", "harness_killed"]
    assert (lines["prose/0"].verdict, lines["prose/0"].reason) == ("abstain", "no_tests")
    assert (lines["add/1"].score, lines["add/1"].rule) == (0.5, "test.base.2")
    assert outcomes(project) == {
        "add/0": "pp",
        "add/1": "pf",
        "add/2": "ss",
        "double/0": "p",
        "double/1": "e",
    }
    (pool,) = opened
    assert (pool.level, pool.workers, pool.closed) == ("L3", info.workers, True)


def test_a_line_has_all_outcomes_of_a_solution(project: Project, lease: Lease) -> None:
    ran(project, lease)
    line = next(results(project))
    assert (line.task_id, line.solution_id, line.completion_id, line.dataset) == ("add", "0", "add/0", "code")
    assert (line.verifier, line.suite, line.outcomes, line.passed, line.total) == ("execution", "base", "pp", 2, 2)
    assert (line.score, line.isolation, line.forgeable, line.ms) == (1.0, "L3", 2, 1.5)


def test_several_suites_make_one_verdict_and_a_line_each(project: Project, lease: Lease) -> None:
    info = ran(project, lease, suite="base,plus")
    assert (info.verdicts or {})["correct"] == 2
    lines = [(line.completion_id, line.suite, line.outcomes) for line in results(project)]
    assert lines[:4] == [
        ("add/0", "base", "pp"),
        ("add/0", "plus", "p"),
        ("add/1", "base", "pf"),
        ("add/1", "plus", "p"),
    ]
    assert [line for line in lines if line[0].startswith("double") and line[1] == "plus"] == []
    scores = {line.completion_id: line.score for line in verdict_lines(project, "execution")}
    assert (scores["add/1"], scores["double/0"]) == (2 / 3, 1.0)
    assert {line.suite for line in results(project, suite="plus")} == {"plus"}


def test_a_solution_that_was_not_run_has_no_line(project: Project, lease: Lease) -> None:
    info = start(project, "execution", selection=Selection((parse_condition("question_id=add"),), 2))
    found = results(project)
    assert list(found) == []
    assert [one.solutions for one in found.left_out.not_run] == [2]
    work(project, lease)
    again = start_again(project)
    assert again.run == info.run
    assert outcomes(project) == {"add/0": "pp", "add/1": "pf"}
    assert outcomes(project, selection=Selection((parse_condition("question_id=double"),))) == {}


def start_again(project: Project) -> RunInfo:
    claimed(project)
    return start(project, "execution")


def test_other_hash_seeds_are_stored_as_votes(
    project: Project, lease: Lease, opened: list[ScriptedSandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "_TEXTS_PER_READ", 3)
    with project.database.write() as connection:
        connection.execute("UPDATE completion_text SET text = 'seed' WHERE text = 'ss'")
    info = ran(project, lease, hash_seeds="3")
    assert (info.state, info.done) == ("complete", 7)
    assert [pool.settings.hash_seed for pool in opened] == [0, 1, 2]
    rows = project.database.reader().execute(
        "SELECT c.key, group_concat(v.outcome, '') FROM verdicts AS v JOIN completions AS c ON c.id = v.completion_id "
        "GROUP BY c.key ORDER BY c.id"
    )
    assert dict(rows.fetchall()) == {
        "add/0": "1111",
        "add/1": "0000",
        "add/2": "1101",
        "add/3": "3333",
        "double/0": "1111",
        "double/1": "0000",
        "prose/0": "2",
    }
    lines = {line.completion_id: line for line in verdict_lines(project, "execution")}
    assert lines["add/2"].reason == "unstable"
    assert lines["add/0"].reason == "tests_passed"
    assert outcomes(project)["add/2"] == "pp"


def test_pausing_closes_the_sandbox_and_resuming_repeats_nothing(
    project: Project, lease: Lease, opened: list[ScriptedSandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "_GROUP_S", -1.0)
    info = start(project, "execution")
    with project.database.write() as connection:
        runs.take_next(connection)
    raise_if_cancelled = executing._ResultGroup.store_if_due

    def pause_then_check(desk: executing._ResultGroup) -> None:
        if len(stored(project, info.run)) == 2:
            pause(project, info.run)
        raise_if_cancelled(desk)

    with monkeypatch.context() as patched:
        patched.setattr(executing._ResultGroup, "store_if_due", pause_then_check)
        work(project, lease)
    assert opened[0].closed
    assert run_info(project, info.run).state == "paused"
    assert len(stored(project, info.run)) == 2
    claimed_again = claimed(project)
    resume(project, info.run)
    work(project, claimed_again)
    assert run_info(project, info.run).state == "complete"
    taken = opened[0].ran + opened[1].ran
    # The third was on its way when the run was paused.
    assert sorted(taken) == sorted([*(row["completion"] for key in ("add", "double") for row in SOLUTIONS[key]), "ss"])


def test_verdict_and_outcomes_are_committed_together(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr(verdicts, "put_outcomes", broken)
    info = ran(project, lease)
    assert info.state == "failed"
    assert stored(project, info.run) == set()


def test_errors_are_retracted_with_their_outcomes(project: Project, lease: Lease) -> None:
    info = ran(project, lease)
    with project.database.write() as connection:
        connection.execute("UPDATE completion_text SET text = 'pp' WHERE text = 'die'")
    again = claimed(project)
    resume(project, info.run, retry_errors=True)
    work(project, again)
    assert outcomes(project)["add/3"] == "pp"
    assert (run_info(project, info.run).verdicts or {})["error"] == 0


def test_solutions_that_ran_out_of_time_are_counted_and_run_again(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that first fails for another reason; solutions that failed only for another reason stay."""

    def slow(program: Program, seed: int) -> Execution:
        letters, told = {"pp": ("pt", "timeout: cpu, 3 s"), "pf": ("ft", "timeout: wall, 30 s")}.get(
            program.source, ("", "")
        )
        if not letters:
            return scripted(program, seed)
        return Execution(outcomes=letters, level="L3", failures=(Failure(position=1, outcome="t", message=told),))

    scripted = outcome
    monkeypatch.setattr(f"{__name__}.outcome", slow)
    info = ran(project, lease)
    assert info.timeouts == {"cpu": 1, "wall": 1}
    before = outcomes(project)
    monkeypatch.setattr(f"{__name__}.outcome", scripted)
    again = claimed(project)
    assert resume(project, info.run, retry_timeouts=True).done == info.done - 2
    work(project, again)
    ended = run_info(project, info.run)
    assert (ended.done, ended.timeouts) == (info.done, {})
    changed = {key for key, letters in outcomes(project).items() if before[key] != letters}
    assert len(changed) == 2


def test_outcomes_record_their_provenance(project: Project, lease: Lease) -> None:
    info = ran(project, lease, extractor="lines")
    (found,) = runs.of_run(project.database.reader(), info.run)
    assert (found.interpreter, found.level, found.hash_seed) == ("CPython 3.11.0 (scripted)", "L3", 0)
    assert found.extractor == "lines-1"
    assert run_info(project, info.run).provenance == [found]
    assert run_info(project, info.run).isolations == {"L3": 5}


def test_limits_only_need_consent_each_time(project: Project, lease: Lease, opened: list[ScriptedSandbox]) -> None:
    with pytest.raises(UnsafeError, match="--allow-unsafe-execution"):
        start(project, "execution", {"isolation": "L1"})
    info = start(project, "execution", {"isolation": "L1"}, allow_unsafe=True)
    work(project, lease)
    assert run_info(project, info.run).isolations == {"L1": 5}
    with pytest.raises(UnsafeError):
        start(project, "execution", {"isolation": "L1"})


def test_limits_only_as_the_best_level_need_consent_too(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L1")
    with pytest.raises(UnsafeError):
        start(project, "execution")
    with pytest.raises(RunError, match="Isolation L2 is not available on this machine; L1 is"):
        start(project, "execution", {"isolation": "L2"})


def test_a_run_with_limits_only_needs_consent_to_resume(
    project: Project, lease: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[ScriptedSandbox]
) -> None:
    info = start(project, "execution", {"isolation": "L1"}, allow_unsafe=True)
    # The database is opened by another user, who has consented to nothing.
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "somebody-else"))
    work(project, lease)
    paused = run_info(project, info.run)
    assert (paused.state, opened) == ("paused", [])
    assert "--allow-unsafe-execution" in (paused.message or "")
    again = claimed(project)
    resume(project, info.run, allow_unsafe=True)
    work(project, again)
    assert run_info(project, info.run).state == "complete"


def test_an_interpreter_named_by_the_database_needs_consent(
    project: Project, lease: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[ScriptedSandbox]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/false\n")
    start(project, "execution", {"python": str(python)}, "odd")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "somebody-else"))
    work(project, lease)
    assert (run_info(project, 1).state, opened) == ("paused", [])
    with pytest.raises(NotTrustedError, match="interpreter"):
        start(project, "odd")


def test_a_writable_folder_is_rejected_by_name_below_l3(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch, opened: list[ScriptedSandbox]
) -> None:
    monkeypatch.setattr(levels, "_require_held_scratch", lambda: None)
    info = start(project, "execution", {"scratch": "16MB"}, "files")
    # The machine that goes on with it has no namespaces.
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L2")
    work(project, lease)
    ended = run_info(project, info.run)
    assert (ended.state, ended.done, opened) == ("failed", 0, [])
    assert "Only isolation L3 has a scratch folder, not L2" in (ended.message or "")
    with pytest.raises(VerifierError, match="Only isolation L3 has a scratch folder, not L2"):
        start(project, "execution", {"scratch": "8"}, "again")


def test_a_writable_folder_is_passed_to_the_sandbox(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch, opened: list[ScriptedSandbox]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(levels, "_require_held_scratch", lambda: asked.append("held"))
    with project.database.write() as connection:
        connection.execute("UPDATE code_problems SET language = 'javascript' WHERE setup = ''")
    assert ran(project, lease, scratch="16MB").state == "complete"
    assert [one.settings.scratch_bytes for one in opened] == [16 * 2**20]
    assert asked == ["held", "held"], "before it is queued, and by whoever runs it"
    lines = {line.completion_id: line for line in verdict_lines(project, "execution")}
    assert (lines["double/0"].reason, lines["add/0"].reason) == ("no_runner", "tests_passed")
    assert "no scratch folder" in (lines["double/0"].detail or "")


def test_an_unknown_suite_is_rejected(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Suites: base, plus"):
        start(project, "execution", {"suite": "base,plos"})
    (tmp_path / "other").mkdir()
    with closing(make_project(tmp_path / "other")) as other, pytest.raises(UsageError, match="Import problems"):
        start(other, "execution")


def test_problems_are_read_in_small_parts(project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_TEXTS_PER_READ", 2)
    monkeypatch.setattr(executing, "_MAX_CACHED_PROBLEMS", 0)
    monkeypatch.setattr(executing, "MAX_GROUP_SOLUTIONS", 2)
    assert ran(project, lease).done == 7
    assert outcomes(project)["double/1"] == "e"


@pytest.mark.parametrize(("language", "options"), [("klingon", {}), ("javascript", {"isolation": "L2"})])
def test_items_in_an_unavailable_language_are_errors(
    project: Project, lease: Lease, monkeypatch: pytest.MonkeyPatch, language: str, options: dict[str, str]
) -> None:
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L2")
    with project.database.write() as connection:
        connection.execute("UPDATE code_problems SET language = ? WHERE setup = ''", (language,))
    info = ran(project, lease, **options)
    assert (info.state, (info.verdicts or {})["error"]) == ("complete", 3)
    lines = {line.completion_id: line for line in verdict_lines(project, "execution")}
    assert lines["double/0"].reason == "no_runner"
    assert language in (lines["double/0"].detail or "")
    found = results(project)
    assert {line.completion_id for line in found} == {f"add/{number}" for number in range(3)}
    assert [(one.solutions, one.killed) for one in found.left_out.not_run] == [(3, 1)]
