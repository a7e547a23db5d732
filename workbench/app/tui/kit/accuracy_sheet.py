"""The layout of an accuracy report: order of rows, columns, and cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from textual.content import Content

from workbench.app.tui.kit.accuracy_view import (
    BASELINE_MARK,
    PIN,
    SELECTION_JUDGE,
    Figure,
    Interval,
    group_name,
    group_title,
    short_name,
    star_of,
)
from workbench.app.tui.kit.cells import fit, fit_cell, printable
from workbench.app.tui.kit.columns import TableColumn, TableRow, rows_of, table_columns
from workbench.app.tui.kit.matrix_table import MatrixCell, MatrixColumn, MatrixRow
from workbench.core.text.figures import GLYPHS, NONE, compact_count, counted, interval_bar, percent, percent_interval
from workbench.measuring.conclusions import is_baseline
from workbench.statistics.records.report import METRICS, AccuracyReport, AccuracyRow, AverageRow
from workbench.tables.document import Cell
from workbench.tables.table import Column, Columns, column, ends, word

_BAR = 16

_NAME_CELLS = 26

_NUMBER_CELLS = 34  # cells of the other columns, gaps and scroll bar

_MIN_BAR = 16


class Detail(NamedTuple):
    """The lower table: all metrics of one verifier, or all verifiers in one group.

    Attributes:
        title: The verifier's or the group's name, with remarks.
        columns: Its columns.
        rows: Its rows; a row's id is the index of its group, or of its verifier, in the `AccuracySheet`.
    """

    title: Content
    columns: tuple[TableColumn, ...]
    rows: list[TableRow]


_TITLE_WIDTHS = {True: 20, False: 12}


class AccuracySheet:
    """An accuracy report whose rows can be looked up by verifier and group.

    Attributes:
        verifiers: Names of the verifiers, in the report's order.
        groups: The groups in the report's order; None, for all items, comes first.
    """

    def __init__(self, report: AccuracyReport) -> None:
        self.report = report
        self._rows = {(row.verifier, row.group): row for row in report.rows}
        self._averages = {row.verifier: row for row in report.averages}
        self.verifiers = list(dict.fromkeys(row.verifier for row in report.rows))
        self.groups: list[str | None] = list(dict.fromkeys(row.group for row in report.rows))

    def row(self, verifier: str | None, group: str | None) -> AccuracyRow | None:
        return None if verifier is None else self._rows.get((verifier, group))

    def average(self, verifier: str) -> AverageRow | None:
        return self._averages.get(verifier)

    def progress(self, verifier: str) -> str:
        """Return the share of items that an unfinished run has judged: ``"62 %"``; empty for a complete one."""
        share = self.report.unfinished.get(verifier)
        return "" if share is None else f"{int(100 * share)} %"

    def judged(self, verifier: str) -> str:
        """Return `progress` with the word "run", so that next to a name it is not read as a metric: ``"62 % run"``."""
        progress = self.progress(verifier)
        return progress and f"{progress} run"

    def mark(self, verifier: str, pinned: Collection[str] = ()) -> str:
        """Return the two symbols before a verifier's name: whether it is pinned, and the kind of row."""
        row = self._rows[verifier, None]
        kind = BASELINE_MARK if is_baseline(row) else SELECTION_JUDGE if row.selection_judge else " "
        return (PIN if verifier in pinned else " ") + kind

    # -- the matrix --------------------------------------------------------------------------------

    def columns(self, figure: Figure, *, wide: bool) -> list[MatrixColumn]:
        """Return one column per group; below its title the item count that most verifiers share in this group."""
        return [
            MatrixColumn(
                group,
                fit_cell(group_title(group, self.report.by, wide), _TITLE_WIDTHS[wide]).rstrip(),
                "" if (n := self._usual_item_count(group)) is None else f"n {compact_count(n)}",
                "low" if figure.rising else "high",
            )
            for group in self.groups
        ]

    def _usual_item_count(self, group: str | None) -> int | None:
        counts = Counter(row.n for name in self.verifiers if (row := self.row(name, group)) is not None)
        return counts.most_common(1)[0][0] if counts else None

    def rows(self, figure: Figure, pinned: Collection[str]) -> list[MatrixRow]:
        """Return one row per verifier: pinned ones first, in the order of pinning."""
        usual = [(group, self._usual_item_count(group), self._is_starred(group, figure)) for group in self.groups]
        on_top = [name for name in pinned if name in self.verifiers]
        names = dict.fromkeys((*on_top, *self.verifiers))
        return [
            MatrixRow(
                name,
                self.mark(name, pinned),
                name,
                self.judged(name),
                tuple(self._cell(self.row(name, group), figure, n, starred=starred) for group, n, starred in usual),
                min(place, len(on_top)),
            )
            for place, name in enumerate(names)
        ]

    def _is_starred(self, group: str | None, figure: Figure) -> bool:
        rows = (self.row(name, group) for name in self.verifiers)
        return figure.tested and any(row is not None and row.is_significant for row in rows)

    def _cell(self, row: AccuracyRow | None, figure: Figure, usual: int | None, *, starred: bool) -> MatrixCell:
        if row is None or not row.n:
            return MatrixCell(NONE)
        star = "" if not starred else star_of(self.report) if row.is_significant else " "
        other = "" if row.n == usual or figure.rising is None else f"({compact_count(row.n)})"
        step = figure.step(row)
        glyph = "" if step is None else GLYPHS[step]
        value = figure.of(row)
        text = figure.text(value)
        return MatrixCell(text + star + other, glyph, figure.tint(row), Cell(text, value=value))


# -- one verifier ------------------------------------------------------------------------------


