"""The items behind a cell of the accuracy table: the very rows its figures are counted from."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec import Struct

from workbench.model.browse import BrowseQuery, BrowseRow
from workbench.model.report import NO_REASON
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice, Outcome
from workbench.services.items.browsing import ItemTable
from workbench.services.measuring.accuracy import complete_run
from workbench.services.project import Project
from workbench.store import figures

_ORDER: tuple[tuple[Outcome, bool], ...] = (
    (Outcome.CORRECT, False),
    (Outcome.INCORRECT, True),
    (Outcome.ABSTAIN, True),
    (Outcome.ABSTAIN, False),
    (Outcome.ERROR, True),
    (Outcome.ERROR, False),
    (Outcome.CORRECT, True),
    (Outcome.INCORRECT, False),
)
"""Verdict and gold, most worth a look first: wrongly accepted, wrongly refused, undecided, right."""


class JudgedRow(Struct, frozen=True, kw_only=True):
    """An item with what the verifier said of it and what is true of it.

    Attributes:
        reason: The verdict's reason code; "" without one.
    """

    item: BrowseRow
    outcome: Outcome
    gold: bool
    reason: str


class JudgedItems:
    """Items with gold and a verdict of one verifier, wrong verdicts first.

    Attributes:
        wrong: How many verdicts differ from gold.
        undecided: How many abstained or failed.
        right: How many agree with gold.
    """

    def __init__(self, project: Project, run: int | None, found: dict[tuple[Outcome, bool], array[int]]) -> None:
        self._project, self._run = project, run
        self._table = ItemTable(project, BrowseQuery())
        self._found = [(kind, found.get(kind, array("q"))) for kind in _ORDER]
        sizes = [len(ids) for _, ids in self._found]
        self.wrong, self.undecided, self.right = sum(sizes[:2]), sum(sizes[2:6]), sum(sizes[6:])

    def __len__(self) -> int:
        return self.wrong + self.undecided + self.right

    def ids(self) -> array[int]:
        """Row ids in order."""
        everything = array("q")
        for _, ids in self._found:
            everything.extend(ids)
        return everything

    def rows(self, ids: Sequence[int]) -> list[JudgedRow]:
        """Rows by id, in the order asked for; ids of other items are left out."""
        reasons = {} if self._run is None else figures.reasons_of(self._project.database.reader(), self._run, ids)
        return [
            JudgedRow(item=item, outcome=kind[0], gold=kind[1], reason=reasons.get(item.id, ""))
            for item in self._table.rows(ids)
            if (kind := self._kind(item.id)) is not None
        ]

    def _kind(self, item: int) -> tuple[Outcome, bool] | None:
        for kind, ids in self._found:
            place = bisect_left(ids, item)
            if place < len(ids) and ids[place] == item:
                return kind
        return None


def judged_items(
    project: Project,
    verifier: str,
    conditions: Iterable[Condition] = (),
    gold: GoldChoice = "final",
    reason: str | None = None,
) -> JudgedItems:
    """The items one verifier's accuracy is counted from (its newest run that has been complete).

    Args:
        reason: Only verdicts with this reason, or without any for `NO_REASON`; None for all.

    Raises:
        UsageError: The verifier has no complete run.
    """
    reader = project.database.reader()
    columns = figures.gold_columns(reader, Selection(tuple(conditions)), None, gold)
    truth = {item: bool(value) for item, value in zip(columns.item, columns.gold, strict=True) if value >= 0}
    found: dict[tuple[Outcome, bool], array[int]] = {}
    run = complete_run(project, verifier)
    for item, outcome in _verdicts(project, run, reason, truth):
        if item in truth:
            found.setdefault((Outcome(outcome), truth[item]), array("q")).append(item)
    return JudgedItems(project, run, found)


def _verdicts(project: Project, run: int | None, reason: str | None, items: Iterable[int]) -> Iterable[tuple[int, int]]:
    if run is not None:
        return zip(*figures.outcomes(project.database.reader(), run, reason), strict=True)
    return ((item, Outcome.INCORRECT) for item in items if reason in (None, NO_REASON))
