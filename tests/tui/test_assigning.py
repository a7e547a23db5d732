"""Assigning in the app counts existing labels, in the preview and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project, numbered
from tests.tui.labelling import desk, labels
from tests.tui.stage import ONE_SIZE, opened, press, screen_of, settle, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.screens.help import HelpScreen
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.benchmarks.curating.type_forms import proposed_types
from workbench.benchmarks.curating.types import resolve_types
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer

EXISTING_LABELS = "Labels given earlier count: of 6 items, 2 have their final label and are left out; 4 are new."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Create six items assigned to amira alone; she has labelled two."""
    made = make_project(tmp_path, numbered(6, subtype="A1", types="trusted"))
    people.add_annotators(made, ["ben"])
    people.assign(made, ["amira"], per_item=1)
    session = AnnotationSession(made, "amira")
    for _ in range(2):
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict="correct"))
    session.close()
    return made


def slots(project: Project) -> int:
    found = project.database.reader().execute("SELECT count(*) FROM assignments WHERE task = 'correctness'").fetchone()
    return int(found[0])


async def run_verb(app: WorkbenchApp, pilot: Pilot[None], key: str) -> str:
    await press(pilot, key)
    await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
    output = " ".join(screen_of(app, VerbOutputScreen).text.split())
    await press(pilot, "escape")
    await until(pilot, lambda: isinstance(app.screen, VerbScreen))
    return output


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_existing_labels_count_in_the_preview_and_afterwards(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        app.open_verb("assign")
        await until(pilot, lambda: app.screen.query(OptionField))
        await settle(pilot)
        assert "existing labels count" in str(app.screen.query_one("#option-per-item .about", Static).content)
        app.screen.query_one("#option-annotators", OptionField).value = "amira ben"
        before = slots(project)
        tried = await run_verb(app, pilot, "ctrl+t")
        assert EXISTING_LABELS in tried
        assert "Nothing was written" in tried
        assert slots(project) == before == 6
        done = await run_verb(app, pilot, "ctrl+r")
        assert EXISTING_LABELS in done
        assert slots(project) == 10


async def test_result_says_who_labels_what_and_when_types_are_asked_for(tmp_path: Path) -> None:
    untyped = [row | {"type": None, "subtype": None, "types": "labelled"} for row in numbered(6)]
    project = make_project(tmp_path, untyped)
    async with opened(project) as (app, pilot):
        app.open_verb("assign")
        await until(pilot, lambda: app.screen.query(OptionField))
        app.screen.query_one("#option-annotators", OptionField).value = "amira ben"
        tried = await run_verb(app, pilot, "f3")
        assert "They label" not in tried
        output = await run_verb(app, pilot, "f4")
        assert "6 items for amira and ben: 2 labels each. They label in Annotate: workbench open DB --as NAME" in output
        assert "They also give answer types, unless accepted (Home: Derive types)" in output
        assert "They also" not in await run_verb(app, pilot, "f4"), "there are no new slots"
    resolve_types(project, [(one.of, "A1") for one in proposed_types(project)], by="cy")
    async with desk(project) as work:
        await work.press("1")
        assert not isinstance(work.app.screen, TypePicker), "an accepted type is not asked for"
        assert labels(project) == [(labels(project)[0][0], "correct")]
        await work.press("?")
        assert isinstance(work.app.screen, HelpScreen)
        explained = " ".join(" ".join(line.text for line in work.app.screen.listed).split())
        assert "Not asked for accepted types." in explained
    project.close()
