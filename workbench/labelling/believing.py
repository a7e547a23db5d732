"""Decides which events of a returned file are trusted: of a bundle, its person's events on its items since its
creation; or of a trusted database, everything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, structs

from workbench.core.database import events, people
from workbench.core.errors import AnnotationError
from workbench.core.label import EXCLUSION_REASONS, TAGS, Count, LabelEvent, LabelLine
from workbench.core.taxonomy import is_subtype
from workbench.labelling.store import bundling, foreign
from workbench.labelling.store.bundling import Name

# -- Validation of events from another, untrusted database.


LONGEST = 100_000
"""Maximum characters in one value of an event."""
_MAX_INTEGER = 2**53 - 1
_Name = Annotated[str, Meta(min_length=1, max_length=100)]
_Text = Annotated[str, Meta(max_length=LONGEST)]
_Hash = Annotated[bytes, Meta(min_length=16, max_length=16)]
_SORTS = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(T|$)")
_ANSWERS = ("label", "adjudication", "repeat", "check")


class MalformedError(Exception):
    """A row is not a valid event; ``field`` and the message say why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class _BoundedEvent(LabelEvent, frozen=True, kw_only=True):
    uuid: _Name
    created_at: _Name
    round: Annotated[int, Meta(ge=1, le=_MAX_INTEGER)] = 1
    exclusion_reason: _Name | None = None
    subtype: _Name | None = None
    tags: tuple[_Name, ...] = ()
    partial: Annotated[float, Meta(ge=0, le=1)] | None = None
    note: _Text | None = None
    supersedes: _Name | None = None
    seen: tuple[_Name, ...] = ()
    guideline: _Name | None = None
    schema: Annotated[int, Meta(ge=1, le=_MAX_INTEGER)]
    content_hash: _Hash | None = None
    open_ms: Count | None = None
    focused_ms: Count | None = None
    wait_ms: Count | None = None
    keys: Count | None = None
    view: _Text | None = None


COLUMNS: tuple[str, ...] = tuple(name for name in events.COLUMNS.split(", ") if name != "merged")
"""Columns of ``label_events`` that are read; ``merged`` is not part of an event."""


def parse_event(row: Mapping[str, object]) -> LabelEvent:
    """Parse a row as an event, with the row ids of its own database.

    Raises:
        MalformedError: The row is not a valid event.
    """
    check_text(row)
    values = {name: row[name] for name in COLUMNS}
    values["annotator"] = values.pop("annotator_id")
    for name in ("tags", "seen"):
        values[name] = _parse_list(name, values[name])
    for name in ("unsure", "flagged", "unblinded"):
        values[name] = bool(values[name]) if values[name] in (0, 1) else values[name]
    return _validate(values)


def check(event: LabelEvent) -> None:
    """Check that other databases would accept the event when they import it.

    Raises:
        MalformedError: The event is not valid.
    """
    values = structs.asdict(event)
    check_text(values)
    _validate(values)


def _validate(values: dict[str, object]) -> LabelEvent:
    try:
        read = msgspec.convert(values, _BoundedEvent)
    except msgspec.ValidationError as error:
        message, _, field = str(error).partition(" - at `$.")
        raise MalformedError(field.rstrip("`") or "row", message) from None
    event = LabelEvent(
        **structs.asdict(read)
        | {
            "uuid": canonical_uuid("uuid", read.uuid),
            "supersedes": None if read.supersedes is None else canonical_uuid("supersedes", read.supersedes),
            "seen": tuple(canonical_uuid("seen", uuid) for uuid in read.seen),
            "merged": True,
        }
    )
    check_time(event.created_at)
    _check_answer(event)
    if event.supersedes == event.uuid:
        raise MalformedError("supersedes", "an event can't supersede itself")
    unknown = [tag for tag in event.tags if tag not in TAGS]
    if unknown:
        raise MalformedError("tags", f"there is no tag {unknown[0]!r}")
    return event


