"""Compares two verifiers on the items on which both have a verdict."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, get_args

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core import selection
from workbench.core.errors import Command, UsageError
from workbench.core.options import record_from
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.records import BrowseQuery, BrowseRow
from workbench.data.store import browsing
from workbench.measuring import notes
from workbench.measuring.browsing import ItemTable
from workbench.measuring.judged import BASELINE, JudgedSelection, judged, nothing_measured
from workbench.statistics.records.comparison import CompareReport, Example, GroupComparison, JointErrorReport, Quadrant
from workbench.statistics.records.probe import JUDGES_NOTHING

GROUPS: Final = tuple(group for group in selection.GROUPS if group != "reason")
"""Groupings of wins and losses, single or crossed; without reasons, which belong to one verifier."""
TOO_FEW: Final = ("There are no two verifiers to compare.", "Two need a complete run", Command("verify DB NAME"))
"""The message, and the next step."""


class ComparedItem(Struct, frozen=True, kw_only=True):
    item: BrowseRow
    gold: OutcomeCode
    a: OutcomeCode
    b: OutcomeCode


class PairedComparison:
    """A comparison and the items behind it.

    Attributes:
        report: The metrics, without examples.
        ids: Row ids of the items of each quadrant, in the order of import.
    """

    def __init__(
        self, project: Project, report: CompareReport, found: JudgedSelection, ids: Mapping[Quadrant, array[int]]
    ) -> None:
        self.report, self.ids = report, ids
        self._table = ItemTable(project, BrowseQuery())
        self._found, self._order = found, _positions(found, report.a, report.b)

    def rows(self, ids: Sequence[int]) -> list[ComparedItem]:
        return [self._row(item) for item in self._table.rows(ids)]

    def examples(self, most: int) -> dict[Quadrant, list[Example]]:
        return {
            kind: [
                record_from(Example, row.item, gold=row.gold.word, a=row.a.word, b=row.b.word)
                for row in self.rows(ids[:most])
            ]
            for kind, ids in self.ids.items()
        }

    def _row(self, item: BrowseRow) -> ComparedItem:
        place = bisect_left(self._found.item, item.id)
        a, b = (OutcomeCode(int(self._found.outcomes[judge][place])) for judge in self._order)
        return ComparedItem(item=item, gold=OutcomeCode(int(self._found.gold[place])), a=a, b=b)


def comparable(project: Project) -> tuple[str, ...]:
    """List the verifiers that can be compared: those with a complete run, then the baseline."""
    names = tuple(browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING).values())
    return names if BASELINE in names or not names else (*names, BASELINE)


def compare(
    project: Project,
    a: str,
    b: str,
    *,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    by: str | None = None,
    examples: int = 0,
) -> CompareReport:
    """Return the metrics of `compared`.

    Args:
        examples: Maximum number of items listed for each quadrant.

    Raises:
        UsageError: See `compared`.
    """
    found = compared(project, a, b, protocol=protocol, gold=gold, selection=selection, by=by)
    return structs.replace(found.report, examples=found.examples(examples))


@at_one_moment
def compared(
    project: Project,
    a: str,
    b: str,
    *,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    by: str | None = None,
) -> PairedComparison:
    """Compare the newest complete runs of two verifiers; ``always-incorrect`` needs no run.

    Args:
        by: One of `GROUPS`, or several with commas between them, by which wins and losses are also counted; None for
            all items only.

    Raises:
        UsageError: Both verifiers are the same, one has no complete run, no item counts for both, or ``by`` is unknown.
    """
    import numpy as np

    from workbench.statistics.compare import PairedItems, compare_groups, metric_differences, quadrants
    from workbench.statistics.compare import compare as paired
    from workbench.statistics.confusion import grade

    protocol = protocol or protocol_of(project)
    _check_verifiers(a, b, by)
    found = judged(project, (a, b), gold=gold, selection=selection)
    outcomes = [found.outcomes[place] for place in _positions(found, a, b)]
    (counted_a, right_a), (counted_b, right_b) = (grade(outcome, found.gold, protocol) for outcome in outcomes)
    both = counted_a & counted_b
    of_a, of_b = (int(np.count_nonzero(one)) for one in (counted_a, counted_b))
    if not both.any():
        if found.failed:
            raise UsageError(" ".join(nothing_measured(found.failed)))
        raise UsageError(
            f"{a} and {b} have no common item that counts.",
            f"Gold {gold}, protocol {protocol}: {a} has {of_a:,} items, {b} {of_b:,}.",
        )
    judged_by_both = (found.gold >= 0) & (outcomes[0] >= 0) & (outcomes[1] >= 0)
    undecided_a, undecided_b = (
        int(np.count_nonzero(judged_by_both & (outcome >= OutcomeCode.ABSTAIN))) for outcome in outcomes
    )
    items = PairedItems(found.gold[both], right_a[both], right_b[both], found.question[both])
    ids, cells = found.item[both], quadrants(items.right_a, items.right_b)
    total = paired(cells, items.question)
    runs = {judge.name: judge.run for judge in found.judges}
    groups: list[GroupComparison] = []
    if by is not None:
        kinds = found.columns.groups(by)
        groups = compare_groups(
            cells, items.question, kinds.code[np.searchsorted(found.columns.item, ids)], kinds.names
        )
    report = CompareReport(
        **structs.asdict(total),
        accuracy_a=(total.both_right + total.only_a) / total.n,
        accuracy_b=(total.both_right + total.only_b) / total.n,
        unpaired=of_a + of_b - 2 * total.n,
        undecided_a=undecided_a,
        undecided_b=undecided_b,
        metrics=metric_differences(items),
        a=a,
        b=b,
        run_a=runs[a],
        run_b=runs[b],
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        examples={"both_right": [], "only_a": [], "only_b": [], "both_wrong": []},
        by=by,
        groups=groups,
        selection_judges=notes.among(project, (a, b), selection, found.columns),
    )
    places = {kind: array("q", ids[cell].tobytes()) for kind, cell in zip(get_args(Quadrant), cells, strict=True)}
    return PairedComparison(project, report, found, places)


def _check_verifiers(a: str, b: str, by: str | None) -> None:
    if a == b:
        raise UsageError(f"{a} can't be compared with itself.", "Name two verifiers", Command("compare DB A B"))
    if by is not None and "reason" in selection.split_grouping(by):
        raise UsageError(
            "Each verifier has its own reasons: a comparison can't be broken down by them.", f"Use {', '.join(GROUPS)}."
        )


def _positions(found: JudgedSelection, a: str, b: str) -> tuple[int, int]:
    names = [judge.name for judge in found.judges]
    return names.index(a), names.index(b)


# -- Agreement and joint errors of verifiers, which show whether combining them helps.


def joint_errors(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> JointErrorReport:
    """Return agreement and joint errors of every two verifiers, each pair on the items that count for both.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.

    Raises:
        UsageError: There are fewer than two verifiers, or a verifier has no complete run.
    """
    protocol = protocol or protocol_of(project)
    from workbench.statistics.joint_errors import Verdicts, judge_pair, verdict_codes

    found = judged(project, verifiers, gold=gold, selection=selection)
    if len(found.judges) < 2:
        raise UsageError(*TOO_FEW)
    judges = list(zip(found.judges, found.outcomes, strict=True))
    judges.sort(key=lambda one: verifiers.index(one[0].name) if one[0].name in verifiers else 0)
    words = {judge.name: verdict_codes(outcome, protocol) for judge, outcome in judges}
    return JointErrorReport(
        errors=[
            judge_pair(a, b, Verdicts(words[a], words[b], found.gold, found.question))
            for a, b in combinations(words, 2)
        ],
        verifiers={judge.name: judge.run for judge, _ in judges},
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        selection_judges=notes.among(project, words, selection, found.columns),
        failed=found.failed,
    )
