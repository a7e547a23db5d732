"""Screens are usable with 60 columns and 20 lines, too: a table in use has lines for its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.tui.stage import add_run, opened, press, settle
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.core.project import Project
from workbench.core.verdict import Outcome

SHORT = (60, 20)
LEAST = 4
"""The lines for a table's head and some rows."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Create two verifiers that disagree on items of two types, and a judge with an unfinished run."""
    made = make_project(tmp_path, [*numbered(20, subtype="A1"), *numbered(20, subtype="C1", dataset="more")])
    add_run(made, "rules", dict.fromkeys(range(1, 41), Outcome.CORRECT))
    add_run(made, "exact", dict.fromkeys(range(1, 41), Outcome.INCORRECT))
    add_run(made, "judge", dict.fromkeys(range(1, 9), Outcome.CORRECT), complete=False, items=40)
    return made


@pytest.mark.soak
async def test_every_focusable_table_has_lines_for_its_rows(project: Project) -> None:
    async with opened(project, size=SHORT) as (app, pilot):
        for name in DESTINATIONS:
            if name != "home":
                app.open_screen(name)
            await settle(pilot)
            for table in app.screen.query(VirtualTable):
                if not (table.display and table.can_focus and table in app.screen.focus_chain):
                    continue
                table.focus()
                await settle(pilot)
                seen = table.region.intersection(app.screen.region)
                assert seen.height >= min(LEAST, table.virtual_size.height), f"{table.id} has {seen.height} lines"
            while len(app.screen_stack) > 2:
                app.pop_screen()
            await settle(pilot)


async def test_tab_moves_between_both_tables_of_accuracy(project: Project) -> None:
    async with opened(project, size=SHORT) as (app, pilot):
        await press(pilot, *":y", "enter")
        first = app.screen.focused
        await press(pilot, "tab")
        assert app.screen.focused is app.screen.query_one("#accuracy-detail")
        assert app.screen.query_one("#accuracy-detail").region.height >= LEAST
        await press(pilot, "tab")
        assert app.screen.focused is first
        assert not app.screen.has_class("below")
