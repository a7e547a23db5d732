"""Translates the events of another database to this one's row ids, and reports why some are rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.core.database import events
from workbench.core.database.people import COORDINATOR, confusable_reason, normalise_name
from workbench.core.label import LabelEvent, Task
from workbench.core.options import grouped
from workbench.core.project import Project
from workbench.data.store.reading import annotator_names, content_hash
from workbench.labelling import believing
from workbench.labelling import guidelines as rules
from workbench.labelling.believing import (
    MalformedError,
    Trusted,
    TrustedBundle,
    UntrustedFileError,
    check_past,
    counted,
    may_retract,
)
from workbench.labelling.store import bundling, foreign

Subject = tuple[Task, int]


class RefusedEvent(Struct, frozen=True, kw_only=True):
    """A rejected event of another database.

    Attributes:
        what: The event's uuid, or ``guideline`` with its version.
        field: The field that is invalid.
        annotator: The annotator named in it; empty if unreadable, like ``kind``.
        events: Number of such events; if a whole file is rejected, all events of a person and kind.
    """

    what: str
    field: str
    message: str
    annotator: str = ""
    kind: str = ""
    events: int = 1


def refused_event(
    what: object, field: str, message: str, annotator: object = "", kind: object = "", events: int = 1
) -> RefusedEvent:
    name = annotator if isinstance(annotator, str) else ""
    return RefusedEvent(
        what=_replace_surrogates(str(what))[:100],
        field=_replace_surrogates(field),
        message=_replace_surrogates(message),
        annotator=_replace_surrogates(name)[:100],
        kind=_replace_surrogates(str(kind))[:20],
        events=events,
    )


class Arrival(NamedTuple):
    """An event of another database; its subject is a row id here, its ``annotator`` still a row id there."""

    event: LabelEvent
    name: str
    role: str


class Incoming:
    """Another database's events on items of this project.

    Args:
        believed: What is accepted from the bundle; None to accept everything.

    Attributes:
        arrivals: Accepted events by subject (row ids here), in the order of (created_at, uuid).
        refused: Rejected events with reasons.
    """

    def __init__(self, project: Project, theirs: events.Connection, believed: TrustedBundle | None) -> None:
        self._ours = project.database.reader()
        self._theirs = theirs
        self._believed = believed
        self._people = dict(_people(theirs))
        self._called = foreign.subjects(theirs)
        self._subjects = self._find_subjects()
        self._names = annotator_names(self._ours)
        self._known = set(self._names.values())
        self._here = events.uuids(self._ours)
        self._texts: dict[Subject, bytes | None] = {}
        self.refused: list[RefusedEvent] = []
        found = self._read()
        accepted = (arrival for arrival in found.values() if self._accept_or_reject(arrival, found))
        self.arrivals = grouped(((one.event.task, one.event.subject), one) for one in accepted)
        for arrivals in self.arrivals.values():
            arrivals.sort(key=lambda arrival: (arrival.event.created_at, arrival.event.uuid))

    @property
    def is_bundle(self) -> bool:
        return self._believed is not None

    def guidelines(self) -> Iterator[tuple[foreign.ForeignGuideline, str, str]]:
        for row in foreign.guidelines(self._theirs, rules.MAX_CHARACTERS):
            try:
                person = self._person(row.author)
                _check_guideline(row)
                check_past(row.created_at)
            except MalformedError as error:
                self.refuse(f"guideline {str(row.version)[:100]}", error.field, str(error))
            else:
                yield row, *person

    def trusted(self, guidelines: int) -> Trusted:
        new = [one for some in self.arrivals.values() for one in some if one.event.uuid not in self._here]
        known = set(self._names.values())
        return Trusted(
            people=counted(Counter(arrival.name for arrival in new)),
            kinds=counted(Counter(arrival.event.kind for arrival in new)),
            coordinators=sorted({one.name for one in new if one.role == COORDINATOR} - known),
            guidelines=guidelines,
        )

    def refuse(self, what: str, field: str, message: str, annotator: str = "", kind: str = "") -> None:
        self.refused.append(refused_event(what, field, message, annotator, kind))

    def _read(self) -> dict[str, Arrival]:
        found: dict[str, Arrival] = {}
        for number, row in enumerate(foreign.events(self._theirs, believing.COLUMNS, believing.LONGEST), 1):
            try:
                arrival = self._parse_arrival(row)
                if arrival.event.uuid in found:
                    raise MalformedError("uuid", "it is in the file twice")
            except MalformedError as error:
                self.refuse(str(row["uuid"] or f"row {number}"), error.field, str(error), *self._author_and_kind(row))
            else:
                found[arrival.event.uuid] = arrival
            if self._believed is not None and number > self._believed.most:
                raise UntrustedFileError(
                    f"it has more than {self._believed.most:,} events, more than its annotator can have made."
                )
        return found

    def _author_and_kind(self, row: Mapping[str, object]) -> tuple[str, str]:
        name, _ = self._people.get(cast("int", row["annotator_id"]), ("", ""))
        return name, str(row["kind"])

    def _parse_arrival(self, row: dict[str, object]) -> Arrival:
        event = believing.parse_event(row)
        name, role = self._person(event.annotator)
        if self._believed is not None:
            self._believed.check_maker(name)
        theirs = event.task, event.subject
        if theirs not in self._subjects:
            what = "completion" if event.task == "correctness" else "question"
            raise MalformedError("subject", f"it is about a {what} that is missing")
        ours = self._subjects[theirs]
        if ours is None:
            where = "database" if self._believed is None else "bundle"
            raise MalformedError("subject", f"its item is not in this {where}")
        subject = event.task, ours
        if event.uuid not in self._here:
            self._check_text(subject, event)
            check_past(event.created_at)
            if self._believed is not None:
                self._believed.check(event)
        return Arrival(replace(event, subject=ours), name, role)

    def _person(self, row: int) -> tuple[str, str]:
        if row not in self._people:
            raise MalformedError("annotator", "its author is missing")
        name, role = self._people[row]
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
            raise MalformedError("annotator", "its author has no name")
        if name not in self._known:
            if why := confusable_reason(name, self._known):
                raise MalformedError("annotator", f"its author {why}")
            self._known.add(name)
        return name, role

    def _find_subjects(self) -> dict[Subject, int | None]:
        if self._believed is not None:
            items = self._believed.items
            return {key: items.get((key[0], bundling.name_of(item))) for key, item in self._called.items()}
        found: dict[Subject, int | None] = {key: foreign.find(self._ours, item) for key, item in self._called.items()}
        missing = {key: item for key, item in self._called.items() if found[key] is None}
        # Only the database that wrote a bundle can read its names of items.
        return found | bundling.recognise(self._ours, missing)

    def _check_text(self, subject: Subject, event: LabelEvent) -> None:
        if subject not in self._texts:
            ours = foreign.texts(self._ours, *subject)
            theirs = foreign.texts(self._theirs, event.task, event.subject)
            self._texts[subject] = content_hash(ours) if ours == theirs else None
        content = self._texts[subject]
        if content is None:
            raise MalformedError("subject", "its item has a different text here")
        if event.task == "correctness" and event.content_hash not in (None, content):
            raise MalformedError("content_hash", "it was given for a different text")

    def _accept_or_reject(self, arrival: Arrival, found: dict[str, Arrival]) -> bool:
        event = arrival.event
        if event.uuid in self._here:
            return True
        replaced = (
            None if event.supersedes is None else found.get(event.supersedes) or self._stored_arrival(event.supersedes)
        )
        wrong = None
        if replaced is not None and not self._may_supersede(arrival, replaced):
            wrong = "supersedes", "it retracts someone else's event, or one on another item"
        elif event.kind in events.ANSWERS:
            repeated = [
                one for uuid in event.seen if (one := found.get(uuid) or self._stored_arrival(uuid)) is not None
            ]
            if not all(_has_same_author_and_subject(arrival, one) for one in repeated):
                wrong = "seen", "it repeats someone else's event, or one on another item"
        if wrong:
            self.refuse(event.uuid, *wrong, arrival.name, event.kind)
        return not wrong

    def _may_supersede(self, arrival: Arrival, held: Arrival) -> bool:
        if self._believed is not None and not may_retract(held.event.kind):
            return False
        # Any coordinator may include what another one excluded.
        lifts = held.event.kind == "exclusion" and arrival.event.kind in ("retraction", "exclusion")
        return _has_same_author_and_subject(arrival, held) or (lifts and _subject_of(arrival) == _subject_of(held))

    def _stored_arrival(self, uuid: str) -> Arrival | None:
        event = events.by_uuid(self._ours, uuid)
        return None if event is None else Arrival(event, self._names[event.annotator], "")


def _people(theirs: events.Connection) -> Iterable[tuple[int, tuple[str, str]]]:
    for row, (name, role) in foreign.people(theirs).items():
        known_role = COORDINATOR if role == COORDINATOR else "annotator"
        yield row, (normalise_name(name) if isinstance(name, str) else "", known_role)


def _has_same_author_and_subject(arrival: Arrival, held: Arrival) -> bool:
    return arrival.name == held.name and _subject_of(arrival) == _subject_of(held)


def _subject_of(arrival: Arrival) -> Subject:
    return arrival.event.task, arrival.event.subject


def _check_guideline(row: foreign.ForeignGuideline) -> None:
    for field, value in (("version", row.version), ("text", row.text), ("created_at", row.created_at)):
        if not isinstance(value, str) or not value.strip() or "\0" in value or _replace_surrogates(value) != value:
            raise MalformedError(field, "it is not text")
    if len(row.text) > rules.MAX_CHARACTERS or len(row.version) > 100:
        raise MalformedError("text", "it is too long for guidelines")
    believing.check_time(row.created_at)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
