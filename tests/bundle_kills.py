"""Bundling and merging in processes that are killed: files are complete or absent, and leftovers are removed."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tests.helpers import make_project, merge, numbered
from tests.killed_steps import NOT_KILLED, Done, Killer, When
from tests.unit.labelling.canonical import canonical
from workbench.core.database import events
from workbench.core.project import open_project
from workbench.labelling import ledger
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.answers import Answer
from workbench.labelling.bundling import bundle
from workbench.labelling.people import assign

EDITS = 4


class Scene:
    """A project, and Ann's returned bundle of it with several corrections of every label.

    Args:
        items: How many items it has, all of them in the bundle.
    """

    def __init__(self, folder: Path, items: int) -> None:
        self.folder = folder
        self.away, self.back, self.empty = folder / "away.db", folder / "ann.db", folder / "empty.db"
        project = make_project(folder, numbered(items))
        assign(project, ["ann", "bob"], per_item=2)
        project.close()
        shutil.copyfile(project.path, self.empty)
        project = open_project(project.path)
        bundle(project, self.back, annotator="ann", limit=items)
        project.close()
        shutil.copyfile(project.path, self.away)
        self.events_made = _label(self.back, items)
        with closing(open_project(shutil.copyfile(self.away, folder / "whole.db"))) as whole:
            merge(whole, self.back)
            self.whole = canonical(whole)

    def kill_bundle(self, killer: Killer, when: When = NOT_KILLED) -> tuple[Done, str]:
        """Kill the creation of a bundle; return the outcome and the state of the file."""
        place = self._place()
        home, file = shutil.copyfile(self.empty, place / "home.db"), place / "out.db"
        done = killer.run("bundle", home, file, "ann", when=when)
        with closing(open_project(home)) as project:
            reader = project.database.reader()
            assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            (away,) = reader.execute("SELECT count(*) FROM assignments WHERE state = 'away'").fetchone()
            (items,) = reader.execute("SELECT count(*) FROM bundle_items").fetchone()
            (leased,) = reader.execute("SELECT count(*) FROM assignments WHERE state = 'leased'").fetchone()
            assert (away, leased) == (items, 0), "slots are away without being in a bundle"
            assert file.exists() or not away, "a recorded bundle is missing"
            state = "not there"
            if file.exists():
                state = "whole" if away else "whole, not recorded"
                with closing(open_project(file)) as made:
                    assert made.database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
                    assert made.database.reader().execute("SELECT count(*) FROM bundle_pass").fetchone() == (1,)
                events_made = _label(file, 1, edits=1)
                # A file whose creation was killed before it was recorded needs the coordinator's consent to be merged.
                assert bool(away) or "did not make" in merge(project, file).not_believed
                report = merge(project, file, whole=not away)
                assert (report.refused, report.events_new) == ([], events_made)
            else:
                bundle(project, file, annotator="ann")
            # Creating the next bundle in this folder removes the leftovers.
            bundle(project, place / "bob.db", annotator="bob")
        self._check_leftovers_removed(place, {"home.db", "out.db", "bob.db"})
        return done, state

    def kill_merges(self, killer: Killer, kills: Sequence[When]) -> Counter[str]:
        """Kill several merges into one database, then let one finish."""
        place = self._place()
        home = shutil.copyfile(self.away, place / "home.db")
        found = Counter[str]()
        before = 0
        for when in kills:
            killed = killer.run("merge", home, self.back, when=when).killed
            with closing(open_project(home)) as project:
                assert project.database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert ledger.states_differ(project) == 0
                held = Counter(event.subject for event in events.all_events(project.database.reader()))
                assert set(held.values()) <= {EDITS}, "an item was merged in part"
                assert held.total() >= before
                found["killed" if killed else "ended"] += 1
                found["took something"] += held.total() > before
                before = held.total()
        with closing(open_project(home)) as project:
            merge(project, self.back)
            assert canonical(project) == self.whole
        self._check_leftovers_removed(place, {"home.db"})
        return found

    def _place(self) -> Path:
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def _check_leftovers_removed(self, place: Path, expected: set[str]) -> None:
        there = {file.name for file in place.iterdir() if not file.name.endswith(("-wal", "-shm", ".jsonl"))}
        assert there == expected, there


def moments(random: Random, killed: Done, count: int) -> list[When]:
    """Return moments for kills: half of them steps of a verb that finished, half of them times while it works."""
    return [
        When(step=random.randrange(1, killed.steps))
        if number % 2
        else When(moment=random.random() * killed.seconds + 1e-4)
        for number in range(count)
    ]


def _label(path: Path, items: int, edits: int = EDITS) -> int:
    """Label the items of a bundle and correct every label several times; return the number of events."""
    with closing(open_project(path)) as project:
        with closing(AnnotationSession(project, "ann")) as session:
            item = session.next()
            assert item is not None
            session.submit(item, Answer(verdict="correct"))
        with project.database.write() as connection:
            (first,) = (e for e in events.all_events(connection) if e.kind == "label")
            texts = dict(connection.execute("SELECT id, 1 FROM completions LIMIT ?", (items,)).fetchall())
            for subject in {first.subject, *texts} if items > 1 else {first.subject}:
                last = first.uuid if subject == first.subject else None
                for _ in range(edits - (subject == first.subject)):
                    uuid = events.new_uuid()
                    ledger.record(
                        connection, replace(first, uuid=uuid, subject=subject, supersedes=last, content_hash=None)
                    )
                    last = uuid
        (count,) = project.database.reader().execute("SELECT count(*) FROM label_events").fetchone()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return int(count)
