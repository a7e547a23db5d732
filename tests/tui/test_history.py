"""History: the annotator's current labels, newest first; each can be corrected."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import make_project, numbered
from tests.tui.stage import opened, press, settle
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.annotate import AnnotateScreen
from workbench.app.tui.screens.history import HistoryScreen
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer


def labelled(folder: Path) -> tuple[Project, list[int]]:
    """Create six items, three of them labelled by amira; also return the order of her labels."""
    project = make_project(folder, numbered(6, model="ZQXMARK"))
    people.assign(project, ["amira", "ben"], per_item=2)
    session, order = AnnotationSession(project, "amira"), []
    for verdict in ("correct", "incorrect", "unsuitable"):
        item = session.next()
        assert item is not None
        reason = "proof" if verdict == "unsuitable" else None
        session.submit(item, Answer(verdict=verdict, reason=reason, note="[b]n[/b]", unsure=verdict == "correct"))
        order.append(item.completion)
    session.close()
    return project, order


def listed(screen: HistoryScreen) -> list[str]:
    source = screen.table.source
    return [] if source is None else [" ".join(cell.text for cell in row.cells) for row in source.first_page(500)]


async def test_own_labels_newest_first(tmp_path: Path) -> None:
    project, _ = labelled(tmp_path)
    async with opened(project, annotator="amira") as (app, pilot):
        app.open_screen("history")
        await settle(pilot)
        assert isinstance(app.screen, HistoryScreen)
        lines = listed(app.screen)
        assert [word in line for line, word in zip(lines, ("unsuitable (asks", "incorrect", "✓ correct"), strict=True)]
        assert "? unsure" in lines[2]
        assert "[b]n[/b]" in lines[0]
        assert "ZQXMARK" not in "".join(lines)
    project.close()


async def test_enter_corrects_a_label_with_a_new_event(tmp_path: Path) -> None:
    project, order = labelled(tmp_path)
    async with opened(project, annotator="amira") as (app, pilot):
        app.open_screen("history")
        await settle(pilot)
        await press(pilot, "down", "down", "enter")
        assert isinstance(app.screen, AnnotateScreen)
        assert app.screen._current is not None
        assert app.screen._current.item.completion == order[0]
        await press(pilot, "0")
        reader = project.database.reader()
        events = reader.execute(
            "SELECT verdict, supersedes IS NOT NULL FROM label_events WHERE subject = ? ORDER BY id", (order[0],)
        ).fetchall()
        assert events == [("correct", 0), ("incorrect", 1)]
        assert "saved ✓ incorrect, was correct" in app.screen.query_one(TitleBar).remark
        await press(pilot, "escape")
        lines = listed(next(screen for screen in app.screen_stack if isinstance(screen, HistoryScreen)))
        assert "✗ incorrect" in lines[0]
        assert len(lines) == 3
    project.close()


async def test_label_opens_in_the_existing_annotate_screen(tmp_path: Path) -> None:
    project, order = labelled(tmp_path)
    async with opened(project, annotator="amira") as (app, pilot):
        app.open_screen("annotate")
        await settle(pilot)
        app.open_screen("history")
        await settle(pilot)
        await press(pilot, "enter")
        assert sum(isinstance(screen, AnnotateScreen) for screen in app.screen_stack) == 1
        assert isinstance(app.screen, AnnotateScreen)
        assert app.screen._current is not None
        assert app.screen._current.item.completion == order[-1]
    project.close()


async def test_screen_without_labels_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    people.assign(project, ["amira", "ben"], per_item=2)
    async with opened(project, annotator="amira") as (app, pilot):
        app.open_screen("history")
        await settle(pilot)
        assert app.screen.has_class("empty")
        await press(pilot, "enter", "a")
        assert isinstance(app.screen, AnnotateScreen)
    project.close()
