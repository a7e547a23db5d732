"""The table below the matrix: one verifier in all groups, or all verifiers in one group."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from textual.content import Content

from workbench.model.report import AccuracyRow
from workbench.render.bars import NONE, compact_count, interval_bar, percent
from workbench.tui.widgets.accuracy_figures import FIGURES, Figure
from workbench.tui.widgets.accuracy_sheet import AccuracySheet
from workbench.tui.widgets.accuracy_view import group_name, interval, is_baseline, short_name
from workbench.tui.widgets.cells import fit, printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow

_BAR = 16
_NAME = 26
_NUMBERS = 34  # cells of the other columns, gaps and scroll bar
_NARROWEST_BAR = 16


class Detail(NamedTuple):
    """What the table shows.

    Attributes:
        title: What it is about.
        columns: Its columns.
        rows: Its rows; an id is the place of a group, or of a verifier, in the sheet.
    """

    title: Content
    columns: tuple[TableColumn, ...]
    rows: list[TableRow]


def _number(key: str, title: str, width: int) -> TableColumn:
    return TableColumn(key, title, width, width, "right")


# -- one verifier ------------------------------------------------------------------------------


def of_verifier(sheet: AccuracySheet, verifier: str, *, wide: bool) -> Detail:
    """Every figure of one verifier, a row a group."""
    found = [(place, row) for place, group in enumerate(sheet.groups) if (row := sheet.row(verifier, group))]
    scored = any(row.auroc is not None for _, row in found)
    words = sheet.report.by == "reason"
    return Detail(
        _verifier_title(sheet, verifier),
        _verifier_columns(wide, scored, words),
        [TableRow(place, _verifier_cells(row, sheet.report.by, wide, scored)) for place, row in found],
    )


def _verifier_title(sheet: AccuracySheet, verifier: str) -> Content:
    average, progress = sheet.average(verifier), sheet.progress(verifier)
    means = ""
    if average is not None and average.macro is not None:
        macro = f"macro {percent(average.macro)} over {average.groups} groups by {average.over}"
        means = f" · micro {percent(average.micro)}, {macro}"
    return Content.assemble(
        (short_name(verifier), "bold $text-accent"),
        (f" · {progress} judged so far" if progress else "", "bold $text-warning"),
        (f"{means} · in %, MCC -1 to 1", "$foreground-muted"),
    )


def _verifier_columns(wide: bool, scored: bool, words: bool) -> tuple[TableColumn, ...]:
    """Reasons in words need the room of some other columns."""
    return (
        TableColumn("group", "group", 8, 50 if words else 28),
        _number("n", "n", 7 if wide else 5),
        *((_number("questions", "qst", 5), _number("coverage", "cov", 5)) if wide or not words else ()),
        _number("accuracy", "acc", 5),
        TableColumn("interval", "95 % interval", 13, 14),
        *((TableColumn("bar", "0 % … 100 %", _BAR, _BAR),) if wide and not words else ()),
        _number("balanced", "BA", 5),
        _number("mcc", "MCC", 6),
        _number("fpr", "FPR", 5),
        _number("fnr", "FNR", 5),
        *((_number("auroc", "AUROC", 5),) if scored else ()),
        *((_number("abstain", "? abst", 6), _number("error", "! err", 6)) if wide else ()),
    )


def _verifier_cells(row: AccuracyRow, by: str | None, wide: bool, scored: bool) -> tuple[TableCell, ...]:
    words = by == "reason"
    bar = TableCell(NONE if row.ci is None else interval_bar(row.accuracy or 0.0, *row.ci, _BAR), "accent")
    extent = TableCell(compact_count(row.questions)), TableCell(percent(row.coverage))
    return (
        TableCell(group_name(row.group, by), "bold" if row.group is None else ""),
        TableCell(f"{row.n:,}" if wide and row.n < 1_000_000 else compact_count(row.n)),
        *(extent if wide or not words else ()),
        TableCell(percent(row.accuracy), "bold"),
        TableCell(interval(row)),
        *((bar,) if wide and not words else ()),
        TableCell(percent(row.balanced_accuracy)),
        TableCell(FIGURES["mcc"].text(row.mcc)),
        TableCell(percent(row.fpr)),
        TableCell(percent(row.fnr)),
        *((TableCell(NONE if row.auroc is None else f"{row.auroc:.3f}"),) if scored else ()),
        *((TableCell(compact_count(row.abstain)), TableCell(compact_count(row.error))) if wide else ()),
    )


# -- one group ---------------------------------------------------------------------------------


def of_group(sheet: AccuracySheet, group: str | None, figure: Figure, pinned: Collection[str], *, width: int) -> Detail:
    """All verifiers in one group, the highest figure first and who has none last, beside the best baseline.

    Args:
        width: Cells of the table; what is left of them after the numbers is the bars'.
    """
    found = [row for name in sheet.verifiers if (row := sheet.row(name, group)) is not None and row.n]
    found.sort(key=lambda row: (figure.of(row) is None, -(figure.of(row) or 0.0)))
    line = _best_baseline(found, figure)
    room = max(_NARROWEST_BAR, width - _NAME - _NUMBERS)
    low, high = figure.ends
    at = None if line is None else figure.share(figure.of(line) or 0.0)
    return Detail(
        _group_title(sheet, group, figure, line),
        (
            TableColumn("verifier", "verifier", 12, _NAME),
            _number("n", "n", 5),
            _number("figure", "value", 6),
            TableColumn("interval", "95 % interval", 14, 16),
            TableColumn("bar", low.ljust(room - len(high)) + high, room, room),
        ),
        [
            TableRow(sheet.verifiers.index(row.verifier), _group_cells(sheet, row, figure, pinned, room, at))
            for row in found
        ],
    )


def _best_baseline(rows: list[AccuracyRow], figure: Figure) -> AccuracyRow | None:
    """The baseline a verifier has to beat; None where no figure is better than another, or none has one."""
    found = [row for row in rows if is_baseline(row) and figure.of(row) is not None]
    if not found or figure.rising is None:
        return None
    return (max if figure.rising else min)(found, key=lambda row: figure.of(row) or 0.0)


def _group_title(sheet: AccuracySheet, group: str | None, figure: Figure, line: AccuracyRow | None) -> Content:
    against = f" · ┊ {line.verifier} {figure.text(figure.of(line))}" if line is not None else ""
    return Content.assemble(
        (group_name(group, sheet.report.by), "bold $text-accent"),
        (f" · {figure.words.partition(':')[0]}{printable(against)}", "$foreground-muted"),
    )


def _group_cells(
    sheet: AccuracySheet, row: AccuracyRow, figure: Figure, pinned: Collection[str], room: int, line: float | None
) -> tuple[TableCell, ...]:
    value, ends, progress = figure.of(row), figure.interval(row), sheet.progress(row.verifier)
    name = sheet.mark(row.verifier, pinned) + printable(row.verifier)
    shown = NONE if value is None or figure.rising is None else _bar(figure, value, ends, room, line)
    return (
        TableCell(fit(name, _NAME - 1 - len(progress)).rstrip() + f" {progress}" if progress else name, "bold"),
        TableCell(compact_count(row.n)),
        TableCell(figure.text(value), "bold"),
        TableCell(NONE if ends is None else f"[{figure.text(ends[0])}, {figure.text(ends[1])}]"),
        TableCell(shown, "accent"),
    )


def _bar(figure: Figure, value: float, ends: tuple[float, float] | None, room: int, line: float | None) -> str:
    low, high = ends or (value, value)
    return interval_bar(figure.share(value), figure.share(low), figure.share(high), room, line)
