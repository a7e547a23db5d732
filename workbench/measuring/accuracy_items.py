"""The items behind a cell of the accuracy table, which its metrics count."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from workbench.config import protocol_of
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.records import BrowseQuery, BrowseRow
from workbench.measuring.browsing import ItemTable
from workbench.measuring.entries import AccuracyQuery, Entries
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, IntArray

Which = Literal["all", "wrong", "accepted", "refused", "undecided", "right"]
"""All items, or those wrong, wrongly accepted, wrongly rejected, undecided, or right."""

_RANKS: Final = ((7, 1), (0, 6), (3, 2), (5, 4))
"""Display rank of each `OutcomeCode` on gold incorrect and correct: first wrongly accepted, then wrongly rejected,
undecided and right."""


class AccuracyCell(Struct, frozen=True, kw_only=True):
    """A cell of an accuracy table.

    Attributes:
        verifier: A verifier (also one whose run is in progress) or a baseline.
        by: The property that forms the table's groups; None without groups.
        group: The group of the cell; None for all items.
        conditions: Conditions on the items of the table.
    """

    verifier: str
    by: str | None = None
    group: str | None = None
    conditions: tuple[Condition, ...] = ()
    protocol: Protocol3 | None = None
    gold: GoldChoice = "final"


class JudgedRow(Struct, frozen=True, kw_only=True):
    """An item with its verdict and its gold.

    Attributes:
        reason: The verdict's reason code; "" without one.
        right: Whether it counts as right under the protocol.
    """

    item: BrowseRow
    outcome: OutcomeCode
    gold: bool
    reason: str
    right: bool


class JudgedItems:
    """The items a cell counts, wrong verdicts first.

    Attributes:
        protocol: How undecided items are counted: the cell's protocol, else the project's.
        wrong: Number of items that count as wrong (FP + FN of the cell).
        right: Number of items that count as right (TP + TN of the cell).
        undecided: Number of items in ``wrong`` and ``right`` on which the verifier abstained or failed.
        left_out: Number of undecided items that the protocol doesn't count; these are not listed.
    """

    def __init__(self, project: Project, cell: AccuracyCell) -> None:
        import numpy as np

        from workbench.statistics.confusion import grade

        self._table = ItemTable(project, BrowseQuery())
        asked = AccuracyQuery(
            verifiers=(cell.verifier,), gold=cell.gold, selection=Selection(cell.conditions), live=True
        )
        entries = Entries(project, asked)
        entry = next(entry for entry in entries.everyone if entry.name == cell.verifier)
        known, outcome = entries.everything, entry.outcome
        gold = known.gold(cell.gold)
        chosen = _mask_of_cell(entries, cell, entry.run) & (outcome >= 0) & (gold >= 0)
        self.protocol = cell.protocol or protocol_of(project)
        graded = grade(outcome, gold, self.protocol)
        rows = np.flatnonzero(chosen & graded.counted)
        order = rows[np.argsort(np.array(_RANKS)[outcome[rows], gold[rows]], kind="stable")]
        self.item: IntArray = known.item[order]
        self.left_out = int(chosen.sum()) - len(rows)
        self.undecided = int((outcome[rows] >= OutcomeCode.ABSTAIN).sum())
        self.right = int(graded.right[rows].sum())
        self.wrong = len(rows) - self.right
        self._outcome, self._gold, self._is_right = outcome[order], gold[order], graded.right[order]
        reasons = known.reasons(entry.run)
        self._reason, self._names = reasons.code[order], reasons.names
        self._by_item = np.argsort(self.item)

    def __len__(self) -> int:
        return len(self.item)

    def ids(self, which: Which = "all") -> array[int]:
        return array("q", self.item[self._mask(which)].tobytes())

    def reasons(self, which: Which = "all") -> list[tuple[str, int]]:
        import numpy as np

        counts = np.bincount(self._reason[self._mask(which)], minlength=len(self._names))
        found = [(self._names[place], int(counts[place])) for place in np.flatnonzero(counts)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def rows(self, ids: Sequence[int]) -> list[JudgedRow]:
        places = self._positions(ids)
        return [self._row(item, places[item.id]) for item in self._table.rows(ids) if item.id in places]

    def _mask(self, which: Which) -> IntArray:
        import numpy as np

        kinds: dict[Which, BoolArray] = {
            "all": np.ones(len(self), dtype=np.bool_),
            "wrong": ~self._is_right,
            "accepted": (self._outcome == OutcomeCode.CORRECT) & (self._gold == 0),
            "refused": (self._outcome == OutcomeCode.INCORRECT) & (self._gold == 1),
            "undecided": self._outcome >= OutcomeCode.ABSTAIN,
            "right": self._is_right,
        }
        return np.flatnonzero(kinds[which])

    def _positions(self, ids: Sequence[int]) -> dict[int, int]:
        import numpy as np

        if not len(self):
            return {}
        at = np.searchsorted(self.item, np.asarray(ids, dtype=np.int64), sorter=self._by_item)
        places = self._by_item[np.minimum(at, len(self) - 1)].tolist()
        return {item: place for item, place in zip(ids, places, strict=True) if self.item[place] == item}

    def _row(self, item: BrowseRow, place: int) -> JudgedRow:
        reason = self._names[self._reason[place]]
        return JudgedRow(
            item=item,
            outcome=OutcomeCode(int(self._outcome[place])),
            gold=bool(self._gold[place]),
            reason="" if reason == NO_REASON else reason,
            right=bool(self._is_right[place]),
        )


def _mask_of_cell(entries: Entries, cell: AccuracyCell, run: int | None) -> BoolArray:
    import numpy as np

    known = entries.everything
    kept = known.chosen(entries.asked.selection)
    chosen = np.ones(len(known.item), dtype=np.bool_) if kept is None else kept
    if cell.by is None or cell.group is None:
        return chosen
    groups = known.groups(cell.by, run)
    return chosen & (groups.code == groups.names.index(cell.group) if cell.group in groups.names else False)
