"""The user's arrangement of the Accuracy screen (order, pins, cursor) persists, also during a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.tui.stage import add_run, more_verdicts, opened, press, settle, text_of, until
from tests.tui.test_accuracy import cells, judged_project, matrix_of, names, screen_of, to_cell
from workbench.app.tui.kit import accuracy_view as view
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome
from workbench.measuring.accuracy import accuracy
from workbench.measuring.entries import BASELINES
from workbench.runs.store import runs

IN_REPORT = ["good", "bad", "unsure", *BASELINES]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create one database for all tests that only read."""
    return judged_project(tmp_path_factory.mktemp("accuracy")).path


@pytest.fixture
def project(file: Path) -> Project:
    return open_project(file)


def shares(screen: AccuracyScreen, group: str | None) -> list[float]:
    """Return the accuracies of one column from top to bottom."""
    rows = [screen.sheet.row(row.key, group) for row in screen.query_one("#accuracy-matrix").rows]  # type: ignore
    return [row.accuracy for row in rows if row is not None and row.accuracy is not None]


async def test_column_sorts_worst_first_then_best_first_then_unsorted(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", "A")
        await press(pilot, "s")
        screen = screen_of(app)
        assert shares(screen, "A") == sorted(shares(screen, "A"))
        assert "A ▲" in matrix_of(app).render_line(0).text
        assert screen.chosen == ("bad", "A")
        screen.action_sort()
        await settle(pilot)
        assert shares(screen, "A") == sorted(shares(screen, "A"), reverse=True)
        assert "A ▼" in matrix_of(app).render_line(0).text
        screen.action_sort()
        await settle(pilot)
        assert names(app) == IN_REPORT
        assert "▲" not in matrix_of(app).render_line(0).text
        await press(pilot, "S")
        assert "A ▼" in matrix_of(app).render_line(0).text


@pytest.mark.soak
async def test_groups_in_the_lower_table_are_sorted_worst_first(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "unsure", "A")
        await press(pilot, "s")
        screen, table = screen_of(app), app.screen.query_one("#accuracy-detail", VirtualTable)
        assert screen.sheet is not None
        groups = [screen.sheet.groups[place] for place in table.order]
        found = [screen.sheet.row("unsure", group) for group in groups]
        assert groups[0] is None, "all items stay on top"
        figures = [row.accuracy for row in found[1:] if row is not None and row.accuracy is not None]
        assert len(figures) > 1
        assert figures == sorted(figures)
        table.focus()
        await press(pilot, *["right"] * 4, "s")
        assert table.sort is not None
        assert table.sort.column == "acc"


async def test_names_sort_and_error_rates_sort_ascending(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "home", "s")
        assert names(app) == sorted(IN_REPORT)
        assert "verifier ▲" in matrix_of(app).render_line(0).text
        screen_of(app).action_sort()
        await settle(pilot)
        assert names(app) == sorted(IN_REPORT, reverse=True)
        await pilot.press("right", "o", "o", "o", "o")
        await press(pilot, "s")
        assert screen_of(app).figure == "fpr"
        assert "all ▼" in matrix_of(app).render_line(0).text
        rows = [screen_of(app).sheet.row(name, None) for name in names(app)]  # type: ignore[union-attr]
        rates = [row.fpr for row in rows if row is not None]
        assert rates == sorted(rates, key=lambda rate: -(rate or 0.0))
        assert "always-correct" in names(app)[: rates.count(rates[0])]


async def test_pinned_verifiers_stay_on_top(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "unsure", "B")
        await press(pilot, "space")
        await to_cell(pilot, "always-correct", "B")
        await press(pilot, "space")
        assert names(app)[:2] == ["unsure", "always-correct"]
        assert screen_of(app).chosen == ("always-correct", "B")
        assert [row.cells[0].text[:2] for row in matrix_of(app).rows][:3] == ["↑ ", "↑○", "  "]
        assert "↑ pinned" in text_of(app, "#accuracy-legend")
        await press(pilot, "s", "enter", "g", "escape")
        assert names(app)[:2] == ["unsure", "always-correct"]
        await press(pilot, "space")
        await press(pilot, "s", "s")
        assert names(app) == ["unsure", *(name for name in IN_REPORT if name != "unsure")]


@pytest.mark.soak
async def test_lower_table_shows_the_verifier_the_column_or_the_notes(project: Project) -> None:
    async with opened(project, size=(120, 40)) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", "A")
        table = app.screen.query_one("#accuracy-detail", VirtualTable)
        assert "macro" in text_of(app, "#accuracy-about")
        assert "micro" in text_of(app, "#accuracy-about")
        await press(pilot, "d")
        assert text_of(app, "#accuracy-about") == "A - Numeric Values · best first by accuracy in %"
        shown = [table.render_line(y).text for y in range(1, 1 + table.row_count)]
        assert [name for line in shown for name in ("good", "bad") if name in line] == ["good", "bad"]
        assert all("●" in line for line in shown)
        assert table.selected_id == 1
        table.focus()
        await press(pilot, "up")
        assert screen_of(app).chosen == ("good", "A")
        await press(pilot, "d")
        assert not table.display
        assert "• " in text_of(app, "#accuracy-notes Static")
        assert "permutation by question" in text_of(app, "#accuracy-notes Static")
        await press(pilot, "d")
        assert table.display


@pytest.mark.soak
async def test_differences_are_marked_preliminary_until_resampling_ends(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.statistics import permutations

    monkeypatch.setattr(permutations, "MOST_WAYS", 1)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        first = screen_of(app).read()
        assert first.report.tests is not None
        assert first.report.tests.approximate
        assert "≈" in view.legend(first.report, view.FIGURES["accuracy"], pinned=False)
        assert "normal distribution" in view.notes(first.report)
        found = screen_of(app).report
        assert found is not None
        assert found.tests is not None
        assert (found.tests.approximate, found.tests.drawn) == (0, first.report.tests.approximate)
        assert "≈" not in view.legend(found, view.FIGURES["accuracy"], pinned=False)


@pytest.mark.soak
async def test_unfinished_run_updates_rows_without_moving_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AccuracyScreen, "LOOK_S", 0.05)
    project = make_project(tmp_path, numbered(40, subtype="A1"))
    add_run(project, "done", dict.fromkeys(range(1, 41), Outcome.INCORRECT))
    run = add_run(project, "going", dict.fromkeys(range(1, 26), Outcome.CORRECT), complete=False, items=40)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "going", "A")
        await press(pilot, "s", "space")
        (row,) = (row for row in matrix_of(app).rows if row.key == "going")
        assert row.cells[0].small == "62 % run"
        assert "62 % run " in matrix_of(app).render_line(2).text
        assert "% run: judged so far" in text_of(app, "#accuracy-legend")
        assert cells(app)["going", "A"] == "▅52.0(25)"
        before = names(app)
        more_verdicts(project, run, range(26, 36))
        await until(pilot, lambda: "87 %" in matrix_of(app).render_line(2).text)
        assert "(35)" in cells(app)["going", "A"]
        assert (names(app), screen_of(app).chosen) == (before, ("going", "A"))
        await until(pilot, lambda: "going · 87 % judged so far" in text_of(app, "#accuracy-about"))
        await press(pilot, "i")
        assert "35 items counted" in text_of(app, "#accuracy-items-counts")
        await press(pilot, "escape")
        more_verdicts(project, run, range(36, 41), complete=40)
        await until(pilot, lambda: "%" not in matrix_of(app).render_line(2).text)
        await settle(pilot)
        assert (names(app), screen_of(app).chosen) == (before, ("going", "A"))
        assert "judged so far" not in text_of(app, "#accuracy-legend")
        assert cells(app)["going", "A"] == "▅50.0"