def check_text(row: Mapping[str, object]) -> None:
    """Check that every text can be stored in any database and file.

    Raises:
        MalformedError: A text can't be stored.
    """
    texts = {field: value for field, value in row.items() if type(value) is str}
    together = "".join(texts.values())
    if together.isascii() and "\0" not in together:
        return
    for field, value in texts.items():
        if "\0" in value:
            raise MalformedError(field, "it contains a NUL character")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedError(field, "it is not valid UTF-8 text") from None


def canonical_uuid(field: str, text: str) -> str:
    """Return the canonical form of a uuid, so that two spellings are one event.

    Raises:
        MalformedError: The text is not a uuid.
    """
    try:
        found = UUID(text)
    except ValueError:
        found = None
    # Python accepts more characters as digits than a uuid may have.
    if found is None or text.lower().removeprefix("urn:uuid:").strip("{}").replace("-", "") != found.hex:
        raise MalformedError(field, f"{text[:100]!r} is not a valid uuid")
    return str(found)


def with_canonical_uuids(line: LabelLine) -> LabelLine:
    """Return a line of a label file with canonical uuids.

    Raises:
        MalformedError: A uuid is not valid.
    """
    return structs.replace(
        line,
        uuid=line.uuid and canonical_uuid("uuid", line.uuid),
        supersedes=line.supersedes and canonical_uuid("supersedes", line.supersedes),
        seen=line.seen and tuple(canonical_uuid("seen", uuid) for uuid in line.seen),
    )


def _parse_list(field: str, text: object) -> tuple[str, ...]:
    if text is None:
        return ()
    try:
        return msgspec.json.decode(msgspec.convert(text, _Text), type=tuple[_Name, ...])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise MalformedError(field, "it is not a JSON list of words") from None


def check_time(text: str) -> None:
    """Check that a text is a time in the format of events.

    Raises:
        MalformedError: The text is not such a time.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise MalformedError("created_at", f"{text!r} is not an ISO 8601 time") from None
    # Events are ordered by their times as text.
    if (time.tzinfo is not None and not text.endswith("Z")) or not _SORTS.match(text):
        raise MalformedError("created_at", f"{text!r} is not a time in UTC such as 2025-01-31T12:00:00Z")


def time_of(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _check_answer(event: LabelEvent) -> None:
    if event.kind == "answer" and (event.task != "correctness" or not event.note or not event.seen):
        raise MalformedError("note", "an answer needs a flagged completion and a text")
    if event.kind == "exclusion" and (event.task, event.verdict) != ("correctness", "unsuitable"):
        raise MalformedError("verdict", "an exclusion needs a completion and the verdict unsuitable")
    if event.task == "type" and event.verdict is not None:
        raise MalformedError("verdict", "a question has an answer type, not a verdict")
    if event.task == "correctness" and event.subtype is not None:
        raise MalformedError("subtype", "an answer type belongs to a question, not to a completion")
    if event.kind in _ANSWERS and event.value is None:
        raise MalformedError("verdict" if event.task == "correctness" else "subtype", "it has no value")
    if event.subtype is not None and not is_subtype(event.subtype):
        raise MalformedError("subtype", f"{event.subtype!r} is not a valid subtype code such as A1 or D2")
    if (event.verdict == "unsuitable") != (event.exclusion_reason is not None):
        raise MalformedError("exclusion_reason", "an unsuitable item needs a reason, and no other item has one")
    if event.exclusion_reason is not None and event.exclusion_reason not in EXCLUSION_REASONS:
        raise MalformedError("exclusion_reason", f"there is no reason {event.exclusion_reason!r}")


TOLERANCE = timedelta(hours=1)
"""Tolerated difference between two computers' clocks."""
KINDS = ("label", "repeat", "retraction", "flag", "reveal")
"""Kinds of events that a person makes in a bundle."""
MOST_EVENTS = 1_000
"""Maximum number of events per item that a bundle may contain; a person makes only a few."""
_TAKES_BACK = ("label", "repeat", "check", "flag", "reveal")
_MAX_NAME = 200


class UntrustedFileError(AnnotationError):
    """A file is rejected as a whole; the message says why."""


class Origin(Struct, frozen=True, kw_only=True):
    """The identity of a bundle.

    Attributes:
        items: Number of completions in it.
    """

    bundle: str
    annotator: str
    made_at: str
    items: int


