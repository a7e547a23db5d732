"""Single tests excluded by a person: counted in no metric until retracted."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import in_process
from tests.tui.solved import solved_project
from workbench.coding import problems
from workbench.coding.apart import exclude_test, include_test
from workbench.coding.matrix import read_matrix
from workbench.coding.ranking.passing import outcome_shares, pass_report, passes_by_tests
from workbench.coding.ranking.scores import truth_of
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.records import ProblemQuery, ProblemRow
from workbench.data.store.tests import problems_of
from workbench.interchange.exporting import ExportOptions, export
from workbench.verifiers.execution.verifier import ExecutionVerifier

WHY = "it wants 0 of a negative number, which the problem doesn't say"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    found = solved_project(tmp_path)
    yield found
    found.close()


def clip(project: Project) -> ProblemRow:
    run = problems.suite_runs(project)[0]
    return problems.ProblemTable(project, ProblemQuery(run=run)).rows([1])[0]


def outcomes(project: Project) -> list[str]:
    return [one.outcomes for one in problems.results(project, suite="base")][:6]


def test_an_excluded_test_counts_in_no_metric(project: Project) -> None:
    before = outcomes(project)
    assert (before[:4], clip(project).passing) == (["ppppp", "ppfpf", "ppfpf", "ppppf"], 1)
    assert exclude_test(project, 1, "base", 4, reason=WHY, by="ines")
    assert outcomes(project) == [f"{letters[:4]}b" for letters in before]
    assert (clip(project).passing, clip(project).judged) == (2, 6)
    exclude_test(project, 1, "base", 2, reason=WHY, by="ines")
    assert outcomes(project)[:4] == ["ppbpb"] * 4
    assert clip(project).passing == 4
    (passed,) = pass_report(passes_by_tests(project, truth_of(project, suites=["base"])), [1]).rows
    assert passed.value == pytest.approx(5 / 6)
    shares = next(one for one in outcome_shares(project) if one.suite == "base")
    assert shares.every.tests == 6 * 3 + 1
    assert [one.score for one in problems.results(project, suite="base")][:2] == [1, 1]


def test_an_exclusion_has_author_and_reason_and_can_be_undone(project: Project) -> None:
    before = outcomes(project)
    exclude_test(project, 1, "base", 4, reason=WHY, by="ines")
    assert not exclude_test(project, 1, "base", 4, reason="once more", by="ines")
    assert read_matrix(project, 1, suite="base").problem.apart == {"base": {4: (WHY, "ines")}}
    assert include_test(project, 1, "base", 4, by="ines")
    assert not include_test(project, 1, "base", 4, by="ines")
    assert outcomes(project) == before
    rows = project.database.reader().execute("SELECT kind, reason FROM test_exclusions ORDER BY id").fetchall()
    assert rows == [("exclude", WHY), ("restore", None)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), project.database.write() as connection:
        connection.execute("DELETE FROM test_exclusions")


def test_each_test_has_a_line_with_its_text_and_failure(project: Project, tmp_path: Path) -> None:
    exclude_test(project, 1, "base", 4, reason=WHY, by="ines")
    export(project, ExportOptions(file=tmp_path / "t.csv", table="tests"))
    lines = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    second = [one for one in lines if (one["completion_id"], one["suite"]) == ("own/clip/1", "base")]
    assert [(one["test"], one["outcome"]) for one in second] == [*zip("12345", "ppfpb", strict=True)]
    assert (second[2]["source"], second[2]["got"], second[2]["expected"]) == ("assert clip(-1) == 0", "'got 2'", "0")
    assert second[4]["set_apart"] == f"{WHY} (ines)"


def test_a_new_run_does_not_run_it(project: Project) -> None:
    exclude_test(project, 1, "base", 4, reason=WHY, by="ines")
    found = problems_of(project.database, [1], ["base"])[1]
    assert ExecutionVerifier().programs(found, "def clip(x): ...", "program")["base"].broken == (4,)


@pytest.mark.parametrize(("suite", "position", "reason"), [("base", 9, WHY), ("none", 0, WHY), ("base", 0, "  ")])
def test_what_is_no_test_or_has_no_reason_is_rejected(project: Project, suite: str, position: int, reason: str) -> None:
    with pytest.raises(UsageError):
        exclude_test(project, 1, suite, position, reason=reason, by="ines")


def test_commands_exclude_list_and_restore_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project = solved_project(tmp_path)
    call, path = in_process(monkeypatch, capfd), project.path
    number = ("code", "exclude", path, "own/clip", "5")
    assert call(*number, "--reason", WHY, "--by", "ines")[:2] == (
        0,
        "test 5 of base, own/clip: is excluded from all metrics\n",
    )
    assert (clip(project).passing, clip(project).judged) == (2, 6)
    assert WHY in call("code", "exclude", path, "--list")[1]
    assert "already" in call(*number, "--reason", "again")[1]
    assert call(*number, "--undo")[0] == 0
    assert call("code", "exclude", path, "--list")[1] == "0 excluded\n"
    assert clip(project).passing == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("own/clip", "5"), "requires a reason"),
        (("own/clip", "99", "--reason", "x"), "no test 99"),
        (("own/clip", "0", "--reason", "x"), "no test 0"),
        (("own/none", "1", "--reason", "x"), "no code problem"),
        (("own/clip", "1", "--reason", "x", "--suite", "plus2"), "no test 1"),
        (("own/clip",), "TASK_ID NUMBER"),
    ],
)
def test_invalid_exclusions_are_rejected(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    project = solved_project(tmp_path)
    code, _, told = in_process(monkeypatch, capfd)("code", "exclude", project.path, *words)
    assert (code, said in told) == (2, True)
    assert project.database.reader().execute("SELECT count(*) FROM test_exclusions").fetchone()[0] == 0
