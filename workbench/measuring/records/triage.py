"""Records of triage, in which a reviewer goes through the wrong verdicts of a cell or a queue and gives each a
cause."""

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
        words: A description of the items: ``type C``, ``queue verifier-gold``.
        verifiers: The verifiers whose errors are triaged.
        items: Row ids of the items on which one of these verifiers contradicts gold, in order of display.
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
        own: The name of a custom cause, whose category is ``other``; empty for a category of the taxonomy.
    """

    category: ErrorCategory
    own: str = ""

    @property
    def name(self) -> str:
        return self.own or self.category


class TriageCase(Struct, frozen=True, kw_only=True):
    """One item as a triage card shows it; texts are cut to fit the card.

    Attributes:
        id: The completion's row id.
        reference: The reference's final answer; empty if none was found.
        reference_found: How it was found.
        reference_end: The reference's end, if no final answer was found.
        answer: The completion's final answer; empty if none was found.
        answer_found: How it was found.
        before: The text before the completion's final answer, within its sentence.
        after: The text after the completion's final answer, within its sentence.
        erring: The triaged verdicts that contradict gold; undecided verdicts only if none of them is decided.
        read: The answers that the first of the erring verdicts compared, if they differ from the card's; else None.
        reason: The reason code of the first of the erring verdicts; empty without one.
        reviews: Reviews of the item that are not retracted, the newest last.
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
        """Return the key that similar cases share: the kinds of differences, and gold. Programs are never similar."""
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
        marks: The causes that are not retracted, in the order in which they were given.
        done: Row ids of items with a cause.
        sent_back: Row ids of items without a cause that were sent back to annotators.
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
        cause: The cause's name; None for all causes together.
        counts: Type or subtype -> number of errors.
        n: Number of errors with this cause.
        share: ``n`` divided by the number of the verifier's errors with any cause; None without such errors.
    """

    verifier: str
    cause: str | None
    counts: dict[str, int]
    n: int
    share: float | None


class OpenCases(NamedTuple):
    """The number of a verifier's wrong verdicts that have no cause yet.

    Attributes:
        left: Number of verdicts without a cause.
        wrong: Number of wrong verdicts.
    """

    verifier: str
    left: int
    wrong: int
