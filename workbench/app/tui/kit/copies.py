"""Copyable parts of a table: the cell and the row under the cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual.widget import Widget

from workbench.app.tui.keymap import Action
from workbench.core.text.excerpt import shorten_line
from workbench.core.text.figures import NONE
from workbench.core.text.inert import inert

if TYPE_CHECKING:
    from workbench.app.tui.kit.columns import TableColumn, TableRow


_MAX_CELL: Final = 30
"""Maximum characters of a cell in the menu."""


class Copyable(NamedTuple):
    """One thing that can be copied.

    Attributes:
        key: The key that copies it, in the menu.
        text: Returns the text; called in a thread.
    """

    key: str
    name: str
    text: Callable[[], str]


def row_copyables(columns: Sequence[TableColumn], row: TableRow, here: int) -> Iterator[Copyable]:
    """Yield the cell under the cursor, and its row, as copyable texts.

    Args:
        here: The index of the cell in the row.
    """
    cell = row.cells[here]
    said = inert(shorten_line(cell.full, _MAX_CELL)) or NONE
    yield Copyable("c", f"the cell: {said} ({columns[here].title or 'mark'})", lambda: cell.full)
    yield Copyable("r", "the row, as Markdown", lambda: markdown([one.title for one in columns], [row]))


def markdown(titles: Iterable[str], rows: Iterable[TableRow]) -> str:
    lines = [list(titles), *([cell.full for cell in row.cells] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(map(in_line, line))} |\n" for line in lines)


def in_line(text: str) -> str:
    """Escape a text for a cell of a Markdown table; terminal control characters are made visible."""
    return inert(text.strip()).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


class ActingWidget(Widget):
    """A widget whose actions join those of its screen while it has the focus.

    Attributes:
        ACTIONS: Actions whose keys are the widget's bindings.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = ()

    @abstractmethod
    def copies(self) -> Iterator[Copyable]:
        """Yield what can be copied now."""
