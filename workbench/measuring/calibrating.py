"""Calibrates a verifier's scores as probabilities of being correct, against gold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec import Struct

from workbench.core.errors import UsageError, opt
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.measuring import notes
from workbench.measuring.columns import columns as every_column
from workbench.measuring.scores import ItemScores, scored
from workbench.statistics.calibration import CalibrationMethod, ReliabilityBin
from workbench.tables.document import Dot, Scatter
from workbench.tables.table import Columns, aligned_rows, count, metric_column, with_interval, word

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray

FOLDS: Final = 5
_MIN_ITEMS: Final = 10
_WIDTH: Final = 100
_SEED: Final = 20150125
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
CalibrationReading = Literal["verdict", "score"] | CalibrationMethod
"""The probability: a verdict as 1 or 0, an unchanged score, or a score calibrated by a method."""
_READINGS: Final[dict[CalibrationReading, str]] = {
    "verdict": "the verdict",
    "score": "raw score",
    "platt": "Platt's sigmoid",
    "isotonic": "isotonic",
}


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


def calibrate(
    project: Project,
    verifier: str,
    *,
    folds: int = FOLDS,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> CalibrationReport:
    """Return a verifier's scores as probabilities, cross-fitted: each question is calibrated on other questions.

    Args:
        folds: Number of parts of the questions.

    Raises:
        UsageError: There are no scores, or too few correct or incorrect completions have a score and gold.
    """
    import numpy as np
    from msgspec import structs

    found = scored(project, verifier, selection or Selection(), gold)
    judged = (found.gold >= 0) & (found.outcome >= 0)
    kept = judged & np.isfinite(found.score)
    parts = {name: getattr(found, name)[kept] for name in ("item", "question", "outcome", "score", "gold")}
    items = structs.replace(found, **parts)
    return CalibrationReport(
        verifier=verifier,
        run=items.run,
        n=len(items.score),
        correct=int(items.gold.sum()),
        questions=len(np.unique(items.question)),
        unscored=int(judged.sum() - kept.sum()),
        folds=folds,
        rows=list(_calibration_rows(items, folds)),
        gold_choice=gold,
        selection_judges=notes.among(project, (verifier,), selection, every_column(project)),
    )


def _calibration_rows(items: ItemScores, folds: int) -> Iterator[CalibrationRow]:
    import numpy as np

    from workbench.statistics.calibration import cross_fitted, fold_of, odds

    correct, score = int(items.gold.sum()), items.score
    questions = len(np.unique(items.question))
    if min(correct, len(score) - correct) < _MIN_ITEMS or questions < folds:
        raise UsageError(
            f"{items.verifier} can't be calibrated: with a score and gold there are {correct:,} correct and "
            f"{len(score) - correct:,} incorrect completions of {counted(questions, 'question')}.",
            f"At least {_MIN_ITEMS} of each kind are needed, and {folds} questions.",
        )
    decided = np.isin(items.outcome, (int(OutcomeCode.CORRECT), int(OutcomeCode.INCORRECT)))
    if decided.all():
        yield _calibration_row("verdict", items, (items.outcome == int(OutcomeCode.CORRECT)).astype(np.float64))
    are_chances = bool(score.min() >= 0 and score.max() <= 1)
    yield _calibration_row("score", items, score, are_chances=are_chances)
    fold = fold_of(items.question, folds)
    for method in get_args(CalibrationMethod):
        value = odds(score) if are_chances and method == "platt" else score
        chance = cross_fitted(value, items.gold, fold, method)
        if chance is None:
            raise UsageError(
                "One fold holds all the correct or all the incorrect completions.", f"Use more {opt.folds}."
            )
        yield _calibration_row(method, items, chance)


def _calibration_row(
    reading: CalibrationReading, items: ItemScores, chance: FloatArray, *, are_chances: bool = True
) -> CalibrationRow:
    import numpy as np

    from workbench.statistics.calibration import calibration_error, calibration_interval, equal_mass, reliability
    from workbench.statistics.metrics.auroc import auroc
    from workbench.statistics.scores import pairwise_within

    pairwise, pairs = pairwise_within(chance, items.gold, items.question)
    part = equal_mass(chance)
    return CalibrationRow(
        reading=reading,
        auroc=auroc(chance, items.gold, np.zeros(len(chance), dtype=np.int64), 1)[0],
        pairwise=pairwise,
        pairs=pairs,
        ece=calibration_error(chance, items.gold, part) if are_chances else None,
        ece_ci=calibration_interval(chance, items.gold, part, items.question, _SEED).ends if are_chances else None,
        brier=float(np.square(chance - items.gold).mean()) if are_chances else None,
        accuracy=float(((chance >= 0.5) == (items.gold == 1)).mean()) if are_chances else None,
        bins=reliability(chance, items.gold, part) if are_chances else [],
    )


# -- The calibration as a table and as plots.


_COLUMNS: Columns[CalibrationRow] = (
    word("probability from", lambda row: _READINGS[row.reading]),
    metric_column("AUROC", lambda row: row.auroc),
    metric_column("pairs", lambda row: row.pairwise),
    *with_interval("ECE", "ece"),
    metric_column("Brier", lambda row: row.brier),
    metric_column("accuracy", lambda row: row.accuracy),
)
_PARTS: Columns[tuple[str, int, float, float]] = (
    word("probability from", lambda row: row[0]),
    count("items", lambda row: row[1]),
    metric_column("mean probability", lambda row: row[2]),
    metric_column("share correct", lambda row: row[3]),
)


def calibration_text(report: CalibrationReport) -> str:
    best = min(report.rows[-2:], key=lambda row: row.ece or 0.0)
    shown = [row for row in (report.rows[-3], best) if row.bins]
    parts = [(_READINGS[row.reading], one.n, one.mean, one.rate) for row in shown for one in row.bins]
    lines = [
        f"Calibration is cross-validated: each of {report.folds} folds of questions uses maps fitted to the others, "
        "so that no probability depends on its own question's gold. Each map is monotonic: AUROC changes only "
        "because there are several.",
        "ECE: deciles of the items by probability; its interval is bootstrapped over questions, which adds error: if "
        "probabilities are right, it lies above the ECE itself.",
    ]
    if pairs := report.rows[0].pairs:
        lines.append(
            "pairs: how often a correct completion scores above an incorrect one of its question, ties being wrong; "
            f"the mean of {counted(pairs, 'question')} with both."
        )
    else:
        lines.append("pairs: no question has both correct and incorrect completions with scores.")
    if report.unscored:
        lines.append(f"Left out, without a score: {counted(report.unscored, 'item')}.")
    lines += map(inert, explain_marks(report.selection_judges))
    explained = "".join(f"{fill(note, _WIDTH)}\n" for note in lines)
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}, gold {report.gold_choice}: "
        f"{counted(report.n, 'item')} with scores, {report.correct:,} correct\n\n"
        f"{aligned_rows(_COLUMNS, report.rows)}\n\n{aligned_rows(_PARTS, parts)}\n\n{explained}"
    )


def calibration_plots(report: CalibrationReport) -> Iterator[tuple[str, Scatter]]:
    """Yield file stems with the reliability plot of each reading that is a probability."""
    name = _UNSAFE.sub("-", report.verifier)[:40]
    for row in report.rows:
        if row.bins:
            yield f"reliability-{name}-{row.reading}", reliability_plot(report, row)


def reliability_plot(report: CalibrationReport, row: CalibrationRow) -> Scatter:
    error = "–" if row.ece is None else f"{row.ece:.3f}"
    return Scatter(
        caption=f"{report.verifier}, {_READINGS[row.reading]}: share correct (%) by mean probability, in deciles of "
        f"the items, each with its items. ECE {error}. On the line a probability is exact.",
        x_label="mean probability",
        y_label="share correct",
        dots=tuple(Dot(f"{one.n:,}", one.mean, one.rate) for one in row.bins),
        diagonal=True,
    )
