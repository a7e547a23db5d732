"""kill -9 of the real app while a person labels: nothing acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.app_on_pty import AppOnPty
from tests.helpers import make_project, numbered
from workbench.services.care import doctor
from workbench.services.labelling.people import assign
from workbench.services.project import Project


def kill_while_labelling(project: Project, journal: Path, draw: random.Random) -> None:
    """One life of the app: it labels, is seen to make progress, and dies at a random moment of it."""
    app = AppOnPty(project.path, "ann", journal)
    before = len(app.acknowledged())
    app.wait_for("Annotate")
    app.press("a")
    app.wait_for("Incorrect")
    aim = before + draw.randint(2, 12)
    app.press_until("1", lambda: len(app.acknowledged()) >= aim)
    app.press("1")
    app.kill()
    assert len(app.acknowledged()) >= aim


def check(project: Project, journal: Path) -> None:
    stored = {row[0] for row in project.database.reader().execute("SELECT uuid FROM label_events")}
    assert set(journal.read_text().splitlines()) <= stored
    labelled = project.database.reader().execute(
        "SELECT count(*), count(DISTINCT subject) FROM label_events WHERE kind = 'label' AND task = 'correctness'"
    )
    labels, subjects = labelled.fetchone()
    assert labels == subjects
    assert [finding for finding in doctor(project) if not finding.ok] == []


@pytest.mark.parametrize(
    "kills", [2, pytest.param(50, marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="50-soak")]
)
def test_kills_lose_no_acknowledged_label(tmp_path: Path, kills: int) -> None:
    project = make_project(tmp_path, numbered(40 * kills, type="A", subtype="A1"))
    assign(project, ["ann", "bob"], per_item=2)
    journal = tmp_path / "journal"
    draw = random.Random(kills)
    for _ in range(kills):
        kill_while_labelling(project, journal, draw)
        check(project, journal)
