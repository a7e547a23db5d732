"""Records of disagreements worth a review, and of reviewers' decisions."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from workbench.core.run import RefusedLine
from workbench.core.verdict import OutcomeWord

Queue = Literal["verifier-gold", "verifiers", "split", "exact-label", "suspect-gold", "flips", "annotators"]

QUEUES: Final[dict[Queue, str]] = {
    "verifier-gold": "A verifier's verdict differs from gold.",
    "verifiers": "Verifiers disagree, the most evenly split items first.",
    "split": "k verifiers against all the others.",
    "exact-label": "The final answers are exactly equal, but the label says incorrect.",
    "suspect-gold": "Most items with the same verdicts have the other label.",
    "flips": "One verifier's verdict differs between its samples or runs.",
    "annotators": "Two annotators disagree.",
}
"""The queues of disagreements, in order of display, each with its contents."""

ErrorCategory = Literal[
    "extraction",
    "equivalence",
    "format",
    "units",
    "multiple-answers",
    "reasoning",
    "guessing",
    "instruction",
    "cut-off",
    "reference-unclear",
    "question-unclear",
    "other",
]

ERROR_CATEGORIES: Final[dict[ErrorCategory, str]] = {
    "extraction": "It extracted the wrong text as the final answer.",
    "equivalence": "It did not recognise that two forms are equal, or treated unequal ones as equal.",
    "format": "It judged the form of the answer, not its content.",
    "units": "It was wrong about units, precision or rounding.",
    "multiple-answers": "It missed or added one of several values, or wrongly required their order.",
    "reasoning": "It judged the reasoning, or solved the question itself, and was wrong.",
    "guessing": "It accepted or rejected without support in the texts.",
    "instruction": "The completion manipulated it, or it did not follow its own prompt.",
    "cut-off": "The completion or its own reply was cut off.",
    "reference-unclear": "The reference answer is wrong, partial or ambiguous.",
    "question-unclear": "The question allows more than one answer.",
    "other": "None of these: describe the error in the note.",
}
"""Causes of a verifier's errors: code -> description."""
ERRORS_IN_SHORT: Final[dict[ErrorCategory, str]] = {
    "extraction": "read another text",
    "equivalence": "wrong on equal forms",
    "format": "judged how it is written",
    "units": "units, precision, rounding",
    "multiple-answers": "one of several",
    "reasoning": "judged the way there",
    "guessing": "without support",
    "instruction": "was talked into it",
    "cut-off": "a text ended early",
    "reference-unclear": "the reference is wrong",
    "question-unclear": "more than one answer",
    "other": "or one of your own",
}
"""The same in a few words, for display next to their names."""

CODE_ERROR_CATEGORIES: Final[dict[ErrorCategory, str]] = ERROR_CATEGORIES | {
    "extraction": "It extracted the wrong text as the program.",
    "equivalence": "It did not recognise that two programs do the same, or treated different ones as the same.",
    "format": "It judged how the program is written, not what it does.",
    "units": "It was wrong about types, precision or rounding.",
    "multiple-answers": "It missed one of several cases or outputs.",
    "reasoning": "It traced the program or solved the problem itself, and was wrong.",
    "reference-unclear": "The reference solution, or a test, is wrong.",
    "question-unclear": "The problem allows more than one behaviour.",
}
"""The categories of verdicts on programs, which have no final answer."""
CODE_ERRORS_IN_SHORT: Final[dict[ErrorCategory, str]] = ERRORS_IN_SHORT | {
    "equivalence": "wrong on equal programs",
    "units": "types, precision, rounding",
    "multiple-answers": "missed a case",
    "reasoning": "traced it wrongly",
    "question-unclear": "more than one behaviour",
}

ReviewKind = Literal["confirmed", "reannotate", "error", "retraction"]
GoldWord = Literal["correct", "incorrect", "none"]


LONGEST_NOTE: Final = 100_000
"""Maximum characters of a note."""


class RunVote(Struct, frozen=True, kw_only=True):
    """The verdict of one verifier's run on an item."""

    verifier: str
    run: int | None
    verdict: OutcomeWord


class Disagreement(Struct, frozen=True, kw_only=True):
    """An item of a review queue.

    Attributes:
        id: The completion's row id.
        score: How suspicious the item is; a queue is in descending order. Its meaning depends on the queue.
        why: Why the item is in the queue, with the numbers behind the score.
        gold: The gold label; ``none`` without gold.
        votes: The selected verifiers' verdicts on the item.
        reviews: Reviews of the item that are not retracted, the newest last.
    """

    id: int
    dataset: str
    question_id: str
    completion_id: str
    type: str | None
    subtype: str | None
    gold: GoldWord
    score: float
    why: str
    votes: tuple[RunVote, ...] = ()
    reviews: tuple[Review, ...] = ()


class Review(Struct, frozen=True, kw_only=True):
    """One decision of a reviewer.

    Attributes:
        kind: ``confirmed``: gold is right. ``reannotate``: annotators must label the item again. ``error``: gold is
            right and the verifier of ``run`` errs, for the reason ``category``. ``retraction``: retracts the decision
            ``supersedes``.
        run: The run whose verdict was in error; None for the other kinds.
        verifier: The name of that run's verifier.
        gold: The gold when the decision was made.
        queue: The queue in which the item was reviewed.
    """

    uuid: str
    kind: ReviewKind
    completion: int
    run: int | None = None
    verifier: str | None = None
    category: ErrorCategory | None = None
    gold: GoldWord = "none"
    queue: Queue | None = None
    note: str | None = None
    reviewer: str
    supersedes: str | None = None
    created_at: str


class ReviewLine(Struct, kw_only=True, omit_defaults=True):
    """One line of a review file (JSON Lines), as ``workbench review DB export`` writes it; see `Review`.

    Attributes:
        completion_id: The completion's id; together with ``question_id`` and ``dataset`` it identifies one item.
        verifier: The verifier of an error; on import, its newest run with a verdict on the item is used.
        supersedes: The uuid of the decision that this one retracts; None for other kinds.
        created_at: Time of the decision (ISO 8601, UTC).
    """

    uuid: Annotated[str, Meta(min_length=1, max_length=100)]
    kind: ReviewKind
    dataset: str
    question_id: str
    completion_id: str
    reviewer: str
    created_at: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$")]
    gold: GoldWord = "none"
    verifier: str | None = None
    category: ErrorCategory | None = None
    queue: Queue | None = None
    note: Annotated[str, Meta(max_length=LONGEST_NOTE)] | None = None
    supersedes: str | None = None


class CurrentReview(ReviewLine, kw_only=True):
    """A review that is not retracted, as ``workbench review DB list --json`` shows it.

    Attributes:
        gold_now: The current gold; ``gold`` is the gold when the decision was made.
    """

    gold_now: GoldWord


class ReviewsImported(Struct, kw_only=True):
    """The result of an import of reviews, as numbers of lines.

    Attributes:
        refusals: The rejected lines, in order.
    """

    imported: int = 0
    unchanged: int = 0
    refused: int = 0
    refusals: list[RefusedLine] = []


class ErrorCount(Struct, frozen=True, kw_only=True):
    """The number of marked errors of a verifier in one category.

    Attributes:
        group: An answer type or subtype, ``"untyped"``, or None for all items.
        count: Number of errors in this category.
        marked: Number of this verifier's errors in this group with any category.
        outdated: Number of marks on verdicts that now agree with gold; they are not counted.
    """

    verifier: str
    group: str | None
    category: ErrorCategory
    count: int
    marked: int
    outdated: int = 0
