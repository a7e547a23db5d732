"""Searching in Browse: matches are shown in context, and an item opens there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.helpers import add_items, make_project
from tests.tui.stage import opened, press, settle, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project
from workbench.data import searching
from workbench.data.store import text_index

_LONG = "A line of working.\n\n" * 60


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [
        {"completion_id": "a", "question": "Where does the walrus live?", "completion": r"So \boxed{7}."},
        {
            "completion_id": "b",
            "completion": rf"{_LONG}Half, $\frac{{1}}{{2}}$, is [red]so[/] much.{_LONG}\boxed{{8}}.",
        },
        {"completion_id": "c", "reference": "The Walrus sings", "completion": rf"{_LONG}the walrus{_LONG}\boxed{{7}}."},
    ]
    return make_project(tmp_path, rows)


@asynccontextmanager
async def found(
    project: Project, text: str, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    """Open Browse and search."""
    async with opened(project, size=size) as (app, pilot):
        app.open_screen("browse")
        await settle(pilot)
        await press(pilot, "slash")
        app.screen.query_one(Input).value = text
        await press(pilot, "enter")
        yield app, pilot


def lines(app: WorkbenchApp) -> list[str]:
    table = app.screen.query_one(VirtualTable)
    return [table.render_line(y).text for y in range(table.size.height)]


def marked(app: WorkbenchApp, line: int) -> list[str]:
    """Return what is marked in a line of the table."""
    table = app.screen.query_one(VirtualTable)
    style = table.get_component_rich_style("virtual-table--hit")
    strip = table.render_line(line)
    return [text for text, look, _ in strip if look is not None and look.bgcolor == style.bgcolor and look.underline]


async def test_list_shows_and_marks_the_match_in_context(project: Project) -> None:
    async with found(project, "walrus") as (app, _):
        head, first, second = (line.split()[1:5] for line in lines(app)[:3])
        assert head[:3] == ["found", "type", "state"]
        assert first == ["question:", "…", "does", "the"]
        assert second == ["completion:", "…ing.", "the", "walrusA"]
        assert marked(app, 1) == marked(app, 2) == ["walrus"]


async def test_matches_are_shown_as_text(project: Project) -> None:
    async with found(project, "[RED]so[/]", (120, 40)) as (app, _):
        assert marked(app, 1) == ["[red]so[/]"]


@pytest.mark.soak
async def test_details_begin_with_the_context_of_the_match(project: Project) -> None:
    async with found(project, r"\frac{1}", (120, 40)) as (app, pilot):
        await press(pilot, "d")
        reader = app.screen.query_one("#browse-details", Reader)
        await until(pilot, lambda: reader.document is not None and reader.hits)
        assert reader.document is not None
        assert reader.document.lines[0].spans[0].text == "Found in the completion: "
        assert reader.hits >= 1


async def test_item_opens_at_the_match(project: Project) -> None:
    async with found(project, "the WALRUS") as (app, pilot):
        await press(pilot, "down", "enter")
        screen = app.screen
        assert isinstance(screen, ItemScreen)
        pane = screen.query_one("#item-completion", Reader)
        assert (app.focused, pane.hits) == (pane, 1)
        in_sight = [pane.render_line(y).text for y in range(pane.size.height)]
        assert any("the walrus" in line for line in in_sight)
        await press(pilot, "left_square_bracket")
        assert screen.completion == 1
        assert app.focused is screen.query_one("#item-question", Reader)


@pytest.mark.soak
async def test_raw_text_is_shown_if_only_it_has_the_match(
    project: Project,
) -> None:
    async with found(project, r"\FRAC{1}{2}") as (app, pilot):
        await press(pilot, "enter")
        pane = app.screen.query_one("#item-completion", Reader)
        assert pane.hits == 1
        assert any(r"\frac{1}{2}" in pane.render_line(y).text for y in range(pane.size.height))
        await app.run_action("raw", app.screen)
        await settle(pilot)
        assert pane.hits == 0
        assert not any(r"\frac" in pane.render_line(y).text for y in range(pane.size.height))


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "text", ["AND", '"', "*", "(", "a\0b", "NEAR(", "%", "\ud800xy", "-x", "';--", "x" * 60_000, "\\"]
)
async def test_texts_are_never_markup(project: Project, text: str) -> None:
    async with found(project, "") as (app, pilot):
        assert isinstance(app.screen, BrowseScreen)
        app.screen.change(search=text)
        await settle(pilot)
        expected = {"%": 0, "\\": 3, "(": 0, "AND": 0}.get(text, 0)
        assert app.screen.query_one(VirtualTable).row_count == expected


@pytest.mark.soak
async def test_first_search_of_a_large_project_builds_an_index(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "WORTH", 2)
    monkeypatch.setattr(text_index, "_MAX_CHARACTERS", 0)
    remarks: list[str] = []
    say = TitleBar.say

    def listened(bar: TitleBar, remark: str) -> None:
        remarks.append(remark)
        say(bar, remark)

    monkeypatch.setattr(TitleBar, "say", listened)
    async with found(project, "walrus") as (app, pilot):
        await until(pilot, text_index.path(project.path).exists)
        await settle(pilot)
        await until(pilot, lambda: app.screen.query_one(TitleBar).remark == "1 of 2  ·  /walrus")
        assert any(remark.endswith("/walrus  ·  index 67 % built") for remark in remarks)
        assert text_index.path(project.path).exists()
        add_items(project.database, [{"completion_id": "d", "completion": "another walrus"}])
        await press(pilot, "r")
        assert app.screen.query_one(TitleBar).remark == "1 of 3  ·  /walrus"


async def test_search_without_an_index_says_so_and_finds_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "WORTH", 2)
    text_index.path(project.path).parent.write_bytes(b"in the way")
    async with found(project, "walrus") as (app, pilot):
        await settle(pilot)
        assert app.screen.query_one(VirtualTable).row_count == 2
        message = [notice.message for notice in app._notifications]
        assert any("Searches read every text instead." in str(one) for one in message)
