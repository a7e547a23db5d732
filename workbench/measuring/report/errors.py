"""A verifier's errors, and those most worth a reader's look: the ones that are its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.project import Project
from workbench.core.reasons import sentence
from workbench.core.text.answers import short_answer
from workbench.core.verdict import Outcome
from workbench.data.records.browse import ItemDetail, ItemVerdict
from workbench.measuring.browsing import read
from workbench.measuring.judged import JudgedSelection
from workbench.measuring.report.contents import ERROR_KINDS, ErrorExample, ErrorKind, Errors
from workbench.tables.passages import beginning, end

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray

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
