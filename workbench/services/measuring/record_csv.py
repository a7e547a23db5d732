"""Records as CSV with figures in full, an interval in two columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from workbench.model.verdict import GoldChoice, Protocol3
from workbench.reports.table_text import harmless


def records_csv(records: Iterable[Struct], every: Mapping[str, Any]) -> str:
    """A line a record; see `lines_csv`."""
    return lines_csv([dict(flat(structs.asdict(record))) for record in records], every)


def figures_csv(lines: Sequence[Mapping[str, Any]], protocol: Protocol3, gold: GoldChoice) -> str:
    """Figures in full with their protocol and gold; see `lines_csv`."""
    return lines_csv(lines, {"protocol": protocol, "gold": gold})


def lines_csv(lines: Sequence[Mapping[str, Any]], every: Mapping[str, Any]) -> str:
    """Figures in full as CSV, undefined ones empty, names `harmless`; the columns are those any line has.

    Args:
        every: What each line ends with.
    """
    columns = list(dict.fromkeys(column for line in lines for column in line))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*columns, *every])
    for line in lines:
        writer.writerow([_cell(value) for value in (*(line.get(column) for column in columns), *every.values())])
    return buffer.getvalue()


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


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else value
