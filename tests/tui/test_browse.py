"""Browse: rows, search, conditions, sorting, jumps, details; the selection is an item, not a position."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from bench.synthetic import build
from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE, SIZES, add_run, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.columns import Sort
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.table_screen import item_suggester
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition
from workbench.core.verdict import OutcomeCode


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = numbered(300, model="m/one", source="s")
    for number, row in enumerate(rows):
        row["subtype"] = ("A1", "B5", "C1")[number // 2 % 3]
    project = make_project(tmp_path, rows)
    add_run(project, "rules", {item: OutcomeCode(item % 4).outcome for item in range(1, 301)}, reasons=["text_equal"])
    return project


@asynccontextmanager
async def browsing(
    project: Project, *conditions: Condition, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        app.open_screen("browse", *conditions)
        await settle(pilot)
        yield app, pilot


def table(app: WorkbenchApp) -> VirtualTable:
    return app.screen.query_one(VirtualTable)


def shown(app: WorkbenchApp) -> str:
    """Return the lines of the table."""
    widget = table(app)
    return "\n".join(widget.render_line(y).text for y in range(widget.size.height))


def remark(app: WorkbenchApp) -> str:
    return app.screen.query_one(TitleBar).remark


def chips(app: WorkbenchApp) -> str:
    """Return the conditions above the list."""
    return " ".join(str(one) for one in table(app).chips)


async def enter(pilot: Pilot[None], key: str, text: str) -> None:
    """Open a line with a key, replace its text and press enter."""
    await press(pilot, key)
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


@pytest.mark.parametrize("size", SIZES)
async def test_browse_opens_on_all_items_with_their_columns(project: Project, size: tuple[int, int]) -> None:
    async with browsing(project, size=size) as (app, _):
        assert remark(app) == "1 of 300"
        lines = shown(app).splitlines()
        assert lines[0].split()[:6] == ["id", "type", "state", "gold", "rules", "question"]
        wide = app.size.width > 80
        assert lines[1].split()[:3] == ["›c0", "A1", "·"]
        assert lines[1].split()[3:7] == (["unlabelled", "✓", "correct", "✓"] if wide else ["✓", "✓", "Question", "q0?"])
        assert lines[2].split()[5 if wide else 3 :][:2] == (["incorrect", "?"] if wide else ["✗", "?"])
        assert "Question q0?" in lines[1]


async def test_filter_keeps_the_selected_item_or_reports_its_absence(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, *["down"] * 6)
        assert table(app).selected_id == 7
        await enter(pilot, "f", "type=A gold=correct")
        assert remark(app) == "2 of 50"
        assert chips(app) == "type=A gold=correct"
        assert "  type=A ✕   gold=correct ✕ " in shown(app).splitlines()[0]
        assert table(app).selected_id == 7
        await enter(pilot, "f", "gold=incorrect")
        assert remark(app) == "– of 150  ·  selection filtered out"
        await press(pilot, "escape")
        assert remark(app) == "7 of 300"


@pytest.mark.soak
async def test_enter_opens_the_first_row_if_the_selection_is_filtered_out(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "down", "down")
        await enter(pilot, "f", "gold=incorrect")
        assert remark(app) == "– of 150  ·  selection filtered out"
        await press(pilot, "enter")
        assert remark(app) == "1 of 150"
        assert table(app).selected_id == 2
        await press(pilot, "enter")
        assert type(app.screen) is ItemScreen
        assert app.screen.completion == 2


async def test_enter_in_an_empty_table_does_nothing(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "down")
        await enter(pilot, "slash", "nowhere")
        await press(pilot, "enter")
        assert remark(app) == "– of 0  ·  /nowhere  ·  selection filtered out"


async def test_invalid_conditions_are_explained_at_the_input(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await enter(pilot, "f", "colour=red")
        assert text_of(app, "PromptLine .trouble").startswith("Unknown field 'colour'. Known fields: dataset")
        app.screen.query_one(Input).value = "verdict:nobody=correct"
        await press(pilot, "enter")
        assert "Verifiers that have: rules." in text_of(app, "PromptLine .trouble")
        await press(pilot, "escape")
        assert remark(app) == "1 of 300"
        assert not isinstance(app.screen, PromptLine)
        assert isinstance(app.screen, BrowseScreen)


@pytest.mark.soak
async def test_letters_typed_into_the_line_are_no_commands(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "f", *"model=m/one", "enter")
        assert chips(app) == "model=m/one"
        await press(pilot, "slash", *"q7/", "enter")
        assert remark(app).endswith("/q7/")
        assert table(app).row_count == 0
        assert "No row matches; Back clears the search." in shown(app)


async def test_escape_clears_the_search_then_the_filter_then_leaves(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await enter(pilot, "f", "type=B")
        await enter(pilot, "slash", "q10")
        assert table(app).row_count == 10  # both completions of q10, q100, q103, q106 and q109
        await press(pilot, "escape")
        assert chips(app) == "type=B"
        assert table(app).row_count == 100
        await press(pilot, "escape")
        assert table(app).row_count == 300
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_sorting_by_a_column_keeps_the_selection_and_reverses(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "down", *["right"] * 4, "s")
        assert table(app).sort == Sort("verdict:rules")
        assert "rules▲" in shown(app)
        assert table(app).selected_id == 2
        await press(pilot, "home")
        assert table(app).selected_id == 4  # the first "incorrect"
        await press(pilot, "S", "home")
        assert "rules▼" in shown(app)
        assert table(app).selected_id == 1  # the first "correct"
        await press(pilot, "s")
        assert table(app).sort is None


async def test_click_on_a_header_sorts_and_a_second_one_reverses(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        for sign in "▲▼":
            await pilot.click(VirtualTable, offset=(2, 0))
            await settle(pilot)
            assert f"id {sign}" in shown(app)


@pytest.mark.few(5)
@pytest.mark.parametrize(("text", "item"), [("1", 1), ("300", 300), ("2_99", 299), ("c17", 18), ("#c0", 1)])
async def test_jumping_to_a_row_or_an_id(project: Project, text: str, item: int) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "down", "down")
        await enter(pilot, "at", text)
        assert table(app).selected_id == item
        assert app.focused is table(app)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("text", "problem"), [("0", "300 rows"), ("301", "300 rows"), ("c300", "No item has the id 'c300'")]
)
async def test_jump_to_an_unknown_target_says_so(project: Project, text: str, problem: str) -> None:
    async with browsing(project) as (app, pilot):
        await enter(pilot, "at", text)
        assert problem in text_of(app, "PromptLine .trouble")
        await press(pilot, "escape")
        assert table(app).selected_id == 1


async def test_number_with_a_sign_is_an_id(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": str(number)} for number in (30, 20, 10)])
    async with browsing(project) as (app, pilot):
        await enter(pilot, "at", "#10")
        assert table(app).selected_id == 3


async def test_enter_opens_the_item_and_returning_selects_the_last_one_read(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "down", "enter")
        assert type(app.screen) is ItemScreen
        await press(pilot, "right_square_bracket", "right_square_bracket", "escape")
        assert table(app).selected_id == 4


@pytest.mark.soak
async def test_details_are_next_to_the_table_on_wide_terminals(project: Project) -> None:
    async with browsing(project, size=(120, 40)) as (app, pilot):
        details = app.screen.query_one("#browse-details", Reader)
        assert not details.display or not details.region
        await press(pilot, "d")
        text = "\n".join(details.render_line(y).text for y in range(20))
        assert "Question q0?" in text
        assert "correct rules" in text
        assert "Both are the same text." in text
        await press(pilot, "d")
        assert not details.region
    async with browsing(project) as (app, pilot):
        await press(pilot, "d")
        assert "Details need 100 columns; ⏎ opens the item." in notices(app)


async def test_browse_can_open_with_conditions(project: Project) -> None:
    async with browsing(project, Condition("model", "=", "m/one"), Condition("type", "=", "C")) as (app, pilot):
        assert remark(app) == "1 of 100"
        assert chips(app) == "model=m/one type=C"
        await press(pilot, "f")
        assert app.screen.query_one(Input).value == "model=m/one type=C "


async def test_names_are_shown_as_text_everywhere(tmp_path: Path) -> None:
    rows = [{"completion_id": name, "model": name, "source": name, "question": name} for name in HOSTILE]
    project = make_project(tmp_path, rows)
    async with browsing(project, size=(120, 40)) as (app, pilot):
        assert "[bold]x[/]" in shown(app)
        assert "␛[31m" in shown(app)
        await press(pilot, "d")
        await enter(pilot, "slash", "[/]")
        assert remark(app).endswith("/[/]")
        await enter(pilot, "f", 'model="[red"')
        assert remark(app) == "– of 0  ·  /[/]"
        assert chips(app) == "model=[red"
        await enter(pilot, "at", "[nobody]")
        assert "'[nobody]'" in text_of(app, "PromptLine .trouble")


@pytest.mark.soak
async def test_thousand_items_of_many_kinds(tmp_path: Path) -> None:
    project = open_project(build(tmp_path / "s.db", 1_000))
    async with browsing(project) as (app, pilot):
        await press(pilot, "end")
        assert remark(app) == "1,000 of 1,000"
        await enter(pilot, "slash", "attempt 1000.")
        assert table(app).row_count == 1


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("ty", "type="),
        ("type=A sta", "type=A state="),
        ("state!=f", "state!=final"),
        ("verdict", "verdict:rules="),
        ("verdict:rules=a", "verdict:rules=abstain"),
        ("verdict=c", "verdict=correct"),
        ("model=m", "model=m/one"),
        ("source=", 'source="a b"'),
        ("set=ba", "set=balanced"),
        ("colour", None),
        ("", None),
    ],
)
async def test_line_suggests_fields_and_values(typed: str, suggested: str | None) -> None:
    names = {"verdict:": ["rules"], "model": ["m/one"], "source": ["", "a b"], "set": ["balanced"]}
    suggester = item_suggester(names)
    assert await suggester.get_suggestion(typed) == suggested


@pytest.mark.soak
async def test_tab_accepts_the_suggestion(project: Project) -> None:
    async with browsing(project) as (app, pilot):
        await press(pilot, "f", *"mod", "tab", *"m", "tab", "enter")
        assert chips(app) == "model=m/one"


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_question_is_visible_on_a_narrow_terminal_too(project: Project, size: tuple[int, int]) -> None:
    async with browsing(project, size=size) as (app, _):
        head, first, *_ = shown(app).splitlines()
        assert head.split()[:4] == ["id", "type", "state", "gold"]
        begin = head.index("question")
        assert first[begin : begin + 12].strip()
        assert begin + 12 < size[0]


@pytest.mark.soak
async def test_export_of_a_list_uses_its_conditions(project: Project) -> None:
    async with browsing(project, Condition("type", "=", "A")) as (app, pilot):
        await press(pilot, "e")
        menu = app.screen
        assert isinstance(menu, ChoiceMenu)
        place = [str(choice.text) for choice in menu.listed].index("Export the items whole …")
        menu.query_one(OptionList).highlighted = place
        await press(pilot, "enter")
        assert app.screen.query_one("#option-where", OptionField).value == "type=A"


@pytest.mark.soak
async def test_letters_without_another_use_move_the_cursor(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(30))) as (app, pilot):
        await press(pilot, *":b", "enter")
        table = app.screen.query_one(VirtualTable)
        await press(pilot, "G", "l", "l", "h")
        await until(pilot, lambda: (table.cursor, table.column) == (29, 1))
        await press(pilot, "g", "g")
        await until(pilot, lambda: table.cursor == 0)
        await press(pilot, *":r", "enter")
        screen = screen_of(app, DisagreementsScreen)
        await press(pilot, "h", "g")
        assert (screen.asked.hidden, screen.asked.gold) == (True, "people")
