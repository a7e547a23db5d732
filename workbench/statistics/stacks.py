"""Simulates stacks on arrays: the verdicts of verifiers in sequence, from each one's verdicts on all items.

Nothing is asked: whoever has run the stages has run every stack of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from workbench.core.verdict import Outcome, OutcomeCode
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

NOTHING = np.int8(-1)
"""No verdict; of what settles an item: it goes on."""


def settled(
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
        outcomes: Its own verdicts that settle an item.
        least: A score from which on an item is correct, whatever the verdict but a failure.
        most: The same for a score up to which it is incorrect; the former goes first.
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
        verifier: Which verifier's they are: one that stands in two places is asked once.
        outcome: `OutcomeCode`, -1 where it has none.
        settles: See `settled`.
        asked: Whether it is asked about an item at all, by its answer type.
    """

    verifier: int
    outcome: IntArray
    settles: IntArray
    asked: BoolArray


class Stacked(NamedTuple):
    """A stack's verdicts on items.

    Attributes:
        outcome: "abstain" where no stage is for the item; -1 where a stage's verdict is needed that isn't there.
        stage: The stage that each verdict is of; -1 where no stage is for the item.
        by_itself: Whether that stage settled it; else it is what the last one said.
        reached: Which items each stage is asked about, by stage.
        asked: Which items each verifier is asked about, by verifier.
    """

    outcome: IntArray
    stage: IntArray
    by_itself: BoolArray
    reached: BoolArray
    asked: BoolArray


def stacked(stages: Sequence[StageVerdicts], verifiers: int) -> Stacked:
    """Run the items through the stages.

    Args:
        verifiers: How many verifiers there are.

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
