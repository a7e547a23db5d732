"""Walks through the app by keys, to every screen and dialog that opens from another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import chdir, closing
from pathlib import Path

from msgspec import Struct

from tests.golden.scenes import Scenes
from tests.golden.screens import drawn, still
from tests.golden.settling import normalized
from tests.tui.stage import SIZES, opened, press, settle, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screens.import_data import FilePicker
from workbench.app.tui.start import StartApp
from workbench.config.settings import RecentProject, Settings
from workbench.core.project import open_project


class Walk(Struct, frozen=True):
    """A walk through the app.

    Attributes:
        database: The name of a database of `Scenes`.
        keys: The screen that is opened first (a verb's form behind >), then the keys to press, with a | at each stop;
            a quotation mark precedes text to type. At a ? only the name of the screen is recorded: its scroll position
            or background counts depend on how busy the machine is.
        person: The user; the coordinator if None.
    """

    database: str
    keys: str
    person: str | None = None


_STOPS = ("|", "?")
Moved = Callable[[WorkbenchApp, str], str]
"""Returns the key that now does what a key did by default."""

WALKS: dict[str, tuple[Walk, ...]] = {
    "labelling": (
        Walk("p", "annotate ampersand 1 | t | escape c | escape exclamation_mark", "amira"),
        Walk("p", "annotate m | escape percent_sign | escape question_mark", "amira"),
        Walk("p", "adjudicate c | escape question_mark", "chidi"),
        Walk("p", "adjudicate 1", "chidi"),
        Walk("p", "adjudicate P"),
        Walk("p", "conflicts enter | asterisk 1 | escape x", "chidi"),
        Walk("p", "history enter", "amira"),
        Walk("p", "flags | i | escape enter | 'twice enter"),
        Walk("p", "agreement enter | enter | escape escape t | w | b"),
        Walk("answered", "annotate d", "amira"),
        Walk("empty", "home | enter"),
    ),
    "items": (
        Walk("p", "browse f | escape s | number_sign | escape enter | d"),
        Walk("p", "browse enter x | escape a | escape m"),
        Walk("p", "disagreements enter ? m ? escape l ? escape escape o"),
        Walk("p", "disagreements w | 2 | v"),
        Walk("p", "triage | 1 | d | n | e"),
        Walk("p", "home colon | escape ctrl+p | escape a ?"),
        Walk("judged", "browse enter | v T"),
        Walk("searched", "browse enter | T | T"),
    ),
    "figures": (
        Walk("p", "accuracy enter | W | enter"),
        Walk("p", "accuracy a | escape b | 'length enter d | o | p | g | f | escape e"),
        Walk("p", "accuracy down down down ctrl+t | down down down enter enter ?"),
        Walk("p", "compare enter | escape comma | escape w | b | S | vertical_line"),
        Walk("p", ">best-of | f4 | right"),
    ),
    "runs": (
        Walk("p", "runs d | escape x"),
        Walk("p", "runs a | enter | f3"),
        Walk("p", "add_judge f7"),
        Walk("p", "add_judge 'my-judge enter tab tab 'http://h:9/v1 enter 'qwen f3 | escape escape"),
        Walk("written", "runs | T"),
        Walk("p", ">plan | f4"),
        Walk("p", ">assign f9"),
    ),
    "sets": (
        Walk("untyped", "home t"),
        Walk("p", "sets | a | 1 | escape a 2 | f3 ? escape escape e"),
        Walk("p", "sets vertical_line enter"),
        Walk("pool", "sets o"),
    ),
    "code": (
        Walk("solved", "code enter | vertical_line down enter | vertical_line | w"),
        Walk("solved", "code V | escape i | escape o | escape f"),
        Walk("solved", "code enter s | w | space | h | d"),
    ),
}


def shown(
    scenes: Scenes, name: str, settings: Settings | None = None, moved: Moved = lambda _, key: key
) -> Iterator[tuple[str, str]]:
    """Yield the screen at each stop of each walk."""
    for walk in WALKS[name]:
        yield from asyncio.run(_all(_stops(walk, scenes.input_copy(walk.database), settings, moved)))


def dialogs(scenes: Scenes) -> Iterator[tuple[str, str]]:
    """Yield dialogs that no key opens directly, and the screens before a database is open."""
    yield from asyncio.run(_all(_dialogs(scenes.input_copy("p"))))


async def _all(pieces: AsyncIterator[tuple[str, str]]) -> list[tuple[str, str]]:
    return [piece async for piece in pieces]


async def _stops(walk: Walk, database: Path, settings: Settings | None, moved: Moved) -> AsyncIterator[tuple[str, str]]:
    first, *words = walk.keys.split()
    if words[-1] not in _STOPS:
        words.append("|")
    where = f"{walk.database} {walk.person or 'coordinator'}"
    with chdir(database.parent), closing(open_project(database)) as project:
        async with opened(project, size=SIZES[1], annotator=walk.person, settings=settings) as (app, pilot):
            if first.startswith(">"):
                app.open_verb(first[1:])
            else:
                app.open_screen(first)
            await settle(pilot)
            for place, word in enumerate(words):
                if word in _STOPS:
                    keys = " ".join([first, *(one for one in words[:place] if one not in _STOPS)])
                    text = normalized(await still(pilot), database.parent) if word == "|" else "It opens.\n"
                    yield f"{type(app.screen).__name__} ({where}): {keys}", text
                else:
                    await press(pilot, *(word[1:] if word.startswith("'") else [moved(app, word)]))


async def _dialogs(database: Path) -> AsyncIterator[tuple[str, str]]:
    with chdir(database.parent), closing(open_project(database)) as project:
        async with opened(project, size=SIZES[1]) as (app, pilot):
            # The app keeps reading folders, so it never becomes idle. Its own folder differs each time.
            path = database.parent
            await app.push_screen(FilePicker(database.parent))
            await until(pilot, lambda: "p.db" in drawn(app))
            lines = drawn(app).splitlines()
            yield "FilePicker", "\n".join(line for line in lines if not any(name in line for name in path.parts[1:]))
        start = StartApp([RecentProject("nowhere/gone.db")], "demo.db")
        async with start.run_test(size=SIZES[1]):
            yield "StartApp", drawn(start)
