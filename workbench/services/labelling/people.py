"""Annotators and the slots they fill."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from workbench.errors import UsageError
from workbench.model.label import Task
from workbench.model.selection import Selection
from workbench.services.labelling import ledger
from workbench.services.project import Project
from workbench.store import assignments, people, states
from workbench.store.selection import check_names

SEED = "workbench"
"""Seed of the random order of a batch; the same items come in the same order everywhere."""


class AnnotatorInfo(Struct, frozen=True, kw_only=True):
    """A person, as listed."""

    name: str
    role: str


class Assigned(Struct, frozen=True, kw_only=True):
    """What ``assign`` has opened.

    Attributes:
        assigned: Open slots created on the correctness task.
        type_slots: Open slots created on the type task (one question may serve several items).
    """

    assigned: int
    type_slots: int


def annotators(project: Project) -> list[AnnotatorInfo]:
    """Everyone, in the order they came."""
    return [AnnotatorInfo(name=person.name, role=person.role) for person in people.everyone(project.database)]


def add_annotators(project: Project, names: Sequence[str]) -> list[AnnotatorInfo]:
    """Add people; names that are there already stay as they are.

    Raises:
        UsageError: A name is no name.
    """
    with project.database.write("full") as connection:
        for name in names:
            people.add(connection, name)
    return annotators(project)


def require_annotator(project: Project, name: str) -> None:
    """Check that a person is known.

    Raises:
        UsageError: They are not; the message lists who is.
    """
    people.find(project.database, name)


def assign(
    project: Project,
    names: Sequence[str],
    *,
    per_item: int = 2,
    adjudicator: str | None = None,
    selection: Selection | None = None,
) -> Assigned:
    """Open ``per_item`` slots on every selected item; each gets its person when someone claims it.

    Unknown people are added. Items that have slots already get only the missing ones.

    Raises:
        UsageError: Fewer people than slots, a name twice, or the adjudicator among the annotators.
    """
    if per_item < 1:
        raise UsageError("--per-item must be at least 1.")
    names = [people.tidy(name) for name in names]
    adjudicator = people.tidy(adjudicator) if adjudicator else None
    if len(set(names)) != len(names):
        raise UsageError("An annotator is named twice.")
    if len(names) < per_item:
        raise UsageError(f"{per_item} labels an item need at least {per_item} annotators, not {len(names)}.")
    if adjudicator is not None and adjudicator in names:
        raise UsageError(f"{adjudicator!r} can't label and adjudicate the same items.", "Name a third person.")
    with project.database.write("full") as connection:
        ids = [people.add(connection, name) for name in names]
        third = people.add(connection, adjudicator) if adjudicator else None
        completions, questions = assignments.open_batch(
            connection, ids, per_item, third, check_names(connection, selection or Selection()), SEED
        )
        _count_earlier_labels(connection)
    return Assigned(assigned=completions, type_slots=questions)


def _count_earlier_labels(connection: people.Connection) -> None:
    """Labels that came before the slots (from a file) fill them, and states follow the new need."""
    for task, subject in list(states.touched(connection)):
        fill_slots(connection, task, subject)
        ledger.refresh(connection, task, subject)


def fill_slots(connection: people.Connection, task: Task, subject: int) -> None:
    """Give every person with a label in force on the subject a slot, as long as there are open ones."""
    for person in states.labellers(connection, task, subject):
        if not assignments.holds(connection, task, subject, person):
            assignments.take(connection, task, subject, person)
