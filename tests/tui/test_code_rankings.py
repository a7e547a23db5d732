"""Rankings and evolution: the screen shows the services' metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evolving import ActingModel, ActingSandbox, own_project
from tests.tui.solved import solved_project
from tests.tui.stage import opened, press, screen_of, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.columns import rows_of_table
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.code_rankings import CodeRankingsScreen
from workbench.app.tui.screens.code_rounds import CodeRoundsScreen
from workbench.app.tui.screens.verb import VerbOutputScreen
from workbench.coding.evolution import evolving
from workbench.coding.evolution.evolved import report
from workbench.coding.evolution.tables import evolution_text
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import ranking_table
from workbench.coding.records.evolution import EvolutionSettings


def drawn(app: WorkbenchApp, selector: str) -> list[list[str]]:
    widget = app.screen.query_one(selector, VirtualTable)
    found = (widget.render_line(y).text.replace("›", " ").split() for y in range(1, widget.size.height))
    return [line for line in found if line]


async def test_solutions_are_listed_with_scores_and_ranks(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    with project.database.write() as connection:
        connection.execute("UPDATE verdicts SET score = completion_id / 10.0 WHERE run_id = 3")
        connection.execute("UPDATE completions SET key = key WHERE id = 1")
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "V")
        report = screen_of(app, CodeRankingsScreen).report
        assert report is not None
        assert report == compare_verifiers(project, truth_of(project)).report
        text = text_of(app, "#code-rankings-notes")
        assert text.startswith(
            "How well verifiers rank and score solutions; truth: execution on base (run 1)\nLeft out: 1 problem"
        )
        first = rows_of_table(ranking_table(report))[1][0]
        cells = " ".join(cell.text for cell in first.cells).split()
        assert drawn(app, "#code-rankings-figures")[0][:4] == cells[:4] == ["judge", "code", "1", "100.0"]
        rows = drawn(app, "#code-rankings-solutions")
        assert rows[0] == ["0", "1.000", "1", "0.100", "7↓"]
        assert rows[1] == ["3", "0.800", "2", "0.400", "4↓"]
        assert rows[-1] == ["6", "–", "–", "0.700", "1"]
        await press(pilot, "w")
        narrow = screen_of(app, CodeRankingsScreen).report
        assert narrow == compare_verifiers(project, truth_of(project), k=5).report
        assert "5 selected solutions of each problem" in text_of(app, "#code-rankings-notes")
        assert len(drawn(app, "#code-rankings-solutions")) == narrow.problems[0].solutions < len(rows)
        await press(pilot, "w", "right", "right", "right", "S")
        assert drawn(app, "#code-rankings-solutions")[0] == ["6", "–", "–", "0.700", "1"]
        assert "own/clip · 1 of 2" in text_of(app, "#code-rankings-problem")
        await press(pilot, "right_square_bracket")
        assert "own/double · 2 of 2" in text_of(app, "#code-rankings-problem")
        await press(pilot, "enter")
        assert screen_of(app, CodeProblemScreen).question == 2
    project.close()


@pytest.mark.soak
async def test_screen_without_ground_truth_says_what_to_run(tmp_path: Path) -> None:
    project = own_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "V")
        assert "No complete run used the tests" in text_of(app, "#code-rankings-notes")
        await press(pilot, "escape", "o")
        assert "No evolution yet" in text_of(app, "#code-rounds-caption")
    project.close()


async def test_rounds_lead_to_their_tables_and_to_the_evolved_suite(tmp_path: Path) -> None:
    project = own_project(tmp_path)
    row = evolving.begin(project, "grown", EvolutionSettings(model="m"))
    evolving.evolve(project, row, ActingModel(), ActingSandbox())
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "down", "o")
        screen_of(app, CodeRoundsScreen)
        assert "3 of 3 problems through 3 rounds · from suite base · tests by m" in text_of(app, "#code-rounds-caption")
        table = app.screen.query_one(VirtualTable)
        assert table.selected_id == 2
        assert drawn(app, "#code-rounds-table")[1][0] == "own/11"
        assert drawn(app, "#code-rounds-table")[0][1:9] == ["10", "5", "→", "7", "→", "13", "→", "18"]
        await press(pilot, "w")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert screen_of(app, VerbOutputScreen).ran.out == evolution_text(report(project, row))
        await press(pilot, "escape", "escape", "home", "enter", "s")
        screen_of(app, CodeProblemScreen)
        assert "suite grown · 18 tests · by the evolution grown itself" in text_of(app, "#code-problem-caption")
        grid = app.screen.query_one(PassGrid)
        rounds = [test.round for test in grid.tests]
        assert rounds == [0] * 4 + [1] * 3 + [2] * 6 + [3] * 5
        assert grid.render_line(2).text.split() == ["round", *map(str, rounds)]
        document = app.screen.query_one("#code-problem-test", Reader).document
        assert document is not None
        assert document.lines[0].text.endswith("from round 0")
    project.close()


@pytest.mark.soak
async def test_screen_without_rankings_explains_what_to_do(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    with project.database.write() as connection:
        connection.execute("DELETE FROM verdicts WHERE run_id = 3")
        connection.execute("UPDATE runs SET completed_at = NULL WHERE id = 3")
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "V")
        notes = app.screen.query_one("#code-rankings-notes")
        text = text_of(app, "#code-rankings-notes")
        assert "There is no complete run with scores" in text
        assert "Each problem's screen shows the order" in text
        assert notes.size.height >= notes.virtual_size.height > 3
