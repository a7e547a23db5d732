"""Scores beside gold: how they are spread, and what share is correct at which score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from workbench.core.run import ConfiguredVerifier
from workbench.measuring.columns import Columns
from workbench.measuring.judged import VerifierRun
from workbench.measuring.report.contents import ScoreBin, Scores
from workbench.measuring.report.counting import GoldItems
from workbench.statistics.records.report import AccuracyReport

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray, IntArray

_BINS = 20
_PROBABILITY_BINS = 10
_THRESHOLD = "threshold"

_HUGE = 2.0**50
"""Half a point more or less is as good as nothing to scores of this size."""


def scores_of(
    everything: Columns, part: GoldItems, judge: VerifierRun, known: ConfiguredVerifier | None, overall: AccuracyReport
) -> Scores | None:
    """A verifier's scores on a part of the items; None where there are none."""
    import numpy as np

    column = everything.score(judge.run)
    if column is None:
        return None
    score = column[part.rows]
    there = np.isfinite(score)
    score, gold = score[there], part.gold[there]
    if not len(score):
        return None
    probability = bool(score.min() >= 0 and score.max() <= 1)
    area = next((row.auroc for row in overall.rows if row.verifier == judge.name and row.group is None), None)
    return Scores(
        verifier=judge.name,
        n=len(score),
        auroc=area,
        threshold=_threshold(known),
        probability=probability,
        bins=_bins(score, gold, probability),
    )


def _bins(score: FloatArray, gold: IntArray, probability: bool) -> list[ScoreBin]:
    import numpy as np

    low, high = (0.0, 1.0) if probability else (float(score.min()), float(score.max()))
    if low == high:
        low, high = (low - 0.5, high + 0.5) if abs(low) < _HUGE else (min(low, 0.0), max(high, 0.0))
    # Scores can be so large that no number says how far they are apart.
    scale = max(abs(low), abs(high))
    edges = np.linspace(low / scale, high / scale, (_PROBABILITY_BINS if probability else _BINS) + 1) * scale
    place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    size = len(edges) - 1
    items, correct = np.bincount(place, minlength=size), np.bincount(place, weights=gold, minlength=size)
    sums = np.bincount(place, weights=score / scale, minlength=size)
    return [
        ScoreBin(
            low=float(edges[at]),
            high=float(edges[at + 1]),
            correct=int(correct[at]),
            incorrect=int(items[at] - correct[at]),
            mean=float(sums[at] / items[at] * scale) if items[at] else None,
            rate=float(correct[at] / items[at]) if items[at] else None,
        )
        for at in range(size)
    ]


def _threshold(known: ConfiguredVerifier | None) -> float | None:
    """The threshold a verifier is configured with."""
    value = None if known is None else known.config.get(_THRESHOLD)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
