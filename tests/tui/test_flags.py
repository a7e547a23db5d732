"""Flags in the app: from the annotator to the coordinator's queue, and the answer back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.labelling import desk, make, rows
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.flags import FlagsScreen
from workbench.app.tui.screens.home import HomeScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project
from workbench.labelling import coordinating, guidelines
from workbench.labelling.annotating import AnnotationSession


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    yield made
    made.close()


def flag_the_next(project: Project, name: str, question: str) -> int:
    session = AnnotationSession(project, name)
    item = session.next()
    assert item is not None
    session.flag(item, True, question)
    session.close()
    return item.completion


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_flag_is_counted_listed_and_answered(project: Project, size: tuple[int, int]) -> None:
    flag_the_next(project, "amira", "[red]Is 2+2 a sum?[/]")
    async with opened(project, size=size) as (app, pilot):
        (matter,) = (one for one in screen_of(app, HomeScreen).matters if one.kind == "flags")
        assert "1 flag of amira waits for your answer" in matter.sentence
        assert "“[red]Is 2+2 a sum?[/]”" in matter.sentence
        await press(pilot, *":f", "enter")
        screen = app.screen
        assert isinstance(screen, FlagsScreen)
        assert screen.query_one(TitleBar).remark.startswith("1 flag to answer")
        assert "[red]Is 2+2 a sum?[/]" in text_of(app, "#flags-detail Static")
        await press(pilot, "enter", *"undone", "enter")
        assert screen.has_class("empty")
        await press(pilot, "h")
        assert "undone  (not read yet)" in text_of(app, "#flags-detail Static")
        assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'reveal'") == [(0,)]
        await press(pilot, "i")
        assert isinstance(app.screen, ItemScreen)
        await press(pilot, "escape", "escape")
        assert "flags" not in {one.kind for one in screen_of(app, HomeScreen).matters}
    (flag,) = coordinating.flags(project, "answered")
    assert flag.answer == "undone"


@pytest.mark.soak
async def test_browse_finds_flagged_items(project: Project) -> None:
    flag_the_next(project, "amira", "why?")
    async with opened(project, size=(120, 40)) as (app, pilot):
        await press(pilot, *":b", "enter", "f", *"flagged=o", "tab", "enter")
        assert isinstance(app.screen, BrowseScreen)
        await until(pilot, lambda: app.screen.query_one(VirtualTable).row_count == 1)


async def test_answer_and_new_guidelines_reach_working_annotators(project: Project) -> None:
    async with desk(project) as it:
        await it.press("G", "G", "exclamation_mark", *"why?", "enter")
        at = it.completion
        await it.press("1")
        coordinating.answer(project, at, "Because.", by="dora")
        new = guidelines.add_case(project, "a sum left undone is incorrect", by="dora").version
        it.screen._read_answers()
        it.screen._look_at_guidelines()
        await it.settle()
        assert any("answered your flag" in notice for notice in notices(it.app))
        assert "new guidelines: G" in it.title()
        assert "an answer: d" in it.title()
        await it.press("1", "d")
        assert "Because." in it.text()
        await it.press("enter")
        assert (it.completion, "⚑ answered: d" in it.line()) == (at, True)
        assert "an answer: d" not in it.title()
        await it.press("G")
        assert f"New in version {new}" in it.text()
        assert "a sum left undone is incorrect" in it.text()
        await it.press("G", "0")
        assert "new guidelines" not in it.title()
    found = rows(project, "SELECT guideline, unblinded FROM label_events WHERE kind = 'label' ORDER BY id")
    assert found == [("1", 0), ("1", 0), (new, 1)], "a label references what was read; after an answer it is not blind"


@pytest.mark.soak
async def test_home_shows_unread_answers_of_the_annotator(project: Project) -> None:
    at = flag_the_next(project, "amira", "why?")
    coordinating.answer(project, at, "Because.", by="dora")
    async with opened(project, annotator="amira") as (app, pilot):
        home = screen_of(app, HomeScreen)
        assert "answered 1 flag of yours" in home.matters[0].sentence
        await press(pilot, *":f", "enter", "escape")
        assert not isinstance(app.screen, FlagsScreen)
        await press(pilot, "1")
        await settle(pilot)
        await press(pilot, "d", "escape", "escape")
        await until(pilot, lambda: "answered" not in home.matters[0].sentence)


@pytest.mark.soak
async def test_question_after_an_answer_keeps_both_visible(project: Project) -> None:
    async with desk(project) as it:
        await it.press("exclamation_mark", *"round?", "enter")
        at = it.completion
        coordinating.answer(project, at, "Only where asked.", by="dora")
        it.screen._read_answers()
        await it.settle()
        assert "⚑ answered: d" in it.line()
        await it.press("exclamation_mark", *"units?", "enter")
        it.screen._read_answers()
        await it.settle()
        assert "⚑ flagged" in it.line()
        await it.press("d")
        assert "Only where asked." in it.text()
    async with opened(project) as (app, pilot):
        await press(pilot, *":f", "enter")
        detail = text_of(app, "#flags-detail Static")
        assert "round? → dora: Only where asked." in detail
        assert "units?" in detail
