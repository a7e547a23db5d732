"""Helpers for tests of screens: the app on a small project, and stored runs without a runner."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerCancelled, WorkerFailed

from tests.tui.quiet import quiet
from workbench.app.tui.app import WorkbenchApp
from workbench.config import Settings
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.runs.store import runs, verdicts

AnyScreen = TypeVar("AnyScreen", bound=Screen[None])

SIZES = [(80, 24), (120, 40)]
"""Sizes for layouts that depend on the room."""
ONE_SIZE = [SIZES[0], pytest.param(SIZES[1], marks=pytest.mark.soak)]
"""One size for what every terminal shows; the walks of ``tests/golden`` use the larger one."""
SETTLING = 50
"""The maximum number of times that background work may start more work before it has settled."""

LOOK_S, LOOKS = 0.05, 1_200
"""Attempts to find something: at least a minute, and longer on a busy machine."""

HOSTILE = ["[bold]x[/]", "[/]", "\x1b[31m", "[red", "$text-error"]
"""Names that contain markup, terminal control and styles."""


@asynccontextmanager
async def opened(
    project: Project,
    *,
    size: tuple[int, int] = (80, 24),
    annotator: str | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    """Open the app, and wait for Home's first counts."""
    app = WorkbenchApp(project, annotator, settings)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        yield app, pilot


async def settle(pilot: Pilot[None]) -> None:
    """Wait until background work has ended, successfully or not, and its results are shown."""
    for _ in range(SETTLING):
        await worked(pilot)
        await pilot.pause()
        if is_idle(pilot):
            return


async def worked(pilot: Pilot[None]) -> None:
    """Wait until background work has ended, successfully or not, and its results are processed but not yet drawn."""
    for _ in range(SETTLING):
        # The screen reports failed work; work of a screen that was left is cancelled.
        with suppress(WorkerFailed, WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await quiet()
        if is_idle(pilot):
            return


def is_idle(pilot: Pilot[None]) -> bool:
    """Return whether no work runs in the background."""
    return all(worker.is_finished for worker in pilot.app.workers)


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Wait until a condition holds on a mounted screen; a condition that raises does not hold yet."""
    for _ in range(LOOKS):
        with suppress(Exception):
            if condition() and pilot.app.screen.is_mounted:
                return
        await pilot.pause(LOOK_S)
    assert condition(), "the condition never held"


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after the previous one has taken effect; draw the result once."""
    for key in keys:
        await pilot.press(key)
        await worked(pilot)
    await settle(pilot)


def screen_of(app: App[None], kind: type[AnyScreen]) -> AnyScreen:
    """Return the current screen, which must be of this kind."""
    assert isinstance(app.screen, kind), app.screen
    return app.screen


def text_of(app: App[None], selector: str) -> str:
    """Return the content of a static text on the current screen."""
    return str(app.screen.query_one(selector, Static).content)


def notices(app: App[None]) -> list[str]:
    """Return titles and texts of the notices so far."""
    return [f"{notice.title} {notice.message}".strip() for notice in app._notifications]


def add_run(
    project: Project,
    name: str,
    outcomes: Mapping[int, Outcome],
    *,
    complete: bool = True,
    items: int | None = None,
    reasons: Sequence[str] = ("rule",),
) -> int:
    """Store a run with these verdicts by row id of the item; a run that is not complete is paused."""
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name=name, kind="exact", options={}, config={}, config_hash=name)
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), items or len(outcomes), 1)
        results = [
            (item, Verdict(outcome=outcome, reason=reasons[place % len(reasons)], ms=1.0))
            for place, (item, outcome) in enumerate(outcomes.items())
        ]
        verdicts.put(connection, run, results)
        if complete:
            runs.complete(connection, run, len(outcomes))
        else:
            runs.end_run(connection, run, "paused")
    return run


def more_verdicts(project: Project, run: int, items: range, *, complete: int | None = None) -> None:
    """Store further verdicts of a run."""
    with project.database.write() as connection:
        found = [(item, Verdict(outcome=Outcome.CORRECT, reason="rule")) for item in items]
        verdicts.put(connection, run, found)
        if complete is not None:
            runs.complete(connection, run, complete)
