"""Adjudicate: both labels without names, one key decides, verdicts only afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project
from tests.tui.stage import SIZES, add_run, press, settle
from workbench.model.verdict import Outcome
from workbench.services.labelling import people
from workbench.services.labelling.annotating import AnnotationSession, Answer
from workbench.services.project import Project
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.adjudicate import AdjudicateScreen
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.type_picker import TypePicker
from workbench.tui.widgets.verdicts_after import VerdictsAfter

NOTE = "[red]half a period is missing[/red]"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three items; amira and ben differ on their correctness, and on the type of the first question."""
    made = make_project(
        tmp_path,
        [
            {
                "question_id": f"q{number}",
                "completion_id": f"c{number}",
                "types": "labelled",
                "question": f"What is {number} plus {number}?",
                "reference": rf"\boxed{{{2 * number}}}",
                "completion": rf"It is \boxed{{{2 * number}}}.",
            }
            for number in range(3)
        ],
    )
    people.assign(made, ["amira", "ben"], per_item=2)
    people.add_annotators(made, ["chen"])
    label_all(made, "amira", Answer(verdict="correct", subtype="A1", focused_ms=12_400))
    label_all(made, "ben", Answer(verdict="incorrect", subtype="A1", unsure=True, note=NOTE))
    yield made
    made.close()


def label_all(project: Project, name: str, answer: Answer) -> None:
    session = AnnotationSession(project, name)
    while (item := session.next()) is not None:
        session.submit(item, answer)
    session.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def decisions(project: Project) -> list[Any]:
    return rows(project, "SELECT subject, verdict FROM label_events WHERE kind = 'adjudication' ORDER BY id")


def judge(project: Project) -> None:
    add_run(project, "judge-a", dict.fromkeys(range(1, 4), Outcome.CORRECT))


def screen(app: WorkbenchApp) -> AdjudicateScreen:
    return next(one for one in app.screen_stack if isinstance(one, AdjudicateScreen))


def subject(app: WorkbenchApp) -> int:
    current = screen(app)._current
    assert current is not None
    return current.conflict.subject


def opinions(app: WorkbenchApp) -> str:
    return "\n".join(str(line.content) for line in screen(app).query(".opinion").results(Static))


def seen(app: WorkbenchApp) -> str:
    return "\n".join("".join(part.text for part in line) for line in app.screen._compositor.render_strips())


@asynccontextmanager
async def adjudicating(
    project: Project, person: str | None = "chen", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    app = WorkbenchApp(project, person)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_screen("adjudicate")
        await settle(pilot)
        yield app, pilot


@pytest.mark.parametrize("size", SIZES)
async def test_both_labels_are_shown_without_names(project: Project, size: tuple[int, int]) -> None:
    judge(project)
    async with adjudicating(project, size=size) as (app, _):
        text = opinions(app)
        assert "✓ correct" in text
        assert "✗ incorrect" in text
        assert "? unsure" in text
        assert "12 s" in text
        assert NOTE in text
        assert "3 conflicts" in app.screen.query_one(TitleBar).remark
        assert not any(name in seen(app) for name in ("amira", "ben", "judge-a"))


async def test_one_key_decides_and_brings_the_next(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "0")
        assert decisions(project) == [(first, "incorrect")]
        assert subject(app) != first
        assert "2 conflicts" in app.screen.query_one(TitleBar).remark
    state = rows(project, "SELECT state, decided_by FROM task_states WHERE task = 'correctness' AND subject = ?", first)
    assert state == [("final", "adjudicated")]
    ((view, open_ms),) = rows(project, "SELECT view, open_ms FROM label_events WHERE kind = 'adjudication'")
    assert view == "card rendered"
    assert open_ms >= 0


@pytest.mark.parametrize("key", ["enter", "space"])
async def test_verdicts_are_shown_after_the_decision(project: Project, key: str) -> None:
    judge(project)
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1")
        assert isinstance(app.screen, VerdictsAfter)
        assert "judge-a" in seen(app)
        assert rows(project, "SELECT subject FROM label_events WHERE view = 'verdicts'") == [(first,)]
        await press(pilot, key)
        assert subject(app) != first
        assert "judge-a" not in seen(app)


async def test_undo_from_the_verdicts_opens_the_conflict_again(project: Project) -> None:
    judge(project)
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1", "z")
        assert subject(app) == first
        await press(pilot, "0", "enter")
        marked = rows(project, "SELECT verdict, unblinded FROM label_events WHERE kind = 'adjudication' ORDER BY id")
        assert marked == [("correct", 0), ("incorrect", 1)]


async def test_undo_after_a_restart(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1")
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "z")
        assert subject(app) == first
        assert "3 conflicts" in app.screen.query_one(TitleBar).remark


async def test_unsuitable_with_a_reason_and_a_note(project: Project) -> None:
    async with adjudicating(project) as (_, pilot):
        await press(pilot, "c", *"why", "enter", "x", "1")
        found = rows(project, "SELECT verdict, exclusion_reason, note FROM label_events WHERE kind = 'adjudication'")
        assert found == [("unsuitable", "proof", "why")]


async def test_a_skipped_conflict_comes_at_the_end(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "s")
        assert subject(app) != first
        await press(pilot, "1", "1")
        assert subject(app) == first


async def test_types_are_settled_in_two_keys(project: Project) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(1), Answer(subtype="B3"))
    ben.close()
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1", "1", "1")
        assert isinstance(app.screen, TypePicker)
        assert "A1" in opinions(app)
        assert "B3 - Interval" in opinions(app)
        await press(pilot, "escape", "1", "t", "b", "3")
        assert rows(project, "SELECT state, subtype FROM item_states WHERE completion_id = 1") == [("final", "B3")]
        assert "There is no conflict for chen" in seen(app)


async def test_a_label_that_changed_meanwhile_is_shown_first(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        ben = AnnotationSession(project, "ben")
        ben.submit(ben.open(first), Answer(verdict="unsuitable", reason="truncated"))
        ben.close()
        await press(pilot, "1")
        assert decisions(project) == []
        await press(pilot, "s", "s")
        assert subject(app) == first
        assert "⊘ unsuitable" in opinions(app)


async def test_annotators_have_nothing_to_settle_of_their_own(project: Project) -> None:
    async with adjudicating(project, "amira") as (app, pilot):
        assert "There is no conflict for amira" in seen(app)
        await press(pilot, "1", "s", "x", "t", "c", "z")
    assert decisions(project) == []


async def test_conflicts_that_come_later_appear(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1", "1", "1")
        assert "There is no conflict" in seen(app)
        ben = AnnotationSession(project, "ben")
        ben.submit(ben.open(2), Answer(verdict="unsuitable", reason="truncated"))
        ben.close()
        screen(app)._look_again()
        await settle(pilot)
        assert subject(app) == 2
