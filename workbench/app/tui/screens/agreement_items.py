"""The items two people have both labelled: those on which they differ, or all of them."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from workbench.app.tui.actions import Action
from workbench.app.tui.kit.agreement_view import marked
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import TableCell, TableColumn, TableRow
from workbench.app.tui.table_screen import TableScreen
from workbench.core.label import Task
from workbench.core.text.figures import counted
from workbench.measuring.agreement_items import LabelledRow, PairItems, pair_items


def _columns(pair: tuple[str, str]) -> tuple[TableColumn, ...]:
    return (
        TableColumn("completion_id", "id", min_width=10, ideal_width=20),
        TableColumn("same", "", min_width=1, ideal_width=1),
        *(TableColumn(name, printable(name), min_width=12, ideal_width=14) for name in pair),
        TableColumn("state", "state", min_width=10, ideal_width=10),
        TableColumn("subtype", "type", min_width=4, ideal_width=8),
        TableColumn("domain", "domain", min_width=8, ideal_width=18),
        TableColumn("question", "question", min_width=10, ideal_width=60),
    )


def _row(row: LabelledRow) -> TableRow:
    item = row.item
    same = TableCell("=", "dim") if row.a == row.b else TableCell("≠", "warning")
    said = (TableCell(marked(row.a)), TableCell(marked(row.b)))
    return TableRow(
        item.id,
        (
            TableCell(item.completion_id),
            same,
            *said,
            TableCell(item.state),
            TableCell(item.subtype),
            TableCell(item.domain, "dim"),
            TableCell(item.question),
        ),
    )


class AgreementItemsScreen(TableScreen):
    """Two people's items; enter opens one, and that look is recorded as a reveal.

    Args:
        kind: The task.
        pair: Their names.
        coarse: Types by their letter.
        everything: Begin with all items, not only those on which they differ.
    """

    CSS_PATH = "agreement_items.tcss"
    TITLE_TEXT = "Items of two people"
    PREFIX, ABOVE, PALETTE = "agreement-items", ("counts",), True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("agreement-items.open", "o,enter", "open_item", "Open", "Open the item with all its labels."),
        Action("agreement-items.which", "w", "other_items", "All/≠", "List all items, or those on which they differ."),
    )
    action_open_item = TableScreen.action_open_row

    def __init__(self, kind: Task, pair: tuple[str, str], coarse: bool = False, everything: bool = False) -> None:
        super().__init__()
        self.kind, self.pair, self.coarse, self.everything = kind, pair, coarse, everything
        self.found: PairItems | None = None

    def heading(self) -> tuple[str, str]:
        """Whose items these are."""
        return "Items", f"{printable(' – '.join(self.pair))} · {'types by letter' if self.coarse else self.kind}"

    def on_mount(self) -> None:
        """Read."""
        self.put("counts", "reading …")
        work = partial(pair_items, self.project, self.kind, *self.pair, coarse=self.coarse)
        self.in_background(work, self._show, group="items")

    def _show(self, found: PairItems) -> None:
        self.found = found
        self.fill()

    def fill(self) -> None:
        """List what was asked for."""
        if self.found is None:
            return
        found, differing, same = self.found, self.found.differing, self.found.same
        listed = "all are listed" if self.everything else "those that differ are listed"
        both = counted(len(differing) + len(same), "item")
        self.put("counts", f"{both}: ≠ {len(differing):,} differ · = {len(same):,} agree · {listed}")
        order = differing + same if self.everything else differing
        self.list_items(_columns(self.pair), order, found.rows, _row)

    def action_other_items(self) -> None:
        """All items, or only those on which they differ."""
        self.everything = not self.everything
        self.fill()

    def opened(self, row: int) -> None:
        """Open the item."""
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(row, self.table.order))
