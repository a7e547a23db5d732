"""Simulates stacks (verifiers in sequence) on arrays of each verifier's verdicts on all items.

No server is called: the verifiers' runs determine the results of every stack of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from workbench.core.verdict import Outcome, OutcomeCode
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

NOTHING = np.int8(-1)
"""No verdict; as a stage's result, the item is deferred."""


def decide_by_stage(
    outcome: IntArray,
    score: FloatArray | None,
    outcomes: Collection[Outcome],
    least: float | None = None,
    most: float | None = None,
) -> IntArray:
    """Return a stack's verdict on each item after one stage (int8), `NOTHING` where the item is deferred.

    Args:
        outcome: The stage's verdicts.
        score: Its scores, NaN for none.
        outcomes: Verdicts that decide an item.
        least: Score from which an item is correct, regardless of the verdict unless it is a failure.
        most: Score up to which an item is incorrect, likewise regardless of the verdict; ``least`` takes precedence.
    """
    own = np.isin(outcome, [one.code for one in outcomes])
    cases: list[BoolArray] = []
    values: list[int] = []
    if score is not None:
        judged = (outcome >= 0) & (outcome != OutcomeCode.ERROR)
        cases += [judged & (score >= least)] if least is not None else []
        values += [OutcomeCode.CORRECT] if least is not None else []
        cases += [judged & (score <= most)] if most is not None else []
        values += [OutcomeCode.INCORRECT] if most is not None else []
    found: IntArray = np.where(own, outcome, NOTHING)
    for case, value in reversed(list(zip(cases, values, strict=True))):
        found = np.where(case, np.int8(value), found)
    return found.astype(np.int8)


class StageVerdicts(NamedTuple):
    """One stage's verdicts on all items.

    Attributes:
        verifier: The number of the verifier; a verifier in two stages is called once.
        outcome: `OutcomeCode` of each item, -1 without one.
        settles: The stack's verdict after this stage, see `decide_by_stage`.
        asked: Whether the stage judges each item's answer type.
    """

    verifier: int
    outcome: IntArray
    settles: IntArray
    asked: BoolArray


class Stacked(NamedTuple):
    """A stack's verdicts on items.

    Attributes:
        outcome: "abstain" if no stage applies to the item; -1 if a needed verdict of a stage is missing.
        stage: The stage of each verdict; -1 if no stage applies to the item.
        by_itself: Whether that stage decided the item; otherwise no stage did, and the last stage's verdict is used.
        reached: Items that reach each stage, by stage.
        asked: Items on which each verifier is called, by verifier.
    """

    outcome: IntArray
    stage: IntArray
    by_itself: BoolArray
    reached: BoolArray
    asked: BoolArray


def simulate_stack(stages: Sequence[StageVerdicts], verifiers: int) -> Stacked:
    """Run the items through the stages.

    Args:
        verifiers: Number of verifiers.

    Raises:
        ValueError: There is no stage.
    """
    if not stages:
        raise ValueError("a stack has a stage")
    items = len(stages[0].outcome)
    outcome = np.full(items, OutcomeCode.ABSTAIN, dtype=np.int8)
    place = np.full(items, -1, dtype=np.int64)
    open_, by_itself = np.ones(items, dtype=np.bool_), np.zeros(items, dtype=np.bool_)
    reached = np.zeros((len(stages), items), dtype=np.bool_)
    asked = np.zeros((verifiers, items), dtype=np.bool_)
    for number, stage in enumerate(stages):
        here = open_ & stage.asked
        reached[number] = here
        asked[stage.verifier] |= here
        lacks = here & (stage.outcome == NOTHING)
        done = here & (stage.settles != NOTHING)
        outcome = np.where(done, stage.settles, np.where(here, stage.outcome, outcome))
        place[here] = number
        by_itself |= done
        open_ &= ~done & ~lacks
    return Stacked(outcome, place, by_itself, reached, asked)
