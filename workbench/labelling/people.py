"""Annotators, the slots they fill, and the guidelines version each has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, structs

from workbench.core.database import people, states
from workbench.core.database.connection import Database
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store import reading
from workbench.labelling import guidelines, ledger
from workbench.labelling.assigning import RANDOM, Assigned, Ordering, Team, open_batch
from workbench.labelling.guidelines import with_news
from workbench.labelling.store import assignments
from workbench.labelling.store import guidelines as store


class AnnotatorInfo(Struct, frozen=True, kw_only=True):
    """A person, as listed.

    Attributes:
        paused: Whether they get no items for now.
        why: Why they are paused.
    """

    name: str
    role: str
    paused: bool = False
    why: str = ""


def annotators(project: Project) -> list[AnnotatorInfo]:
    return [
        AnnotatorInfo(
            name=person.name, role=person.role, paused=person.paused_at is not None, why=person.paused_why or ""
        )
        for person in people.all_people(project.database)
    ]


def add_annotators(project: Project, names: Sequence[str]) -> list[AnnotatorInfo]:
    """Add people; known names are unchanged.

    Raises:
        UsageError: A name is not valid.
    """
    with project.database.write("full") as connection:
        for name in names:
            people.add(connection, name)
    return annotators(project)


def pause(project: Project, name: str, why: str) -> None:
    """Stop serving items to a person until they are resumed. Their leases are returned; nothing is deleted.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.pause(connection, person.id, why.strip())
        assignments.give_back_all(connection, person.id)


def resume(project: Project, name: str) -> None:
    """Serve items to a person again; checks answered so far no longer count.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.resume(connection, person.id)


def remove(project: Project, name: str) -> None:
    """Remove a person without labels or decisions; their intended items go to others.

    Raises:
        UsageError: No annotator has this name, or they have labels or decisions.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.remove(connection, person.id)


def is_known(project: Project, name: str) -> bool:
    return people.normalise_name(name) in {person.name for person in people.all_people(project.database)}


def require_annotator(project: Project, name: str) -> None:
    """Check that a person is known.

    Raises:
        UsageError: No annotator has this name; the message lists the names.
    """
    people.find(project.database, name)


def assign(
    project: Project,
    names: Sequence[str],
    *,
    per_item: int = 2,
    adjudicator: str | None = None,
    selection: Selection | None = None,
    caps: Mapping[str, int] | int | None = None,
    ordering: Ordering = RANDOM,
    seed: int = reading.SEED,
    final_too: bool = False,
    dry_run: bool = False,
) -> Assigned:
    """Open ``per_item`` slots on every selected item; a slot gets its annotator when someone claims it.

    Unknown people are added. Items that already have slots get only the missing ones; the people named here may also
    claim their open slots (and all other open slots of those items' batches). Checks and items with a final label are
    left out.

    Args:
        names: Who may claim the slots. Each slot is intended for one of them, so that all combinations of people are
            used equally often in every source (else domain, else answer subtype).
        per_item: Number of people who label an item.
        adjudicator: Who resolves the conflicts; None for any third person.
        caps: Most items of the batch for each person, or one limit for all.
        selection: The items; with a limit, that number is drawn at random, spread over their questions.
        ordering: The order in which items are served.
        seed: Seed of the draw; a longer draw with the same seed begins with the same items.
        final_too: Open slots also on items with a final label.
        dry_run: Only report what would be opened; write nothing.

    Raises:
        UsageError: There are fewer people than slots, a name is given twice, a cap is impossible, or the adjudicator is
            among the annotators.
    """
    if per_item < 1:
        raise UsageError(f"{opt.per_item} must be at least 1.")
    names = [people.normalise_name(name) for name in names]
    adjudicator = people.normalise_name(adjudicator) if adjudicator else None
    if len(set(names)) != len(names):
        raise UsageError("An annotator is named twice.")
    if not names:
        raise UsageError("Nobody is named to label the items.")
    if adjudicator is not None and adjudicator in names:
        raise UsageError(f"{adjudicator!r} can't label and adjudicate the same items.", "Name a third person.")
    limits = _item_limits(names, caps)
    with suppress(_DryRunError), project.database.write("full") as connection:
        ids = {name: people.add(connection, name) for name in names}
        team = Team(
            annotators=list(ids.values()),
            adjudicator=people.add(connection, adjudicator) if adjudicator else None,
            caps={ids[name]: cap for name, cap in limits.items()},
        )
        assigned = open_batch(
            connection,
            team,
            per_item=per_item,
            selection=selection or Selection(),
            ordering=ordering,
            seed=seed,
            final_too=final_too,
        )
        assigned = structs.replace(assigned, filled=_count_earlier_labels(connection))
        if dry_run:
            raise _DryRunError
    return assigned


class _DryRunError(Exception):
    """Raised by a dry run to roll back its transaction."""


def _item_limits(names: Sequence[str], caps: Mapping[str, int] | int | None) -> dict[str, int]:
    if caps is None:
        return {}
    limits = (
        dict.fromkeys(names, caps)
        if isinstance(caps, int)
        else {people.normalise_name(name): caps[name] for name in caps}
    )
    for name, cap in limits.items():
        if name not in names:
            raise UsageError(f"The cap for {name!r} is useless: they are not among the annotators.")
        if cap < 1:
            raise UsageError(f"A cap is at least 1, not {cap}.", "Leave out people who should label nothing.")
    return limits


def _count_earlier_labels(connection: people.Connection) -> int:
    """Fill new slots with labels that were imported earlier, and update states for the new overlap.

    Returns:
        Number of slots on items that were filled.
    """
    filled = 0
    for task, subject in list(states.subjects_with_events(connection)):
        taken = sum(
            assignments.take(connection, task, subject, person)
            for person in states.current_labellers(connection, task, subject)
            if not assignments.holds(connection, task, subject, person)
        )
        filled += taken if task == "correctness" else 0
        ledger.refresh(connection, task, subject)
    return filled


# -- The version of the guidelines that a person has read, which their labels store.


class GuidelineReadings:
    """The guidelines versions that one person has opened in the app, written, or labelled under.

    Every method may be called from any thread.
    """

    def __init__(self, database: Database, person: int) -> None:
        self._database = database
        self._person = person
        self._worked_under = store.worked_under(database.reader(), person)

    @property
    def version(self) -> str:
        """Return the newest version the person has read; empty if none."""
        reader = self._database.reader()
        known = self._worked_under | store.read_by(reader, self._person)
        return guidelines.newest(reader, among=known) or ""

    def read(self, version: str) -> None:
        with self._database.write("full") as connection:
            store.note_reading(connection, self._person, version, people.now())

    def text(self) -> guidelines.Guideline:
        found = {one.version: one.text for one in guidelines.every(self._database.reader())}
        version, known = next(reversed(found)), self.version
        text = found[version]
        news = known != version and known in found
        return guidelines.Guideline(version=version, text=with_news(version, found[known], text) if news else text)

    def in_force(self) -> str:
        return guidelines.version_in_force(self._database.reader())

    def news(self) -> str:
        """Return the version in force if the person has not read it; else ""."""
        in_force = self.in_force()
        return "" if in_force == self.version else in_force
