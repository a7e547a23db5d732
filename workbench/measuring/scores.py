"""A verifier's scores beside gold, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice
from workbench.measuring.columns import columns
from workbench.measuring.judged import judges_of

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray, IntArray


class ItemScores(Struct, frozen=True, kw_only=True, eq=False):
    """One value an item of a selection, in order of row id.

    Attributes:
        run: The run whose verdicts they are.
        item: Row ids.
        outcome: The run's outcomes, -1 for none.
        score: Its scores, NaN for none.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Positions in ``names``; None without a grouping.
    """

    verifier: str
    run: int
    item: IntArray
    question: IntArray
    outcome: IntArray
    score: FloatArray
    gold: IntArray
    group: IntArray | None
    names: tuple[str, ...]


def scored(
    project: Project, verifier: str, selection: Selection, gold: GoldChoice, by: str | None = None
) -> ItemScores:
    """The scores of a verifier's newest complete run.

    Raises:
        UsageError: There is no such run, or none of its verdicts has a score.
    """
    everything = columns(project)
    run = judges_of(project, (verifier,))[0].run
    score = everything.score(run)
    if run is None or score is None:
        raise UsageError(f"{verifier} gives no scores.", "A reward model or a similarity metric does.")
    kept = everything.chosen(selection)
    rows = slice(None) if kept is None else kept
    groups = everything.groups(by) if by else None
    return ItemScores(
        verifier=verifier,
        run=run,
        item=everything.item[rows],
        question=everything.question[rows],
        outcome=everything.outcome(run)[rows],
        score=score[rows],
        gold=everything.gold(gold)[rows],
        group=None if groups is None else groups.code[rows],
        names=() if groups is None else groups.names,
    )
