"""What a table says to its screen, and what its threads say to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

from workbench.app.tui.kit.page_cache import Page, PageCache

if TYPE_CHECKING:
    from workbench.app.tui.kit.virtual_table import VirtualTable


class TableMessage(Message, namespace="virtual_table"):
    """A message of one table."""

    def __init__(self, table: VirtualTable) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> VirtualTable:
        """The table that sent it."""
        return self.table


class RowHighlighted(TableMessage, namespace="virtual_table"):
    """The cursor is on another row."""

    def __init__(self, table: VirtualTable, row_id: int, index: int) -> None:
        super().__init__(table)
        self.row_id = row_id
        self.index = index


class RowSelected(TableMessage, namespace="virtual_table"):
    """A row was opened: enter, or a click on the row under the cursor."""

    def __init__(self, table: VirtualTable, row_id: int) -> None:
        super().__init__(table)
        self.row_id = row_id


class SortRequested(TableMessage, namespace="virtual_table"):
    """The header of a sortable column was clicked; answer with a sorted source. Rows in memory sort themselves."""

    def __init__(self, table: VirtualTable, column: str) -> None:
        super().__init__(table)
        self.column = column


class PositionChanged(TableMessage, namespace="virtual_table"):
    """The position, as text for people, is another one."""

    def __init__(self, table: VirtualTable, position: str) -> None:
        super().__init__(table)
        self.position = position


class SelectionHidden(TableMessage, namespace="virtual_table"):
    """The view does not hold the selected row; it is selected again when a view does."""

    def __init__(self, table: VirtualTable, row_id: int) -> None:
        super().__init__(table)
        self.row_id = row_id


class Failed(TableMessage, namespace="virtual_table"):
    """The source could not be read."""

    def __init__(self, table: VirtualTable, error: BaseException) -> None:
        super().__init__(table)
        self.error = error


class Counted(Message, bubble=False):
    """A thread knows how many rows there are."""

    def __init__(self, worker: Worker[None], count: int) -> None:
        super().__init__()
        self.worker = worker
        self.count = count


class ViewReady(Message, bubble=False):
    """A thread has rows to show, and the place of the selected row among them.

    Attributes:
        worker: The worker that read them; its cancellation makes the message void.
        sought: The id that was looked for.
        index: Where it is; None when it is not there.
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
