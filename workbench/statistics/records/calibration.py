"""Calibration metrics of scores as probabilities of being correct, as they are reported."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice

CalibrationMethod = Literal["platt", "isotonic"]
CalibrationReading = Literal["verdict", "score"] | CalibrationMethod
"""A verdict as 1 or 0, a score as it is, or what a method makes of scores."""


class ReliabilityBin(Struct, frozen=True, kw_only=True):
    """Items with similar probabilities.

    Attributes:
        mean: Their mean chance.
        rate: The share of them that is correct.
    """

    n: int
    mean: float
    rate: float


class CalibrationRow(Struct, frozen=True, kw_only=True):
    """One way to read a verifier's answers as probabilities of being correct.

    Attributes:
        auroc: None without correct or incorrect items.
        pairwise: How often a correct completion has a higher chance than an incorrect one of its question, the mean of
            the questions; None where no question has both.
        pairs: Questions with correct and incorrect completions.
        ece: The expected calibration error; None where the scores are no chances.
        ece_ci: Its 95 % interval, bootstrapped over questions.
        brier: The mean squared distance from gold; None where the scores are no chances.
        accuracy: The share of verdicts that are right where a chance of at least one half says correct; None where the
            scores are no chances.
        bins: Tenths of the items by chance, of as equal sizes as can be; empty where the scores are no chances.
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
    """The calibration of a verifier's scores, as they are and after a fit.

    Attributes:
        run: The run whose scores they are.
        n: Items with gold, a verdict and a score.
        correct: Those of them that are correct.
        questions: Their questions.
        unscored: Items with gold and a verdict that have no score; they are left out.
        folds: Parts of the questions; what is said of a part is by maps fitted to the others.
        rows: The verdict where there is one, the score, and each method.
        selection_judges: The verifier, if it or its model helped to choose the items; else nobody.
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
