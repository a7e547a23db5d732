"""What is reported of a reward model's scores: a fitted threshold, and pairs of completions."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import AccuracyRow

Method = Literal["accuracy", "youden"]
"""What a fitted threshold maximises: the share of right verdicts, or TPR - FPR."""


class ThresholdReport(Struct, frozen=True, kw_only=True):
    """A threshold, and how good it is on the rows it was fitted on and on the others.

    Attributes:
        run: The run whose scores they are.
        method: What was maximised.
        on: The rows it was fitted on, in words.
        threshold: The least score of a correct completion.
        fitted: Figures on the rows it was fitted on: better than it will be on new ones.
        rest: Figures on all other rows; None if there are none.
        in_sample: Whether there are no other rows, so that all figures are of the rows it was fitted on.
        shared_questions: Questions with rows on both sides, which makes ``rest`` less of a test.
        unscored: Rows with gold and a verdict without a score, on both sides; they count as undecided.
        protocol: How undecided rows count.
        saved_as: The verifier that has this threshold, if one was made.
        selection_judges: The verifier, if it or its model helped to choose the items; else nobody.
    """

    verifier: str
    run: int
    method: Method
    on: str
    threshold: float
    fitted: AccuracyRow
    rest: AccuracyRow | None
    in_sample: bool
    shared_questions: int
    unscored: int
    protocol: Protocol3
    gold_choice: GoldChoice
    saved_as: str | None = None
    selection_judges: list[str] = []


class PairRow(Struct, frozen=True, kw_only=True):
    """Pairs of one group.

    Attributes:
        group: A type, a name ...; None for all pairs.
        n: Pairs.
        right: Those whose correct completion scores higher.
        ties: Those with equal scores; they are wrong.
        accuracy: Share of right pairs; None without pairs.
        ci: Its 95 % interval; None without pairs.
    """

    group: str | None
    n: int
    right: int
    ties: int
    accuracy: float | None
    ci: tuple[float, float] | None


class Unpaired(Struct, frozen=True, kw_only=True):
    """Questions that make no pair.

    Attributes:
        one_class: No correct, or no incorrect completion has gold.
        several: More than one correct or incorrect completion.
        unscored: One of each, but one of them without a score.
    """

    one_class: int
    several: int
    unscored: int


class PairReport(Struct, frozen=True, kw_only=True):
    """Pairwise accuracy of a verifier's scores.

    Attributes:
        run: The run whose scores they are.
        by: What pairs are grouped by; None for all pairs only.
        questions: Questions with gold.
        paired: Those that make a pair.
        unpaired: The others, by why.
        rows: The row of all pairs, then one a group.
        selection_judges: The verifier, if it or its model helped to choose the items; else nobody.
    """

    verifier: str
    run: int
    gold_choice: GoldChoice
    by: str | None
    questions: int
    paired: int
    unpaired: Unpaired
    rows: list[PairRow]
    selection_judges: list[str] = []
