"""Merging runs of other machines on the same items: equal to one run, idempotent, and nothing else."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from copy import copy
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.background import install_plugin
from tests.coding import ScriptedSandbox, make_code_project, ran
from tests.helpers import make_project, numbered
from tests.killed_steps import When, killer
from tests.served_runs import here_on, rows
from tests.servers.scripted import scripted
from workbench.core.code import CodeTest, Execution, Failure, Problem, Program
from workbench.core.errors import RunError, StoreError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, Shard
from workbench.interchange.merging import merge_runs, report_lines
from workbench.measuring.accuracy import accuracy
from workbench.runs import executing, runner
from workbench.runs.run_status import run_info
from workbench.runs.store import runs as stored_runs
from workbench.verifiers.execution import levels
from workbench.verifiers.rules.verifier import RULE_VERSION

SHARES = 3
RUN = "JOIN runs AS r ON r.id = x.run_id JOIN verifiers AS v ON v.id = r.verifier_id"
COUNTED = (
    "SELECT v.name, v.kind, v.config, v.config_hash, r.version, r.selection, r.state, r.items FROM runs AS r "
    "JOIN verifiers AS v ON v.id = r.verifier_id ORDER BY 1",
    f"SELECT v.name, completion_id, sample, outcome, score, reason FROM verdicts AS x {RUN} ORDER BY 1, 2, 3",
    "SELECT v.name, completion_id, sample, reference_final, candidate_final, span_start, span_end, detail, rule, "
    f"reference_start, reference_end FROM verdict_evidence AS x {RUN} ORDER BY 1, 2, 3",
    f"SELECT v.name, completion_id, suite, outcomes, isolation, forgeable, failures FROM test_results AS x {RUN} "
    "ORDER BY 1, 2, 3",
    f"SELECT v.name, completion_id, trace FROM verdict_traces AS x {RUN} ORDER BY 1, 2",
    f"SELECT v.name, completion_id, position, q.body, y.body, step, role, reused FROM verdict_calls AS x {RUN} "
    "JOIN responses AS y ON y.id = x.response_id JOIN requests AS q ON q.id = y.request_id ORDER BY 1, 2, 3",
    f"SELECT v.name, x.completion_id, x.key, x.state FROM attempts AS x {RUN} ORDER BY 1, 2, 3",
    f"SELECT v.name, document FROM provenance AS x {RUN} ORDER BY 1",
)
EVERYTHING = (*COUNTED, "SELECT * FROM runs", "SELECT * FROM run_usage", "SELECT count(*) FROM responses")


def dump(path: Path, queries: tuple[str, ...] = COUNTED) -> list[tuple[Any, ...]]:
    """All that runs have left but when and how fast; addresses of objects differ from process to process."""
    with closing(sqlite3.connect(path)) as connection:
        found = [row for query in queries for row in connection.execute(query)]
    return [tuple(re.sub("0x[0-9a-f]+", "0x", one) if isinstance(one, str) else one for one in row) for row in found]


def share(place: int, of: int = SHARES) -> Selection:
    return Selection().in_shard(Shard(place, of))


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)


class Machines:
    """Copies of a database that judge a share each, and one that judges all."""

    def __init__(self, folder: Path, make: Callable[[Path], Project], kind: str) -> None:
        self.folder = folder
        made = make(folder)
        made.close()
        self.empty = made.path
        self.shares = [self.copy(f"s{place}") for place in range(1, SHARES + 1)]
        self.whole = self.copy("whole")
        for place, path in enumerate(self.shares, 1):
            with closing(open_project(path)) as project:
                ran(project, kind, kind, share(place))
        with closing(open_project(self.whole)) as project:
            ran(project, kind, kind)

    def copy(self, name: str, of: Path | None = None) -> Path:
        return Path(shutil.copyfile(of or self.empty, self.folder / f"{name}.db"))

    def moved(self, folder: Path) -> Machines:
        """Copies of all in another folder, to be changed."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        found = copy(self)
        found.folder, found.empty, found.whole = folder, folder / self.empty.name, folder / self.whole.name
        found.shares = [folder / share.name for share in self.shares]
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Machines:
    folder = tmp_path_factory.mktemp("machines")
    return Machines(folder, lambda folder: make_project(folder, numbered(40)), "rules")


