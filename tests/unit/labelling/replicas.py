"""A project in several databases at once, with invariants that hold in each of them after every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any

from tests.helpers import add_items, make_project, merge, numbered
from tests.unit.labelling.canonical import canonical
from workbench.config.settings import AnnotationPolicy
from workbench.core.database import events, states
from workbench.core.errors import AnnotationError
from workbench.core.label import LabelEvent, LabelVerdict
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.core.states import current_adjudication, current_labels, current_round
from workbench.labelling import ledger
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.labelling.checks import add_checks
from workbench.labelling.people import assign

PEOPLE = ("ann", "bob", "cy", "dan")
NEED = 2
ITEMS = 6
POLICY = AnnotationPolicy(check_rate=0.3, check_minimum=1_000, repeat_share=0.3, repeat_after_hours=0)

TABLES = ("label_events", "assignments", "task_states", "item_states", "annotators", "drafts", "skips", "batches")


def make_templates(folder: Path, count: int) -> list[Path]:
    """Make closed databases with the same items and different work in each.

    There are four items to label, two of which need a type; one unassigned item; and one check.
    """
    return [_make_template(folder / str(number), Random(number)) for number in range(count)]


def _make_template(folder: Path, random: Random) -> Path:
    folder.mkdir()
    project = make_project(folder, numbered(4, types="labelled"))
    add_items(project.database, [{"dataset": "other", "completion_id": f"c{n}", "gold": True} for n in (4, 5)])
    assign(project, PEOPLE[:3], per_item=NEED, selection=Selection((parse_condition("dataset=sample"),)))
    assert add_checks(project, Selection((parse_condition("completion_id=c5"),))).added == 1
    for name in random.sample(PEOPLE[:3], 3):
        desk = AnnotationSession(project, name, policy=POLICY)
        for _ in range(random.randrange(5)):
            if (item := desk.next()) is not None:
                verdict: LabelVerdict = random.choice(("correct", "incorrect"))
                desk.submit(item, Answer(verdict=verdict, subtype="A1" if item.wants_type else None))
        desk.close()
    project.close()
    return project.path


class Replica:
    """One database, the people at work on it, and what it has said so far."""

    def __init__(self, origin: Path, path: Path) -> None:
        copyfile(origin, path)
        self.path = path
        self.project: Project = open_project(path)
        self.shown: dict[str, AnnotationItem] = {}
        self._desks: dict[str, AnnotationSession] = {}
        self._known: list[tuple[Any, ...]] = []

    def copied(self) -> Path:
        """Copy the file without an open connection."""
        self.project.database.write_back()
        return Path(copyfile(self.path, self.path.with_suffix(".copy.db")))

    def close(self) -> None:
        """Close every connection."""
        for desk in self._desks.values():
            desk.close()
        self.project.close()

    def desk(self, name: str) -> AnnotationSession:
        """A person's session; it stays open."""
        if name not in self._desks:
            self._desks[name] = AnnotationSession(self.project, name, policy=POLICY)
        return self._desks[name]

    def third(self, name: str) -> AdjudicationSession:
        """A person who settles conflicts."""
        return AdjudicationSession(self.project, name)

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Read something."""
        return self.project.database.reader().execute(query, parameters).fetchall()

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that people's work has left."""
        return {table: self.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in TABLES}

    def let_leases_run_out(self) -> None:
        """As if everybody had gone home."""
        with self.project.database.write() as connection:
            connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'leased'")

    def check(self) -> None:
        """All that must hold of one database."""
        self._events_only_grow()
        self._states_follow()
        self._leases_are_single()
        reader = self.project.database.reader()
        for task, subject in states.subjects_with_events(reader):
            said = events.events_of(reader, task, subject)
            self._heads_are_current(said)
            _require_third_person(said)
            self._keep_overlap(said)

    def _events_only_grow(self) -> None:
        rows = self.rows("SELECT * FROM label_events ORDER BY id")
        assert rows[: len(self._known)] == self._known, "an event was changed or lost"
        assert len({row[1] for row in rows}) == len(rows)
        self._known = rows

    def _states_follow(self) -> None:
        tables = ("task_states", "item_states")
        before = {table: self.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables}
        assert ledger.states_differ(self.project) == 0
        ledger.recompute(self.project)
        assert {table: self.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables} == before

    def _leases_are_single(self) -> None:
        twice = (
            "SELECT task, subject, annotator_id FROM assignments WHERE state <> 'past' AND annotator_id IS NOT NULL "
            "GROUP BY task, subject, annotator_id, purpose HAVING count(*) > 1"
        )
        assert self.rows(twice) == []

    def _heads_are_current(self, said: Sequence[LabelEvent]) -> None:
        """Check that the current labels agree between SQL, the pure function and a plain reading of the rule."""
        reader, now = self.project.database.reader(), current_round(said)
        current = {label.annotator: label for label in current_labels(said)}
        for person in {event.annotator for event in said}:
            replaced = {event.supersedes for event in said if event.annotator == person}
            own = [event for event in said if (event.annotator, event.kind, event.round) == (person, "label", now)]
            heads = [event for event in own if event.uuid not in replaced]
            newest = max(heads, key=lambda event: (event.created_at, event.uuid), default=None)
            assert current.get(person) == newest
            assert events.current_of(reader, said[0].task, said[0].subject, person) == newest

    def _keep_overlap(self, said: Sequence[LabelEvent]) -> None:
        """Never more labels than slots, but for those that came by file or merge; a slot is done by a label."""
        task, subject = said[0].task, said[0].subject
        labels = current_labels(said)
        slots = self.rows(
            "SELECT state, annotator_id FROM assignments WHERE task = ? AND subject = ? AND purpose = 'quota' "
            "AND state <> 'past'",
            task,
            subject,
        )
        if not slots:
            return
        made_here = [label for label in labels if label.content_hash is not None and not label.merged]
        assert len(slots) == NEED
        assert len(made_here) <= NEED
        done = {person for state, person in slots if state == "done"}
        assert done <= {label.annotator for label in labels}, "a slot is done that has no label"
        assert {label.annotator for label in made_here} <= done or len(labels) > NEED


