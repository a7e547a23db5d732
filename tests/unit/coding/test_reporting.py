"""The code sections of the report: the metrics of the commands, and no section without metrics."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.evolving import own_project
from tests.evolving_served import answering, need_a_sandbox, own_tests
from tests.helpers import make_project, numbered
from tests.scored_code import outcomes_of, put_scores, real_solutions, scored_project
from tests.servers.scripted import scripted
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.passing import pass_report, passes_by_tests, saturation
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import passes_tables, ranking_table, saturation_table
from workbench.coding.reporting import SIZES, code_sections
from workbench.core.selection import selection_of
from workbench.measuring.report.gathering import gather, write_report
from workbench.tables.document import Group, Table

LADDER = {f"s{passed}": "p" * passed + "f" * (16 - passed) for passed in range(0, 17, 4)}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def test_metrics_equal_those_of_the_commands(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": LADDER, "u": LADDER}, flagged=["t/s16", "u/s16"])
    put_scores(project, "judge", {f"{task}/{name}": len(name) / 4 for task in "tu" for name in LADDER})
    truth = truth_of(project)
    found = {one.key: one for one in code_sections(project)}
    assert list(found) == ["ranking", "passk", "saturation"]
    assert found["ranking"].blocks == (ranking_table(compare_verifiers(project, truth).report),)
    assert found["saturation"].blocks == (saturation_table(saturation(project, truth)),)
    assert found["passk"].blocks[0] == passes_tables(pass_report(passes_by_tests(project, truth), SIZES))[0]


def test_the_selection_holds(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": LADDER, "u": LADDER})
    (passes, _) = code_sections(project, selection_of(("question_id=t",)))
    assert isinstance(passes.blocks[0], Table)
    cells = [cell.text for cell in passes.blocks[0].rows[0].cells]
    assert cells[passes.blocks[0].columns.index("solutions")] == str(len(LADDER))


def test_empty_sections_are_omitted(tmp_path: Path) -> None:
    for name in ("plain", "code"):
        (tmp_path / name).mkdir()
    assert code_sections(make_project(tmp_path / "plain", numbered(3))) == []
    assert code_sections(own_project(tmp_path / "code", 1)) == []


def test_reports_of_other_data_are_unchanged(tmp_path: Path, call: Call) -> None:
    project = make_project(tmp_path, numbered(4))
    write_report(project, tmp_path / "without.html", lambda: gather(project, generated_at=""))
    assert call("report", project.path, "-o", tmp_path / "with.html")[0] == 0
    without, with_ = ((tmp_path / name).read_text() for name in ("without.html", "with.html"))
    made = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert made.sub("", without) == made.sub("", with_)


def test_rounds_of_an_evolution_are_columns(tmp_path: Path, call: Call) -> None:
    need_a_sandbox()
    own_project(tmp_path, 1).close()
    database = os.fspath(tmp_path / "p.db")
    with scripted(answering(own_tests(1))) as server:
        given = ("--model", "m", "-o", f"base_url={server.url}", "--rounds", "2")
        assert call("code", "evolve", database, "--name", "grown", *given)[0] == 0
    for name in ("r.html", "r.md"):
        code, _, err = call("report", database, "-o", tmp_path / name)
        assert code == 0, err
        page = (tmp_path / name).read_text()
        assert "Evolution grown" in page
        assert "Tests that evolved" in page
        assert "The set after each round" in page


def test_rounds_are_a_table_with_a_line_each(tmp_path: Path, call: Call) -> None:
    need_a_sandbox()
    project = own_project(tmp_path, 1)
    with scripted(answering(own_tests(1))) as server:
        given = ("--model", "m", "-o", f"base_url={server.url}", "--rounds", "3")
        call("code", "evolve", project.path, "--name", "grown", *given)
    (section,) = code_sections(project)
    (group,) = section.blocks
    assert isinstance(group, Group)
    (rounds, *_) = (block for block in group.blocks if isinstance(block, Table))
    assert [row.cells[0].text for row in rounds.rows] == ["0", "1", "2", "3"]
    assert {"tests", "score", "pass@1"} <= set(rounds.columns)


def test_the_real_outcomes(shared_data: Path, tmp_path: Path) -> None:
    project = scored_project(tmp_path, outcomes_of(real_solutions(shared_data)))
    assert [one.key for one in code_sections(project)] == ["passk", "saturation"]