@pytest.fixture
def machines(made: Machines, tmp_path: Path) -> Machines:
    return made.moved(tmp_path)


def test_shares_merged_in_any_order_are_the_run_in_one(machines: Machines) -> None:
    whole = dump(machines.whole)
    for order in permutations(machines.shares):
        home = machines.copy("home")
        with closing(open_project(home)) as project:
            reports = merge_runs(project, order)
        assert all(report.is_whole for report in reports)
        assert sum(report.runs[0].taken for report in reports) == 40
        assert dump(home) == whole
    # One of the machines may be home.
    with closing(open_project(machines.shares[1])) as project:
        merge_runs(project, [machines.shares[0], machines.shares[2]])
    assert dump(machines.shares[1]) == whole


def test_merging_again_changes_nothing(machines: Machines) -> None:
    home = machines.copy("home")
    with closing(open_project(home)) as project:
        merge_runs(project, machines.shares[:2])
        before = dump(home, EVERYTHING)
        again = merge_runs(project, [*machines.shares[:2], machines.shares[0]])
    assert [(one.runs[0].taken, one.is_whole) for one in again] == [(0, True)] * 3
    assert sum(one.runs[0].unchanged for one in again[:2]) == again[0].runs[0].unchanged + again[1].runs[0].unchanged
    assert dump(home, EVERYTHING) == before


def test_a_partial_run_is_marked_until_complete(machines: Machines) -> None:
    home = machines.copy("home")
    with closing(open_project(home)) as project:
        (report,) = merge_runs(project, machines.shares[:1])
        (run,) = report.runs
        assert (run.shard, run.selection, run.judged) == ("1/3", "shard=1/3", run.items)
        assert run_info(project, 1).shard == "1/3"
        words = "The run of rules is a part: it judges share 1/3 of the items."
        assert words in accuracy(project).notes
        assert any("has no verdict on" in note for note in accuracy(project).notes)
        merge_runs(project, machines.shares[2:])
        info = run_info(project, 1)
        assert (info.shard, info.state) == (None, "paused")
        assert "merge the other shares" in (info.message or "")
        merge_runs(project, machines.shares[1:2])
        info = run_info(project, 1)
        assert (info.shard, info.state, info.done) == (None, "complete", 40)
        assert not any("part" in note for note in accuracy(project).notes)


def test_a_share_that_lacks_verdicts_is_paused_and_resumed(machines: Machines) -> None:
    with closing(sqlite3.connect(machines.shares[0])) as connection:
        connection.execute("DELETE FROM verdict_evidence WHERE completion_id % 2 = 0")
        connection.execute("DELETE FROM verdicts WHERE completion_id % 2 = 0")
        connection.commit()
    home = machines.copy("home")
    with closing(open_project(home)) as project:
        merge_runs(project, machines.shares)
        info = run_info(project, 1)
        assert info.state == "paused"
        assert info.message
        assert "have no verdict yet" in info.message
        ran(project, "rules", "rules")
    assert dump(home) == dump(machines.whole)


def other_settings(path: Path) -> None:
    change(path, "UPDATE verifiers SET config = json_set(config, '$.config.x', 2), config_hash = 'other'")


def other_version(path: Path) -> None:
    change(path, "UPDATE runs SET version = '6'")


def other_kind(path: Path) -> None:
    change(path, "UPDATE verifiers SET kind = 'exact'")


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("mend", "words"),
    [
        (other_settings, "rules has other settings here: x is none, not 2"),
        (other_version, f"its version is 6 there, and {RULE_VERSION}"),
        (other_kind, "rules is rules here, and exact there"),
    ],
)
def test_another_verifier_is_rejected_by_name(machines: Machines, mend: Callable[[Path], None], words: str) -> None:
    mend(machines.shares[1])
    home = machines.copy("home", machines.shares[0])
    before = dump(home, EVERYTHING)
    with closing(open_project(home)) as project:
        (report,) = merge_runs(project, [machines.shares[1]])
        lines = list(report_lines(report))
    assert report.runs[0].refused.startswith(words)
    assert not report.is_whole
    assert "nothing was imported" in lines[0]
    assert dump(home, EVERYTHING) == before


