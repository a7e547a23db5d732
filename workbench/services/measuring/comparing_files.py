"""Comparisons in every format: text for a terminal, CSV with figures in full, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from workbench.model.comparison import CompareReport, FamilyReport, JointErrorReport, PairedFigures
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.reports.document import Table
from workbench.reports.table_text import harmless
from workbench.services.measuring.comparing_tables import pair_tables
from workbench.services.measuring.comparing_text import comparison_text
from workbench.services.measuring.error_tables import error_tables
from workbench.services.measuring.family_tables import family_tables
from workbench.services.measuring.table_files import SUFFIXES, WRITERS, TableFormat, write_beside

Report = CompareReport | FamilyReport | JointErrorReport


def comparison_as(report: Report, as_: TableFormat) -> str:
    """A comparison in a format; all but CSV round, and name protocol and gold; CSV has undefined figures empty."""
    if as_ == "text":
        return comparison_text(report)
    if as_ == "csv":
        return _csv(report)
    named = (with_counting(table, report.protocol, report.gold_choice) for table in _tables(report))
    return "\n".join(map(WRITERS[as_], named))


def with_counting(table: Table, protocol: Protocol3, gold: GoldChoice) -> Table:
    """The table with its protocol and gold in the caption."""
    return structs.replace(table, caption=f"{table.caption} (protocol {protocol}, gold {gold})")


def save_comparison(report: Report, database: Path, as_: TableFormat) -> Path:
    """Write a comparison beside the database, to a file that was not there before.

    Raises:
        StoreError: The file can't be written.
    """
    stem = f"{database.stem}-{_kind(report)}-{report.protocol}-{report.gold_choice}"
    return write_beside(database, stem, SUFFIXES[as_], comparison_as(report, as_))


def _kind(report: Report) -> str:
    """Without verifiers' names: those can be anything."""
    if isinstance(report, CompareReport):
        return "compare"
    return "family" if isinstance(report, FamilyReport) else "errors"


def _tables(report: Report) -> tuple[Table, ...]:
    if isinstance(report, CompareReport):
        return pair_tables(report)
    return family_tables(report) if isinstance(report, FamilyReport) else error_tables(report)


def _csv(report: Report) -> str:
    """A line for all items and one a group; else a line a pair."""
    lines = list(_pair_lines(report)) if isinstance(report, CompareReport) else list(_lines(report))
    return figures_csv(lines, report.protocol, report.gold_choice)


def figures_csv(lines: Sequence[Mapping[str, Any]], protocol: Protocol3, gold: GoldChoice) -> str:
    """Figures in full as CSV, undefined ones empty, names `harmless`; the columns are those any line has."""
    columns = list(dict.fromkeys(column for line in lines for column in line))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*columns, "protocol", "gold"])
    for line in lines:
        writer.writerow([*(_cell(line.get(column)) for column in columns), protocol, gold])
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else value


def _pair_lines(report: CompareReport) -> Iterator[Mapping[str, Any]]:
    names = {"a": report.a, "b": report.b}
    total = {name: getattr(report, name) for name in PairedFigures.__struct_fields__}
    metrics: dict[str, Any] = {}
    for metric in report.metrics:
        found = {"a": metric.a, "b": metric.b, "difference": metric.difference, "bootstrap_ci": metric.ci}
        metrics |= flat(found, f"{metric.metric}_")
    yield {**names, "group": None, **dict(flat(total)), "q": None, **metrics}
    for group in report.groups:
        yield {**names, **dict(flat(structs.asdict(group)))}


def _lines(report: FamilyReport | JointErrorReport) -> Iterator[Mapping[str, Any]]:
    pairs = report.family if isinstance(report, FamilyReport) else report.errors
    for pair in pairs:
        found = dict(flat(structs.asdict(pair)))
        yield {"a": found.pop("a"), "b": found.pop("b"), **found}


def flat(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Intervals as two columns, records within the record as their own."""
    for name, value in found.items():
        if isinstance(value, Struct):
            yield from flat(structs.asdict(value), f"{name}_")
        elif name == "ci" or name.endswith("_ci"):
            low, high = value or (None, None)
            yield f"{prefix}{name}_low", low
            yield f"{prefix}{name}_high", high
        else:
            yield f"{prefix}{name}", value
