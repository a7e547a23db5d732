"""Annotate in tests: six items for two annotators, and an app driven by keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project
from tests.tui.stage import press, settle
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.annotate import AnnotateScreen
from workbench.config import Settings
from workbench.core.project import Project
from workbench.labelling import people

MARK = "ZQXMARK"
ITEMS = 6


def make(folder: Path, types: str = "trusted", **fields: Any) -> Project:
    """Create six items of six questions for amira and ben; every hidden field carries a mark."""
    rows = [
        {
            "question_id": f"q{number}",
            "completion_id": f"{MARK}-c{number}",
            "question": f"What is {number} plus {number}? [b]Say it.[/b]",
            "reference": rf"It is so, and \boxed{{{2 * number}}} is it.",
            "completion": f"{'Let us see. ' * 80}\n\nFirst \\boxed{{1}}.\n\nThe answer is \\boxed{{{number}}}.",
            "types": types,
            "gold": True,
            "model": f"{MARK}-model",
            "source": f"{MARK}-source",
            "domain": f"{MARK}-domain",
            "subtype": "A1",
            "dataset": f"{MARK}-data",
            **fields,
        }
        for number in range(ITEMS)
    ]
    project = make_project(folder, rows)
    people.assign(project, ["amira", "ben"], per_item=2)
    return project


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def labels(project: Project, task: str = "correctness") -> list[Any]:
    """(subject, value) of all label events in order."""
    column = "verdict" if task == "correctness" else "subtype"
    return rows(
        project, f"SELECT subject, {column} FROM label_events WHERE kind = 'label' AND task = ? ORDER BY id", task
    )


class Desktop:
    """The app on Annotate, driven by keys."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> AnnotateScreen:
        found = [screen for screen in self.app.screen_stack if isinstance(screen, AnnotateScreen)]
        return found[-1]

    @property
    def completion(self) -> int:
        current = self.screen._current
        assert current is not None
        return current.item.completion

    @property
    def opened(self) -> str:
        """Return which text is open in full."""
        return self.screen.card.opened

    async def settle(self) -> None:
        """Wait until nothing is being stored, fetched or drawn."""
        await settle(self.pilot)

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    def text(self) -> str:
        """Return everything on the terminal, including popups."""
        return "\n".join(
            "".join(segment.text for segment in line) for line in self.app.screen._compositor.render_strips()
        )

    def line(self) -> str:
        return str(self.screen.query_one("#annotate-own", Static).content)

    def title(self) -> str:
        return self.screen.query_one(TitleBar).remark


@asynccontextmanager
async def desk(
    project: Project,
    person: str | None = "amira",
    size: tuple[int, int] = (80, 24),
    *arguments: object,
    settings: Settings | None = None,
) -> AsyncIterator[Desktop]:
    app = WorkbenchApp(project, person, settings)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_screen("annotate", *arguments)
        opened = Desktop(app, pilot)
        await opened.settle()
        yield opened