def test_differing_items_are_skipped_and_conflicts_named(machines: Machines) -> None:
    ids = [row[1] for row in dump(machines.shares[0], COUNTED[1:2])]
    change(
        machines.shares[0],
        f"UPDATE verdicts SET outcome = 1 - outcome WHERE completion_id = {ids[0]}",
        f"UPDATE completion_text SET text = text || '!' WHERE id = {ids[1]}",
        f"UPDATE completions SET key = 'nobody' WHERE id = {ids[2]}",
        f"UPDATE verdicts SET score = 9e999 WHERE completion_id = {ids[3]}",
        f"UPDATE verdicts SET reason = CAST(X'FF' AS TEXT) WHERE completion_id = {ids[4]}",
        f"UPDATE verdict_evidence SET span_start = 9, span_end = 2 WHERE completion_id = {ids[5]}",
        "PRAGMA ignore_check_constraints = ON",
        f"UPDATE verdicts SET outcome = 9 WHERE completion_id = {ids[6]}",
    )
    whole = dump(machines.whole)
    with closing(open_project(machines.whole)) as project:
        (report,) = merge_runs(project, machines.shares[:1])
    (run,) = report.runs
    assert (run.taken, run.conflicting, run.left_out, run.unchanged) == (0, 2, 5, len(ids) - 7)
    assert sorted(report.reasons) == [
        "it has another verdict here, which stays",
        "its verdict can't be read: 9 to 2 is not a place in a text",
        "its verdict can't be read: a text holds bytes that are not text",
        "its verdict can't be read: inf is not a number to count with",
        "no such item is here",
        "the item has other texts here",
    ]
    assert {one.why for one in report.items} == {*report.reasons}
    assert dump(machines.whole) == whole
    # Where there was no verdict, all the others are taken.
    home = machines.copy("home")
    with closing(open_project(home)) as project:
        (report,) = merge_runs(project, machines.shares[:1])
    assert (report.runs[0].taken, report.runs[0].left_out) == (len(ids) - 6, 6)
    assert any(why.startswith("its verdict can't be stored: CHECK constraint failed") for why in report.reasons)


