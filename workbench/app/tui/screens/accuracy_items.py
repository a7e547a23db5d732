"""The items of one cell of the accuracy table, wrong verdicts first, with their reasons."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final, get_args

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.accuracy_view import PROTOCOLS
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import following
from workbench.app.tui.kit.columns import verdict_cell
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.table_screen import TableScreen
from workbench.core.reasons import title
from workbench.core.text.figures import counted
from workbench.core.verdict import OutcomeCode
from workbench.measuring.accuracy_items import AccuracyCell as AccuracyCell
from workbench.measuring.accuracy_items import JudgedItems, JudgedRow, Which
from workbench.statistics.records.report import NO_REASON
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, identifier, word

_WORDS: Final[dict[Which, str]] = {
    "all": "total",
    "wrong": "counted as wrong",
    "accepted": "wrongly accepted",
    "refused": "wrongly rejected",
    "undecided": "undecided",
    "right": "counted as right",
}

_REASONS = 4
"""Maximum number of reasons shown by name."""


def _reason_title(reason: str) -> str:
    return title(reason).removeprefix("compared as ") or reason


def _result_cell(row: JudgedRow) -> Cell:
    if row.outcome >= OutcomeCode.ABSTAIN:
        return Cell("? right", "warning") if row.right else Cell("? wrong", "warning")
    return Cell("✓ right", "success") if row.right else Cell("✗ wrong", "error")


_COLUMNS: Columns[JudgedRow] = (
    identifier("id", lambda row: row.item.completion_id, room=(6, 20)),
    column("result", lambda row: row, _result_cell, words=True, room=8),
    column("verdict", lambda row: row.outcome.word, verdict_cell, words=True, room=11),
    column("gold", lambda row: "correct" if row.gold else "incorrect", verdict_cell, words=True, room=11),
    word("why", lambda row: _reason_title(row.reason), room=(18, 28)),
    word("type", lambda row: row.item.subtype, room=4),
    word("question", lambda row: row.item.question, room=(6, 36)),
    word("model", lambda row: row.item.model, room=(5, 16), tone="dim"),
)


class AccuracyItemsScreen(TableScreen):
    """One verifier's verdicts on one group of items; enter opens an item with its evidence.

    Args:
        cell: The cell with the items.
        words: Description of the group of items, for the title.
    """

    TITLE_TEXT = "Items of a cell"
    PREFIX, ABOVE, PALETTE, ITEMS = "accuracy-items", ("counts",), True, True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("accuracy-items.open", "enter", "open_row", "Open", "Open the item with the verdict's evidence."),
        Action("accuracy-items.which", "w", "next_kind(1)", "Which", "List all, wrong, wrongly accepted, undecided …"),
        Action("accuracy-items.what-if", "ctrl+t,f3", "what_if", "What if", "Try other options of the verifier."),
        Action("accuracy-items.which-before", "W", "next_kind(-1)", "Previous kind", "List the previous kind.", False),
        Action("accuracy-items.triage", "m", "triage", "Triage", "Assign causes to the wrong verdicts, case by case."),
    )

    def __init__(self, cell: AccuracyCell, words: str) -> None:
        super().__init__()
        self.cell, self.words = cell, words
        self.which: Which = "all"
        self.items: JudgedItems | None = None

    def heading(self) -> tuple[str, str]:
        return f"{printable(self.cell.verifier)}, {self.words}", "items"

    def on_mount(self) -> None:
        self.put("counts", "reading …")
        self.in_background(partial(JudgedItems, self.project, self.cell), self._show, group="items", stops=True)

    def _show(self, items: JudgedItems) -> None:
        self.items = items
        self.fill()

    def fill(self) -> None:
        if self.items is None:
            return
        items, order = self.items, self.items.ids(self.which)
        self.put("counts", self._counts_text(items, len(order)))
        self.table.set_source(FixedSource(_COLUMNS, order, items.rows, lambda row: row.item.id))

    def _counts_text(self, items: JudgedItems, listed: int) -> str:
        left_out = f" · {counted(items.left_out, 'undecided item')} left out" if items.left_out else ""
        undecided = f" · ? {items.undecided:,} of them undecided" if items.undecided else ""
        shown = "" if self.which == "all" else f"{counted(listed, 'item')} {_WORDS[self.which]} · "
        of: Which = "wrong" if self.which == "all" and items.wrong else self.which
        return (
            f"{counted(len(items), 'item')} counted: ✗ {items.wrong:,} wrong · ✓ {items.right:,} right{undecided}\n"
            f"gold {self.cell.gold} · protocol {items.protocol}: {PROTOCOLS[items.protocol]}{left_out}\n"
            f"{shown}{'why wrong' if of != self.which else 'why'}: {self._reasons_text(items, of)}"
        )

    def _reasons_text(self, items: JudgedItems, which: Which) -> str:
        found = items.reasons(which)
        named = [
            f"{printable(_reason_title(code)) if code != NO_REASON else 'no reason'} {n:,}"
            for code, n in found[:_REASONS]
        ]
        more = f" · {len(found) - _REASONS} more" if len(found) > _REASONS else ""
        return " · ".join(named) + more or "–"

    def action_next_kind(self, step: int) -> None:
        self.which = following(self.which, get_args(Which)[::step])
        self.fill()

    def action_what_if(self) -> None:
        from workbench.app.tui.screens.what_if import WhatIfScreen

        self.app.push_screen(WhatIfScreen.of_cell(self.cell, self.item_here))

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(row, self.table.order, (self.cell.verifier,)))

    def action_triage(self) -> None:
        from workbench.app.tui.screens.triage import TriageScreen
        from workbench.measuring.reviewing.triage import of_cell

        self.app.push_screen(TriageScreen(partial(of_cell, cell=self.cell, words=self.words)))
