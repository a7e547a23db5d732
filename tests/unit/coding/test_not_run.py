"""A solution over which the sandbox died was not run: it counts in no share anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.auditing.auditing import audit
from tests.coding import ADD, ScriptedSandbox, make_code_project, ran
from tests.commands import in_process
from tests.evolving import ActingModel, ActingSandbox, K, own_project
from tests.scored_code import put_scores, scored_project
from workbench.coding.evolution import evolved, evolving
from workbench.coding.problems import results
from workbench.coding.ranking import scores
from workbench.coding.ranking.passing import pass_report, passes_by_tests, passes_by_verdict
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.selecting import RankingSelectionRules, select_stored
from workbench.coding.ranking.tables import passes_as
from workbench.coding.records.evolution import EvolutionSettings
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.code import Execution, Program
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome
from workbench.data.store import tests
from workbench.interchange.exporting import ExportOptions, export
from workbench.measuring.report import figures
from workbench.measuring.testing import suite_figures
from workbench.runs import executing
from workbench.training.pay import SuitePay
from workbench.training.testing import suite_verdict
from workbench.verifiers.execution import levels
from workbench.verifiers.execution.evidence import verdict_on
from workbench.verifiers.execution.given import RowProblem
from workbench.verifiers.execution.interpreter import Code
from workbench.verifiers.execution.settings import PoolSettings

KILLED = Execution(outcomes="nn", level="L3", harness_killed=True)


def outcome(program: Program, _: int) -> Execution:
    """A solution's text is its letters; the sandbox dies over "die"."""
    if program.source == "die":
        return Execution(outcomes="n" * len(program.tests), level="L3", harness_killed=True)
    return Execution(outcomes=program.source[: len(program.tests)], level="L3")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Of four solutions one passes, one fails, one times out on its last test, and the sandbox dies over one."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L3")
    monkeypatch.setattr(
        executing, "SandboxPool", lambda level, workers, settings: ScriptedSandbox(level, workers, settings, outcome)
    )
    made = make_code_project(tmp_path, {"add": [{"completion": text} for text in ("pp", "pf", "tn", "die")]})
    ran(made, "execution", "execution")
    yield made
    made.close()


def test_an_unrun_solution_is_in_no_metric_but_counted(project: Project, tmp_path: Path) -> None:
    (row,) = pass_report(passes_by_tests(project, truth_of(project)), (1,)).rows
    assert (row.solutions, row.value) == pytest.approx((3, 1 / 3))
    report = pass_report(passes_by_tests(project, truth_of(project)), (1,))
    assert report.unknown == 1
    assert "Left out: 1 solution that neither pass nor fail" in passes_as(report, TableForm())
    by_verdict = pass_report(passes_by_verdict(project, "execution"), (1,))
    assert (by_verdict.rows[0].solutions, by_verdict.rows[0].value, by_verdict.unknown) == pytest.approx((3, 1 / 3, 1))
    (selected,) = select_stored(project, RankingSelectionRules(), truth_of(project))
    assert selected.problem is not None
    assert [one.solution_id for one in selected.problem.solutions if one.score is None] == ["2", "3"]
    assert "3" in selected.line.dropped["no_result"]
    (suite,) = suite_figures(project)
    assert (suite.problems[0].solutions, suite.pass_at_1, suite.lost) == pytest.approx((3, 1 / 3, 1))
    assert [(test.ran, test.passed) for test in suite.tests] == [(3, 2), (2, 1)]
    assert figures.testing_sentence(suite).endswith("The sandbox died on 1 solution: not counted.")
    (counts,) = tests.outcome_counts(project.database.reader(), Selection())
    assert (counts.solutions, counts.tests) == (3, 5)


def test_files_omit_it_and_advise_how_to_run_it_again(project: Project, tmp_path: Path) -> None:
    lines = results(project)
    assert [line.completion_id for line in lines] == ["add/0", "add/1", "add/2"]
    words = "1 solution that run 1 has not run; the sandbox died over 1 (see --retry-errors)"
    assert [one.words for one in lines.left_out.not_run] == [words]
    report = export(project, ExportOptions(file=tmp_path / "tests.csv", table="tests"))
    assert (report.written, [one.killed for one in report.not_run]) == (6, [1])


