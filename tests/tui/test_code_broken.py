"""Problems with broken tests: each screen says so with the error, and no metric counts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from tests.coding import make_code_project
from tests.tui.solved import CLIP, DOUBLE, UNBOUND, add_outcomes
from tests.tui.stage import opened, press, screen_of, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.code import CodeScreen
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.code_solution import CodeSolutionScreen
from workbench.coding import problems
from workbench.coding.ranking.passing import pass_report, passes_by_tests
from workbench.coding.ranking.scores import truth_of
from workbench.core.code import CodeTest
from workbench.core.project import Project
from workbench.data.records import ProblemQuery

KLIP = structs.replace(
    CLIP, suites={"base": tuple(CodeTest(form="expression", source=f"assert klip({n}) == {n}") for n in (1, 2))}
)


def read(app: WorkbenchApp, name: str) -> str:
    """Return the content of a reader on the screen."""
    document = app.screen.query_one(f"#{name}", Reader).document
    return "" if document is None else document.text


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    solutions = [{"completion": f"def clip(x):\n    return {number}\n"} for number in range(3)]
    doubles = [{"completion": "def double(a):\n    return 2 * a\n"}]
    found = make_code_project(tmp_path, {"own/clip": solutions, "own/double": doubles}, KLIP, DOUBLE)
    add_outcomes(found, "execution", "base", {1: "bb", 2: "bb", 3: "bb", 4: "p"})
    yield found
    found.close()


async def test_no_metric_counts_problems_with_broken_tests(project: Project) -> None:
    run = problems.suite_runs(project)[0]
    broken, complete = problems.ProblemTable(project, ProblemQuery(run=run)).rows([1, 2])
    assert (broken.pass_at_1, broken.done, broken.judged, complete.pass_at_1) == (None, 3, 0, 1.0)
    assert problems.ProblemTable(project, ProblemQuery(run=run, kind="broken")).ids().tolist() == [1]
    assert problems.ProblemTable(project, ProblemQuery(run=run, kind="none")).ids().tolist() == []
    (passed,) = pass_report(passes_by_tests(project, truth_of(project)), [1]).rows
    assert (passed.problems, passed.value) == (1, 1.0)


async def test_reason_is_shown_next_to_the_tests(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        assert isinstance(app.screen, CodeScreen)
        lines = [app.screen.query_one(VirtualTable).render_line(y).text for y in range(3)]
        assert (lines[0].split()[2], lines[1].split()[2]) == ("ran", "untested")
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: " no test counts " in app.screen.query_one(VirtualTable).render_line(1).text)
        await press(pilot, "enter")
        screen_of(app, CodeProblemScreen)
        assert UNBOUND in read(app, "code-problem-test")
        assert "no test counts" in text_of(app, "#code-problem-caption")
        await press(pilot, "enter")
        screen_of(app, CodeSolutionScreen)
        evidence = read(app, "code-solution-evidence")
        assert "It passes every test" not in evidence
        assert UNBOUND in evidence
        assert "NameError" in app.screen.query_one(VirtualTable).render_line(1).text


async def test_run_and_its_start_end_with_the_reason(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":verif", "enter")
        assert f"every test of 1 problem is broken: {UNBOUND}" in text_of(app, "#runs-run")
