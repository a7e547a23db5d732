"""Who has work in which role: whom the app offers, and where somebody's work begins."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.database import events, people
from workbench.core.project import Project
from workbench.labelling.store import batches, claiming, conflicts

Role = Literal["annotator", "adjudicator", "own"]
"""In which a person is at work: labelling, settling conflicts, or looking back at what they have said."""


class Offer(Struct, frozen=True, kw_only=True):
    """A person who has work in a role.

    Attributes:
        left: Items to label, conflicts to settle, or in "own" what they have said.
        done: Of the first two: how many they have labelled, or settled.
    """

    name: str
    left: int
    done: int = 0


def offers(project: Project, role: Role) -> list[Offer]:
    """The people who have work in a role, in the order they came; nobody who is paused.

    A coordinator is none of them unless a batch names them.
    """
    reader = project.database.reader()
    named = batches.members(reader)
    found = []
    for person in people.everyone(project.database):
        if (person.role == people.COORDINATOR and person.id not in named) or person.paused_at is not None:
            continue
        offer = _offer(reader, person, role)
        if offer.left:
            found.append(offer)
    return found


def _offer(reader: people.Connection, person: people.Annotator, role: Role) -> Offer:
    if role == "annotator":
        counts = claiming.counts(reader, person.id)
        return Offer(name=person.name, left=counts.leased + counts.fresh + counts.skipped, done=counts.done)
    labels, decisions = (events.count_own(reader, person.id, kind) for kind in ("label", "adjudication"))
    if role == "own":
        return Offer(name=person.name, left=labels + decisions)
    return Offer(name=person.name, left=conflicts.count(reader, person.id), done=decisions)


def begins_at(project: Project, name: str) -> Literal["annotate", "adjudicate"]:
    """On which screen a person's work begins: on the conflicts, where they are whom a batch leaves its conflicts to.

    Who labels as well begins with their items, as long as there are any.

    Raises:
        UsageError: There is no such person.
    """
    person = people.find(project.database, name)
    reader = project.database.reader()
    if _offer(reader, person, "annotator").left:
        return "annotate"
    if batches.settles(reader, person.id) or conflicts.count(reader, person.id):
        return "adjudicate"
    return "annotate"


def at_work(project: Project) -> list[str]:
    """Everyone who labels or settles conflicts: annotators, and coordinators whom a batch names."""
    named = batches.members(project.database.reader())
    everyone = people.everyone(project.database)
    return [person.name for person in everyone if person.role != people.COORDINATOR or person.id in named]
