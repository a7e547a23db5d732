"""Messages of a table to its screen, and of its threads to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

if TYPE_CHECKING:
    from workbench.app.tui.kit.arranged_view import ArrangedView
    from workbench.app.tui.kit.columns import RowSource, Sort
    from workbench.app.tui.kit.sources import Page, PageCache
    from workbench.core.selection import Condition


@dataclass
class TableMessage(Message, namespace="virtual_table"):
    table: ArrangedView

    @property
    def control(self) -> ArrangedView:
        return self.table


@dataclass
class RowHighlighted(TableMessage, namespace="virtual_table"):
    row_id: int


@dataclass
class ColumnHighlighted(TableMessage, namespace="virtual_table"):
    """The cursor has moved to another column."""


@dataclass
class RowSelected(TableMessage, namespace="virtual_table"):
    """A row was opened: enter, or a click on the row under the cursor."""

    row_id: int


@dataclass
class SortRequested(TableMessage, namespace="virtual_table"):
    """The user requests another order (None: the query's own); the screen must set a source in that order.

    It is sent only for a source that is `queried`; the table sorts other sources itself.
    """

    sort: Sort | None


@dataclass
class NarrowRequested(TableMessage, namespace="virtual_table"):
    """The user requests other conditions for the screen's query; `conditions` replace the current ones."""

    conditions: tuple[Condition, ...]


@dataclass
class CountsRequested(TableMessage, namespace="virtual_table"):
    """The user requests a count of each value in a column.

    Attributes:
        source: The listed rows.
        column: The index of the column.
    """

    source: RowSource
    column: int


@dataclass
class ExportRequested(TableMessage, namespace="virtual_table"):
    """The user requests to save or copy the list.

    Attributes:
        source: The listed rows.
        columns: The indexes of the shown columns.
    """

    source: RowSource
    columns: tuple[int, ...]


@dataclass
class SelectionHidden(TableMessage, namespace="virtual_table"):
    """The selected row is not among the rows; it is selected again once it is."""


@dataclass
class Failed(TableMessage, namespace="virtual_table"):
    error: BaseException


@dataclass
class ViewReady(Message, bubble=False):
    """A thread has read rows to show, and found the index of the selected row among them.

    Attributes:
        worker: The worker that read them; cancelling it invalidates the message.
        sought: The id of the selected row, which was looked for.
        index: The selected row's index; None if it is not among the rows.
    """

    worker: Worker[None]
    cache: PageCache
    sought: int | None = None
    index: int | None = None


@dataclass
class PageReady(Message, bubble=False):
    cache: PageCache
    page: Page
