"""Tables of ensembles, best of n, estimates and downstream scores in every format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from workbench.services.measuring.combined import CombinedReport, parts
from workbench.services.measuring.table_files import (
    SUFFIXES,
    WRITERS,
    TableFormat,
    figures_csv,
    flat,
    with_counting,
    write_beside,
)


def combined_as(report: CombinedReport, place: int, as_: TableFormat) -> str:
    """One of a report's tables in a format; all but CSV round, and name protocol and gold; CSV has figures in full."""
    part = parts(report)[place]
    if as_ == "csv":
        lines = [dict(_cells(record)) for record in part.records]
        return figures_csv(lines, report.protocol, report.gold_choice)
    return WRITERS[as_](with_counting(part.table, report.protocol, report.gold_choice))


def save_combined(report: CombinedReport, place: int, database: Path, as_: TableFormat) -> Path:
    """Write one of a report's tables beside the database, to a file that was not there before.

    Raises:
        StoreError: The file can't be written.
    """
    stem = f"{database.stem}-{parts(report)[place].name}-{report.protocol}-{report.gold_choice}"
    return write_beside(database, stem, SUFFIXES[as_], combined_as(report, place, as_))


def _cells(record: Struct) -> Iterator[tuple[str, Any]]:
    for name, value in flat(structs.asdict(record)):
        yield name, " ".join(map(str, value)) if isinstance(value, list) else value
