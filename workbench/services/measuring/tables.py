"""Accuracy reports as text and CSV."""

from __future__ import annotations

import csv
import io
from itertools import count
from pathlib import Path

from workbench.errors import StoreError
from workbench.model import reasons
from workbench.model.report import AccuracyReport, AccuracyRow
from workbench.model.taxonomy import type_display
from workbench.render.inert import inert

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
)
"""Columns of the CSV; protocol and gold follow in every row."""


def accuracy_csv(report: AccuracyReport) -> str:
    """The report as CSV: figures at full precision, undefined ones empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*COLUMNS, "protocol", "gold"])
    for row in report.rows:
        low, high = row.ci or (None, None)
        figures = (row.balanced_accuracy, row.mcc, row.fpr, row.fnr, row.coverage, row.auroc)
        cells = (row.verifier, row.group, row.n, row.questions, row.accuracy, low, high, *figures)
        writer.writerow(["" if cell is None else cell for cell in (*cells, report.protocol, report.gold_choice)])
    return buffer.getvalue()


def save_accuracy_csv(report: AccuracyReport, database: Path, part: str = "") -> Path:
    """Write the report beside the database, to a file that was not there before.

    Args:
        part: What of the data the report covers, for the file's name (``"A"``); empty for all of it.

    Raises:
        StoreError: The file can't be written.
    """
    words = ("accuracy", part, report.by or "", report.protocol, report.gold_choice)
    stem = f"{database.stem}-{'-'.join(word for word in words if word.isalnum())}"
    return write_beside(database, stem, ".csv", accuracy_csv(report))


def write_beside(database: Path, stem: str, suffix: str, text: str) -> Path:
    """Write a text beside the database, to a file that was not there before; a number makes its name new.

    Raises:
        StoreError: The file can't be written.
    """
    for number in count(1):
        path = database.with_name(f"{stem}{f'-{number}' if number > 1 else ''}{suffix}")
        try:
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
        except FileExistsError:
            continue
        except (OSError, UnicodeEncodeError) as error:
            raise StoreError(f"{path}: {error}.", "The table was not written.") from error
        return path
    raise AssertionError("there is always a further number")


def accuracy_text(report: AccuracyReport) -> str:
    """The report as an aligned table for a terminal, with its protocol and gold named above it."""
    sources = ", ".join(f"{number} {name}" for name, number in report.gold.items())
    head = ("verifier", "group", "n", "accuracy", "95 % interval", "bal.acc", "MCC", "FPR", "FNR", "coverage", "AUROC")
    lines = [head, *(_cells(row, report.by) for row in report.rows)]
    if all(row.auroc is None for row in report.rows):
        lines = [line[:-1] for line in lines]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    body = "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return f"protocol {report.protocol}, gold {report.gold_choice} ({sources})\n{body}\n{_reasons_in_words(report)}"


def _reasons_in_words(report: AccuracyReport) -> str:
    """What the reason codes of a report by reason mean; "" where there is nothing to say."""
    codes = sorted({row.group for row in report.rows if row.group is not None}) if report.by == "reason" else []
    known = [(code, reasons.title(code)) for code in codes if reasons.title(code)]
    width = max((len(code) for code, _ in known), default=0)
    return "".join(f"\n{code:<{width}}  {words}" for code, words in known) + ("\n" if known else "")


def _cells(row: AccuracyRow, by: str | None) -> tuple[str, ...]:
    interval = f"[{row.ci[0]:.3f}, {row.ci[1]:.3f}]" if row.ci else "–"
    rates = (row.balanced_accuracy, row.mcc, row.fpr, row.fnr, row.coverage, row.auroc)
    name = type_display if by in ("type", "subtype") else str
    group = "all" if row.group is None else name(row.group)
    return (inert(row.verifier), inert(group), str(row.n), _number(row.accuracy), interval, *map(_number, rates))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
