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
        verifiers: The verifiers whose errors are triaged.
        items: Row ids of the items on which one of them differs from gold, in order of display.
        judged: Number of items from which they were chosen; None if unknown.
        protocol: How undecided verdicts were counted; empty if not applicable.
        queue: The queue of the items, if any.
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
        own: The name of a custom cause, whose category is ``other``.
    """

    category: ErrorCategory
    own: str = ""

    @property
    def name(self) -> str:
        return self.own or self.category


class TriageCase(Struct, frozen=True, kw_only=True):
    """One item as its card shows it; texts are cut to fit the card.

    Attributes:
        id: The completion's row id.
        reference: The reference's final answer; empty if none was found.
        reference_found: How it was found.
        reference_end: The reference's end, if no final answer was found.
        before: The text before the completion's final answer, in its sentence.
        after: The text after it.
        erring: The triaged verdicts that differ from gold; if some of them decide, only those.
        read: The answers that the first of these verdicts compared, if they differ from the card's; else empty.
        reason: The reason of the first of these verdicts; empty without one.
        reviews: Reviews of the item in force, the newest last.
        is_code: Whether reference and completion are programs, shown instead of final answers; differences are not
            named.
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
        """Return the key shared by similar cases: kinds of differences, and gold; programs are never similar."""
        return self.differences.kinds, self.gold, self.id if self.is_code else 0

    @property
    def verdict(self) -> OutcomeWord:
        return self.erring[0].verdict


class CauseMark(NamedTuple):
    completion: int
    verifier: str
    type: str
    subtype: str
    cause: Cause


class TriageTally(NamedTuple):
    """The progress of a triage.

    Attributes:
        marks: The causes in force, in the order in which they were given.
        done: Items with a cause.
        sent_back: Items without a cause that were sent back to annotators.
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
        counts: Type or subtype -> number of errors.
        share: Share of the verifier's errors with any cause; None without any.
    """

    verifier: str
    cause: str | None
    counts: dict[str, int]
    n: int
    share: float | None


class OpenCases(NamedTuple):
    """Wrong verdicts of a verifier without a cause yet.

    Attributes:
        left: Number of verdicts without a cause.
        wrong: Number of wrong verdicts.
    """

    verifier: str
    left: int
    wrong: int
