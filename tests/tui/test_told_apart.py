"""A check looks like any item on the screen: the same keys show the same, before and after its answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.tui.labelling import desk
from tests.tui.stage import notices
from workbench.app.tui import pace
from workbench.app.tui.screens import annotate
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import checks, people

KEYS = (
    *("w", "v", "u", "f", "enter", "f", "1", "1", "[", "0", "]", "z", "z", "z", "s", "1", "1"),
    *("escape", "a", "0", "x", "p", "1", "l"),
)
"""Marks and a flag; the first item labelled, corrected, undone, skipped and assigned again; Home, History.

A verdict behind a key that did nothing is dropped once, so it is pressed twice."""


def of_alike(folder: Path, *, a_check: bool) -> Project:
    """Create four items with one text; amira gets the first one first, as a check or not."""
    folder.mkdir()
    (folder / "workbench.toml").write_text(
        f"[annotation]\ncheck_rate = {int(a_check)}\nrepeat_share = 0\ncheck_minimum = 100\n"
    )
    rows = [{**row, "question_id": f"q{n}", "question": "Which?"} for n, row in enumerate(numbered(8)) if n % 2 == 0]
    project = make_project(folder, rows)
    if a_check:
        first = Selection((parse_condition("completion_id=c0"),))
        assert checks.add_checks(project, first).added == 1
    people.assign(project, ["amira", "ben"], per_item=2)
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET position = CASE task WHEN 'correctness' THEN subject ELSE 9 END")
    return project


async def shown(project: Project) -> list[tuple[str, list[str], list[str]]]:
    """Return notices and screen after every key, without times."""
    found = []
    async with desk(project) as it:
        for key in KEYS:
            await it.press(key)
            notices_text = notices(it.app)
            it.app.clear_notifications()
            await it.settle()
            text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d", "", it.text())
            found.append((key, notices_text, [line.rstrip() for line in text.splitlines()]))
    return found


@pytest.mark.soak
async def test_check_looks_like_any_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "about", lambda seconds: "some time")
    # Whether a decision was fast, and so how much else fits, depends on the machine.
    monkeypatch.setattr(annotate, "FAST_MS", 0)
    projects = [of_alike(tmp_path / str(a_check), a_check=a_check) for a_check in (False, True)]
    plain, with_check = [await shown(project) for project in projects]
    normalized = "SELECT count(*) > 2 FROM label_events WHERE kind = 'check'"
    assert [project.database.reader().execute(normalized).fetchone()[0] for project in projects] == [False, True]
    for before, after in zip(plain, with_check, strict=True):
        assert after == before
    for project in projects:
        project.close()
