"""Compares two verifiers on the items on which both have a verdict."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core import selection
from workbench.core.errors import Command, UsageError
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.records.browse import BrowseQuery, BrowseRow
from workbench.data.store import browsing
from workbench.measuring import notes
from workbench.measuring.browsing import ItemTable
from workbench.measuring.columns import Columns
from workbench.measuring.judged import BASELINE, JudgedSelection, judged, nothing_measured
from workbench.statistics.records.comparison import CompareReport, Example, GroupComparison, JointErrorReport, Quadrant
from workbench.statistics.records.probe import JUDGES_NOTHING

if TYPE_CHECKING:
    from workbench.statistics.compare import PairedItems, Quadrants
    from workbench.statistics.confusion import BoolArray, IntArray


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
        return {kind: [_example(row) for row in self.rows(ids[:most])] for kind, ids in self.ids.items()}

    def _row(self, item: BrowseRow) -> ComparedItem:
        place = bisect_left(self._found.item, item.id)
        a, b = (OutcomeCode(int(self._found.outcomes[judge][place])) for judge in self._order)
        return ComparedItem(item=item, gold=OutcomeCode(int(self._found.gold[place])), a=a, b=b)


def _example(row: ComparedItem) -> Example:
    return Example(
        dataset=row.item.dataset,
        question_id=row.item.question_id,
        completion_id=row.item.completion_id,
        gold=row.gold.word,
        a=row.a.word,
        b=row.b.word,
    )


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
    protocol = protocol or protocol_of(project)
    _check_verifiers(a, b, by)
    found = judged(project, (a, b), gold=gold, selection=selection)
    items, counts = _pair_items(found, _positions(found, a, b), protocol)
    if not len(items.gold):
        if found.failed:
            raise UsageError(" ".join(nothing_measured(found.failed)))
        raise UsageError(
            f"{a} and {b} have no common item that counts.",
            f"Gold {gold}, protocol {protocol}: {a} has {counts.of_a:,} items, {b} {counts.of_b:,}.",
        )
    ids = found.item[counts.both]
    cells = _quadrants_of(items)
    runs = {judge.name: judge.run for judge in found.judges}
    report = CompareReport(
        **_comparison_fields(items, cells, counts),
        a=a,
        b=b,
        run_a=runs[a],
        run_b=runs[b],
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        examples={"both_right": [], "only_a": [], "only_b": [], "both_wrong": []},
        by=by,
        groups=[] if by is None else _compare_by_group(found.columns, by, ids, cells, items.question),
        selection_judges=notes.among(project, (a, b), selection, found.columns),
    )
    return PairedComparison(project, report, found, _ids_by_quadrant(ids, cells))


def _check_verifiers(a: str, b: str, by: str | None) -> None:
    if a == b:
        raise UsageError(f"{a} can't be compared with itself.", "Name two verifiers", Command("compare DB A B"))
    if by is not None and "reason" in selection.split_grouping(by):
        raise UsageError(
            "Each verifier has its own reasons: a comparison can't be broken down by them.", f"Use {', '.join(GROUPS)}."
        )


def _quadrants_of(items: PairedItems) -> Quadrants:
    from workbench.statistics.compare import quadrants

    return quadrants(items.right_a, items.right_b)


def _comparison_fields(items: PairedItems, cells: Quadrants, counts: _PairedCounts) -> dict[str, Any]:
    from workbench.statistics.compare import compare as paired
    from workbench.statistics.compare import metric_differences

    total = paired(cells, items.question)
    return {
        **structs.asdict(total),
        "accuracy_a": (total.both_right + total.only_a) / total.n,
        "accuracy_b": (total.both_right + total.only_b) / total.n,
        "unpaired": counts.of_a + counts.of_b - 2 * total.n,
        "undecided_a": counts.undecided_a,
        "undecided_b": counts.undecided_b,
        "metrics": metric_differences(items),
    }


def _ids_by_quadrant(ids: IntArray, cells: Quadrants) -> dict[Quadrant, array[int]]:
    return {
        "both_right": array("q", ids[cells.both_right].tobytes()),
        "only_a": array("q", ids[cells.only_a].tobytes()),
        "only_b": array("q", ids[cells.only_b].tobytes()),
        "both_wrong": array("q", ids[cells.both_wrong].tobytes()),
    }


class _PairedCounts(Struct, frozen=True, kw_only=True, eq=False):
    both: BoolArray
    of_a: int
    of_b: int
    undecided_a: int
    undecided_b: int


def _positions(found: JudgedSelection, a: str, b: str) -> tuple[int, int]:
    names = [judge.name for judge in found.judges]
    return names.index(a), names.index(b)


def _pair_items(
    found: JudgedSelection, order: tuple[int, int], protocol: Protocol3
) -> tuple[PairedItems, _PairedCounts]:
    import numpy as np

    from workbench.statistics.compare import PairedItems
    from workbench.statistics.confusion import grade

    a, b = (found.outcomes[place] for place in order)
    (counted_a, right_a), (counted_b, right_b) = (grade(outcome, found.gold, protocol) for outcome in (a, b))
    both = counted_a & counted_b
    judged_by_both = (found.gold >= 0) & (a >= 0) & (b >= 0)
    undecided_a, undecided_b = (
        int(np.count_nonzero(judged_by_both & (outcome >= OutcomeCode.ABSTAIN))) for outcome in (a, b)
    )
    counts = _PairedCounts(
        both=both,
        of_a=int(np.count_nonzero(counted_a)),
        of_b=int(np.count_nonzero(counted_b)),
        undecided_a=undecided_a,
        undecided_b=undecided_b,
    )
    return PairedItems(found.gold[both], right_a[both], right_b[both], found.question[both]), counts


def _compare_by_group(
    everything: Columns, by: str, ids: IntArray, cells: Quadrants, question: IntArray
) -> list[GroupComparison]:
    import numpy as np

    from workbench.statistics.compare import compare_groups

    groups = everything.groups(by)
    return compare_groups(cells, question, groups.code[np.searchsorted(everything.item, ids)], groups.names)


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
    order = sorted(range(len(found.judges)), key=lambda place: _display_rank(found.judges[place].name, verifiers))
    words = {found.judges[place].name: verdict_codes(found.outcomes[place], protocol) for place in order}
    return JointErrorReport(
        errors=[
            judge_pair(a, b, Verdicts(words[a], words[b], found.gold, found.question))
            for a, b in combinations(words, 2)
        ],
        verifiers={found.judges[place].name: found.judges[place].run for place in order},
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        selection_judges=notes.among(project, words, selection, found.columns),
        failed=found.failed,
    )


def _display_rank(name: str, verifiers: tuple[str, ...]) -> int:
    return verifiers.index(name) if name in verifiers else 0