def verifier_detail(sheet: AccuracySheet, verifier: str, figure: Figure, *, descending: bool, wide: bool) -> Detail:
    """Return all metrics of one verifier, one row per group, by the shown metric; the row of all items stays on top."""
    found = [(place, row) for place, group in enumerate(sheet.groups) if (row := sheet.row(verifier, group))]

    def place_of(row: AccuracyRow) -> tuple[bool, bool, float]:
        value = figure.of(row)
        return row.group is not None, value is None, (-1 if descending else 1) * (value or 0.0)

    found.sort(key=lambda one: place_of(one[1]))
    columns = _verifier_columns(sheet.report.by, wide=wide, scored=any(row.auroc is not None for _, row in found))
    return Detail(
        _verifier_title(sheet, verifier),
        table_columns(columns),
        rows_of(columns, found, lambda row: row.group is not None),
    )


def _verifier_title(sheet: AccuracySheet, verifier: str) -> Content:
    average, progress = sheet.average(verifier), sheet.progress(verifier)
    means = ""
    if average is not None and average.macro is not None:
        macro = f"macro {percent(average.macro)} over {counted(average.groups, 'group')} by {average.over}"
        means = f" · micro {percent(average.micro)}, {macro}"
    return Content.assemble(
        (short_name(verifier), "bold $text-accent"),
        (f" · {progress} judged so far" if progress else "", "bold $text-warning"),
        (f"{means} · in %, MCC -1 to 1", "$foreground-muted"),
    )


def _verifier_columns(by: str | None, *, wide: bool, scored: bool) -> Columns[AccuracyRow]:
    words = by == "reason"

    return (
        word(
            "group",
            lambda row: group_name(row.group, by),
            room=(8, 50 if words else 28),
            tone=lambda row: "bold" if row.group is None else "",
        ),
        column("n", lambda row: row.n, "{:,}".format if wide else compact_count, room=7 if wide else 5),
        column("qst", lambda row: row.questions, compact_count, room=5, there=wide or not words),
        _metric_column("coverage", there=wide or not words),
        column("acc", lambda row: row.accuracy, percent, room=5, tone="bold"),
        ends(lambda row: row.ci, percent_interval, words=True, room=(13, 14)),
        word(
            "0 % … 100 %",
            lambda row: NONE if row.ci is None else interval_bar(row.accuracy or 0.0, *row.ci, _BAR),
            by=lambda row: row.accuracy,
            room=_BAR,
            tone="accent",
            there=wide and not words,
        ),
        *(
            _metric_column(name, there=scored or not METRICS[name].is_optional)
            for name in METRICS
            if name not in ("accuracy", "coverage")
        ),
        column("? abst", lambda row: row.abstain, compact_count, room=6, there=wide, worst="high"),
        column("! err", lambda row: row.error, compact_count, room=6, there=wide, worst="high"),
    )


def _metric_column(name: str, *, there: bool) -> Column[AccuracyRow]:
    metric = METRICS[name]
    room = 6 if metric.low < 0 else 5
    return column(metric.short, attrgetter(name), metric.text, room=room, there=there, worst=metric.worst)


# -- one group ---------------------------------------------------------------------------------


def group_detail(
    sheet: AccuracySheet, group: str | None, figure: Figure, pinned: Collection[str], *, width: int
) -> Detail:
    """Return all verifiers in one group, best first, undefined metrics last; bars show the best baseline as a line.

    Args:
        width: Width of the table in terminal cells; bars take the cells that the numbers leave free.
    """
    found = [row for name in sheet.verifiers if (row := sheet.row(name, group)) is not None and row.n]
    found.sort(key=lambda row: (figure.of(row) is None, -(figure.of(row) or 0.0)))
    line = _best_baseline(found, figure)
    room = max(_MIN_BAR, width - _NAME_CELLS - _NUMBER_CELLS)
    low, high = figure.ends
    at = None if line is None else figure.share(figure.of(line) or 0.0)
    columns: Columns[AccuracyRow] = (
        word(
            "verifier",
            lambda row: _marked_name(sheet, row, pinned),
            by=lambda row: row.verifier,
            room=(12, _NAME_CELLS),
            tone="bold",
        ),
        column("n", lambda row: row.n, compact_count, room=5),
        column("value", figure.of, figure.text, room=6, tone="bold"),
        ends(figure.interval, partial(_interval_text, figure), words=True, room=(14, 16)),
        word(
            low.ljust(room - len(high)) + high,
            lambda row: _interval_bar(figure, row, room, at),
            by=figure.of,
            room=room,
            tone="accent",
        ),
    )
    rows = ((sheet.verifiers.index(row.verifier), row) for row in found)
    return Detail(_group_title(sheet, group, figure, line), table_columns(columns), rows_of(columns, rows, is_baseline))


def _best_baseline(rows: list[AccuracyRow], figure: Figure) -> AccuracyRow | None:
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


def _marked_name(sheet: AccuracySheet, row: AccuracyRow, pinned: Collection[str]) -> str:
    progress = sheet.judged(row.verifier)
    name = sheet.mark(row.verifier, pinned) + printable(row.verifier)
    return fit(name, _NAME_CELLS - 1 - len(progress)).rstrip() + f" {progress}" if progress else name


def _interval_text(figure: Figure, ends: Interval | None) -> str:
    return NONE if ends is None else f"[{figure.text(ends[0])}, {figure.text(ends[1])}]"


def _interval_bar(figure: Figure, row: AccuracyRow, room: int, line: float | None) -> str:
    value = figure.of(row)
    if value is None or figure.rising is None:
        return NONE
    low, high = figure.interval(row) or (value, value)
    return interval_bar(figure.share(value), figure.share(low), figure.share(high), room, line)