def test_gold_from_tests_omits_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    take = partial(in_process(monkeypatch, capfd), "labels", project.database.path, "import")
    code, out, err = take("--verdicts", "execution")
    assert (code, out.splitlines()[0]) == (0, "3 imported, 0 unchanged, 0 rejected"), err
    gold = "SELECT completion_id, gold, gold_from FROM gold ORDER BY completion_id"
    assert project.database.reader().execute(gold).fetchall() == [
        (1, 1, "adjudicated"),
        (2, 0, "adjudicated"),
        (3, 0, "adjudicated"),
        (4, None, None),
    ]
    assert take("--verdicts", "execution")[1].splitlines()[0] == "0 imported, 3 unchanged, 0 rejected"
    for words in ((), ("--verdicts", "nobody"), ("--verdicts", "execution", "x.jsonl")):
        assert take(*words)[0] == 2, words


def test_the_second_count_leaves_it_out_too(project: Project) -> None:
    report = audit(project)
    assert [family.family for family in report.families if family.family == "code" and family.figures]
    assert report.differences == []


def test_a_share_of_no_items_is_undefined(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "", "b": ""}, "u": {"c": "p"}})
    report = pass_report(passes_by_tests(project, truth_of(project)), (1,))
    assert [(row.problems, row.fewer, row.value) for row in report.rows] == [(1, 1, 1.0)]
    assert report.unknown == 2
    put_scores(project, "judge", {"t/a": 1.0})
    with project.database.write() as connection:
        connection.execute("UPDATE verdicts SET outcome = 3")
    report = pass_report(passes_by_verdict(project, "judge"), (1,))
    assert [(row.problems, row.fewer, row.solutions, row.value, row.ci) for row in report.rows] == [
        (0, 2, 0, None, None)
    ]
    assert report.unknown == 3


@pytest.mark.parametrize("pay", ["all", "share", "difficulty"])
@pytest.mark.parametrize("timeouts", ["wrong", "undecided"])
def test_its_reward_is_the_undecided_one(pay: Literal["all", "share", "difficulty"], timeouts: Any) -> None:
    runs = {"base": KILLED, "plus": Execution(outcomes="p", level="L3", forgeable=1)}
    verdict = verdict_on(ADD, "die", Code(source="die", first_line=1), runs)
    found = suite_verdict(verdict, RowProblem(ADD, None), runs)
    assert (found.outcome, found.passed, found.total, found.late) == (Outcome.ERROR, 1, 1, False)
    assert SuitePay(pay=pay, timeouts=timeouts).reward(found, None) is None
    alone = suite_verdict(verdict, RowProblem(ADD, None), {"base": KILLED})
    assert (alone.passed, alone.total, alone.weighted, alone.late) == (0, 0, None, False)


def test_a_reference_of_a_dead_sandbox_is_no_failing_reference(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(program: Program, _: int) -> Execution:
        return Execution(outcomes="n" * len(program.tests), level="L3", harness_killed=True)

    monkeypatch.setattr(scores, "opened_sandbox", lambda *_, **__: ScriptedSandbox("L3", 1, PoolSettings(), lost))
    assert scores.outcomes_of_references(project, truth_of(project)) == {}


class DyingSandbox(ActingSandbox):
    """Dies over the first solution of the first problem so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def run(self, jobs: Iterable[tuple[K, Program]]) -> Iterator[tuple[K, Execution]]:
        for key, execution in super().run(jobs):
            if key[0] == 1 and self.left:  # type: ignore[index]
                self.left -= 1
                yield key, Execution(outcomes="n" * len(execution.outcomes), level="L3", harness_killed=True)
            else:
                yield key, execution


@pytest.mark.parametrize("times", [1, 11])
def test_an_evolution_continues_and_later_gives_the_same_result(tmp_path: Path, times: int) -> None:
    found = []
    for name, sandbox in (("whole", ActingSandbox()), ("died", DyingSandbox(times))):
        (tmp_path / name).mkdir()
        with closing(own_project(tmp_path / name)) as project:
            row = evolving.begin(project, "grown", EvolutionSettings(model="m"))
            evolving.evolve(project, row, ActingModel(), sandbox)
            first = evolved.report(project, row)
            evolving.evolve(project, row, ActingModel(), sandbox)
            found.append((first.finished, first.unbegun, evolved.report(project, row)))
    assert found[0][:2] == (3, 0)
    assert found[1][:2] == (2, 1)
    assert found[1][2] == found[0][2]
