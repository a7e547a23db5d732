"""The layout of an accuracy report: order of rows, columns, and cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import NamedTuple

from textual.content import Content

from workbench.app.tui.kit.accuracy_view import (
    BASELINE_MARK,
    PIN,
    SELECTION_JUDGE,
    Figure,
    group_name,
    group_title,
    short_name,
    star_of,
)
from workbench.app.tui.kit.cells import fit, fit_cell, printable
from workbench.app.tui.kit.columns import TableColumn, TableRow, rows_of, table_columns
from workbench.app.tui.kit.matrix_table import MatrixRow, tint_tone
from workbench.core.text.figures import GLYPHS, NONE, compact_count, counted, interval_bar, percent, percent_interval
from workbench.measuring.accuracy_tables import is_baseline
from workbench.statistics.records.report import METRICS, AccuracyReport, AccuracyRow
from workbench.tables.document import Cell
from workbench.tables.table import Column, Columns, Worst, column, ends, word

_BAR = 16

_NAME_CELLS = 26


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
ALL = "all"
"""The key of the column of all items."""


class AccuracySheet:
    """An accuracy report whose rows can be looked up by verifier and group.

    Attributes:
        verifiers: Names of the verifiers, in the report's order.
        groups: The groups in the report's order; None, for all items, comes first.
        averages: The means over groups, by verifier.
    """

    def __init__(self, report: AccuracyReport) -> None:
        self.report = report
        self._rows = {(row.verifier, row.group): row for row in report.rows}
        self.averages = {row.verifier: row for row in report.averages}
        self.verifiers = list(dict.fromkeys(row.verifier for row in report.rows))
        self.groups: list[str | None] = list(dict.fromkeys(row.group for row in report.rows))

    def row(self, verifier: str | None, group: str | None) -> AccuracyRow | None:
        return None if verifier is None else self._rows.get((verifier, group))

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

    def columns(self, figure: Figure, *, wide: bool) -> list[TableColumn]:
        """Return one column per group; below its title the item count that most verifiers share in this group."""
        found = []
        for group in self.groups:
            title = fit_cell(group_title(group, self.report.by, wide), _TITLE_WIDTHS[wide]).rstrip()
            n = self._usual_item_count(group)
            worst: Worst = "low" if figure.rising else "high"
            below = () if n is None else (f"n {compact_count(n)}",)
            found.append(TableColumn(group or ALL, title, 0, 0, "right", worst, below))
        return found

    def _usual_item_count(self, group: str | None) -> int | None:
        counts = Counter(row.n for name in self.verifiers if (row := self.row(name, group)) is not None)
        return counts.most_common(1)[0][0] if counts else None

    def rows(self, figure: Figure, pinned: Collection[str]) -> list[MatrixRow]:
        """Return one row per verifier: pinned ones first, in the order of pinning."""
        significant = {row.group for row in self.report.rows if figure.tested and row.is_significant}
        usual = [(group, self._usual_item_count(group), group in significant) for group in self.groups]
        on_top = [name for name in pinned if name in self.verifiers]
        found = []
        for place, name in enumerate(dict.fromkeys((*on_top, *self.verifiers))):
            named = self.mark(name, pinned) + printable(name)
            cells = (self._cell(self.row(name, group), figure, n, starred=starred) for group, n, starred in usual)
            first = Cell(named, "bold", small=self.judged(name), value=name, whole=name)
            found.append(MatrixRow(name, (first, *cells), min(place, len(on_top))))
        return found

    def _cell(self, row: AccuracyRow | None, figure: Figure, usual: int | None, *, starred: bool) -> Cell:
        if row is None or not row.n:
            return Cell(NONE)
        star = "" if not starred else star_of(self.report) if row.is_significant else " "
        other = "" if row.n == usual or figure.rising is None else f"({compact_count(row.n)})"
        step = figure.step(row)
        glyph = "" if step is None else GLYPHS[step]
        value = figure.of(row)
        text = figure.text(value)
        return Cell(glyph + text + star + other, tint_tone(figure.tint(row)), value=value, whole=text)


# -- below the matrix --------------------------------------------------------------------------


def verifier_detail(sheet: AccuracySheet, verifier: str, figure: Figure, *, descending: bool, wide: bool) -> Detail:
    """Return all metrics of one verifier, one row per group, by the shown metric; the row of all items stays on top."""
    found = [(place, row) for place, group in enumerate(sheet.groups) if (row := sheet.row(verifier, group))]

    def place_of(row: AccuracyRow) -> tuple[bool, bool, float]:
        value = figure.of(row)
        return row.group is not None, value is None, (-1 if descending else 1) * (value or 0.0)

    found.sort(key=lambda one: place_of(one[1]))
    by = sheet.report.by
    name: Column[AccuracyRow] = word(
        "group",
        lambda row: group_name(row.group, by),
        room=(8, 50 if by == "reason" else 28),
        tone=lambda row: "bold" if row.group is None else "",
    )
    return _detail(_verifier_title(sheet, verifier), name, found, lambda row: row.group is not None, wide=wide)


def group_detail(
    sheet: AccuracySheet, group: str | None, figure: Figure, pinned: Collection[str], *, wide: bool
) -> Detail:
    """Return all metrics of all verifiers in one group, best first by the shown metric, undefined ones last."""
    found = [row for name in sheet.verifiers if (row := sheet.row(name, group)) is not None and row.n]
    sign = 1 if figure.rising is False else -1
    found.sort(key=lambda row: (figure.of(row) is None, sign * (figure.of(row) or 0.0)))
    name: Column[AccuracyRow] = word(
        "verifier",
        lambda row: _marked_name(sheet, row, pinned),
        by=lambda row: row.verifier,
        room=(12, _NAME_CELLS),
        tone="bold",
    )
    title = Content.assemble(
        (group_name(group, sheet.report.by), "bold $text-accent"),
        (f" · best first by {figure.words.partition(':')[0]}", "$foreground-muted"),
    )
    return _detail(title, name, [(sheet.verifiers.index(row.verifier), row) for row in found], is_baseline, wide=wide)


def _detail(
    title: Content,
    name: Column[AccuracyRow],
    found: Sequence[tuple[int, AccuracyRow]],
    block: Callable[[AccuracyRow], int],
    *,
    wide: bool,
) -> Detail:
    columns = (name, *_metric_columns(wide=wide, scored=any(row.auroc is not None for _, row in found)))
    return Detail(title, table_columns(columns), rows_of(columns, found, block))


def _verifier_title(sheet: AccuracySheet, verifier: str) -> Content:
    average, progress = sheet.averages.get(verifier), sheet.progress(verifier)
    means = ""
    if average is not None and average.macro is not None:
        macro = f"macro {percent(average.macro)} over {counted(average.groups, 'group')} by {average.over}"
        means = f" · micro {percent(average.micro)}, {macro}"
    return Content.assemble(
        (short_name(verifier), "bold $text-accent"),
        (f" · {progress} judged so far" if progress else "", "bold $text-warning"),
        (f"{means} · in %, MCC -1 to 1", "$foreground-muted"),
    )


def _metric_columns(*, wide: bool, scored: bool) -> Columns[AccuracyRow]:
    def metric(name: str) -> Column[AccuracyRow]:
        found = METRICS[name]
        room, there = 6 if found.low < 0 else 5, scored or not found.is_optional
        return column(found.short, attrgetter(name), found.text, room=room, there=there, worst=found.worst)

    return (
        column("n", lambda row: row.n, "{:,}".format if wide else compact_count, room=7 if wide else 5),
        column("qst", lambda row: row.questions, compact_count, room=5),
        metric("coverage"),
        column("acc", lambda row: row.accuracy, percent, room=5, tone="bold"),
        ends(lambda row: row.ci, percent_interval, words=True, room=(13, 14)),
        word(
            "0 % … 100 %",
            lambda row: NONE if row.ci is None else interval_bar(row.accuracy or 0.0, *row.ci, _BAR),
            by=lambda row: row.accuracy,
            room=_BAR,
            tone="accent",
            there=wide,
        ),
        *(metric(name) for name in METRICS if name not in ("accuracy", "coverage")),
        column("? abst", lambda row: row.abstain, compact_count, room=6, there=wide, worst="high"),
        column("! err", lambda row: row.error, compact_count, room=6, there=wide, worst="high"),
    )


def _marked_name(sheet: AccuracySheet, row: AccuracyRow, pinned: Collection[str]) -> str:
    progress = sheet.judged(row.verifier)
    name = sheet.mark(row.verifier, pinned) + printable(row.verifier)
    return fit(name, _NAME_CELLS - 1 - len(progress)).rstrip() + f" {progress}" if progress else name