def _require_third_person(said: Sequence[LabelEvent]) -> None:
    """Check that adjudicators have no label on the item, except where a merge combined separately valid events."""
    now, replaced = current_round(said), {(event.annotator, event.supersedes) for event in said}
    current = [event for event in said if event.round == now and (event.annotator, event.uuid) not in replaced]
    labellers = {event.annotator for event in current if event.kind == "label"}
    ruling = current_adjudication(said)
    assert ruling is None or ruling.annotator not in labellers
    here = {
        kind: {e.annotator for e in current if e.kind == kind and not e.merged} for kind in ("label", "adjudication")
    }
    assert not here["label"] & here["adjudication"]


def merged(folder: Path, replicas: Sequence[Replica], order: Sequence[int]) -> tuple[bytes, bytes]:
    """Merge copies of databases in this order; returns what the result says, and once more after merging again."""
    copies = []
    for number in order:
        replicas[number].project.database.write_back()
        path = folder / f"{'-'.join(map(str, order))}-{number}.db"
        copies.append(Replica(replicas[number].path, path))
    first, *others = copies
    for other in others:
        # A database that this process has open is not read as another one.
        other.close()
        assert not (refused := merge(first.project, other.path, whole=True).refused), refused
    first.check()
    said = canonical(first.project)
    for other in reversed(others):
        report = merge(first.project, other.path, whole=True)
        assert (report.events_new, report.refused) == (0, [])
    again = canonical(first.project)
    first.close()
    return said, again


def attempt(action: Any, *arguments: object, **named: object) -> Any:
    """Run an action as an app would; an error with a message is a valid outcome."""
    try:
        return action(*arguments, **named)
    except AnnotationError:
        return None
