"""An accuracy report as table cells and sentences: no figure without its n, protocol and gold."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench.model import reasons
from workbench.model.report import AccuracyReport, AccuracyRow
from workbench.model.taxonomy import TYPES, UNTYPED, type_display, type_name
from workbench.model.verdict import Protocol3
from workbench.render.bars import NONE, compact_count, counted, interval_bar, percent
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import Cell, Column, Row

PROTOCOLS: dict[Protocol3, str] = {
    "forced": "undecided counts as “incorrect”",
    "strict": "undecided counts as wrong",
    "decided": "undecided is left out",
}
"""Protocol -> what it makes of abstentions and errors."""

_BAR = 16
_SENTENCE_BAR = 30


def groups_of(report: AccuracyReport) -> list[str | None]:
    """The groups in the report's order; None, for all items, comes first."""
    return list(dict.fromkeys(row.group for row in report.rows))


def verifiers_of(report: AccuracyReport) -> list[str]:
    """The verifiers in the report's order."""
    return list(dict.fromkeys(row.verifier for row in report.rows))


def group_name(group: str | None, by: str | None) -> str:
    """A group in words: ``"all"``, ``"A - Numeric Values"``, ``"number - compared as numbers"``, a source's name."""
    if group is None:
        return "all"
    if by == "reason":
        return printable(reasons.named(group))
    if by in ("type", "subtype") and group != UNTYPED:
        return type_display(group)
    return printable(group) or "(none)"


def group_title(group: str | None, by: str | None, wide: bool) -> str:
    """A group as a column's title: a code where it has one."""
    if by == "reason" and group is not None:
        return printable(group)
    if group is None or by not in ("type", "subtype") or group == UNTYPED:
        return group_name(group, by)
    return f"{group} {type_name(group)}" if wide and group in TYPES else group


def matrix_text(row: AccuracyRow | None) -> str:
    """A cell of the overview: accuracy in percent, and n in brackets."""
    return NONE if row is None else f"{percent(row.accuracy)} ({compact_count(row.n)})"


def interval(row: AccuracyRow) -> str:
    """The 95 % interval in percent."""
    return NONE if row.ci is None else f"[{percent(row.ci[0])}, {percent(row.ci[1])}]"


def auroc_text(row: AccuracyRow) -> str:
    """The area under the ROC curve, to three digits."""
    return NONE if row.auroc is None else f"{row.auroc:.3f}"


def caption(report: AccuracyReport) -> Content:
    """Protocol, gold and where the gold comes from."""
    sources = ", ".join(f"{number:,} {name}" for name, number in report.gold.items() if number) or "no items"
    return Content.assemble(
        "accuracy in % (n) · protocol ",
        (report.protocol, "bold"),
        f" ({PROTOCOLS[report.protocol]})\ngold ",
        (report.gold_choice, "bold"),
        f" ({sources}) · by ",
        (report.by or "nothing", "bold"),
    )


def verifier_title(report: AccuracyReport, verifier: str) -> Content:
    """What the lower table is about."""
    return Content.assemble(
        (printable(verifier), "bold $text-accent"),
        (
            f" · {report.protocol} protocol · {report.gold_choice} gold · figures in %, MCC from -1 to 1",
            "$foreground-muted",
        ),
    )


def scored(report: AccuracyReport, verifier: str) -> bool:
    """Whether a verifier's scores can be measured somewhere."""
    return any(row.auroc is not None for row in report.rows if row.verifier == verifier)


def detail_columns(wide: bool, with_auroc: bool, by: str | None) -> tuple[Column, ...]:
    """Columns of one verifier's table; reasons in words need the room of some others."""
    words = by == "reason"

    def number(key: str, title: str, width: int) -> Column:
        return Column(key, title, width, width, "right", sortable=False)

    return (
        Column("group", "group", 8, 50 if words else 28, sortable=False),
        number("n", "n", 7 if wide else 5),
        *((number("questions", "qst", 5), number("coverage", "cov", 5)) if wide or not words else ()),
        number("accuracy", "acc", 5),
        Column("interval", "95 % interval", 13, 14, sortable=False),
        *((Column("bar", "0 % … 100 %", _BAR, _BAR, sortable=False),) if wide and not words else ()),
        number("balanced", "BA", 5),
        number("mcc", "MCC", 6),
        number("fpr", "FPR", 5),
        number("fnr", "FNR", 5),
        *((number("auroc", "AUROC", 5),) if with_auroc else ()),
        *((number("abstain", "? abst", 6), number("error", "! err", 6)) if wide else ()),
    )


def detail_rows(report: AccuracyReport, verifier: str, wide: bool) -> list[Row]:
    """One verifier's rows; a row's id is the place of its group in `groups_of`."""
    places = {group: place for place, group in enumerate(groups_of(report))}
    with_auroc = scored(report, verifier)
    return [
        Row(places[row.group], _detail_cells(row, report.by, wide, with_auroc))
        for row in report.rows
        if row.verifier == verifier
    ]


def _detail_cells(row: AccuracyRow, by: str | None, wide: bool, with_auroc: bool) -> tuple[Cell, ...]:
    words = by == "reason"
    bar = Cell(NONE if row.ci is None else interval_bar(row.accuracy or 0.0, *row.ci, _BAR), "accent")
    extent = Cell(compact_count(row.questions)), Cell(percent(row.coverage))
    texts: Sequence[Cell] = (
        Cell(group_name(row.group, by), "bold" if row.group is None else ""),
        Cell(f"{row.n:,}" if wide and row.n < 1_000_000 else compact_count(row.n)),
        *(extent if wide or not words else ()),
        Cell(percent(row.accuracy), "bold"),
        Cell(interval(row)),
        *((bar,) if wide and not words else ()),
        Cell(percent(row.balanced_accuracy)),
        Cell(f"{row.mcc:.3f}"),
        Cell(percent(row.fpr)),
        Cell(percent(row.fnr)),
        *((Cell(auroc_text(row)),) if with_auroc else ()),
        *((Cell(compact_count(row.abstain)), Cell(compact_count(row.error))) if wide else ()),
    )
    return tuple(texts)


def cell_sentence(report: AccuracyReport, row: AccuracyRow | None) -> Content:
    """Everything about one cell, in three lines."""
    if row is None or row.ci is None:
        return Content("No items with gold and a verdict here.")
    name = group_name(row.group, report.by)
    if report.by == "reason":
        name = reasons.title(row.group or "") or name
    return Content.assemble(
        (printable(row.verifier), "bold"),
        " · ",
        (name, "bold"),
        f" · accuracy {percent(row.accuracy)} % {interval(row)}\n",
        f"n {row.n:,} in {counted(row.questions, 'question')} · TP {row.tp:,} FP {row.fp:,} TN {row.tn:,} FN {row.fn:,}"
        f" · ? {row.abstain:,} abstain · ! {row.error:,} error\n",
        "0 % │",
        (interval_bar(row.accuracy or 0.0, *row.ci, _SENTENCE_BAR), "$text-accent"),
        f"│ 100 %  protocol {report.protocol}, gold {report.gold_choice}",
    )
