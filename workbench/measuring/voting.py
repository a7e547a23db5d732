"""Items that several verifiers have judged, as ballots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.columns import Columns, Groups, columns
from workbench.measuring.judged import BASELINE, JudgedSelection, VerifierRun, judged, nothing_measured

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray
    from workbench.statistics.ensembles import Ballots


class VotedItems(Struct, frozen=True, kw_only=True, eq=False):
    """Items with gold that all members have judged; arrays with one value an item.

    Attributes:
        groups: What they are broken down by.
        members: The verifiers that vote.
        protocol: How undecided rows count.
        unjudged: Items with gold that lack a member's verdict.
        failed: Verifiers that don't vote, because they failed on all they were asked about, and on how many items.
    """

    gold: IntArray
    question: IntArray
    groups: Groups | None
    members: tuple[VerifierRun, ...]
    ballots: Ballots
    protocol: Protocol3
    unjudged: int
    failed: dict[str, int]


def voted_items(
    project: Project,
    verifiers: tuple[str, ...],
    selection: Selection,
    *,
    folds: int,
    by: str | None,
    protocol: Protocol3,
    gold: GoldChoice,
) -> VotedItems:
    """The verdicts of the members' newest complete runs, questions dealt out to folds.

    Args:
        verifiers: The members; empty for all with a complete run, but the baseline.

    Raises:
        UsageError: Fewer than two members, too many of them, or fewer questions than folds.
    """
    import numpy as np

    from workbench.statistics.cross_fitting import fold_of
    from workbench.statistics.ensembles import ballots
    from workbench.statistics.intervals import distinct

    everything = columns(project)
    found = judged(project, verifiers, gold=gold, selection=selection, known=everything)
    members = _members(found, verifiers)
    known = found.gold >= 0
    kept = known & np.all([outcome >= 0 for _, outcome in members], axis=0)
    question = found.question[kept]
    _check_folds(distinct(question), folds)
    outcomes = [outcome[kept] for _, outcome in members]
    return VotedItems(
        gold=found.gold[kept],
        question=question,
        groups=None if by is None else _groups(everything, selection, by, kept),
        members=tuple(judge for judge, _ in members),
        ballots=ballots(outcomes, found.gold[kept], fold_of(question, folds)),
        protocol=protocol,
        unjudged=int(np.count_nonzero(known & ~kept)),
        failed=found.failed,
    )


def _members(found: JudgedSelection, named: tuple[str, ...]) -> list[tuple[VerifierRun, IntArray]]:
    """The members with their outcomes: those named, else all that look at the completion.

    Raises:
        UsageError: There are too few or too many.
    """
    from workbench.statistics.ensembles import MOST_MEMBERS

    pairs = zip(found.judges, found.outcomes, strict=True)
    if named and found.failed:
        raise UsageError(*nothing_measured(found.failed))
    there = [(judge, outcome) for judge, outcome in pairs if named or judge.name != BASELINE]
    members = [(judge, outcome) for judge, outcome in there if judge.name not in found.failed]
    if 2 <= len(members) <= MOST_MEMBERS:
        return members
    names = ", ".join(judge.name for judge, _ in members) or "none"
    raise UsageError(
        f"An ensemble has 2 to {MOST_MEMBERS} verifiers, not {len(members)}: {names}.",
        "Name them with --verifier, or start another: workbench verify DB NAME",
    )


def _check_folds(questions: int, folds: int) -> None:
    if questions < folds:
        raise UsageError(
            f"{folds} folds need as many questions; {questions:,} have gold and a verdict of every member.",
            "Use fewer --folds or other verifiers.",
        )


def _groups(everything: Columns, wanted: Selection, by: str, kept: BoolArray) -> Groups:
    groups, chosen = everything.groups(by), everything.chosen(wanted)
    code = groups.code if chosen is None else groups.code[chosen]
    return structs.replace(groups, code=code[kept])
