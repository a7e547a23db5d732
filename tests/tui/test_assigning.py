"""Assigning in the app: what was labelled before is counted, beforehand and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, opened, press, screen_of, settle, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer

TOLD = "Labels given earlier count: of 6 items, 2 have their final label and are left out; 4 are new."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six items that amira alone was to label; she has labelled two."""
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


async def ran(app: WorkbenchApp, pilot: Pilot[None], key: str) -> str:
    await press(pilot, key)
    await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
    said = " ".join(screen_of(app, VerbOutputScreen).text.split())
    await press(pilot, "escape")
    await until(pilot, lambda: isinstance(app.screen, VerbScreen))
    return said


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_what_was_labelled_before_is_counted_beforehand_and_afterwards(
    project: Project, size: tuple[int, int]
) -> None:
    async with opened(project, size=size) as (app, pilot):
        app.open_verb("assign")
        await until(pilot, lambda: app.screen.query(OptionField))
        await settle(pilot)
        assert "existing labels count" in str(app.screen.query_one("#option-per-item .about", Static).content)
        app.screen.query_one("#option-annotators", OptionField).value = "amira ben"
        before = slots(project)
        tried = await ran(app, pilot, "ctrl+t")
        assert TOLD in tried
        assert "Nothing was written" in tried
        assert slots(project) == before == 6
        done = await ran(app, pilot, "ctrl+r")
        assert TOLD in done
        assert slots(project) == 10
