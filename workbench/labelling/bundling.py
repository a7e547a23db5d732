"""Bundles: a person's next items in a separate small database, to be labelled anywhere and merged afterwards.

A bundle holds texts, the guidelines in force, and the person's slots and earlier answers: no gold, types, models,
sources, verdicts, ids of the source, names of others or labels of others. Checks travel as items like any other. In the
home database the slots stay reserved for the person until a deadline; then they are free again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from workbench.config import settings_of
from workbench.config.settings import AnnotationPolicy
from workbench.core.database import events, people
from workbench.core.database.backup import put_in_place
from workbench.core.database.hashes import secret
from workbench.core.database.values import timestamp_of
from workbench.core.errors import AnnotationError, Command, StoreError, opt
from workbench.core.files import part_folder
from workbench.core.label import LabelEvent, Task
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.data.formats.source import path_text
from workbench.data.store.reading import item_text
from workbench.labelling import guidelines, ledger, serving
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.store import assignments, claiming
from workbench.labelling.store import bundling as store
from workbench.labelling.store import guidelines as guideline_rows

_OWN = ("label", "adjudication", "retraction", "flag", "reveal")
"""Kinds of the person's own events that a bundle contains; checks and repeats would reveal which items they are."""

_DAY_S = 86_400

Slots = Mapping[tuple[Task, int], store.BundledSlot]


class Bundled(Struct, frozen=True, kw_only=True):
    """The contents of a bundle.

    Attributes:
        written: Number of items to label.
        file: Path of the bundle.
        types: Number of questions whose answer type is to be labelled.
        until: When slots whose labels have not been merged are free again (UTC).
    """

    written: int
    file: str
    types: int
    annotator: str
    until: str


def bundle(
    project: Project,
    path: Path,
    *,
    annotator: str,
    selection: Selection | None = None,
    limit: int = 200,
    days: float = 14,
    force: bool = False,
) -> Bundled:
    """Write a person's next items into a separate database; the file appears whole or not at all.

    Args:
        selection: Choose only from these items.
        limit: Maximum number of items.
        days: How long the items stay reserved for the person.
        force: Replace an existing file.

    Raises:
        AnnotationError: There is nothing to label for them, or they are paused.
        StoreError: The file exists and ``force`` is not set, or can't be written.
        UsageError: No annotator has this name, or the selection names something unknown.
    """
    project.database.require_other(path)
    if path.exists() and not force:
        raise StoreError(f"{path} exists.", f"Use {opt.force} to replace it.")
    person = people.find(project.database, annotator)
    policy = replace(settings_of(project).annotation, repeat_share=0.0)
    at = time.time()
    until = at + days * _DAY_S
    with _new_project(path) as target, project.database.write("full") as home:
        if people.is_paused(home, person.id):
            raise AnnotationError(f"{person.name} is paused.", "First", Command("annotators DB resume NAME"))
        taken = _reserve_items(home, person.id, policy, selection or Selection(), limit, at)
        if not taken:
            raise AnnotationError(
                f"There are no items to bundle for {person.name}.", "Assign items first", Command("assign DB …")
            )
        slots = store.send_away(home, person.id, at, until)
        goes_by = GuidelineReadings(project.database, person.id).version
        identifier = events.new_uuid()
        _fill_bundle(
            target,
            home,
            person,
            taken,
            slots,
            guidelines.versions(project)[-1],
            goes_by,
            (identifier, timestamp_of(at)),
        )
        store.record(home, identifier, person.id, timestamp_of(at), until, list(slots))
        ledger.recompute(target)
        target.close()
        store.compact(target.path)
        put_in_place(target.path, path, keep=False)
    types = sum(task == "type" for task, _ in slots)
    return Bundled(
        written=len(taken), file=path_text(path), types=types, annotator=person.name, until=timestamp_of(until)
    )


def free_bundled_items(project: Project, annotator: str) -> int:
    """Free the items that a person has in bundles; return their number.

    Their labels in a bundle can still be merged, as surplus labels if another person has filled the slot since.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, annotator)
    with project.database.write("full") as home:
        return assignments.give_back_all(home, person.id, "away")


@contextmanager
def _new_project(path: Path) -> Iterator[Project]:
    with part_folder(path) as part:
        project = open_project(part / path.name, create=True)
        try:
            yield project
        finally:
            project.close()


def _reserve_items(
    home: people.Connection, person: int, policy: AnnotationPolicy, selection: Selection, limit: int, at: float
) -> list[int]:
    assignments.free_expired(home, at)
    taken: list[int] = []
    for completion in store.open_items(home, person, selection):
        mixed = serving.next_check_or_repeat(home, person, policy, at) if len(taken) < limit else None
        if mixed is not None:
            serving.lease(home, person, mixed, policy, at, ahead_of=completion)
            taken.append(mixed.completion)
        if len(taken) >= limit:
            break
        slot = claiming.slot_on(home, person, completion)
        if slot is not None:
            serving.lease(home, person, claiming.ClaimableSlot(slot, completion), policy, at, ahead_of=completion)
            taken.append(completion)
    return taken


def _fill_bundle(
    target: Project,
    home: people.Connection,
    person: people.Annotator,
    taken: Sequence[int],
    slots: Slots,
    text_in_force: guidelines.Version,
    goes_by: str,
    made: tuple[str, str],
) -> None:
    with target.database.write() as connection:
        rows = store.BundleRows(connection, secret(home), person.name)

        def add(task: Task, ours: int, theirs: int, place: int) -> None:
            events_of_person = list(_bundled_events(home, task, ours, person.id))
            if (task, ours) in slots:
                own = [event for event in events_of_person if event.annotator == person.id]
                rows.add_slot(task, theirs, place, _with_ordinary_opening(slots[task, ours], own, made[1]))
            for event in events_of_person:
                events.append(connection, replace(event, subject=theirs, annotator=rows.person, merged=True))

        for place, completion in enumerate(taken):
            text = item_text(home, completion)
            question = rows.add_question(text)
            if question is not None:
                add("type", text.question, question, place)
            add("correctness", completion, rows.add_completion(text), place)
        if text_in_force.author:
            guideline_rows.add(
                connection, text_in_force.version, text_in_force.text, rows.person, text_in_force.created_at
            )
        if goes_by:
            guideline_rows.note_reading(connection, rows.person, goes_by, people.now())
        store.store_identity(connection, made[0], person.name, made[1])


def _with_ordinary_opening(slot: store.BundledSlot, own: Sequence[LabelEvent], made_at: str) -> store.BundledSlot:
    """Return a slot of the bundle with the opening time of ordinary items: the time of a check would reveal it.

    If the person has labelled the item since the check was opened, that label stays visible to them.
    """
    if any(event.created_at >= (slot.opened_at or "") for event in own):
        return slot
    return slot._replace(opened_at=made_at)


def _bundled_events(home: people.Connection, task: Task, subject: int, person: int) -> Iterator[LabelEvent]:
    """Yield the person's events on a subject, the rounds that have begun on it, and the answers to their flags.

    The names of coordinators, the reasons for rounds, and other recipients of answers are left out.
    """
    stored = events.events_of(home, task, subject)
    own = {event.uuid for event in stored if event.annotator == person}
    for event in stored:
        if event.kind == "reopen":
            yield replace(event, note=None)
        elif event.kind == "answer" and own.intersection(event.seen):
            yield replace(event, seen=tuple(uuid for uuid in event.seen if uuid in own))
        elif event.annotator == person and event.kind in _OWN:
            yield event
