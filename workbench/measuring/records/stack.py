"""Stacks as they are reported: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.comparison import PairedFigures
from workbench.statistics.records.report import AccuracyRow

Interval = tuple[float, float]
Price = Literal["dollars", "tokens", "seconds", "calls"]
"""What accuracy is set against; see `workbench.measuring.costs`."""


class Took(Struct, frozen=True, kw_only=True):
    """The cost of an average item, as if nothing had been stored before.

    Attributes:
        calls: Replies its verdict rests on.
        prompt_tokens: None where a server didn't say.
        tokens: What was written, thoughts included; None where a server didn't say.
        seconds: From asking to the reply, summed over calls; of stages that ask nobody their own work.
        dollars: None where a call has no known price.
    """

    calls: float
    prompt_tokens: float | None
    tokens: float | None
    seconds: float
    dollars: float | None


class StageRow(Struct, frozen=True, kw_only=True):
    """The results of one stage on the items with gold that reached it: how far its decisions can be trusted.

    Attributes:
        stage: Its place, from 1.
        settles: The stage as it is spelt.
        group: An answer type; None for all items.
        reached: Items it was asked about.
        accepted: Items it decided as correct.
        accepted_wrong: Those of them that gold calls wrong.
        refused: Items it decided as incorrect.
        refused_right: Those of them that gold calls right.
        left: Items that it leaves; of the last stage those it says without having settled them.
        wrong: Wrong completions that reached it.
        right: Right completions that reached it.
        fpr: Of the wrong completions that reached it the share that it accepted; None where there are none.
        fpr_ci: Its 95 % interval, clustered by question.
        fnr: Of the right completions that reached it the share that it refused; None where there are none.
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
    """One verifier of a stack, asked about all items.

    Attributes:
        against: The stack (A) against it (B); None where no item counts for both, and where it stands by itself.
    """

    figures: AccuracyRow
    took: Took
    against: PairedFigures | None


class SimulatedStack(Struct, frozen=True, kw_only=True):
    """A stack on stored verdicts.

    Attributes:
        stages: As they are spelt.
        items: Items with gold on which every stage that they reach has a verdict.
        lacking: Items with gold that lack one, and are left out.
        figures: What the stack's verdicts are worth.
        took: What they take.
        rows: For each stage the row of all items, then one row a type.
        alone: Each of its verifiers on the same items, as if it were asked about all.
        against: The stack (A) against each of these (B); None where no item counts for both.
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
    """The stack that one selection rule gives, and its results on unseen questions.

    Attributes:
        wanted: What was wanted: ``"best"``, ``"under"`` a price, ``"not_worse"`` than the reference, or a point of the
            ``"front"``: the most accurate that takes no more than ``cap``.
        cap: What an item may take at most; None without such a bound.
        stages: What is chosen on all questions, as the kind ``stack`` takes it.
        same: Folds outside of which the very same is chosen.
        apparent: Its accuracy on all items, which the choice flatters; None where none counts.
        apparent_took: What an item takes with it.
        figures: Cross-fitted: each item judged by the stack that was chosen without its question.
        took: What an item takes so.
        against_best: These verdicts (A) against the best single verifier (B), chosen in the same way; None where no
            item counts for both.
        against_reference: The same against the reference; None without one, or where it is the reference itself.
        not_worse: Whether the interval of the latter lies above the margin; None without a reference.
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
    """The best stacks of verifiers, chosen on some questions and judged on the others.

    Attributes:
        items: Items with gold that all verifiers have judged.
        questions: Their questions.
        unjudged: Items with gold that lack a verifier's verdict, and are left out.
        verifiers: Those that stacks were made of.
        candidates: How many stacks were looked at, types aside.
        against: What ``cap`` and the front are in.
        folds: Parts of the questions.
        seed: Of the folds.
        reference: The verifier that one may not be worse than.
        margin: By how much, as a share.
        alone: Each verifier by itself.
        choices: What was asked for.
        front: The most accurate for no more than so much, from cheap to dear.
        stages: What each stage of the best settled, chosen on all questions; see `StageRow`.
        failed: Verifiers left out because they failed on every item they were asked about, and on how many.
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
