"""Annotators, the slots they fill, and the guidelines version each has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, structs

from workbench.core.database import people, states
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError, UsageError, opt
from workbench.core.label import Task
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
        for person in people.everyone(project.database)
    ]


def add_annotators(project: Project, names: Sequence[str]) -> list[AnnotatorInfo]:
    """Add people; known names stay as they are.

    Raises:
        UsageError: A name is no name.
    """
    with project.database.write("full") as connection:
        for name in names:
            people.add(connection, name)
    return annotators(project)


def pause(project: Project, name: str, why: str) -> None:
    """Give a person no more items until they are resumed; their leases are returned, nothing is deleted.

    Raises:
        UsageError: There is no such person.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.pause(connection, person.id, why.strip())
        assignments.give_back_all(connection, person.id)


def resume(project: Project, name: str) -> None:
    """Give a person items again; checks answered so far no longer count against them.

    Raises:
        UsageError: There is no such person.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.resume(connection, person.id)


def remove(project: Project, name: str) -> None:
    """Remove a person without any label or decision; what was meant for them is left to others.

    Raises:
        UsageError: There is no such person, or they have said something.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        people.remove(connection, person.id)


def is_known(project: Project, name: str) -> bool:
    return people.tidy(name) in {person.name for person in people.everyone(project.database)}


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
    caps: Mapping[str, int] | int | None = None,
    ordering: Ordering = RANDOM,
    seed: int = reading.SEED,
    final_too: bool = False,
    dry_run: bool = False,
) -> Assigned:
    """Open ``per_item`` slots on every selected item; each gets its person when someone claims it.

    Unknown people are added. Items that have slots already get only the missing ones, and what is open on them may
    be claimed by the people named here too (with whatever else is open in those items' batches). Checks are left out,
    and items whose label is final.

    Args:
        names: Who may claim the slots. Each slot is meant for one of them, so that all combinations of people come up
            equally often in every source (else domain, else answer subtype).
        per_item: How many people label an item.
        adjudicator: Who settles the conflicts; None: any third person.
        caps: The most items of the batch that each person does, or that everybody does.
        selection: Which items; with a limit so many are drawn at random, spread over their questions.
        ordering: The order in which items are served.
        seed: Of the draw: the first of a seed are the first of any longer draw.
        final_too: Whether items get slots whose label is final already.
        dry_run: Whether only to say what would be opened; nothing is written.

    Raises:
        UsageError: Fewer people than slots, a name twice, an impossible cap, or the adjudicator among the annotators.
    """
    if per_item < 1:
        raise UsageError(f"{opt.per_item} must be at least 1.")
    names = [people.tidy(name) for name in names]
    adjudicator = people.tidy(adjudicator) if adjudicator else None
    _check_team(names, adjudicator)
    limits = _limits(names, caps)
    with suppress(_OnlyTriedError), project.database.write("full") as connection:
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
            raise _OnlyTriedError
    return assigned


class _OnlyTriedError(Exception):
    """Has the transaction rolled back."""


def _check_team(names: Sequence[str], adjudicator: str | None) -> None:
    if len(set(names)) != len(names):
        raise UsageError("An annotator is named twice.")
    if not names:
        raise UsageError("Nobody is named to label the items.")
    if adjudicator is not None and adjudicator in names:
        raise UsageError(f"{adjudicator!r} can't label and adjudicate the same items.", "Name a third person.")


def _limits(names: Sequence[str], caps: Mapping[str, int] | int | None) -> dict[str, int]:
    if caps is None:
        return {}
    limits = dict.fromkeys(names, caps) if isinstance(caps, int) else {people.tidy(name): caps[name] for name in caps}
    for name, cap in limits.items():
        if name not in names:
            raise UsageError(f"There is a cap for {name!r}, who is not among the annotators.")
        if cap < 1:
            raise UsageError(f"A cap is at least 1, not {cap}.", "Leave out whoever should do none.")
    return limits


def _count_earlier_labels(connection: people.Connection) -> int:
    """Let labels that came before the slots (from a file) fill them, and update states for the new need.

    Returns:
        How many slots on items were filled.
    """
    filled = 0
    for task, subject in list(states.touched(connection)):
        taken = _fill_slots(connection, task, subject)
        filled += taken if task == "correctness" else 0
        ledger.refresh(connection, task, subject)
    return filled


def _fill_slots(connection: people.Connection, task: Task, subject: int) -> int:
    return sum(
        assignments.take(connection, task, subject, person)
        for person in states.labellers(connection, task, subject)
        if not assignments.holds(connection, task, subject, person)
    )


# -- Which version of the guidelines a person goes by: what their labels name.


class Acquainted:
    """The guidelines versions that one person has opened in the app, written, or labelled under.

    Every method may be called from any thread.
    """

    def __init__(self, database: Database, person: int) -> None:
        self._database = database
        self._person = person
        reader = database.reader()
        self._worked_under = store.worked_under(reader, person)
        self._known = self._version(reader)

    @property
    def version(self) -> str:
        """Return the newest version the person has read, even while the file is away; empty if none."""
        try:
            self._known = self._version(self._database.reader())
        except StoreError as error:
            # A thread that has read nothing yet can't begin now, and nobody has read anything new either.
            if not error.is_away:
                raise
        return self._known

    def _version(self, reader: people.Connection) -> str:
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
        """Return the version in force if the person has not read it; else empty."""
        in_force = self.in_force()
        return "" if in_force == self.version else in_force
