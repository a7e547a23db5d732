"""Scores beside gold: how they are spread, and what share is correct at which score."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.project import Project
from workbench.core.reasons import sentence
from workbench.core.run import ConfiguredVerifier
from workbench.core.text.excerpt import short_answer
from workbench.core.verdict import Outcome
from workbench.data.records.browse import ItemDetail, ItemVerdict
from workbench.measuring.browsing import read
from workbench.measuring.columns import Columns
from workbench.measuring.judged import JudgedSelection, VerifierRun
from workbench.measuring.report.card import GoldItems
from workbench.measuring.report.contents import ERROR_KINDS, ErrorExample, ErrorKind, Errors, ScoreBin, Scores
from workbench.statistics.records.report import AccuracyReport
from workbench.tables.document import beginning, end

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray


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


# -- A verifier's errors, and those most worth a reader's look: the ones that are its own.


_QUESTION, _ANSWER, _ENDING, _DETAIL = 600, 300, 700, 300
"""Characters of a text that stand in the report."""


def errors_of(project: Project, found: JudgedSelection, examples: int) -> list[Errors]:
    """Every verifier's errors by kind; verifiers that decide nothing, and baselines, have none.

    Those come first that most of the other verifiers judge rightly: they are this verifier's own and no fault of the
    item. Among equals the order is that of import.
    """
    judges = [
        (place, judge)
        for place, judge in enumerate(found.judges)
        if judge.run is not None and _decides(found.outcomes[place])
    ]
    chosen = [(place, judge.name) for place, judge in judges]
    listed = []
    for place, name in chosen:
        right, judged = _others(found, [other for other, _ in chosen if other != place])
        for kind in ERROR_KINDS:
            items = _of_kind(kind, found.outcomes[place], found.gold).nonzero()[0]
            shown = items[(-right[items]).argsort(kind="stable")[:examples]]
            cases = [
                _example(read(project, int(found.item[at])), name, int(right[at]), int(judged[at])) for at in shown
            ]
            listed.append(Errors(verifier=name, kind=kind, count=len(items), examples=cases))
    return listed


def _decides(outcome: IntArray) -> bool:
    return bool((outcome == Outcome.CORRECT).any() or (outcome == Outcome.INCORRECT).any())


def _of_kind(kind: ErrorKind, outcome: IntArray, gold: IntArray) -> BoolArray:
    found: dict[ErrorKind, BoolArray] = {
        "accepted": (outcome == Outcome.CORRECT) & (gold == 0),
        "refused": (outcome == Outcome.INCORRECT) & (gold == 1),
        "undecided": (outcome >= Outcome.ABSTAIN) & (gold >= 0),
    }
    return found[kind]


def _others(found: JudgedSelection, places: list[int]) -> tuple[IntArray, IntArray]:
    """How many of some verifiers judge each item rightly, and how many have judged it."""
    import numpy as np

    right, judged = np.zeros(len(found.item), dtype=np.int16), np.zeros(len(found.item), dtype=np.int16)
    for place in places:
        right += found.outcomes[place] == found.gold
        judged += found.outcomes[place] >= 0
    return right, judged


def _example(item: ItemDetail, verifier: str, right: int, judged: int) -> ErrorExample:
    verdict = next(_verdicts_of(item, verifier))
    answer = reference_answer(item.reference, item.subtype)
    stated = completion_answer(item.completion)
    return ErrorExample(
        dataset=item.dataset,
        question_id=item.question_id,
        completion_id=item.completion_id,
        subtype=item.subtype,
        source=item.source,
        model=item.model,
        gold=item.gold,
        verdict=Outcome.of(verdict.verdict).word,
        score=verdict.score,
        reason=verdict.reason or "",
        rule=verdict.rule or "",
        why=sentence(verdict.verdict, verdict.reason, verdict.rule, short_answer(verdict.reference_final)),
        detail=beginning(verdict.detail or "", _DETAIL),
        others_right=right,
        others=judged,
        question=beginning(item.question, _QUESTION),
        answer=beginning(answer.text if answer.found else item.reference, _ANSWER),
        reference_read=beginning(verdict.reference_final or "", _ANSWER),
        completion_read=beginning(verdict.candidate_final or (stated.text if stated.found else ""), _ANSWER),
        ending=end(item.completion, _ENDING),
    )


def _verdicts_of(item: ItemDetail, verifier: str) -> Iterator[ItemVerdict]:
    return (verdict for verdict in item.verdicts if verdict.verifier == verifier)
