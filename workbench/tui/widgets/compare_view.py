"""A paired comparison as text, and the items two verifiers differ on as rows of a table."""

from __future__ import annotations

from array import array

from textual.content import Content

from workbench.model.report import CompareReport
from workbench.render.bars import counted
from workbench.services.measuring.comparing import Compared, DifferingRow
from workbench.services.measuring.comparing_text import p_value
from workbench.tui.widgets.accuracy_view import PROTOCOLS
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import Cell, Column, Row
from workbench.tui.widgets.item_source import FixedSource, marked

COLUMNS = (
    Column("completion_id", "id", min_width=10, ideal_width=20, sortable=False),
    Column("a", "A says", min_width=11, ideal_width=11, sortable=False),
    Column("b", "B says", min_width=11, ideal_width=11, sortable=False),
    Column("gold", "gold", min_width=11, ideal_width=11, sortable=False),
    Column("subtype", "type", min_width=4, ideal_width=8, sortable=False),
    Column("question", "question", min_width=12, ideal_width=60, sortable=False),
    Column("model", "model", min_width=8, ideal_width=24, sortable=False),
)
"""Columns of the items; A, B and gold say what they say in symbol and word."""


class DifferingSource(FixedSource):
    """The items only one of two verifiers judges rightly, in the order of import."""

    def __init__(self, found: Compared, order: array[int]) -> None:
        super().__init__(COLUMNS, order, lambda ids: [Row(row.item.id, _cells(row)) for row in found.rows(ids)])


def _cells(row: DifferingRow) -> tuple[Cell, ...]:
    item = row.item
    said = (marked(outcome.word) for outcome in (row.a, row.b, row.gold))
    return (Cell(item.completion_id), *said, Cell(item.subtype), Cell(item.question), Cell(item.model, "dim"))


def head(report: CompareReport, words: str) -> Content:
    """Who is compared, on what, counted how: three lines."""
    left_out = f" · {report.unpaired:,} count for one only" if report.unpaired else ""
    return Content.assemble(
        ("A ", "bold"),
        (printable(report.a), "bold $text-accent"),
        ("   B ", "bold"),
        (printable(report.b), "bold $text-accent"),
        f"\n{words} · {counted(report.n, 'item')} in {counted(report.questions, 'question')}{left_out}"
        f"\ngold {report.gold_choice} · protocol {report.protocol}: {PROTOCOLS[report.protocol]}",
    )


def table(report: CompareReport) -> Content:
    """The paired counts."""
    lines = [f"{'':<8}{'B ✓ right':>10}{'B ✗ wrong':>10}{'all':>10}"]
    for name, right, wrong in (
        ("A ✓", report.both_right, report.only_a),
        ("A ✗", report.only_b, report.both_wrong),
        ("all", report.both_right + report.only_b, report.only_a + report.both_wrong),
    ):
        lines.append(f"{name:<8}{right:>10,}{wrong:>10,}{right + wrong:>10,}")
    return Content("\n".join(lines))


def figures(report: CompareReport) -> Content:
    """Accuracies, their difference with its interval, and both tests."""
    low, high = (f"{100 * end:+.1f}" for end in report.ci)
    return Content.assemble(
        f"accuracy     A {100 * report.accuracy_a:.1f} %  B {100 * report.accuracy_b:.1f} %\n",
        "A - B points ",
        (f"{100 * report.difference:+.1f}", "bold"),
        f" [{low}, {high}]\n",
        f"McNemar      p {p_value(report.mcnemar_p)}\n",
        f"by question  p {p_value(report.permutation_p)}",
    )
