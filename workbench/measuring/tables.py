"""Accuracy reports as text, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import structs

from workbench.core import reasons
from workbench.core.breakdown import crossing
from workbench.measuring.accuracy_tables import accuracy_tables
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.files import SUFFIXES, WRITERS, TableFormat, write_beside
from workbench.tables.table_text import harmless, plain_table

COLUMNS = (
    "verifier",
    "group",
    "n",
    "questions",
    "accuracy",
    "ci_low",
    "ci_high",
    "balanced_accuracy",
    "mcc",
    "fpr",
    "fnr",
    "coverage",
    "auroc",
    "protocol",
    "gold",
    "kind",
    "delta",
    "p",
    "q",
    "macro",
    "macro_over",
    "deff",
    "selection_judge",
    "balanced_accuracy_low",
    "balanced_accuracy_high",
    "mcc_low",
    "mcc_high",
)
"""Columns of the CSV, in the order they came into being."""

SortKey = Literal["name", "accuracy", "balanced_accuracy", "mcc", "fpr", "fnr", "coverage", "auroc"]
SORT_KEYS: Final[tuple[SortKey, ...]] = get_args(SortKey)


def accuracy_table(report: AccuracyReport, as_: TableFormat) -> str:
    """The report in a format; all but CSV round to three digits and name what the figures rest on."""
    if as_ == "csv":
        return accuracy_csv(report)
    if as_ == "text":
        return accuracy_text(report)
    return "\n".join(WRITERS[as_](table) for table in accuracy_tables(report))


def accuracy_text(report: AccuracyReport) -> str:
    """The report as aligned tables for a terminal, with its protocol and gold named above."""
    tables = "\n".join(map(plain_table, accuracy_tables(report)))
    return f"{tables}{_reasons_in_words(report)}"


def accuracy_csv(report: AccuracyReport) -> str:
    """The report as CSV: figures at full precision, undefined ones empty.

    A name that a spreadsheet would take for a formula gets an apostrophe in front, and control characters stand as
    pictures: models and sources come from files of others, and who opens the table should not run what they say. JSON
    has all names as they are.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    averages = {average.verifier: average for average in report.averages}
    for row in report.rows:
        average = averages.get(row.verifier) if row.group is None else None
        figures = (row.balanced_accuracy, row.mcc, row.fpr, row.fnr, row.coverage, row.auroc)
        cells = (
            *(harmless(row.verifier), harmless(row.group or ""), row.n, row.questions, row.accuracy),
            *(*_ends(row.ci), *figures, report.protocol, report.gold_choice, row.kind, row.delta, row.p, row.q),
            *((average.macro, average.over) if average is not None else (None, None)),
            *(row.deff, int(row.selection_judge), *_ends(row.balanced_accuracy_ci), *_ends(row.mcc_ci)),
        )
        writer.writerow(["" if cell is None else cell for cell in cells])
    return buffer.getvalue()


def sorted_by(report: AccuracyReport, key: SortKey) -> AccuracyReport:
    """The report with its verifiers in order: by name, or the best first by a figure of all items.

    Baselines stay behind; who has no such figure comes last among the verifiers.
    """
    order = [row.verifier for row in sorted(_everything(report), key=lambda row: _rank(row, key))]
    place = {name: at for at, name in enumerate(order)}
    return structs.replace(
        report,
        rows=sorted(report.rows, key=lambda row: place[row.verifier]),
        averages=sorted(report.averages, key=lambda row: place[row.verifier]),
        transfer=sorted(report.transfer, key=lambda row: place[row.verifier]),
    )


def save_accuracy(report: AccuracyReport, database: Path, as_: TableFormat, part: str = "") -> Path:
    """Write the report beside the database, to a file that was not there before.

    Args:
        part: What of the data the report covers, for the file's name (``"A"``); empty for all of it.

    Raises:
        StoreError: The file can't be written.
    """
    fields = crossing(report.by) if report.by else ()
    words = ("accuracy", part, *fields, report.protocol, report.gold_choice)
    stem = f"{database.stem}-{'-'.join(word for word in words if word.isalnum())}"
    return write_beside(database, stem, SUFFIXES[as_], accuracy_table(report, as_))


def _everything(report: AccuracyReport) -> list[AccuracyRow]:
    return [row for row in report.rows if row.group is None]


def _rank(row: AccuracyRow, key: SortKey) -> tuple[bool, bool, float, str]:
    """Verifiers before baselines, those with the figure first, better before worse."""
    name = row.verifier.casefold()
    if key == "name":
        return row.kind == "baseline", False, 0.0, name
    value = {
        "accuracy": row.accuracy,
        "balanced_accuracy": row.balanced_accuracy,
        "mcc": row.mcc,
        "fpr": None if row.fpr is None else -row.fpr,
        "fnr": None if row.fnr is None else -row.fnr,
        "coverage": row.coverage,
        "auroc": row.auroc,
    }[key]
    return row.kind == "baseline", value is None, -(value or 0.0), name


def _ends(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    return interval or (None, None)


def _reasons_in_words(report: AccuracyReport) -> str:
    """What the reason codes of a report by reason mean; "" where there is nothing to say."""
    codes = sorted({row.group for row in report.rows if row.group is not None}) if report.by == "reason" else []
    known = [(code, reasons.title(code)) for code in codes if reasons.title(code)]
    width = max((len(code) for code, _ in known), default=0)
    return "".join(f"\n{code:<{width}}  {words}" for code, words in known) + ("\n" if known else "")