@pytest.mark.soak
async def test_new_verifier_does_not_move_the_cursor(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "unsure", "B")
        add_run(project, "another", {1: Outcome.CORRECT})
        await until(pilot, lambda: ("another", None) in cells(app))
        await settle(pilot)
        assert cells(app)["another", None] == "█100.0(1)"
        assert screen_of(app).chosen == ("unsure", "B")
        assert app.focused is matrix_of(app)


def test_cancelled_run_is_not_shown_as_unfinished(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    run = add_run(project, "stopped", {1: Outcome.CORRECT}, complete=False, items=4)
    assert accuracy(project, live=True).unfinished == {"stopped": 0.25}
    assert {row.verifier for row in accuracy(project).rows} == set(BASELINES)
    with project.database.write() as connection:
        runs.end_run(connection, run, "cancelled")
    assert accuracy(project, live=True).unfinished == {}
    with project.database.write() as connection:
        runs.queue(connection, run, Selection(), 4, 1)
    assert accuracy(project, live=True).unfinished == {"stopped": 0.25}


async def test_matrix_is_filtered_live_and_by_the_cell_under_the_cursor(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        everything, matrix = names(app), matrix_of(app)
        await press(pilot, "f", *"all<90")
        await until(pilot, lambda: len(matrix.rows) < len(everything))
        await press(pilot, "enter")
        below = [row.verifier for row in accuracy(project, by="type").rows if row.group is None and row.accuracy < 0.9]  # type: ignore[operator]
        assert names(app) == below
        assert f"all<90 ✕  {len(below)} of {len(everything)}" in matrix.render_line(0).text
        assert "verifier" in matrix.render_line(1).text
        await press(pilot, "b", "2")
        assert screen_of(app).asked.by == "subtype"
        assert len(names(app)) == len(below)
        await press(pilot, "B", "F")
        assert names(app) == everything
        await to_cell(pilot, "bad", None)
        await press(pilot, "left", "equals_sign")
        assert (names(app), screen_of(app).chosen[0]) == (["bad"], "bad")
        await pilot.click(matrix, offset=(3, 0))
        await settle(pilot)
        assert names(app) == everything


@pytest.mark.soak
async def test_empty_and_invalid_filters_keep_the_screen_usable(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "f", *"nobody", "enter")
        assert names(app) == []
        await press(pilot, "i", "m", "enter", "s", "space", "equals_sign", "down", "d", "d")
        assert names(app) == []
        await press(pilot, "f", *["backspace"] * 10, *"noColumn=x", "enter")
        assert "There is no column" in text_of(app, "PromptLine .trouble")
        await press(pilot, "escape", "F")
        assert len(names(app)) == len(IN_REPORT)


async def test_unfinished_run_is_excluded_from_the_summary(tmp_path: Path) -> None:
    project = make_project(tmp_path, [*numbered(40, subtype="A1"), *numbered(40, subtype="C1", dataset="more")])
    add_run(project, "whole", dict.fromkeys(range(1, 81), Outcome.CORRECT))
    add_run(project, "begun", dict.fromkeys(range(2, 42, 2), Outcome.CORRECT), complete=False, items=80)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        conclusion = text_of(app, "#accuracy-conclusion")
        assert "whole" in conclusion
        assert "begun" not in conclusion
        assert "begun" in names(app)
