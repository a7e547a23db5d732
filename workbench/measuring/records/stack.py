"""Reports on stacks: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.comparison import PairedFigures
from workbench.statistics.records.report import AccuracyRow

Interval = tuple[float, float]
Price = Literal["dollars", "tokens", "seconds", "calls"]
"""The unit of cost; see `workbench.measuring.costs`."""


class Took(Struct, frozen=True, kw_only=True):
    """The cost of an average item without a cache.

    Attributes:
        calls: Replies behind its verdict.
        prompt_tokens: None if a server didn't report them.
        tokens: Tokens written, including reasoning; None if a server didn't report them.
        seconds: From request to reply, summed over calls; for stages without a server, their computing time.
        dollars: None if a call has no known price.
    """

    calls: float
    prompt_tokens: float | None
    tokens: float | None
    seconds: float
    dollars: float | None


class StageRow(Struct, frozen=True, kw_only=True):
    """The results of one stage on the items with gold that reached it.

    Attributes:
        stage: Its position, from 1.
        settles: The stage as written in the stack.
        group: An answer type; None for all items.
        reached: Items that reached the stage.
        accepted: Items that it accepted.
        accepted_wrong: Accepted items whose gold is incorrect.
        refused: Items that it rejected.
        refused_right: Rejected items whose gold is correct.
        left: Deferred items; for the last stage, items that it left undecided.
        wrong: Incorrect completions that reached it.
        right: Correct completions that reached it.
        fpr: Share of incorrect completions that it accepted, of those that reached it; None without any.
        fpr_ci: Its 95 % interval, clustered by question.
        fnr: Share of correct completions that it rejected, of those that reached it; None without any.
        fnr_ci: Its 95 % interval, clustered by question.
    """

    stage: int
    settles: str
    group: str | None
    reached: int
    accepted: int
    accepted_wrong: int
    refused: int
    refused_right: int
    left: int
    wrong: int
    right: int
    fpr: float | None
    fpr_ci: Interval | None
    fnr: float | None
    fnr_ci: Interval | None


class StackAlone(Struct, frozen=True, kw_only=True):
    """One verifier of a stack, applied to all items.

    Attributes:
        against: The stack (A) compared with it (B); None if no item counts for both, and without a stack.
    """

    figures: AccuracyRow
    took: Took
    against: PairedFigures | None


class SimulatedStack(Struct, frozen=True, kw_only=True):
    """A stack on stored verdicts.

    Attributes:
        stages: As written in the stack.
        items: Items with gold that have a verdict of every stage that they reach.
        lacking: Items with gold that lack such a verdict, and are left out.
        figures: The metrics of the stack's verdicts.
        took: The cost of the verdicts.
        rows: For each stage one row for all items, then one for each type.
        alone: Each of its verifiers applied to all of the same items.
        against: The stack (A) compared with each of these (B); None if no item counts for both.
    """

    stages: str
    items: int
    lacking: int
    figures: AccuracyRow
    took: Took
    rows: list[StageRow]
    alone: list[StackAlone]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice


class StackChoice(Struct, frozen=True, kw_only=True):
    """The stack chosen by one selection rule, and its results on unseen questions.

    Attributes:
        wanted: The rule: ``"best"``, ``"under"`` a price, ``"not_worse"`` than the reference, or a point of the
            ``"front"``: the most accurate stack that costs at most ``cap``.
        cap: Maximum cost of an item; None without a limit.
        stages: The stack chosen on all questions, in the syntax of the kind ``stack``.
        same: Folds for which the same stack is chosen without them.
        apparent: Its accuracy on all items, which has selection bias; None without counted items.
        apparent_took: Its cost of an item on all items.
        figures: Cross-fitted: each item is judged by the stack chosen without its question.
        took: The cross-fitted cost of an item.
        against_best: These verdicts (A) compared with the best single verifier (B), chosen in the same way; None if no
            item counts for both.
        against_reference: The same compared with the reference; None without a reference, or if the stack is the
            reference itself.
        not_worse: Whether the interval of this difference is above the margin; None without a reference.
    """

    wanted: Literal["best", "under", "not_worse", "front"]
    cap: float | None
    stages: str
    same: int
    apparent: float | None
    apparent_took: Took
    figures: AccuracyRow
    took: Took
    against_best: PairedFigures | None
    against_reference: PairedFigures | None
    not_worse: bool | None


class StackReport(Struct, frozen=True, kw_only=True):
    """The best stacks of verifiers, chosen on some questions and evaluated on the others.

    Attributes:
        items: Items with gold that all verifiers have judged.
        questions: Their questions.
        unjudged: Items with gold that lack a verifier's verdict, and are left out.
        verifiers: Verifiers used in stacks.
        candidates: Number of stacks searched, not counting types.
        against: The unit of ``cap`` and of the front.
        folds: Number of parts of the questions.
        seed: Seed of the folds.
        reference: The verifier for the non-inferiority comparison.
        margin: Its margin, as a fraction.
        alone: Each verifier by itself.
        choices: The requested choices.
        front: The most accurate stack for each cost, from cheap to expensive.
        stages: The results of each stage of the best stack, chosen on all questions; see `StageRow`.
        failed: Verifiers left out because they failed on every item -> number of items.
    """

    items: int
    questions: int
    unjudged: int
    verifiers: list[str]
    candidates: int
    against: Price
    folds: int
    seed: int
    reference: str | None
    margin: float
    alone: list[StackAlone]
    choices: list[StackChoice]
    front: list[StackChoice]
    stages: list[StageRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    failed: dict[str, int] = {}
