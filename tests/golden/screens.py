"""The initial view of every screen, its help, and the commands of its palette."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

from textual.app import App
from textual.containers import VerticalScroll
from textual.pilot import Pilot

from tests.golden.projections import Data
from tests.golden.scenes import Scenes
from tests.golden.settling import normalized
from tests.tui.stage import SIZES, opened, settle
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import ANNOTATOR_DESTINATIONS, DESTINATIONS
from workbench.app.tui.keymap import key_names
from workbench.app.tui.registry import every_screen
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.help import HelpScreen
from workbench.config import Settings
from workbench.core.project import open_project


def shown(
    scenes: Scenes, size: tuple[int, int], person: str | None, settings: Settings | None = None
) -> Iterator[tuple[str, str]]:
    """Yield every screen that a user (None: the coordinator) may open."""
    yield from asyncio.run(_all(scenes, size, person, settings))


def actions() -> Iterator[tuple[str, str]]:
    """Yield the keys and words of every screen's actions, including screens that open from others."""
    declared = {screen.__name__: screen.ACTIONS for screen in every_screen()}
    for name, found in sorted({**declared, "everywhere": WorkbenchApp.EVERYWHERE}.items()):
        keys = [
            [action.id, ",".join(key_names(action.keys)), action.run, action.footer, action.priority]
            for action in found
        ]
        yield f"keys {name}", Data("".join(f"{json.dumps(one)}\n" for one in keys))
        yield f"actions {name}", "".join(f"{action.label}: {action.help}\n" for action in found)
    yield "screens", "".join(f"{one.name} {one.letter}  {one.title}: {one.text}\n" for one in DESTINATIONS.values())


async def _all(
    scenes: Scenes, size: tuple[int, int], person: str | None, settings: Settings | None
) -> list[tuple[str, str]]:
    return [piece async for piece in _screens(scenes, size, person, settings)]


async def _screens(
    scenes: Scenes, size: tuple[int, int], person: str | None, settings: Settings | None
) -> AsyncIterator[tuple[str, str]]:
    # Looking at an item reserves it.
    elsewhere = set[str]()
    database = scenes.copy(scenes.tuples, f"sample-{size[0]}-{person}.db")
    with closing(open_project(database)) as project:
        async with opened(project, size=size, annotator=person, settings=settings) as (app, pilot):
            for name in ANNOTATOR_DESTINATIONS if person else DESTINATIONS:
                app.open_screen(name)
                text = await still(pilot)
                called = f"{name} {size[0]} {person or ''}".rstrip()
                yield f"screen {called}", normalized(text.replace(database.stem, "sample"), scenes.folder)
                if isinstance(app.screen, WorkbenchScreen) and size == SIZES[0]:
                    yield f"help {called}", "\n".join(line.text for line in HelpScreen(app.screen).listed)
                    commands = [f"{one.title}: {one.help}\n" for one in app.get_system_commands(app.screen)]
                    yield f"palette {called}", "".join(one for one in commands if one not in elsewhere)
                    elsewhere.update(commands)
                while len(app.screen_stack) > 2:
                    app.pop_screen()
                await settle(pilot)


LOOKS = 20
"""The maximum number of looks at a screen: after that, something on it keeps changing."""


async def still(pilot: Pilot[None]) -> str:
    """Return the screen once nothing on it changes any more."""
    for widget in pilot.app.screen.query(VerticalScroll):
        # A text that wraps next to a scrollbar may need the scrollbar only because of that.
        widget.styles.scrollbar_gutter = "stable"
    text = ""
    for _ in range(LOOKS):
        before = text
        await settle(pilot)
        text = drawn(pilot.app)
        if text == before:
            break
    return text


def drawn(app: App[Any]) -> str:
    """Return the content of the current screen."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines)
