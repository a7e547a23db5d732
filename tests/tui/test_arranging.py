"""Arranging lists: conditions as chips, counts of values, hidden and resized columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE, add_run, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.arranging import ConditionSuggester, condition_text, read_line, row_filter, values_of
from workbench.app.tui.kit.columns import TableColumn, TableRow
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.queue_view import QueueRequest
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.counts import CountsScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.interchange.importing import import_files, plan_import
from workbench.tables.document import Cell

COLUMNS = (TableColumn("name", "name"), TableColumn("acc", "acc"), TableColumn("n", "n items"))


def row(number: int, name: str, accuracy: float | None, n: int) -> TableRow:
    shown = Cell("–" if accuracy is None else f"{100 * accuracy:.1f}", value=accuracy)
    return TableRow(number, (Cell(name, value=name), shown, Cell(f"{n:,}", value=n)))


ROWS = [row(1, "Alpha one", 0.9, 1_200), row(2, "beta", 0.25, 30), row(3, "[red]", None, 5)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", [1, 2, 3]),
        ("name=BETA", [2]),
        ("name!=beta", [1, 3]),
        ("acc<50", [2]),
        ("acc>50 acc<95", [1]),
        ("acc=–", [3]),
        ('"n items">1,000', [1]),
        ('"n items"=30', [2]),
        ("alpha", [1]),
        ('"alpha one"', [1]),
        ("[red]", [3]),
        ("beta acc>30", []),
        ("name>3", []),
    ],
)
def test_conditions_apply_to_the_shown_values(line: str, found: list[int]) -> None:
    conditions = read_line(line, COLUMNS)
    filter_of_rows = row_filter(conditions, COLUMNS)
    assert [one.id for one in ROWS if filter_of_rows(one)] == found
    assert read_line(" ".join(map(condition_text, conditions)), COLUMNS) == conditions, "typed again they mean the same"


@pytest.mark.parametrize(
    ("line", "problem"), [("colour=red", "no column 'colour'"), ('name="x', "quotation mark is open"), ("=3", "''")]
)
def test_invalid_conditions_are_explained(line: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_line(line, COLUMNS)


@pytest.mark.parametrize(
    ("begun", "whole"),
    [("na", "name="), ("acc>3 n", "acc>3 name="), ("name=b", "name=beta"), ("name=A", 'name="Alpha one"'), ("x", None)],
)
async def test_columns_and_their_values_are_completed(begun: str, whole: str | None) -> None:
    assert await ConditionSuggester(values_of(COLUMNS, ROWS)).get_suggestion(begun) == whole


# -- On the screens -----------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = numbered(300, model="m/one", source="s")
    for number, one in enumerate(rows):
        one["subtype"] = ("A1", "B5", "C1")[number // 2 % 3]
    project = make_project(tmp_path, rows)
    add_run(project, "rules", {item: OutcomeCode(item % 4).outcome for item in range(1, 301)}, reasons=["text_equal"])
    add_run(
        project, "other", {item: OutcomeCode((item + 1) % 2).outcome for item in range(1, 301)}, reasons=["text_equal"]
    )
    return project


def table(app: WorkbenchApp) -> VirtualTable:
    return app.screen.query_one(VirtualTable)


def head(app: WorkbenchApp) -> str:
    return table(app).render_line(0).text


def titles(app: WorkbenchApp) -> list[str]:
    return table(app).render_line(len(table(app).chips) and 1).text.split()


async def show(app: WorkbenchApp, pilot: Pilot[None], name: str) -> None:
    app.open_screen(name)
    await settle(pilot)


async def test_filter_applies_while_typing_and_escape_reverts_it(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        browse = table(app)
        await press(pilot, "f", *"type=A")
        await until(pilot, lambda: browse.row_count == 100)
        assert isinstance(app.screen, PromptLine)
        await press(pilot, *" gold=corr")
        await pilot.pause(0.4)
        assert not app.screen.query_one(".trouble").display, "it is not finished yet"
        await press(pilot, "escape")
        assert browse.row_count == 300
        assert browse.chips == ()


@pytest.mark.soak
async def test_key_filters_by_the_current_row_and_clears_the_filter(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        await press(pilot, "right", "equals_sign", "right", "right", "right", "equals_sign", "equals_sign")
        assert table(app).chips == (Condition("subtype", "=", "A1"), Condition("verdict:rules", "=", "correct"))
        assert " subtype=A1 ✕   verdict:rules=correct ✕ " in head(app)
        assert table(app).row_count == 25
        await press(pilot, "F")
        assert table(app).row_count == 100
        await pilot.click(VirtualTable, offset=(4, 0))
        await settle(pilot)
        assert (table(app).chips, table(app).row_count) == ((), 300)


@pytest.mark.soak
async def test_stored_column_can_be_filtered_and_completed(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    texts = {"question": "?", "reference": "1", "completion": "1", "gold": True}
    rows = [{"completion_id": f"c{n}", **texts, "level": ("easy", "very hard")[n % 2]} for n in range(6)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([file]), dataset="own")
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        await press(pilot, "f", *"column", "tab", *'"', "tab")
        assert app.screen.query_one(Input).value == 'column:level="very hard"'
        await press(pilot, "enter")
        assert table(app).row_count == 3


async def test_queue_is_filtered_by_its_columns_and_sorted(project: Project) -> None:
    async with opened(project) as (app, pilot):
        app.open_screen("disagreements", QueueRequest(queue="verifiers"))
        await settle(pilot)
        screen = screen_of(app, DisagreementsScreen)
        whole = screen.table.row_count
        keys = [column.key for column in screen.table.source.columns] if screen.table.source else []
        await press(pilot, *["right"] * keys.index("subtype"), "equals_sign")
        assert screen.asked.conditions == (Condition("subtype", "=", "A1"),)
        assert 0 < screen.table.row_count < whole
        assert " subtype=A1 ✕ " in head(app)
        await press(pilot, "escape")
        assert screen.table.row_count == whole


async def test_every_list_is_filtered_by_its_columns(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(8))
    for name in ("one", "two", *HOSTILE):
        add_run(project, name, {1: Outcome.CORRECT})
    async with opened(project) as (app, pilot):
        await show(app, pilot, "runs")
        runs = table(app)
        assert runs.row_count == 7
        await press(pilot, "f", *"two", "enter")
        assert runs.row_count == 1
        assert " two ✕ " in head(app)
        assert "1 of 7" in head(app), "the list says that it is incomplete"
        add_run(project, "two more", {1: Outcome.CORRECT})
        await until(pilot, lambda: runs.row_count == 2)
        await press(pilot, "F")
        assert runs.row_count == 8
        await press(pilot, "f", *"nobody=x", "enter")
        assert "There is no column 'nobody'." in text_of(app, "PromptLine .trouble")
        await press(pilot, "escape")
        assert not any("\x1b" in notice for notice in notices(app))


async def test_counted_value_becomes_a_condition(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        await press(pilot, "right", "equals_sign", *["right"] * 4, "number_sign")
        counts = screen_of(app, CountsScreen)
        assert "subtype=A1" in text_of(app, "#counts-about")
        assert counts.table.row_count == 2
        await press(pilot, "escape", "number_sign")
        rows = [table(app).render_line(y).text.split()[:4] for y in range(1, 1 + table(app).row_count)]
        assert rows == [["›incorrect", "50", "50.0", "%"], ["correct", "50", "50.0", "%"]]
        await press(pilot, "enter")
        assert table(app).chips[-1] == Condition("verdict:other", "=", "incorrect")
        assert table(app).row_count == 50


async def test_values_of_a_list_in_memory_are_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(8))
    for name in ("one", "two", "three"):
        add_run(project, name, {1: Outcome.CORRECT}, complete=name != "three")
    async with opened(project, size=(120, 40)) as (app, pilot):
        await show(app, pilot, "runs")
        keys = [column.key for column in table(app).source.columns]  # type: ignore[union-attr]
        await press(pilot, *["right"] * keys.index("state"), "number_sign")
        found = {tuple(table(app).render_line(y).text.split()[-4:-1]) for y in range(1, 3)}
        assert {line[0] for line in found} <= {"2", "1", "66.7", "33.3"} or len(found) == 2
        await press(pilot, "enter")
        assert table(app).row_count == 2


@pytest.mark.soak
async def test_columns_stay_hidden_and_resized_while_the_app_runs(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        before = titles(app)
        await press(pilot, "right", "right", "minus")
        assert "state" not in titles(app)
        assert titles(app)[:3] == ["id", "type", "gold"]
        width = head(app).index("gold") - head(app).index("type")
        await press(pilot, "left", "greater_than_sign", "greater_than_sign")
        assert head(app).index("gold") - head(app).index("type") == width + 8
        await press(pilot, "less_than_sign")
        assert head(app).index("gold") - head(app).index("type") == width + 4
        await press(pilot, "escape")
        await show(app, pilot, "browse")
        assert "state" not in titles(app)
        assert head(app).index("gold") - head(app).index("type") == width + 4
        await press(pilot, "underscore", "3", "enter")
        assert titles(app)[:4] == before[:4]


async def test_last_column_cannot_be_hidden(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await show(app, pilot, "browse")
        await press(pilot, *["minus"] * 12)
        assert len(titles(app)) == 1
