"""Accuracy: the table's figures are the service's, and every cell leads down to its items."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, SIZES, add_run, notices, opened, press, settle, text_of, until
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import Outcome
from workbench.render.bars import percent
from workbench.services.measuring.accuracy import accuracy
from workbench.services.measuring.accuracy_items import judged_items
from workbench.services.measuring.tables import accuracy_csv
from workbench.services.project import Project
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.accuracy import WIDE, AccuracyScreen
from workbench.tui.screens.accuracy_items import JudgedSource
from workbench.tui.widgets import accuracy_view as view
from workbench.tui.widgets.virtual_table import VirtualTable

SUBTYPES = ("A1", "A1", "A8", "A8", "B5", "B5", None, None)


def judged_project(folder: Path) -> Project:
    """16 items, two a question, of several subtypes; one good, one bad and one unsure verifier."""
    rows = [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "gold": number % 2 == 0,
            "subtype": SUBTYPES[number // 2],
            "source": f"source {number % 4}",
            "model": "m" if number % 3 else None,
        }
        for number in range(16)
    ]
    project = make_project(folder, rows)
    gold = {number + 1: number % 2 == 0 for number in range(16)}
    right = {item: Outcome.CORRECT if value else Outcome.INCORRECT for item, value in gold.items()}
    bad = right | {1: Outcome.INCORRECT, 2: Outcome.CORRECT, 5: Outcome.ABSTAIN}
    add_run(project, "good", right, reasons=("number", "letter"))
    add_run(project, "bad", bad)
    add_run(project, "unsure", {item: Outcome.ERROR if item % 3 else Outcome.ABSTAIN for item in gold})
    return project


def screen_of(app: WorkbenchApp) -> AccuracyScreen:
    assert isinstance(app.screen, AccuracyScreen)
    return app.screen


def cells(app: WorkbenchApp) -> dict[tuple[str, str], str]:
    """The overview as shown: (verifier, column title) -> text."""
    table: DataTable[Any] = app.screen.query_one(DataTable)
    titles = [str(column.label).strip() for column in table.ordered_columns]
    return {
        (str(row[0]).strip(), title): str(text).strip()
        for row in (table.get_row_at(place) for place in range(table.row_count))
        for title, text in zip(titles[1:], row[1:], strict=True)
    }


async def to_cell(pilot: Pilot[None], verifier: str, column: int) -> None:
    """Put the cursor on a verifier's cell; column 0 is "all"."""
    screen = screen_of(pilot.app)  # type: ignore[arg-type]
    await press(pilot, "home", *["up"] * 9)
    place = [str(row).strip() for row in screen._verifiers].index(verifier)
    await press(pilot, *["down"] * place, *["right"] * (column + 1))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("protocol_keys", [0, 1, 2])
async def test_figures_are_those_of_the_service(tmp_path: Path, size: tuple[int, int], protocol_keys: int) -> None:
    project = judged_project(tmp_path)
    protocol = ("forced", "strict", "decided")[protocol_keys]
    report = accuracy(project, by="type", protocol=protocol)  # type: ignore[arg-type]
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", *["p"] * protocol_keys)
        assert screen_of(app).report == report
        shown = cells(app)
        for row in report.rows:
            title = next(title for verifier, title in shown if (title.split()[0] == (row.group or "all")) and verifier)
            assert shown[row.verifier, title] == view.matrix_text(row)
            assert f"({row.n})" in shown[row.verifier, title]
        assert f"protocol {protocol}" in text_of(app, "#accuracy-caption")
        assert "gold final" in text_of(app, "#accuracy-caption")
        assert "16 imported" in text_of(app, "#accuracy-caption")