def test_nothing_is_added_to_a_run_that_is_at_work(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    home = machines.copy("home", machines.shares[0])
    with closing(open_project(home)) as project:
        with project.database.write() as connection:
            stored_runs.queue(connection, 1, Selection(), 40, 1)
        before = dump(home, EVERYTHING)
        with pytest.raises(RunError, match="is active"):
            merge_runs(project, machines.shares[1:])
    assert dump(home, EVERYTHING) == before


def test_other_files_are_not_read_as_databases(machines: Machines, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.db"
    nothing.write_text("no database")
    with closing(open_project(machines.whole)) as project:
        for wrong in (nothing, tmp_path / "missing.db", machines.whole):
            with pytest.raises(StoreError):
                merge_runs(project, [wrong])
        reports = merge_runs(project, [nothing, machines.shares[0]])
    assert [bool(report.not_read) for report in reports] == [True, False]


@pytest.mark.soak
def test_a_merge_that_is_killed_is_started_again(machines: Machines) -> None:
    whole, random, killed = dump(machines.whole), Random(5), 0
    home = machines.copy("home")
    with killer() as run:
        steps = run.run("merge runs", machines.copy("trial"), machines.shares[0]).steps
        assert steps
        for other in machines.shares:
            for _ in range(3):
                killed += run.run("merge runs", home, other, when=When(step=random.randrange(1, steps))).killed
                with closing(sqlite3.connect(home)) as connection:
                    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert not run.run("merge runs", home, other).killed
    assert killed > 3
    assert dump(home) == whole


# -- Code: outcomes of tests, and tests that are others.


def _problem(number: int) -> Problem:
    return Problem(
        task_id=f"p{number}",
        prompt=f"Problem {number}.",
        canonical="def f(a):\n    return a\n",
        entry_point="f",
        suites={"base": (CodeTest(form="expression", source=f"assert f({number}) == {number}"),) * 2},
    )


def outcome(program: Program, seed: int) -> Execution:
    letters = program.source[: len(program.tests)]
    failures = tuple(Failure(position=n, outcome=letter) for n, letter in enumerate(letters) if letter != "p")
    return Execution(outcomes=letters, level="L3", forgeable=letters.count("p"), ms=1.5, failures=failures)


@pytest.fixture
def scripted_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        executing,
        "SandboxPool",
        lambda level, workers, *, settings: ScriptedSandbox(level, workers, settings, outcome),
    )
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L3")


@pytest.mark.usefixtures("scripted_sandbox")
def test_outcomes_of_tests_are_merged_and_other_tests_reported(tmp_path: Path) -> None:
    problems = [_problem(number) for number in range(9)]
    solutions = {one.task_id: [{"completion": text} for text in ("pp", "pf", "ff")] for one in problems}
    machines = Machines(tmp_path, lambda folder: make_code_project(folder, solutions, *problems), "execution")
    home = machines.copy("home")
    with closing(open_project(home)) as project:
        assert all(one.is_whole for one in merge_runs(project, machines.shares))
    assert dump(home) == dump(machines.whole)
    assert len(dump(home, COUNTED[3:4])) == 27
    for statement in (
        "UPDATE tests SET source = source || ' '",
        "UPDATE code_problems SET setup = 'x = 1'",
        "UPDATE code_problems SET seconds = 9",
        "INSERT INTO code_solutions (completion_id, form) SELECT id, 'program' FROM completions",
    ):
        other = machines.copy("other", machines.shares[0])
        change(other, statement)
        with closing(open_project(machines.copy("home"))) as project:
            (report,) = merge_runs(project, [other])
        assert (report.runs[0].taken, {*report.reasons}) == (0, {"its problem has other tests here (suite base)"})
    # A solution whose tests ended otherwise there is a conflict, though the verdict is the same.
    change(machines.shares[0], "UPDATE test_results SET outcomes = 'fp' WHERE outcomes = 'pf'")
    with closing(open_project(machines.whole)) as project:
        (report,) = merge_runs(project, machines.shares[:1])
    assert report.runs[0].conflicting == len(dump(machines.shares[0], COUNTED[3:4])) // 3
    change(machines.shares[1], "UPDATE test_results SET outcomes = 'q'")
    with closing(open_project(machines.copy("home"))) as project:
        (report,) = merge_runs(project, machines.shares[1:2])
    assert [*report.reasons] == ["its verdict can't be read: outcomes of tests have other letters"]


# -- Judges: what a verdict rests on, and what it took.


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[Path], Path]:
    """An empty database, shares of a run on a model server, and the run in one."""
    install_plugin(tmp_path, monkeypatch)
    empty = make_project(tmp_path, rows(18))
    empty.close()
    made = []
    with scripted(lambda received: "Yes") as server:
        for name, chosen in [*((f"s{place}", share(place)) for place in (1, 2, 3)), ("whole", Selection())]:
            path = Path(shutil.copyfile(empty.path, tmp_path / f"{name}.db"))
            with here_on(open_project(path)) as runs:
                assert runs.start(server.url, selection=chosen, calls=2).state == "complete"
            made.append(path)
    *shares, whole = made
    return empty.path, shares, whole


USAGE = "SELECT calls, answered, failed, prompt_tokens, completion_tokens, reused, items_reused, cost FROM run_usage"


def test_replies_and_costs_are_merged_once(judged: tuple[Path, list[Path], Path], tmp_path: Path) -> None:
    empty, shares, whole = judged
    home = Path(shutil.copyfile(empty, tmp_path / "home.db"))
    with closing(open_project(home)) as project:
        for other in (*shares, *shares):
            assert all(one.is_whole for one in merge_runs(project, [other]))
    assert dump(home) == dump(whole)
    assert dump(home, (USAGE,)) == dump(whole, (USAGE,))
    assert dump(home, (COUNTED[5],))


def test_a_reply_that_is_here_for_the_same_request_stays_what_requests_find(
    judged: tuple[Path, list[Path], Path], tmp_path: Path
) -> None:
    _, shares, _ = judged
    home = Path(shutil.copyfile(shares[0], tmp_path / "home.db"))
    change(
        home,
        "DELETE FROM verdict_calls",
        "DELETE FROM verdict_traces",
        "DELETE FROM verdict_evidence",
        "DELETE FROM verdicts",
        "UPDATE responses SET body = X'7B7D'",
    )
    kept = dump(home, ("SELECT id, key, body FROM responses",))
    with closing(open_project(home)) as project:
        merge_runs(project, shares[:1])
    assert dump(home, ("SELECT id, key, body FROM responses",))[: len(kept)] == kept
    assert dump(home, (COUNTED[5],)) == dump(shares[0], (COUNTED[5],))
