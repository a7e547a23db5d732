"""Messages of a table to its screen, and of its threads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

if TYPE_CHECKING:
    from workbench.app.tui.kit.arranged_view import ArrangedView
    from workbench.app.tui.kit.columns import RowSource, Sort
    from workbench.app.tui.kit.sources import Page, PageCache
    from workbench.core.selection import Condition


class TableMessage(Message, namespace="virtual_table"):
    """A message of a table; `@on` selects by the table."""

    def __init__(self, table: ArrangedView) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> ArrangedView:
        return self.table


class RowHighlighted(TableMessage, namespace="virtual_table"):
    """The cursor is on another row."""

    def __init__(self, table: ArrangedView, row_id: int, index: int) -> None:
        super().__init__(table)
        self.row_id = row_id
        self.index = index


class RowSelected(TableMessage, namespace="virtual_table"):
    """A row was opened: enter, or a click on the row under the cursor."""

    def __init__(self, table: ArrangedView, row_id: int) -> None:
        super().__init__(table)
        self.row_id = row_id


class SortRequested(TableMessage, namespace="virtual_table"):
    """Another order is requested, None for that of the query itself; answer with a source in that order.

    Only a source that is `queried` leaves this to the screen.
    """

    def __init__(self, table: ArrangedView, sort: Sort | None) -> None:
        super().__init__(table)
        self.sort = sort


class NarrowRequested(TableMessage, namespace="virtual_table"):
    """Other conditions are requested than those under which the screen reads its rows."""

    def __init__(self, table: ArrangedView, conditions: tuple[Condition, ...]) -> None:
        super().__init__(table)
        self.conditions = conditions


class CountsRequested(TableMessage, namespace="virtual_table"):
    """The values of a column are to be counted.

    Attributes:
        source: The listed rows.
        column: The index of the column.
    """

    def __init__(self, table: ArrangedView, source: RowSource, column: int) -> None:
        super().__init__(table)
        self.source = source
        self.column = column


class ExportRequested(TableMessage, namespace="virtual_table"):
    """The list is to be saved or copied.

    Attributes:
        source: The listed rows.
        columns: The indexes of the shown columns.
    """

    def __init__(self, table: ArrangedView, source: RowSource, columns: tuple[int, ...]) -> None:
        super().__init__(table)
        self.source = source
        self.columns = columns


class SelectionHidden(TableMessage, namespace="virtual_table"):
    """The view does not hold the selected row; it is selected again once a view does."""

    def __init__(self, table: ArrangedView, row_id: int) -> None:
        super().__init__(table)
        self.row_id = row_id


class Failed(TableMessage, namespace="virtual_table"):
    """The source could not be read."""

    def __init__(self, table: ArrangedView, error: BaseException) -> None:
        super().__init__(table)
        self.error = error


class Counted(Message, bubble=False):
    """A thread has counted the rows."""

    def __init__(self, worker: Worker[None], count: int) -> None:
        super().__init__()
        self.worker = worker
        self.count = count


class ViewReady(Message, bubble=False):
    """A thread has rows to show, and the index of the selected row among them.

    Attributes:
        worker: The worker that read them; cancelling it invalidates the message.
        sought: The id that was looked for.
        index: Its index; None if it is missing.
    """

    def __init__(
        self, worker: Worker[None], cache: PageCache, sought: int | None = None, index: int | None = None
    ) -> None:
        super().__init__()
        self.worker = worker
        self.cache = cache
        self.sought = sought
        self.index = index


class PageReady(Message, bubble=False):
    """A thread has read one page."""

    def __init__(self, cache: PageCache, page: Page) -> None:
        super().__init__()
        self.cache = cache
        self.page = page
