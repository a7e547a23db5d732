"""Sources of the pool as table cells, and one of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.content import Content

from workbench.model.curation import COUNTING, SourceStatus
from workbench.model.taxonomy import TYPES
from workbench.render.bars import compact_count, counted
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow

_UNTYPED: Final = "none"


def columns(*, wide: bool) -> tuple[TableColumn, ...]:
    """Numbers of a source's questions, and in a wide terminal its licence."""

    def number(key: str, width: int = 5) -> TableColumn:
        return TableColumn(key, key, width, width, "right")

    return (
        TableColumn("source", "source", 12, 40),
        number("questions", 9),
        *map(number, ("out", "left", *TYPES)),
        number("untyped", 7),
        number("drawn"),
        *((TableColumn("licence", "licence", 7, 24),) if wide else ()),
    )


def row(place: int, one: SourceStatus, *, wide: bool, whole: bool) -> TableRow:
    """One source, or the whole pool; its place is the row's id."""
    out, untyped = one.questions - one.left, one.types.get(_UNTYPED, 0)
    return TableRow(
        place,
        (
            TableCell(one.source, "bold"),
            TableCell(f"{one.questions:,}"),
            TableCell(compact_count(out), "warning" if out else "dim"),
            TableCell(compact_count(one.left)),
            *(TableCell(compact_count(one.types.get(letter, 0))) for letter in TYPES),
            TableCell(compact_count(untyped), "warning" if untyped else "dim"),
            TableCell(compact_count(sum(one.drawn.values()))),
            *((_licence(one, whole=whole),) if wide else ()),
        ),
    )


def _licence(one: SourceStatus, *, whole: bool) -> TableCell:
    if whole:
        return TableCell("")
    return TableCell("? unknown", "warning") if one.licence is None else TableCell(one.licence)


def words(one: SourceStatus, *, whole: bool, stale: int) -> Content:
    """Why questions are out, who says their types, and what was drawn.

    Args:
        whole: Of the whole pool.
        stale: Duplicates of a question that is out itself, of all sources.
    """
    lines = [
        f"{counted(one.questions, 'question')}, {one.left:,} in"
        + ("" if whole else f"; licence: {one.licence or 'unknown'}"),
        f"out: {_counted(one.excluded)}",
        f"types: {_counted(one.types)}",
        f"they count: {_counted({word: one.origins[word] for word in COUNTING if word in one.origins})}",
        f"not yet: {_counted({word: count for word, count in one.origins.items() if word not in COUNTING})}"
        + (" (curate types --accept)" if {"one person", "model"} & set(one.origins) else ""),
        f"drawn: {_counted(one.drawn)}",
    ]
    text = Content.assemble((printable(one.source), "bold"), "\n", "\n".join(map(printable, lines)))
    if stale:
        text += Content.styled(f"\n! {stale:,} duplicates of a question that is out itself", "$text-warning")
    return text


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"
