"""Problems and their pass matrices as read by screens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.solved import OUTCOMES, add_outcomes, solved_project
from workbench.coding.matrix import read_matrix, solution_code
from workbench.coding.problems import ProblemTable, datasets, find, problem_of, suite_runs
from workbench.core.code import CodeTest
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.data.records import PROBLEM_KINDS, PROBLEM_SORTS, ProblemKind, ProblemQuery
from workbench.data.store import tests as suites


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = solved_project(tmp_path_factory.mktemp("solved"))
    project.close()
    return project.path


@pytest.fixture
def project(solved: Path) -> Iterator[Project]:
    found = open_project(solved)
    yield found
    found.close()


def listed(project: Project, **asked: object) -> list[str]:
    runs = suite_runs(project)
    table = ProblemTable(project, ProblemQuery(**{"run": runs[0], "beside": runs[0], **asked}))  # type: ignore[arg-type]
    return [row.task_id for row in table.rows(table.ids())]


def test_metrics_of_a_problem(project: Project) -> None:
    run, other = suite_runs(project)
    assert [(one.verifier, one.suite, one.complete) for one in (run, other)] == [
        ("execution", "base", True),
        ("plus", "plus", False),
    ]
    clip, double = ProblemTable(project, ProblemQuery(run=run)).rows([1, 2])
    assert (clip.solutions, clip.tests, clip.done, clip.passing) == (7, {"base": 5, "plus": 30}, 6, 1)
    assert (clip.share_correct, clip.pass_at_1) == (1 / 7, 1 / 6)
    assert (double.share_correct, double.pass_at_1) == (1.0, 1.0)
    assert ProblemTable(project, ProblemQuery()).rows([1])[0].pass_at_1 is None


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("all", ["own/clip", "own/double"]),
        ("mixed", ["own/clip"]),
        ("none", []),
        ("every", ["own/double"]),
        ("waiting", ["own/clip"]),
        ("differs", []),
    ],
)
def test_problems_by_kind(project: Project, kind: ProblemKind, names: list[str]) -> None:
    assert kind in PROBLEM_KINDS
    assert listed(project, kind=kind) == names


@pytest.mark.parametrize("sort", PROBLEM_SORTS)
def test_problems_are_sorted_by_every_column(project: Project, sort: str) -> None:
    ascending = listed(project, sort=sort)
    assert ascending == listed(project, sort=sort, descending=True)[::-1]


def test_problems_are_searched_by_text(project: Project) -> None:
    assert listed(project, search="LIMIT a") == ["own/clip"]
    assert listed(project, search="ouble") == ["own/double"]
    assert listed(project, search="own_") == []
    assert listed(project, dataset="code", search="%") == []
    assert datasets(project) == ["code"]
    assert (find(project, "own/double"), find(project, "own/")) == ([2], [])


def test_the_first_page_is_there_before_the_ids(project: Project) -> None:
    table = ProblemTable(project, ProblemQuery())
    assert [row.id for row in table.first(1)] == [1]
    assert ProblemTable(project, ProblemQuery(search="clip")).first(5) == []


def test_the_matrix_of_a_suite(project: Project) -> None:
    matrix = read_matrix(project, 1)
    assert matrix.suite == "base"
    assert matrix.run is not None
    assert (matrix.run.verifier, len(matrix.shared), matrix.rounds) == ("execution", 5, ())
    assert {one.id: one.outcomes for one in matrix.solutions if one.outcomes} == OUTCOMES
    assert [one.solution_id for one in matrix.solutions] == list("0123456")
    assert matrix.verifiers == ("judge",)
    assert matrix.solutions[3].verdicts == {"judge": "incorrect"}
    assert read_matrix(project, 1, suite="plus", run=99).run == suite_runs(project)[1]
    assert read_matrix(project, 2, suite="plus").suite == "base"
    with pytest.raises(UsageError, match="no code problem"):
        read_matrix(project, 77)


def test_solutions_may_have_tests_of_their_own(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    with project.database.write() as connection:
        suite = connection.execute(
            "INSERT INTO suites (dataset_id, name, origin, created_at) VALUES (1, 'seen', 'generated', '')"
        ).lastrowid
        for item, sources in ((1, ["a", "b"]), (2, ["c"])):
            tests = [CodeTest(form="statement", source=source) for source in sources]
            suites.put_tests(connection, "completion", suite or 0, {item: tests})
    add_outcomes(project, "seen", "seen", {1: "pf", 2: "p"})
    matrix = read_matrix(project, 1, suite="seen")
    assert (matrix.own, matrix.width, matrix.shared) == (True, 2, ())
    assert matrix.suites == {"base": 5, "plus": 30, "seen": 2}
    first, second, third = matrix.solutions[:3]
    shown = [matrix.test_of(one, 1) for one in (first, second, third)]
    assert [None if test is None else test.source for test in shown] == ["b", None, None]
    assert [one.outcomes for one in matrix.solutions[:3]] == ["pf", "p", ""]
    assert not read_matrix(project, 1, suite="base").own
    project.close()


def test_the_shown_code_is_the_code_that_is_run(tmp_path: Path) -> None:
    from tests.coding import ADD, make_code_project

    texts = [
        {"completion": "    return a + b\n", "form": "continuation"},
        {"completion": "Sure:\n```python\ndef add(a, b):\n    return 1\n```\nDone.", "form": "reply"},
    ]
    project = make_code_project(tmp_path, {"add": texts}, ADD)
    matrix = read_matrix(project, 1)
    assert matrix.run is None
    first, second = (solution_code(project, matrix, item) for item in (1, 2))
    assert first.source == "def add(a, b):\n    return a + b\n"
    assert second.source.strip() == "def add(a, b):\n    return 1"
    assert (second.form, second.extractor) == ("reply", "fence")
    assert (problem_of(project, 1), problem_of(project, 99)) == (1, None)
    project.close()
