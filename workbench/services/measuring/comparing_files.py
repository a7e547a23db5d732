"""Comparisons in every format: text for a terminal, CSV with figures in full, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from workbench.model.comparison import CompareReport, FamilyReport, JointErrorReport, PairedFigures
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.reports.document import Table
from workbench.services.measuring.comparing_tables import pair_tables
from workbench.services.measuring.comparing_text import comparison_text
from workbench.services.measuring.error_tables import error_tables
from workbench.services.measuring.family_tables import family_tables
from workbench.services.measuring.record_csv import figures_csv, flat
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
