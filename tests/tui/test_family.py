"""Compare all: cells are the service's pairs, marks stand beside colours, and a cell opens its pair."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, notices, opened, press, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.screens.compare import CompareScreen, Pair
from workbench.app.tui.screens.family import FamilyQuery, FamilyScreen, FamilySheet, turned
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.measuring.comparing import comparable, joint_errors
from workbench.measuring.comparing_tables import comparison_as
from workbench.measuring.family import family
from workbench.measuring.notes import add_selection_judges


def project_of_three(folder: Path) -> Project:
    """80 items: "good" and "alike" are right on nearly all, "poor" on half of them."""
    draw = random.Random(4)
    rows = [
        {"question_id": f"q{number // 2}", "gold": number % 3 == 0, "subtype": "A1" if number < 40 else "B5"}
        for number in range(80)
    ]
    project = make_project(folder, rows)
    for name, ability in (("poor", 0.5), ("good", 0.95), ("alike", 0.9)):
        said = {
            item: OutcomeCode(int(row["gold"] is (draw.random() < ability))).outcome for item, row in enumerate(rows, 1)
        }
        add_run(project, name, said | {1: Outcome.ABSTAIN})
    return project


def screen_of(app: WorkbenchApp) -> FamilyScreen:
    assert isinstance(app.screen, FamilyScreen)
    return app.screen


async def show(app: WorkbenchApp, pilot: Pilot[None], asked: FamilyQuery | None = None) -> None:
    await app.push_screen(FamilyScreen(asked or FamilyQuery(), comparable(app.project)))
    await settle(pilot)


def cells(app: WorkbenchApp) -> dict[tuple[str, str], str]:
    matrix = app.screen.query_one(Matrix)
    return {
        (row.key, str(column.key)): row.cells[place].glyph + row.cells[place].text
        for row in matrix.rows
        for place, column in enumerate(matrix.columns)
    }


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_cells_are_the_services_pairs(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_three(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":c", "enter", "vertical_line")
        sheet = screen_of(app).sheet
        assert sheet is not None
        report = family(project)
        assert sheet.family == report
        assert sheet.errors == joint_errors(project, tuple(sheet.errors.verifiers))
        found = cells(app)
        assert len(found) == 16
        for pair in report.family:
            mark = "≈" if pair.holm_p >= report.level else "▲" if pair.difference > 0 else "▼"
            other = {"≈": "≈", "▲": "▼", "▼": "▲"}[mark]
            assert found[pair.a, pair.b] == f"{100 * pair.difference:+.1f}{mark}"
            assert found[pair.b, pair.a] == f"{-100 * pair.difference:+.1f}{other}"
        assert all(found[one.verifier, one.verifier] == "·" for one in report.members)
        assert "▲ better ▼ worse ≈ not distinguishable" in text_of(app, "#family-legend")
        assert "gold final · protocol strict" in text_of(app, "#family-caption")
        assert "6 pairs, Holm's p below 0.05" in text_of(app, "#family-caption")


async def test_errors_in_common_and_agreement_take_the_cells(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "o")
        pair = next(pair for pair in joint_errors(project).errors if {pair.a, pair.b} == {"good", "alike"})
        assert cells(app)["good", "alike"][1:] == f"{pair.errors.phi:.3f}"
        assert "phi" in text_of(app, "#family-legend")
        await press(pilot, "o")
        assert cells(app)["good", "alike"] == f"{pair.errors.both_wrong} ({pair.expected_given_gold:.1f})"
        await press(pilot, "o")
        assert cells(app)["alike", "good"][1:] == f"{pair.kappa:.3f}"
        await press(pilot, "O")
        assert screen_of(app).measure == "both"


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_the_cursor_tells_all_of_a_pair_and_opens_it(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_three(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await show(app, pilot, FamilyQuery(protocol="strict"))
        await press(pilot, "down", "down")
        matrix = app.screen.query_one(Matrix)
        a, b = str(matrix.row_key), str(matrix.column_key)
        sentence = text_of(app, "#family-cell").splitlines()
        assert sentence[0].startswith(f"{a} – {b} · 80 items · right alone ")
        report = family(project, protocol="strict")
        pair = next(pair for pair in report.family if {pair.a, pair.b} == {a, b})
        difference, says = turned(pair, a, report.level)
        assert sentence[1].startswith(f"{100 * difference:+.1f} points [")
        assert sentence[1].endswith(f" · {says}")
        assert sentence[2].startswith("both wrong ")
        assert sentence[3].startswith("errors' phi ")
        await press(pilot, "enter")
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.asked == Pair(a=a, b=b, protocol="strict")
        assert app.screen.report is not None
        assert app.screen.report.difference == pytest.approx(difference)
        await press(pilot, "escape", "up", "enter")
        assert screen_of(app)
        assert any("two different verifiers" in notice for notice in notices(app))
        assert "accuracy" in text_of(app, "#family-cell")


async def test_all_can_be_set_against_one(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "down", "vertical_line")
        sheet = screen_of(app).sheet
        assert sheet is not None
        reference = screen_of(app).asked.against
        assert reference == sheet.members[1].verifier
        assert sheet.family == family(project, against=reference)
        assert {column for _, column in cells(app)} == {reference}
        assert f"all compared with {reference}; Holm's p over 3 pairs" in text_of(app, "#family-together")
        await press(pilot, "vertical_line")
        assert screen_of(app).asked.against is None
        assert len(cells(app)) == 16


async def test_some_of_them_can_be_chosen(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "v", "space", "enter")
        assert screen_of(app).asked.verifiers == ("good", "alike", "always-incorrect")
        assert "3 pairs" in text_of(app, "#family-caption")
        await press(pilot, "v", "asterisk", "asterisk", "enter")
        assert any("two or more" in notice for notice in notices(app))
        assert len(screen_of(app).asked.verifiers) == 3


async def test_the_pairs_items_protocol_and_gold_come_along(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "b", "enter", "p", "vertical_line")
        sheet = screen_of(app).sheet
        assert sheet is not None
        assert sheet.family == family(project, protocol="forced", selection=Selection((parse_condition("type=A"),)))
        assert "A - Numeric Values · 40 items" in text_of(app, "#family-caption")
        await press(pilot, "g")
        assert any("No two of these verifiers" in notice for notice in notices(app))
        assert text_of(app, "#family-caption") == text_of(app, "#family-cell") == ""
        assert cells(app) == {}
        await press(pilot, "enter", "o", "vertical_line", "e", "g", "p")
        assert len(cells(app)) == 16
        assert "protocol decided" in text_of(app, "#family-caption")


async def test_what_the_matrix_shows_is_saved(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "e", "1", "o", "e", "2")
        sheet = screen_of(app).sheet
        assert sheet is not None
        saved = (tmp_path / "p-family-strict-final.csv").read_text(encoding="utf-8")
        assert saved == comparison_as(sheet.family, TableForm(format="csv"))
        saved = (tmp_path / "p-errors-strict-final.md").read_text(encoding="utf-8")
        assert saved == comparison_as(sheet.errors, TableForm(format="markdown"))


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_and_long_names_are_only_text(tmp_path: Path, size: tuple[int, int]) -> None:
    names = [*HOSTILE, "long " * 40]
    project = make_project(tmp_path, [{"gold": place % 2 == 0} for place in range(8)])
    for place, name in enumerate(names):
        add_run(project, name, {item: OutcomeCode((item + place) % 2).outcome for item in range(1, 9)})
    async with opened(project, size=size) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "o", "down")
        assert {row.key for row in app.screen.query_one(Matrix).rows} == {*names, "always-incorrect"}
        assert "\x1b" not in text_of(app, "#family-cell") + text_of(app, "#family-together")
        await press(pilot, "vertical_line")
        assert "\x1b" not in text_of(app, "#family-together")
        assert not notices(app)


def test_two_without_items_in_common_are_a_dash(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": True}] * 4)
    for name, items in (("first", (1, 2)), ("second", (3, 4)), ("both", (1, 2, 3, 4))):
        add_run(project, name, dict.fromkeys(items, Outcome.CORRECT))
    names = ("first", "second", "both")
    sheet = FamilySheet(family(project, names), joint_errors(project, names))
    first, second, _ = sheet.members
    for measure in ("difference", "phi", "kappa"):
        assert sheet.cell(first, second, measure).text == "–"
    assert sheet.cell(first, second, "both").text == "0 (–)"


def test_a_judge_that_chose_the_items_is_marked(tmp_path: Path) -> None:
    project, names = project_of_three(tmp_path), ("poor", "good", "alike")
    add_selection_judges(project, "sample", ("good",))
    sheet = FamilySheet(family(project, names), joint_errors(project, names))
    assert {row.name for row in sheet.rows("difference")} == {"poor", "good †", "alike"}
