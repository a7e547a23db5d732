"""The coordinator's decisions on the current item: reopened or excluded with a reason, and restored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.helpers import make_project, numbered
from tests.tui.stage import notices, opened, press, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.label import LabelVerdict, coordinator_name
from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.people import assign
from workbench.measuring.reviewing.deciding import UndecidableError, decide_gold


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, numbered(2))
    assign(made, ["amira", "ben"], per_item=2)
    for name in ("amira", "ben"):
        session = AnnotationSession(made, name)
        while (item := session.next()) is not None:
            session.submit(item, Answer(verdict="correct"))
        session.close()
    return made


@asynccontextmanager
async def showing(project: Project) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    async with opened(project, size=(120, 40)) as (app, pilot):
        app.push_screen(ItemScreen(1, [1, 2]))
        await settle(pilot)
        yield app, pilot


def decided(project: Project) -> list[tuple[str, str | None, str | None, str]]:
    return (
        project.database.reader()
        .execute(
            "SELECT e.kind, e.exclusion_reason, e.note, a.name FROM label_events AS e "
            "JOIN annotators AS a ON a.id = e.annotator_id "
            "WHERE e.subject = 1 AND e.task = 'correctness' "
            "AND e.kind IN ('reopen', 'exclusion', 'retraction') ORDER BY e.id"
        )
        .fetchall()
    )


async def test_item_is_reopened_with_a_reason(project: Project) -> None:
    async with showing(project) as (app, pilot):
        assert "final" in text_of(app, "#item-facts")
        await press(pilot, "a", *"new reference", "enter")
        assert decided(project) == [("reopen", None, "new reference", coordinator_name())]
        assert "unlabelled" in text_of(app, "#item-facts")
        assert [notice for notice in notices(app) if "Reopened" in notice]
        reader = app.screen.query_one("#item-evidence", Reader)
        text = "\n".join(reader.render_line(y).text for y in range(reader.scrollable_size.height))
        assert "new reference" in text
        assert "amira" not in text, "labels of the previous round do not count"
        await press(pilot, "a", *"again", "enter")
        assert len(decided(project)) == 1
        assert [notice for notice in notices(app) if "It has no label yet" in notice]


@pytest.mark.soak
async def test_decision_requires_a_reason(project: Project) -> None:
    async with showing(project) as (_, pilot):
        await press(pilot, "a", "enter", "a", "escape", "x", "escape", "x", "6", "escape")
        assert decided(project) == []


async def test_item_is_excluded_and_restored(project: Project) -> None:
    async with showing(project) as (app, pilot):
        await press(pilot, "x", "1")
        assert decided(project) == [("exclusion", "proof", None, coordinator_name())]
        assert "excluded" in text_of(app, "#item-facts")
        await press(pilot, "x", "7")
        assert decided(project)[-1][0] == "retraction"
        assert "final" in text_of(app, "#item-facts")


@pytest.mark.soak
async def test_other_requires_a_note(project: Project) -> None:
    async with showing(project) as (app, pilot):
        await press(pilot, "x", "6", *"[b]odd", "enter")
        assert decided(project) == [("exclusion", "other", "[b]odd", coordinator_name())]
        await press(pilot, "x", "6", "enter")
        assert [notice for notice in notices(app) if "needs a note" in notice]


@pytest.mark.soak
async def test_exclusion_by_annotators_cannot_be_lifted(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1))
    assign(project, ["amira"], per_item=1)
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="unsuitable", reason="proof"))
    session.close()
    async with showing(project) as (app, pilot):
        await press(pilot, "x", "7")
        assert decided(project) == []
        assert [notice for notice in notices(app) if "reopen it instead" in notice]


async def test_coordinator_alone_decides_missing_gold(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1, gold=None))
    async with showing(project) as (app, pilot):
        await press(pilot, "y", "0")
        assert "gold ✗ incorrect" in text_of(app, "#item-facts")
        await press(pilot, "y", "1")
        assert "gold ✓ correct" in text_of(app, "#item-facts")
    stored = "SELECT kind, verdict, unblinded FROM label_events WHERE kind = 'adjudication' ORDER BY id"
    assert project.database.reader().execute(stored).fetchall() == [
        ("adjudication", "incorrect", 1),
        ("adjudication", "correct", 1),
    ]


async def test_labelled_or_imported_gold_cannot_be_decided_alone(project: Project) -> None:
    for completion in (1, 2):
        with pytest.raises(UndecidableError):
            decide_gold(project, completion, "incorrect", by=coordinator_name())


@pytest.mark.soak
async def test_gold_of_an_excluded_item_cannot_be_decided(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1, gold=None))
    async with showing(project) as (app, pilot):
        await press(pilot, "x", "1", "y", "1")
        assert "excluded" in text_of(app, "#item-facts")
    with pytest.raises(UndecidableError, match="or is excluded"):
        decide_gold(project, 1, "correct", by=coordinator_name())
    stored = "SELECT count(*) FROM label_events WHERE kind = 'adjudication'"
    assert project.database.reader().execute(stored).fetchone() == (0,)


async def test_item_in_conflict_is_not_called_unlabelled(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1, gold=None))
    assign(project, ["amira", "ben"], per_item=2)
    answers: tuple[tuple[str, LabelVerdict], ...] = (("amira", "correct"), ("ben", "incorrect"))
    for name, verdict in answers:
        session = AnnotationSession(project, name)
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict=verdict))
        session.close()
    async with showing(project) as (app, pilot):
        await press(pilot, "y")
        assert isinstance(app.screen, ItemScreen)
        assert [notice for notice in notices(app) if "There is no gold to confirm" in notice]
