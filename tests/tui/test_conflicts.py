"""Conflicts by kind: counts, previews, resolving exactly the chosen items, and undo."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.stage import ONE_SIZE, notices, press, settle, until
from tests.unit.labelling.conflicting import judge, project_of, put, rows
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu, PeopleMenu
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.adjudicate import AdjudicateScreen
from workbench.app.tui.screens.conflicts import ConflictClassScreen, ConflictsScreen
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.conflict_classes import ConflictClasses

NOTE = "[red]half a period[/red] is missing \x1b[31m"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Create three items labelled correct and incorrect, one incorrect and unsuitable; a type that is A1 or A7."""
    made = project_of(tmp_path, 5, question="What is $1+1$? [b]", reference=r"So \boxed{\frac12}", model="MARKMODEL")
    people.add_annotators(made, ["chen"])
    for item in (1, 2, 3):
        put(made, "amira", item, "correct", note=NOTE if item == 1 else None)
        put(made, "ben", item, "incorrect", unsure=True)
    put(made, "amira", 4, "incorrect")
    put(made, "ben", 4, "unsuitable", reason="proof")
    put(made, "amira", 1, "A1", task="type")
    put(made, "ben", 1, "A7", task="type")
    yield made
    made.close()


@asynccontextmanager
async def looking(
    project: Project, *keys: str, person: str | None = "chen", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    """Open the kinds of conflicts, and press ``keys``."""
    app = WorkbenchApp(project, person)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_screen("conflicts")
        await settle(pilot)
        if person is not None:
            await until(pilot, lambda: app.screen.has_class("empty") or app.screen.query_one(VirtualTable).visible_ids)
        await press(pilot, *keys)
        yield app, pilot


def seen(app: WorkbenchApp) -> str:
    return "\n".join("".join(part.text for part in line) for line in app.screen._compositor.render_strips())


def on(app: WorkbenchApp, kind: type[object]) -> bool:
    return isinstance(app.screen, kind)


def decisions(project: Project) -> list[tuple[int, str]]:
    return rows(project, "SELECT subject, verdict FROM label_events WHERE kind = 'adjudication' ORDER BY subject")


def selected(app: WorkbenchApp) -> str:
    return app.screen.query_one(TitleBar).remark.partition(" · ")[0]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_kinds_are_counted_without_a_reveal(project: Project, size: tuple[int, int]) -> None:
    async with looking(project, size=size) as (app, _):
        text = seen(app)
        assert "✓ correct against ✗ incorrect" in text
        assert "A1 - Integer against A7" in text
        assert "type, within A" in text
        assert "5 to resolve" in text
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'reveal'") == [(0,)]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_kind_shows_both_sides_of_its_items(project: Project, size: tuple[int, int]) -> None:
    judge(project)
    async with looking(project, "enter", size=size) as (app, pilot):
        await until(pilot, lambda: "1/2" in seen(app) and "What is" in seen(app))
        text = seen(app)
        assert "? unsure" in text
        assert "[red]half a period[/red] is missing ␛[31m" in str(
            app.screen.query_one("#class-detail Static", Static).content
        )
        assert not [mark for mark in ("amira", "ben", "MARKMODEL", "rule") if mark in text]
    looks = rows(project, "SELECT subject FROM label_events WHERE kind = 'reveal' AND view = 'labels'")
    assert looks == [(1,), (2,), (3,)]


async def test_exactly_the_selected_items_are_resolved(project: Project) -> None:
    async with looking(project, "enter", "space", "down", "space") as (app, pilot):
        assert selected(app) == "2 of 3 selected"
        await press(pilot, "0")
        assert on(app, PromptLine)
        assert "2 conflicts at once as ✗ incorrect" in seen(app)
        assert decisions(project) == []
        await press(pilot, *"no", "enter")
        assert decisions(project) == [(1, "incorrect"), (3, "incorrect")]
        assert selected(app) == "0 of 1 selected"
    stored = rows(project, "SELECT DISTINCT note, view FROM label_events WHERE kind = 'adjudication'")
    assert stored == [("no", "bulk")]


async def test_nothing_is_resolved_without_a_selection(project: Project) -> None:
    async with looking(project, "enter", "1", "x") as (app, pilot):
        assert on(app, ConflictClassScreen)
        assert [text for text in notices(app) if "Nothing is selected" in text]
        await press(pilot, "space", "up", "space", "1")
        assert on(app, ConflictClassScreen)


async def test_escape_at_the_confirmation_changes_nothing(project: Project) -> None:
    async with looking(project, "enter", "asterisk", "1", "escape") as (app, _):
        assert selected(app) == "3 of 3 selected"
        assert decisions(project) == []


async def test_resolving_the_last_items_empties_the_list_and_undo_restores_it(project: Project) -> None:
    async with looking(project, "enter", "asterisk", "1", "enter") as (app, pilot):
        assert decisions(project) == [(1, "correct"), (2, "correct"), (3, "correct")]
        assert "No conflict of this kind is left" in seen(app)
        await press(pilot, "z")
        assert [text for text in notices(app) if "3 decisions retracted" in text]
        assert selected(app) == "0 of 3 selected"
        await press(pilot, "escape")
        assert on(app, ConflictsScreen)
        assert "5 to resolve" in app.screen.query_one(TitleBar).remark
        await press(pilot, "z")
        assert [text for text in notices(app) if "You have no decision" in text]


async def test_keys_work_again_after_a_failed_undo(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ConflictClasses, "undo", full)
    async with looking(project, "enter", "z", "space") as (app, _):
        assert [notice for notice in notices(app) if "disk full" in notice]
        assert selected(app) == "1 of 3 selected"


async def test_selecting_all_twice_selects_none(project: Project) -> None:
    async with looking(project, "enter", "asterisk") as (app, pilot):
        assert selected(app) == "3 of 3 selected"
        await press(pilot, "asterisk")
        assert selected(app) == "0 of 3 selected"


async def test_unsuitable_needs_a_reason_and_other_a_note(project: Project) -> None:
    async with looking(project, "enter", "space", "x", "6") as (app, pilot):
        assert on(app, PromptLine)
        await press(pilot, *"why", "enter")
        stored = rows(project, "SELECT exclusion_reason, note FROM label_events WHERE kind = 'adjudication'")
        assert stored == [("other", "why")]
        await press(pilot, "space", "x", "1", "enter")
        assert decisions(project)[1] == (2, "unsuitable")


async def test_type_conflicts_are_resolved_by_a_type_alone(project: Project) -> None:
    async with looking(project, "down", "enter", "space", "1", "0", "x") as (app, pilot):
        assert on(app, ConflictClassScreen)
        await press(pilot, "t", "a", "7")
        assert "1 conflict at once as A7 - Non-decimal number" in seen(app)
        await press(pilot, "enter")
    assert rows(project, "SELECT subtype FROM task_states WHERE task = 'type'") == [("A7",)]


async def test_concurrently_changed_items_are_skipped_and_listed(project: Project) -> None:
    async with looking(project, "enter", "asterisk") as (app, pilot):
        put(project, "ben", 2, "unsuitable", reason="proof", at="2025-02-01T00:00:00.000000Z")
        await press(pilot, "1", "enter")
        assert on(app, ChoiceMenu)
        assert "c1  A label of this item has changed in the meantime." in seen(app)
        await press(pilot, "enter")
        assert on(app, ConflictClassScreen)
    assert decisions(project) == [(1, "correct"), (3, "correct")]


async def test_single_item_is_resolved_and_the_list_is_refreshed(project: Project) -> None:
    async with looking(project, "enter", "asterisk", "down", "enter") as (app, pilot):
        screen = app.screen
        assert isinstance(screen, AdjudicateScreen)
        assert screen._current is not None
        assert screen._current.conflict.subject == 2
        await press(pilot, "0", "escape")
        assert on(app, ConflictClassScreen)
        assert selected(app) == "2 of 2 selected"
    assert decisions(project) == [(2, "incorrect")]


async def test_annotators_cannot_resolve_their_own_conflicts(project: Project) -> None:
    async with looking(project, person="amira") as (app, pilot):
        assert "There is no conflict for amira to resolve." in seen(app)
        await press(pilot, "enter", "enter", "z", "r")
        assert on(app, ConflictsScreen)


async def test_key_opens_the_screen_from_adjudicate(project: Project) -> None:
    async with looking(project, "L") as (app, pilot):
        assert on(app, AdjudicateScreen)
        await press(pilot, "w")
        assert on(app, ConflictsScreen)


async def test_coordinator_without_adjudicators_names_one(project: Project) -> None:
    people.pause(project, "chen", "on holiday")
    async with looking(project, person=None) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, PeopleMenu))
        text = " ".join(seen(app).replace("│", " ").split())
        assert "These conflicts need a third person" in text
        assert "Gold and verdicts are a key away" in text
        await press(pilot, *"dora", "enter", "y")
        await until(pilot, lambda: "as dora, unblinded · 5 to resolve" in seen(app))
        await press(pilot, "enter", "asterisk", "1", "enter")
        await until(pilot, lambda: bool(decisions(project)))
    assert rows(
        project,
        "SELECT DISTINCT a.name, unblinded FROM label_events JOIN annotators AS a "
        "ON a.id = annotator_id WHERE kind = 'adjudication'",
    ) == [("dora", 1)]


async def test_home_asks_for_the_adjudicator_first(project: Project) -> None:
    app = WorkbenchApp(project)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "to adjudicate" in seen(app))
        await press(pilot, "1")
        await until(pilot, lambda: isinstance(app.screen, PeopleMenu))
        assert "chen" in seen(app)
