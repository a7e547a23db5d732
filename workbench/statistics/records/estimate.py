"""Estimates from few labels and many predictions, as they are reported: fractions, and null where undefined."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.ordering import BatchSample

Quantity = Literal["accuracy", "prevalence"]
"""The share of the verifier's verdicts that are right, or of completions that are correct."""


class EstimateRow(Struct, frozen=True, kw_only=True):
    """One share, estimated with the help of predictions and without.

    Attributes:
        quantity: What is estimated.
        group: A type, a name ...; None for all items.
        stratified: Whether each group's labels speak for the group alone and groups are weighed by their items, so
            that another mix of groups among the labelled items does no harm.
        labelled: Items with gold.
        unlabelled: Items without.
        questions: Questions that have any item with gold.
        estimate: The prediction-powered estimate; None without labels.
        ci: Its 95 % interval, clustered by question.
        classical: The share among labelled items alone.
        classical_ci: Its 95 % interval, clustered by question.
        power: How far the predictions are trusted, from 0 (not at all) to 1.
        effective: Labels that would give the classical estimate an interval as narrow.
        saved: ``effective`` less ``labelled``.
        reason: Why there is no estimate, or why it is no better than the classical one; None where neither is so.
    """

    quantity: Quantity
    group: str | None
    stratified: bool
    labelled: int
    unlabelled: int
    questions: int
    estimate: float | None
    ci: tuple[float, float] | None
    classical: float | None
    classical_ci: tuple[float, float] | None
    power: float | None
    effective: float | None
    saved: float | None
    reason: str | None = None


class MixRow(Struct, frozen=True, kw_only=True):
    """A group's share among the questions with labels and among the others.

    Attributes:
        group: Its name.
        labelled: Questions in it with any labelled item.
        unlabelled: The others.
    """

    group: str
    labelled: int
    unlabelled: int


class EstimateReport(Struct, frozen=True, kw_only=True):
    """A verifier's accuracy on all items, with everything a reader needs to repeat the estimate.

    Attributes:
        run: The verifier's run; None for a baseline that needs none.
        predictors: The verifiers whose verdicts predict gold.
        rows: For each quantity all items, the same stratified where there are groups, then each group.
        by: What groups are; None for all items only.
        mix_by: What the mix of labelled and other questions was compared by.
        mix: The mix.
        mix_p: Chance of mixes as different, were the labelled questions a random sample of all; None where all
            questions are alike in this.
        in_conflict: Items without gold because those who labelled them differ; they are hardly a random sample.
        protocol: How the verifier's undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, none.
        gold_choice: Which gold was asked for.
        selection_judges: The verifier and the predictors that helped, or whose model helped, to choose the items.
        samples: Batches whose labels are no random sample, though they are taken for one.
    """

    verifier: str
    run: int | None
    predictors: list[str]
    rows: list[EstimateRow]
    by: str | None
    mix_by: str
    mix: list[MixRow]
    mix_p: float | None
    in_conflict: int
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
    samples: list[BatchSample] = []