class TrustedBundle:
    """The accepted part of a bundle: its person's events on its items.

    Attributes:
        origin: The bundle.
        items: Names of its items in the bundle -> their row ids here.
    """

    def __init__(self, origin: Origin, items: Mapping[Name, int]) -> None:
        self.origin = origin
        self.items = items
        self._earliest = time_of(origin.made_at) - TOLERANCE

    @property
    def most(self) -> int:
        return MOST_EVENTS * max(len(self.items), 1)

    def check_maker(self, name: str) -> None:
        """Check that the bundle belongs to this person.

        Raises:
            MalformedError: The bundle belongs to another person.
        """
        if name != self.origin.annotator:
            raise MalformedError("annotator", f"it is by {name}, but the bundle was made for {self.origin.annotator}")

    def check(self, event: LabelEvent) -> None:
        """Check that the bundle's person may have made a new event in it.

        Args:
            event: The event as stored in the bundle.

        Raises:
            MalformedError: The person can't have made it.
        """
        if event.kind not in KINDS:
            raise MalformedError("kind", f"{_with_article(event.kind)} can't come from a bundle")
        if time_of(event.created_at) < self._earliest:
            raise MalformedError(
                "created_at", f"{event.created_at} is before the bundle was made ({self.origin.made_at})"
            )


def may_retract(kind: str) -> bool:
    """Return whether a bundle may retract events of this kind; decisions and exclusions can't be retracted there."""
    return kind in _TAKES_BACK


def foreign_label_fault(line: LabelLine, who: str) -> tuple[str, str] | None:
    """Return why a line of a label file can't be this person's own label, as (field, message); None if it can."""
    if people.normalise_name(line.annotator) != who:
        return "annotator", f"it is a label by {line.annotator}, but only labels by {who} are accepted"
    if line.role != "annotator":
        return "role", f"labels by {_with_article(line.role)} must be made in the project, not in a file by {who}"
    if line.kind is not UNSET and line.kind not in KINDS:
        return "kind", f"{_with_article(line.kind)} must be made in the project, not in a file by {who}"
    return None


def require_no_decision_retracted(connection: events.Connection, line: LabelLine) -> None:
    """Reject a line that retracts a decision or an exclusion.

    Raises:
        MalformedError: The line retracts a decision or an exclusion.
    """
    held = None if line.supersedes in (UNSET, None) else events.by_uuid(connection, str(line.supersedes))
    if held is not None and not may_retract(held.kind):
        raise MalformedError("supersedes", f"{_with_article(held.kind)} can't be retracted by a file")


def check_past(created_at: str) -> None:
    """Check that an event is not from the future.

    Raises:
        MalformedError: The event is further in the future than the tolerance.
    """
    if time_of(created_at) > datetime.now(UTC) + TOLERANCE:
        raise MalformedError("created_at", f"{created_at!r} is in the future: correct the clocks, or import it later")


def identify(ours: events.Connection, theirs: events.Connection) -> TrustedBundle:
    """Identify another database as a bundle of this one.

    Raises:
        NotBelievedError: It is not a bundle of this database.
    """
    found = foreign.bundle_ids(theirs)
    if not found:
        raise UntrustedFileError("it is not a bundle that this database made.")
    held = bundling.recorded(ours, str(found[0])) if len(found) == 1 else None
    if held is None:
        raise UntrustedFileError(f"it is a bundle that this database did not make ({str(found[0])[:_MAX_NAME]!a}).")
    items = bundling.subjects(ours, held.bundle)
    return TrustedBundle(Origin(**held._asdict(), items=sum(task == "correctness" for task, _ in items)), items)


class Trusted(Struct, frozen=True, kw_only=True):
    """A summary of what is trusted in a whole database, before anything is imported.

    Attributes:
        people: Annotator -> number of new events.
        kinds: Kind of event -> number of new events.
        coordinators: Coordinators there who are unknown here.
        guidelines: Number of its versions of the guidelines.
    """

    people: dict[str, int]
    kinds: dict[str, int]
    coordinators: list[str]
    guidelines: int


def counted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
