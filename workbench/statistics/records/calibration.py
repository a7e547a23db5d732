"""Reported calibration metrics of scores as probabilities of being correct."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice

CalibrationMethod = Literal["platt", "isotonic"]
CalibrationReading = Literal["verdict", "score"] | CalibrationMethod
"""The probability: a verdict as 1 or 0, an unchanged score, or a score calibrated by a method."""


class ReliabilityBin(Struct, frozen=True, kw_only=True):
    """Items with similar probabilities.

    Attributes:
        n: Number of items.
        mean: The items' mean probability.
        rate: Share of correct items.
    """

    n: int
    mean: float
    rate: float


class CalibrationRow(Struct, frozen=True, kw_only=True):
    """One way to read a verifier's answers as probabilities of being correct.

    Attributes:
        auroc: Area under the ROC curve; None without correct or without incorrect items.
        pairwise: Share of pairs in which a correct completion has a higher probability than an incorrect one of its
            question, averaged over questions; None if no question has both.
        pairs: Number of questions with correct and incorrect completions.
        ece: The expected calibration error; None if the scores are not probabilities.
        ece_ci: Its 95 % interval, bootstrapped over questions.
        brier: The mean squared distance from gold; None if the scores are not probabilities.
        accuracy: Accuracy if a probability of at least one half counts as correct; None if the scores are not
            probabilities.
        bins: Ten bins of items by probability, of sizes as equal as possible; empty if the scores are not
            probabilities.
    """

    reading: CalibrationReading
    auroc: float | None
    pairwise: float | None
    pairs: int
    ece: float | None
    ece_ci: tuple[float, float] | None
    brier: float | None
    accuracy: float | None
    bins: list[ReliabilityBin]


class CalibrationReport(Struct, frozen=True, kw_only=True):
    """The calibration of a verifier's scores, unchanged and after a fit.

    Attributes:
        run: The run of the scores.
        n: Number of items with gold, a verdict and a score.
        correct: Number of correct items among them.
        questions: Number of their questions.
        unscored: Number of items with gold and a verdict but no score, which are left out.
        folds: Number of parts of the questions; the probabilities of each part are by maps fitted to the others.
        rows: One row for the verdict (if any), the score, and each method.
        selection_judges: The verifier, if it or its model helped to choose the items; else empty.
    """

    verifier: str
    run: int
    n: int
    correct: int
    questions: int
    unscored: int
    folds: int
    rows: list[CalibrationRow]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
