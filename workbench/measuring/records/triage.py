"""Triage: the wrong verdicts of a cell or a queue, case by case, and their causes."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from msgspec import Struct

from workbench.core.verdict import OutcomeWord
from workbench.measuring.records.review import ErrorCategory, GoldWord, Queue, Review, RunVote
from workbench.measuring.reviewing.differences import DifferenceKind, Differences


class TriageScope(NamedTuple):
    """The items and verifiers of a triage.

    Attributes:
        words: The items in words: ``type C``, ``queue verifier-gold``.
        verifiers: Whose errors are looked for.
        items: Row ids of the items on which one of them differs from gold, in the order in which they are met.
        judged: How many items they were chosen from; None where nobody counted.
        protocol: How undecided verdicts were counted; empty where they were not.
        queue: The queue they come from, if they do.
    """

    words: str
    verifiers: tuple[str, ...]
    items: array[int]
    judged: int | None = None
    protocol: str = ""
    queue: Queue | None = None


class Cause(NamedTuple):
    """The cause of an error: a category of the taxonomy, or a reviewer's custom one.

    Attributes:
        own: The name of a cause that the taxonomy does not have; its category is ``other``.
    """

    category: ErrorCategory
    own: str = ""

    @property
    def name(self) -> str:
        return self.own or self.category


class TriageCase(Struct, frozen=True, kw_only=True):
    """One item as its card shows it; texts are cut to what a card has room for.

    Attributes:
        id: The completion's row id.
        reference: The reference's final answer; empty where none was found.
        reference_found: How that was found.
        reference_end: The reference's end, where none was found.
        before: What stands before the completion's final answer, in its sentence.
        after: What stands behind it.
        erring: The verdicts that differ from gold, of those that are triaged: where some decide, only those.
        read: The answers that the first of them compared, where it read others than these; else empty.
        reason: The reason it gave; empty without one.
        reviews: What stands decided of the item, the newest last.
        is_code: Reference and completion are programs, whole in the place of final answers; what differs isn't named.
    """

    id: int
    completion_id: str
    subtype: str
    question: str
    reference: str
    reference_found: str
    reference_end: str
    answer: str
    answer_found: str
    before: str
    after: str
    differences: Differences
    gold: GoldWord
    votes: tuple[RunVote, ...]
    erring: tuple[RunVote, ...]
    read: tuple[str, str] | None = None
    reason: str = ""
    reviews: tuple[Review, ...] = ()
    is_code: bool = False

    @property
    def likeness(self) -> tuple[tuple[DifferenceKind, ...], GoldWord, int]:
        """Return the key that similar cases share: what differs, and which side gold is on; programs are never
        similar.
        """
        return self.differences.kinds, self.gold, self.id if self.is_code else 0

    @property
    def verdict(self) -> OutcomeWord:
        return self.erring[0].verdict


class CauseMark(NamedTuple):
    """A cause in force, given to a verdict."""

    completion: int
    verifier: str
    type: str
    subtype: str
    cause: Cause


class TriageTally(NamedTuple):
    """The progress of a triage.

    Attributes:
        marks: The causes that stand, in the order in which they were given.
        done: Items with one of them.
        sent_back: Items without one that people are to label anew.
    """

    scope: TriageScope
    marks: tuple[CauseMark, ...]
    done: frozenset[int]
    sent_back: frozenset[int]

    @property
    def left(self) -> int:
        return len(self.scope.items) - len(self.done) - len(self.sent_back)


class TriageLine(Struct, frozen=True, kw_only=True):
    """The number of a verifier's errors with one cause.

    Attributes:
        cause: None for all causes together.
        counts: Type or subtype -> how many.
        share: Of all of the verifier's errors with a cause; None where there are none.
    """

    verifier: str
    cause: str | None
    counts: dict[str, int]
    n: int
    share: float | None


class OpenCases(NamedTuple):
    """Wrong verdicts of a verifier without a cause yet.

    Attributes:
        left: How many.
        wrong: Of how many.
    """

    verifier: str
    left: int
    wrong: int
