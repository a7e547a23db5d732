"""Two verifiers against each other, on the items both have a verdict for."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.errors import UsageError
from workbench.model.browse import BrowseQuery, BrowseRow
from workbench.model.report import CompareReport, Example
from workbench.model.selection import Selection
from workbench.model.study import JUDGES_NOTHING
from workbench.model.verdict import GoldChoice, Outcome, Protocol3
from workbench.services.items.browsing import ItemTable
from workbench.services.measuring.accuracy import complete_run, outcome_column
from workbench.services.measuring.judged import BASELINE
from workbench.services.project import Project
from workbench.store import browsing, figures
from workbench.store.selection import check_names

if TYPE_CHECKING:
    from workbench.analysis.arrays import IntArray


class DifferingRow(Struct, frozen=True, kw_only=True):
    """An item with what is true of it and what A and B said of it."""

    item: BrowseRow
    gold: Outcome
    a: Outcome
    b: Outcome


class Compared:
    """A comparison and the items A and B differ on.

    Attributes:
        report: The figures; its examples are empty.
        only_a: Row ids of the items only A judges rightly, in the order of import.
        only_b: The same for B.
    """

    def __init__(
        self,
        project: Project,
        report: CompareReport,
        columns: figures.GoldColumns,
        outcomes: Sequence[IntArray],
        only_a: array[int],
        only_b: array[int],
    ) -> None:
        self.report, self.only_a, self.only_b = report, only_a, only_b
        self._table = ItemTable(project, BrowseQuery())
        self._columns, self._outcomes = columns, outcomes

    def rows(self, ids: Sequence[int]) -> list[DifferingRow]:
        """Rows by id, in the order asked for."""
        return [self._row(item) for item in self._table.rows(ids)]

    def examples(self, ids: Sequence[int]) -> list[Example]:
        """Rows by id, as a report names them."""
        return [
            Example(
                dataset=row.item.dataset,
                question_id=row.item.question_id,
                completion_id=row.item.completion_id,
                gold=row.gold.word,
                a=row.a.word,
                b=row.b.word,
            )
            for row in self.rows(ids)
        ]

    def _row(self, item: BrowseRow) -> DifferingRow:
        place = bisect_left(self._columns.item, item.id)
        a, b = (Outcome(int(outcome[place])) for outcome in self._outcomes)
        return DifferingRow(item=item, gold=Outcome(self._columns.gold[place]), a=a, b=b)


def comparable(project: Project) -> tuple[str, ...]:
    """The verifiers that can be compared: those with a complete run, then the baseline; none if there is no run."""
    names = tuple(browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING).values())
    return names if BASELINE in names or not names else (*names, BASELINE)


def compare(
    project: Project,
    a: str,
    b: str,
    *,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    examples: int = 0,
) -> CompareReport:
    """The figures of `compared`.

    Args:
        examples: Name at most so many of the items only A, and of those only B, judges rightly.

    Raises:
        UsageError: As `compared`.
    """
    found = compared(project, a, b, protocol=protocol, gold=gold, selection=selection)
    kinds = {"only_a": found.only_a, "only_b": found.only_b}
    return structs.replace(found.report, examples={kind: found.examples(ids[:examples]) for kind, ids in kinds.items()})


def compared(
    project: Project,
    a: str,
    b: str,
    *,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> Compared:
    """Compare the newest complete runs of two verifiers; ``always-incorrect`` needs none.

    Raises:
        UsageError: Both are the same, one has no complete run, or no item counts for both.
    """
    import numpy as np

    from workbench.analysis.compare import compare as paired
    from workbench.analysis.compare import quadrants
    from workbench.analysis.confusion import grade

    if a == b:
        raise UsageError(f"{a} can't be compared with itself.", "Name two verifiers: workbench compare DB A B")
    runs = complete_run(project, a), complete_run(project, b)
    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    columns = figures.gold_columns(reader, wanted, None, gold)
    truth = np.asarray(columns.gold, dtype=np.int8)
    outcomes = [outcome_column(project, columns, run) for run in runs]
    (counted_a, right_a), (counted_b, right_b) = (grade(outcome, truth, protocol) for outcome in outcomes)
    both = counted_a & counted_b
    if not both.any():
        raise UsageError(
            f"{a} and {b} have no item in common that counts.",
            f"Gold {gold}, protocol {protocol}: {a} has {counted_a.sum():,} items, {b} {counted_b.sum():,}.",
        )
    cells = quadrants(right_a[both], right_b[both])
    found = paired(cells, np.asarray(columns.question, dtype=np.int64)[both])
    items = np.asarray(columns.item, dtype=np.int64)[both]
    report = CompareReport(
        **structs.asdict(found),
        a=a,
        b=b,
        run_a=runs[0],
        run_b=runs[1],
        accuracy_a=(found.both_right + found.only_a) / found.n,
        accuracy_b=(found.both_right + found.only_b) / found.n,
        unpaired=int(np.count_nonzero(counted_a ^ counted_b)),
        protocol=protocol,
        gold=figures.gold_counts(reader, wanted),
        gold_choice=gold,
        examples={"only_a": [], "only_b": []},
    )
    only_a, only_b = (array("q", items[cell].tobytes()) for cell in (cells.only_a, cells.only_b))
    return Compared(project, report, columns, outcomes, only_a, only_b)
