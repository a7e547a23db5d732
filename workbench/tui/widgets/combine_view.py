"""Tables of the Combine screen as rows, and one row in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from workbench.errors import WorkbenchError
from workbench.services.measuring.combined import CombinedRow, CombinedSheet, Standing
from workbench.tui.combined_reading import Task
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import CellStyle, TableCell, TableColumn, TableRow
from workbench.tui.widgets.sources import MemorySource

TASKS: Final[dict[Task, str]] = {
    "ensembles": "Ensembles",
    "best-of": "Best of n",
    "estimate": "Estimate",
    "downstream": "Downstream",
}
"""What can be asked, in the order of the keys."""

_STANDINGS: Final[dict[Standing, TableCell]] = {
    "": TableCell(""),
    "better": TableCell("▲ better", "success"),
    "worse": TableCell("▼ worse", "error"),
    "not told apart": TableCell("≈ alike", "dim"),
}
_STANDING = TableColumn("standing", "", 8, 8)
_WORDS = 24
"""Cells up to which a column of words is never cut."""


def tabs(task: Task, keys: Mapping[Task, str]) -> Content:
    """What can be asked, with its key; brackets are round what is shown."""
    parts: list[str | tuple[str, str]] = []
    for name, title in TASKS.items():
        text = f"{keys[name]} {title}".strip()
        parts.append((f"[{text}]", "bold $text-accent") if name == task else f" {text} ")
    return Content.assemble(*parts)


def head(text: str) -> Content:
    """What is counted, and how; the first line says of whom."""
    return Content("\n").join(Content(printable(line)) for line in text.split("\n"))


def caption(sheet: CombinedSheet, place: int, count: int) -> Content:
    """What the table shows, and which of how many it is."""
    which = f"table {place + 1} of {count} · " if count > 1 else ""
    return Content(which + printable(sheet.caption))


def columns(sheet: CombinedSheet) -> tuple[TableColumn, ...]:
    """The first column stays in sight; how a row stands comes behind the words."""
    found = [_column(sheet, place) for place in range(len(sheet.columns))]
    if _has_standings(sheet):
        found.insert(sheet.left, _STANDING)
    return tuple(found)


def _column(sheet: CombinedSheet, place: int) -> TableColumn:
    """As wide as what stands in it; a column of words may be cut where it is very wide."""
    title = printable(sheet.columns[place])
    texts = [title, *(printable(line.cells[place]) for line in sheet.lines)]
    width = max(map(cell_len, texts))
    if place < sheet.left:
        return TableColumn(str(place), title, min(width, _WORDS), width)
    return TableColumn(str(place), title, width, width, "right")


def rows(sheet: CombinedSheet) -> list[TableRow]:
    """The lines; a row's id is its place."""
    return [TableRow(place, _cells(sheet, line)) for place, line in enumerate(sheet.lines)]


def _cells(sheet: CombinedSheet, line: CombinedRow) -> tuple[TableCell, ...]:
    first: CellStyle = "bold" if line.standing in ("better", "worse") else ""
    found = [TableCell(text, first if place == 0 else "") for place, text in enumerate(line.cells)]
    if _has_standings(sheet):
        found.insert(sheet.left, _STANDINGS[line.standing])
    return tuple(found)


def names(sheet: CombinedSheet) -> list[tuple[str, ...]]:
    """What the lines are of, in their order."""
    return [line.cells[: sheet.left] for line in sheet.lines]


def _has_standings(sheet: CombinedSheet) -> bool:
    return any(line.standing for line in sheet.lines)


def words(sheet: CombinedSheet, place: int) -> Content:
    """A row with all its figures, what they say, and the notes on the table."""
    line = sheet.lines[place]
    name = " · ".join(filter(None, line.cells[: sheet.left]))
    figures = " · ".join(
        f"{title} {text}"
        for title, text in zip(sheet.columns[sheet.left :], line.cells[sheet.left :], strict=True)
        if text
    )
    meaning = (f"▲ better ▼ worse ≈ alike (not told apart): beside {sheet.against}.",) if _has_standings(sheet) else ()
    return Content.assemble(
        (printable(name), "bold"),
        f" · {printable(figures)}",
        *((f"\n{printable(said)}", "$text-accent") for said in line.words),
        *((f"\n{printable(note)}", "$foreground-muted") for note in (*meaning, *sheet.notes)),
    )


def nothing(text: str) -> MemorySource:
    """A table without figures, and why in a word or two."""
    return MemorySource((TableColumn("nothing", ""),), [TableRow(0, (TableCell(text, "dim"),))])


def trouble(error: BaseException) -> Content:
    """Why there is nothing to show."""
    if isinstance(error, WorkbenchError):
        return Content.assemble((printable(error.message), "bold"), (f"\n{printable(error.hint)}", "$foreground-muted"))
    return Content(f"{type(error).__name__}: {printable(str(error))}")
