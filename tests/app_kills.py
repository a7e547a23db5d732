"""Kill the real app with SIGKILL while an annotator labels, usually in the middle of a write."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from tests.app_on_pty import AppOnPty, Mark
from tests.helpers import make_project, numbered
from workbench.care.backups import diagnosis
from workbench.core.database import journal
from workbench.core.project import Project
from workbench.labelling import ledger
from workbench.labelling.people import assign

# The first key may dismiss a notice, so the first verdict can be lost; the picker ignores a number without a letter.
KEYS = "11a8"
"""A verdict, then the answer type."""

NEXT_TO_S = 0.002
"""A kill at most this many seconds after a commit returned counts as a kill at a write."""


class Kill(NamedTuple):
    """The moment of a kill: inside a write transaction, or some seconds after the last commit."""

    in_write: bool
    after_s: float
    acknowledged: int

    @property
    def at_write(self) -> bool:
        """Return whether the kill hit a write transaction or came right after one."""
        return self.in_write or self.after_s <= NEXT_TO_S


def labelling_project(folder: Path, items: int) -> Project:
    """Create a project whose items need a verdict and an answer type from two annotators each."""
    project = make_project(folder, numbered(items, types="labelled"))
    assign(project, ["ann", "bob"], per_item=2)
    return project


def kill_while_labelling(project: Project, folder: Path, draw: random.Random) -> Kill:
    """Run the app once: it labels, makes progress, and is killed after a label's transaction has begun.

    From there to the end of its commit are one to three milliseconds: the kill comes anywhere in them, or just after.
    """
    app = AppOnPty(project.path, "ann", folder)
    before = len(app.acknowledged())
    app.wait_for("Annotate")
    app.press(":")
    app.wait_for("Go to")
    app.press("a\r")
    app.wait_for("Incorrect")
    aim = before + draw.randint(1, 4)
    app.press_until(KEYS, lambda: len(app.acknowledged()) >= aim)
    killed_at = app.kill_in_write(KEYS, draw.uniform(0, 0.0015))
    acknowledged = len(app.acknowledged())
    assert acknowledged >= aim
    return _place(app.marks(), killed_at, acknowledged)


def _place(marks: list[Mark], killed_at: float, acknowledged: int) -> Kill:
    begun = sum(mark.letter in "bB" for mark in marks)
    ended = [mark.at for mark in marks if mark.letter in "cC"]
    return Kill(begun > len(ended), killed_at - max(ended), acknowledged)


def check(project: Project, folder: Path) -> None:
    """Check that acknowledged labels are stored exactly once and whole, and that states follow from events."""
    reader = project.database.reader()
    stored = {row[0] for row in reader.execute("SELECT uuid FROM label_events")}
    acknowledged = (folder / "journal").read_text().splitlines()
    assert set(acknowledged) <= stored <= journal.read(project.path).lines.keys()
    twice = reader.execute(
        "SELECT task, subject FROM label_events AS e WHERE NOT EXISTS "
        "(SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid) GROUP BY 1, 2 HAVING count(*) > 1"
    ).fetchall()
    assert twice == []
    done = reader.execute(
        "SELECT count(*) FROM label_events AS e WHERE NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.task = e.task "
        "AND a.subject = e.subject AND a.annotator_id = e.annotator_id AND a.state = 'done')"
    ).fetchone()
    assert done == (0,)
    assert [finding for finding in diagnosis(project.path) if not finding.ok] == []
    assert ledger.states_differ(project) == 0
