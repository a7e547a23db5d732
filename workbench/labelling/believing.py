"""Whom a file that came back is believed: a bundle its person, on its items, since it was made; or all that it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from msgspec import UNSET, Struct

from workbench.core.database import events, people
from workbench.core.errors import AnnotationError
from workbench.core.label import LabelEvent, LabelLine
from workbench.labelling.event_rows import MalformedError, check_not_after, time_of
from workbench.labelling.store import bundle_seals, bundling, foreign
from workbench.labelling.store.bundle_seals import Name, Pass, Recorded

TOLERANCE = timedelta(hours=1)
"""How far clocks may be apart."""

KINDS = ("label", "repeat", "retraction", "flag", "reveal")
"""Kinds of events that a person makes in a bundle."""

MOST_EVENTS = 1_000
"""Events of one item that a bundle may bring: a person makes a few."""

_TAKES_BACK = ("label", "repeat", "check", "flag", "reveal")
_LONGEST = 200


class NotBelievedError(AnnotationError):
    """Nothing of a file is taken; the message says why."""


class Origin(Struct, frozen=True, kw_only=True):
    """The bundle that a file is.

    Attributes:
        items: Completions in it.
        recorded: This database remembers that it made the bundle; else only the seal says so, as after going back to
            a backup.
        sealed: It has a pass. An earlier version made it without one otherwise.
    """

    bundle: str
    annotator: str
    made_at: str
    items: int
    recorded: bool = True
    sealed: bool = True


class Believed:
    """What is believed of one bundle.

    Attributes:
        origin: The bundle.
        items: What the bundle calls its items -> their row ids here.
    """

    def __init__(self, origin: Origin, items: Mapping[Name, int], seals: Mapping[object, object], key: bytes) -> None:
        self.origin = origin
        self.items = items
        self._seals = seals
        self._key = key
        self._earliest = time_of(origin.made_at) - TOLERANCE

    @property
    def most(self) -> int:
        """Events that the bundle may bring."""
        return MOST_EVENTS * max(len(self.items), 1)

    def check_maker(self, name: str) -> None:
        """Whether the bundle is this person's.

        Raises:
            MalformedError: It is somebody else's.
        """
        if name != self.origin.annotator:
            raise MalformedError("annotator", f"it is {name}'s, and the bundle is {self.origin.annotator}'s")

    def check(self, event: LabelEvent, item: str) -> None:
        """Whether a new event is one that the bundle's person may have made there.

        Args:
            event: As it stands in the bundle.
            item: What the bundle calls its subject.

        Raises:
            MalformedError: It is not.
        """
        if event.kind not in KINDS:
            raise MalformedError("kind", f"{_a(event.kind)} is made at home, not in a bundle")
        if time_of(event.created_at) < self._earliest:
            raise MalformedError(
                "created_at", f"{event.created_at} is before the bundle was made ({self.origin.made_at})"
            )
        if not self.origin.sealed:
            return
        seal = self._seals.get(event.uuid)
        if seal is None:
            raise MalformedError("seal", "it has no seal: something other than workbench wrote it into the bundle")
        if seal != bundle_seals.event_seal(self._key, event, item, self.origin.annotator):
            raise MalformedError("seal", "its seal does not fit: it was changed after it was stored, or damaged")


def may_take_back(kind: str) -> bool:
    """Whether an event of this kind is taken back in a bundle; what was ruled and excluded is not."""
    return kind in _TAKES_BACK


def fault_of_other(line: LabelLine, who: str) -> tuple[str, str] | None:
    """Why a line of a label file is not one that this person may have given as they labelled: field and words."""
    if people.tidy(line.annotator) != who:
        return "annotator", f"it is {line.annotator}'s, and only {who}'s labels are taken"
    if line.role != "annotator":
        return "role", f"what {_a(line.role)} says is said at home, not in a file of {who}'s"
    if line.kind is not UNSET and line.kind not in KINDS:
        return "kind", f"{_a(line.kind)} is made at home, not in a file of {who}'s"
    return None


def require_no_decision_back(connection: events.Connection, line: LabelLine) -> None:
    """Refuse a line that takes back what was ruled or excluded.

    Raises:
        MalformedError: It does.
    """
    held = None if line.supersedes in (UNSET, None) else events.by_uuid(connection, str(line.supersedes))
    if held is not None and not may_take_back(held.kind):
        raise MalformedError("supersedes", f"{_a(held.kind)} is taken back at home, not in a file")


def check_past(created_at: str) -> None:
    """Whether an event was made by now.

    Raises:
        MalformedError: It is from the future.
    """
    check_not_after(created_at, datetime.now(UTC) + TOLERANCE)


def identify(ours: events.Connection, theirs: events.Connection) -> Believed:
    """The bundle of this database that the other one is.

    Raises:
        NotBelievedError: It is none.
    """
    passes = foreign.passes(theirs)
    if not passes:
        return _without_pass(ours, theirs)
    found = _readable(passes)
    if not bundle_seals.is_ours(ours, found):
        raise NotBelievedError(
            "its pass was changed since it was made."
            if bundle_seals.recorded(ours, found.bundle)
            else f"it is a bundle that this database did not make ({found.bundle}), or its pass was changed."
        )
    names = bundle_seals.names_of(found.items)
    held = bundle_seals.recorded(ours, found.bundle)
    rows = bundle_seals.subjects(ours, found.bundle) if held else bundling.rows_of(ours, names)
    origin = Origin(
        bundle=found.bundle,
        annotator=found.annotator,
        made_at=found.made_at,
        items=_completions(names),
        recorded=held is not None,
    )
    items = {name: rows[name] for name in names if name in rows}
    return Believed(origin, items, foreign.seals(theirs), bundle_seals.event_key(ours, found.bundle))


def _readable(passes: Iterable[tuple[object, ...]]) -> Pass:
    (bundle, annotator, made_at, items, seal), *others = passes
    texts = [text for text in (bundle, annotator, made_at) if isinstance(text, str) and _is_short(text)]
    if others or len(texts) < 3 or not isinstance(items, str) or not isinstance(seal, bytes):
        raise NotBelievedError("its pass was changed since it was made.")
    return Pass(texts[0], texts[1], texts[2], items, seal)


def _is_short(text: str) -> bool:
    return text.isprintable() and len(text) <= _LONGEST


def _without_pass(ours: events.Connection, theirs: events.Connection) -> Believed:
    """A bundle that an earlier version made: of somebody who had one when this database was brought up to date."""
    names = {name for name, _ in foreign.people(theirs).values() if isinstance(name, str)}
    called = {(task, item.completion or item.question) for (task, _), item in foreign.subjects(theirs).items()}
    for held in bundle_seals.unsealed(ours, names):
        items = bundle_seals.subjects(ours, held.bundle)
        if called & items.keys():
            return _unsealed(held, items)
    raise NotBelievedError("it is no bundle that this database made.")


def _unsealed(held: Recorded, items: Mapping[Name, int]) -> Believed:
    origin = Origin(
        bundle=held.bundle, annotator=held.annotator, made_at=held.made_at, items=_completions(items), sealed=False
    )
    return Believed(origin, items, {}, b"")


def _completions(names: Iterable[Name]) -> int:
    return sum(task == "correctness" for task, _ in names)


class Trusted(Struct, frozen=True, kw_only=True):
    """What a whole database is believed, before anything of it is taken.

    Attributes:
        people: Whose events are new, and how many.
        kinds: Of what kinds they are.
        coordinators: People who coordinate there and are not known here.
        guidelines: Versions of the guidelines it has.
    """

    people: dict[str, int]
    kinds: dict[str, int]
    coordinators: list[str]
    guidelines: int


def counted(counter: Counter[str]) -> dict[str, int]:
    """By name."""
    return dict(sorted(counter.items()))


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
