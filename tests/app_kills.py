"""kill -9 of the real app while a person labels, most of the time in the middle of a write."""

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

# The first verdict may follow a key that did nothing and be dropped; the picker ignores a number without a letter.
KEYS = "11a8"
"""A verdict, then the answer type."""

NEXT_TO_S = 0.002
"""A kill so soon after a commit has returned is next to the write."""


class Kill(NamedTuple):
    """Where a kill fell: in a write transaction, or so many seconds after the last one was committed."""

    in_write: bool
    after_s: float
    acknowledged: int

    @property
    def at_write(self) -> bool:
        """In a write, or next to one."""
        return self.in_write or self.after_s <= NEXT_TO_S


def labelling_project(folder: Path, items: int) -> Project:
    """Items of which people settle verdict and type, two people each."""
    project = make_project(folder, numbered(items, types="labelled"))
    assign(project, ["ann", "bob"], per_item=2)
    return project


def kill_while_labelling(project: Project, folder: Path, draw: random.Random) -> Kill:
    """One life of the app: it labels, is seen to make progress, and dies when a label's transaction has begun.

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
    """Nothing acknowledged is lost, nothing is there twice or in half, and the states are what the events say."""
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
