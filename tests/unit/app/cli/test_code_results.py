"""``code results`` from scripts: lines, exit codes, and a closed pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.coding import make_code_project
from tests.commands import in_process
from workbench.coding import problems
from workbench.core.code import Execution
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.interchange.exporting import ExportOptions, export
from workbench.runs.configuring import bound_run
from workbench.runs.store import runs, verdicts
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.execution.verifier import ExecutionVerifier
from workbench.verifiers.text import exact

Results = Callable[..., tuple[int, list[dict[str, object]], str]]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    solutions = {"add": [{"completion": f"{n}"} for n in range(3)], "double": [{"completion": "d"}]}
    made = make_code_project(tmp_path, solutions)
    yield made
    made.close()


def put_run(project: Project, name: str, outcomes: dict[int, str], suite: str = "base") -> int:
    """A run that was stopped after these items."""
    verifier = ExecutionVerifier(suite=suite)
    with project.database.write() as connection:
        run = bound_run(connection, name, verifier, {"suite": suite})
        runs.queue(connection, run, Selection(), 4, 1)
        runs.end_run(connection, run, "paused")
        verdicts.put(connection, run, [(item, Verdict(outcome=Outcome.INCORRECT)) for item in outcomes])
        rows = [
            TestResult(item, suite, Execution(outcomes=said, level="L2", ms=0.5)) for item, said in outcomes.items()
        ]
        verdicts.put_outcomes(connection, run, rows)
    return run


@pytest.fixture
def results(project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Results:
    """Run ``workbench code results`` on the project; gives exit code, lines and stderr."""
    call = in_process(monkeypatch, capfd)

    def run(*arguments: str) -> tuple[int, list[dict[str, object]], str]:
        code, out, err = call("code", "results", project.path, *arguments)
        return code, [json.loads(line) for line in out.splitlines()], err

    return run


def test_every_solution_has_a_line_in_the_order_of_import(project: Project, results: Results) -> None:
    put_run(project, "execution", {1: "pp", 2: "xx"})
    code, lines, err = results()
    assert code == 0
    assert lines[0] == {
        "task_id": "add",
        "solution_id": "0",
        "completion_id": "add/0",
        "suite": "base",
        "outcomes": "pp",
        "passed": 2,
        "total": 2,
        "score": 1.0,
        "isolation": "L2",
        "forgeable": 0,
        "ms": 0.5,
        "verifier": "execution",
        "dataset": "code",
    }
    assert [(line["completion_id"], line["outcomes"], line["isolation"]) for line in lines[1:]] == [
        ("add/1", "xx", "L2"),
    ]
    assert err == "Left out: 2 solutions that run 1 has not run: it is at 2 of 4.\n"


def test_an_unrun_solution_is_not_listed_as_failing(project: Project, results: Results, tmp_path: Path) -> None:
    put_run(project, "execution", {1: "pp"})
    put_run(project, "more", {}, "plus")
    _, lines, err = results()
    assert [(line["completion_id"], line["verifier"]) for line in lines] == [("add/0", "execution")]
    assert err == (
        "Left out: 1 solution without tests in the suite.\n"
        "Left out: 3 solutions that run 1 has not run: it is at 1 of 4.\n"
        "Left out: 3 solutions that run 2 has not run: it is at 0 of 4.\n"
    )
    for table, rows in (("outcomes", 1), ("tests", 2)):
        for ending in ("csv", "parquet", "jsonl"):
            file = tmp_path / f"{table}.{ending}"
            report = export(project, ExportOptions(file=file, format=ending, table=table))  # type: ignore[arg-type]
            assert report.written == rows
            assert [(one.run, one.solutions, one.judged) for one in report.not_run] == [(1, 3, 1), (2, 3, 0)]
    some = ExportOptions(file=tmp_path / "some.csv", table="outcomes", where=("completion_id=add/1",))
    report = export(project, some)
    assert (report.written, [one.words for one in report.not_run]) == (
        0,
        [f"1 solution that run {run} has not run: it is at {done} of 4" for run, done in ((1, 1), (2, 0))],
    )


def test_a_running_run_is_written_as_of_the_first_line(project: Project) -> None:
    run = put_run(project, "execution", {1: "pp", 2: "ff"})
    lines = problems.results(project)
    first = next(lines)
    with project.database.write() as connection:
        verdicts.put(connection, run, [(3, Verdict(outcome=Outcome.CORRECT))])
        verdicts.put_outcomes(connection, run, [TestResult(3, "base", Execution(outcomes="pp", level="L2"))])
    assert [line.completion_id for line in (first, *lines)] == ["add/0", "add/1"]
    assert [(one.solutions, one.judged) for one in lines.left_out.not_run] == [(2, 2)]


def test_a_problem_without_tests_in_a_suite_gives_no_line_but_is_counted(project: Project, results: Results) -> None:
    put_run(project, "more", {1: "p"}, "plus")
    _, lines, err = results()
    assert {line["task_id"] for line in lines} == {"add"}
    assert err.splitlines()[0] == "Left out: 1 solution without tests in the suite."


def test_outcomes_are_a_table_of_the_export(project: Project, results: Results, tmp_path: Path) -> None:
    put_run(project, "execution", {1: "pp", 2: "xx"})
    _, lines, _ = results()
    report = export(project, ExportOptions(file=tmp_path / "all.jsonl", format="jsonl", table="outcomes"))
    assert [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()] == lines
    assert (report.written, report.without_tests) == (2, 0)
    for name in ("all.csv", "all.parquet"):
        assert export(project, ExportOptions(file=tmp_path / name, table="outcomes")).written == 2
    where = ("completion_id=add/1",)
    some = ExportOptions(file=tmp_path / "some.csv", table="outcomes", where=where)
    assert export(project, some).written == 1


def test_results_are_grouped_by_verifier_and_can_be_filtered(project: Project, results: Results) -> None:
    first = put_run(project, "execution", {1: "pp"})
    put_run(project, "more", {1: "p"}, "plus")
    _, lines, _ = results("--where", "completion_id=add/0")
    assert [(line["verifier"], line["suite"]) for line in lines] == [("execution", "base"), ("more", "plus")]
    for chosen in (["--verifier", "more"], ["--suite", "plus"]):
        _, lines, _ = results(*chosen)
        assert {line["verifier"] for line in lines} == {"more"}
    _, lines, _ = results("--run", str(first))
    assert {line["verifier"] for line in lines} == {"execution"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "No solution was run here"),
        (["--verifier", "exact"], "exact has run no solution"),
        (["--verifier", "nobody"], "'nobody'"),
        (["--run", "7"], "no run 7"),
    ],
)
def test_unknown_names_are_reported(project: Project, results: Results, arguments: list[str], message: str) -> None:
    with project.database.write() as connection:
        bound_run(connection, "exact", exact(), {})
    code, lines, err = results(*arguments)
    assert (code, lines) == (2, [])
    assert message in err


def test_an_unknown_suite_is_reported(project: Project, results: Results) -> None:
    put_run(project, "execution", {1: "pp"})
    code, _, err = results("--suite", "plus")
    assert code == 2
    assert "Suites: base." in err


def test_a_closed_pipe_is_no_error(project: Project) -> None:
    put_run(project, "execution", {1: "pp" * 40_000})
    script = f"{sys.executable} -m workbench code results {project.path} | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith('{"task_id":"add"')
    assert "Traceback" not in done.stderr


@pytest.mark.soak
def test_limits_only_need_the_flag(project: Project, results: Results) -> None:
    with project.database.write() as connection:
        connection.execute("UPDATE completion_text SET text = 'def add(a, b):\n    return a + b' WHERE id = 1")
    verify = [sys.executable, "-m", "workbench", "verify", str(project.path), "execution", "-o", "isolation=L1"]
    verify += ["--workers", "1", "--json"]
    for flags, code, said in (((), 2, "--allow-unsafe-execution"), (("--allow-unsafe-execution",), 0, "")):
        done = subprocess.run([*verify, *flags], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert said in done.stderr
    _, lines, _ = results()
    assert [(line["outcomes"], line["isolation"]) for line in lines[:2]] == [("pp", "L1"), ("ee", "L1")]