@pytest.mark.parametrize("size", SIZES)
async def test_the_baseline_stands_in_every_table(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(judged_project(tmp_path), size=size) as (app, pilot):
        await press(pilot, "y")
        assert cells(app)["always-incorrect", "all"] == "50.0 (16)"
        await press(pilot, "right", "enter")
        assert cells(app)["always-incorrect", "all"] == "50.0 (8)"


@pytest.mark.parametrize("size", SIZES)
async def test_the_cell_under_the_cursor_is_told_in_full(tmp_path: Path, size: tuple[int, int]) -> None:
    project = judged_project(tmp_path)
    (row,) = (r for r in accuracy(project, by="type").rows if (r.verifier, r.group) == ("bad", "A"))
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y")
        await to_cell(pilot, "bad", 1)
        text = text_of(app, "#accuracy-cell")
        assert row.ci is not None
        for part in (
            "bad · A - Numeric Values",
            f"accuracy {percent(row.accuracy)} % [{percent(row.ci[0])}, {percent(row.ci[1])}]",
            f"n {row.n} in {row.questions} questions",
            f"TP {row.tp} FP {row.fp} TN {row.tn} FN {row.fn}",
            "? 1 abstain",
            "protocol forced, gold final",
        ):
            assert part in text
        detail = app.screen.query_one(VirtualTable)
        assert detail.row_count == 4
        assert detail.selected_id == 1


async def test_from_a_type_to_subtypes_to_items_to_the_item(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y")
        await to_cell(pilot, "bad", 1)
        await press(pilot, "enter")
        assert screen_of(app).report == accuracy(
            project, by="subtype", selection=Selection((Condition("type", "=", "A"),))
        )
        assert {title for _, title in cells(app)} == {"all", "A1", "A8"}
        await to_cell(pilot, "bad", 1)
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "AccuracyItemsScreen"
        assert "4 items: ✗ 2 wrong · ? 0 undecided · ✓ 2 right" in text_of(app, "#accuracy-items-counts")
        table = app.screen.query_one(VirtualTable)
        assert table.visible_ids == [2, 1, 3, 4]
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "ItemScreen"
        assert app.screen.completion == 2  # type: ignore[attr-defined]
        await press(pilot, "escape", "escape")
        assert screen_of(app).shown.parent == "A"
        await press(pilot, "escape")
        assert screen_of(app).shown.by == "type"
        assert screen_of(app).chosen == ("bad", "A")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


@pytest.mark.parametrize("by", ["type", "subtype", "domain", "source", "model", "dataset", "reason"])
async def test_every_cell_lists_the_items_its_figures_count(tmp_path: Path, by: str) -> None:
    project = judged_project(tmp_path)
    for row in accuracy(project, by=by, protocol="strict").rows:
        reason = row.group if by == "reason" else None
        conditions = () if row.group is None or reason else (Condition(by, "=", row.group),)
        items = judged_items(project, row.verifier, conditions, reason=reason)
        assert len(items) == row.n
        assert items.right == row.tp + row.tn
        assert items.wrong + items.undecided == row.fp + row.fn
        assert items.undecided == row.abstain + row.error
        assert len(items.rows(items.ids())) == row.n


@pytest.mark.parametrize("size", SIZES)
async def test_from_a_reason_to_its_items_to_the_evidence(tmp_path: Path, size: tuple[int, int]) -> None:
    project = judged_project(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", *["b"] * 6)
        assert screen_of(app).report == accuracy(project, by="reason")
        shown = cells(app)
        assert shown["good", "number"] == shown["good", "letter"] == "100.0 (8)"
        assert shown["good", "rule"] == "–"
        place = [title for verifier, title in shown if verifier == "good"].index("rule")
        await to_cell(pilot, "good", place)
        assert "No items with gold" in text_of(app, "#accuracy-cell")
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "AccuracyScreen"
        await press(pilot, "down", "up")
        place = [title for verifier, title in shown if verifier == "good"].index("letter")
        await to_cell(pilot, "good", place)
        await press(pilot, "enter")
        assert "8 items: ✗ 0 wrong · ? 0 undecided · ✓ 8 right" in text_of(app, "#accuracy-items-counts")
        assert "good × letter - compared as option letters" in text_of(app, "TitleBar")
        assert app.screen.query_one(VirtualTable).visible_ids == [2, 4, 6, 8, 10, 12, 14, 16]
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "ItemScreen"
        await press(pilot, "escape", "escape")
        assert screen_of(app).chosen == ("good", "letter")
        assert not notices(app)


@pytest.mark.parametrize("size", SIZES)
async def test_reasons_are_shown_in_words(tmp_path: Path, size: tuple[int, int]) -> None:
    project = judged_project(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", *["b"] * 6)
        report = screen_of(app).report
        assert report is not None
        wide = size[0] >= WIDE
        rows = view.detail_rows(report, "good", wide)
        assert [row.cells[0].text for row in rows][1:] == [
            "letter - compared as option letters",
            "number - compared as numbers",
        ]
        assert all(len(row.cells) == len(view.detail_columns(wide, False, "reason")) for row in rows)
        await to_cell(pilot, "good", list(view.groups_of(report)).index("letter"))
        assert "good · compared as option letters · accuracy 100.0 %" in text_of(app, "#accuracy-cell")


def test_each_listed_item_says_why(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    items = judged_items(project, "good")
    assert {row.item.id: row.reason for row in items.rows(items.ids())} == {
        item: "number" if item % 2 else "letter" for item in range(1, 17)
    }
    baseline = judged_items(project, "always-incorrect")
    assert {row.reason for row in baseline.rows(baseline.ids())} == {""}
    source = JudgedSource(items)
    place = [column.title for column in source.columns].index("why")
    assert [row.cells[place].text for row in source.page([1, 2])] == ["numbers", "option letters"]


@pytest.mark.parametrize("size", SIZES)
async def test_auroc_stands_where_a_verifier_has_scores(tmp_path: Path, size: tuple[int, int]) -> None:
    project = judged_project(tmp_path)
    add_run(project, "scored", dict.fromkeys(range(1, 17), Outcome.CORRECT))
    with project.database.write() as connection:
        connection.execute(
            "UPDATE verdicts SET score = completion_id % 2 WHERE run_id = (SELECT max(id) FROM runs) "
            "AND completion_id > 2"
        )
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y")
        await to_cell(pilot, "scored", 0)
        detail = app.screen.query_one(VirtualTable)
        assert "AUROC" in detail.render_line(0).text
        row = next(row for row in accuracy(project).rows if row.verifier == "scored")
        assert row.auroc == 1
        assert "1.000" in detail.render_line(1).text
        await to_cell(pilot, "good", 0)
        assert "AUROC" not in detail.render_line(0).text


async def test_switches_go_round(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y")
        seen = []
        for _ in range(7):
            await press(pilot, "b")
            report = screen_of(app).report
            assert report is not None
            seen.append(report.by)
        assert seen == ["subtype", "domain", "source", "model", "dataset", "reason", "type"]
        await press(pilot, "g")
        assert screen_of(app).report == accuracy(project, by="type", gold="people")
        assert "gold people" in text_of(app, "#accuracy-caption")
        assert "No items with gold" in text_of(app, "#accuracy-cell")
        await press(pilot, "g", "g")
        assert screen_of(app).report == accuracy(project, by="type")


async def test_the_cursor_stays_with_its_verifier_when_figures_change(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y")
        await to_cell(pilot, "unsure", 2)
        assert screen_of(app).chosen == ("unsure", "B")
        add_run(project, "another", {1: Outcome.CORRECT})
        await until(pilot, lambda: ("another", "all") in cells(app))
        await settle(pilot)
        assert cells(app)["another", "all"] == "100.0 (1)"
        assert screen_of(app).chosen == ("unsure", "B")
        assert app.focused is app.screen.query_one(DataTable)


async def test_the_table_is_written_as_csv(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y", "e", "e", "right", "enter", "e")
        first = tmp_path / "p-accuracy-type-forced-final.csv"
        assert first.read_text("utf-8") == accuracy_csv(accuracy(project, by="type"))
        assert (tmp_path / "p-accuracy-type-forced-final-2.csv").read_bytes() == first.read_bytes()
        with (tmp_path / "p-accuracy-A-subtype-forced-final.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {row["group"] for row in rows} == {"", "A1", "A8"}
        assert {(row["protocol"], row["gold"]) for row in rows} == {("forced", "final")}
        assert sum(str(tmp_path) in notice.replace("\n", "") for notice in notices(app)) == 3


async def test_without_runs_only_the_baseline_is_there(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await press(pilot, "y", "enter", "i", "down")
        assert {verifier for verifier, _ in cells_or_empty(app)} <= {"always-incorrect"}
        assert not notices(app)


def cells_or_empty(app: WorkbenchApp) -> dict[tuple[str, str], str]:
    return cells(app) if app.screen.query(DataTable) else {}


@pytest.mark.parametrize("size", SIZES)
async def test_mouse_moves_and_opens(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(judged_project(tmp_path), size=size) as (app, pilot):
        await press(pilot, "y")
        await pilot.click("#accuracy-detail", offset=(4, 2))
        await settle(pilot)
        assert screen_of(app).chosen[1] == "A"
        await pilot.click("#accuracy-detail", offset=(4, 2))
        await settle(pilot)
        assert screen_of(app).shown.parent == "A"


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_only_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, [{"gold": True, "source": name, "model": name} for name in HOSTILE])
    for name in HOSTILE:
        add_run(project, name, dict.fromkeys(range(1, len(HOSTILE) + 1), Outcome.INCORRECT))
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", "b", "b", "b")
        assert ("[bold]x[/]", "[/]") in cells(app)
        assert not any("\x1b" in text for pair in cells(app) for text in pair)
        await press(pilot, "right", "enter")
        assert "1 item: ✗ 1 wrong" in text_of(app, "#accuracy-items-counts")
        assert not notices(app)
