"""Writes tables, or parts of them, in every format, and records as CSV with full precision."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby, takewhile
from pathlib import Path
from typing import Any, Final, get_args

from msgspec import Struct, structs

from workbench.core.errors import FormatError, UsageError, nearest
from workbench.core.files import whole_file
from workbench.core.options import TableForm, TableFormat
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.tables.document import Head, Row, Table
from workbench.tables.markdown import markdown_table
from workbench.tables.table_text import csv_table, escape_csv_text, latex_table, plain_table

_SHORT = {"ci": "95interval", "interval": "95interval"}
"""Alternative names of the heading "95 % interval"."""


def select_parts(tables: Iterable[Table], form: TableForm) -> Iterator[Table]:
    """Yield tables with the columns and rows that a form selects; a table without any of the columns is left out.

    Raises:
        UsageError: No table has a requested column.
    """
    found = [_without_baselines(one) if form.no_baselines else one for one in tables]
    if not form.columns:
        yield from found
        return
    there = {_normalise_heading(name): name for one in found for name in one.columns}
    wanted = [_SHORT.get(plain, plain) for plain in map(_normalise_heading, form.columns)]
    for said, plain in zip(form.columns, wanted, strict=True):
        if plain not in there:
            raise UsageError(f"There is no column {said!r}.", nearest(said, filter(None, there.values()), "Columns"))
    for one in found:
        names = [_normalise_heading(name) for name in one.columns]
        if places := [place for plain in wanted for place, name in enumerate(names) if name == plain]:
            yield _select_columns(one, places)


def _normalise_heading(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold() or name.strip()


def _without_baselines(table: Table) -> Table:
    kept = [row for row in table.rows if row.kind != "aside"]
    after = [*kept[1:], None]
    rows = (
        row
        for row, then in zip(kept, after, strict=False)
        if row.kind != "section" or (then is not None and then.kind != "section")
    )
    return structs.replace(table, rows=tuple(rows))


def _select_columns(table: Table, places: Sequence[int]) -> Table:
    return structs.replace(
        table,
        head=tuple(_select_heads(line, places) for line in table.head),
        rows=tuple(
            row if row.kind == "section" else Row(tuple(row.cells[place] for place in places), row.kind)
            for row in table.rows
        ),
        left=len(list(takewhile(lambda place: place < table.left, places))),
    )


def _select_heads(line: Sequence[Head], places: Sequence[int]) -> tuple[Head, ...]:
    over = [number for number, heading in enumerate(line) for _ in range(heading.span)]
    return tuple(
        Head(line[number].text, len(list(group))) for number, group in groupby(over[place] for place in places)
    )


FORMATS: Final[tuple[TableFormat, ...]] = get_args(TableFormat)

SUFFIXES: Final[dict[TableFormat, str]] = {"text": ".txt", "csv": ".csv", "markdown": ".md", "latex": ".tex"}
"""File suffix of each format."""

WRITERS: Final[dict[TableFormat, Callable[[Table], str]]] = {
    "text": plain_table,
    "csv": csv_table,
    "markdown": markdown_table,
    "latex": latex_table,
}
"""Writers of a displayed table; CSV with full precision is built from the records instead."""


def format_tables(tables: Iterable[Table], form: TableForm) -> str:
    """Format tables one below the other, with the columns and rows that a form selects.

    Raises:
        UsageError: No table has a requested column.
    """
    found = list(select_parts(tables, form))
    label = (f"{form.label}-{number}" if form.label and number > 1 else form.label for number in count(1))
    return "\n".join(WRITERS[form.format](structs.replace(one, label=next(label))) for one in found)


def add_protocol_to_caption(table: Table, protocol: Protocol3, gold: GoldChoice) -> Table:
    return structs.replace(table, caption=f"{table.caption} (protocol {protocol}, gold {gold})")


def write_next_to(database: Path, name: str, suffix: str, text: str) -> Path:
    """Write a text next to the database, to a new file.

    Args:
        name: The part of the file name after the database's name; a number makes it unique.

    Raises:
        FormatError: The file can't be written.
    """
    for number in count(1):
        path = database.with_name(f"{database.stem}-{name}{f'-{number}' if number > 1 else ''}{suffix}")
        try:
            with whole_file(path, replace=False) as file:
                file.write(text.encode())
        except FileExistsError:
            continue
        except (OSError, UnicodeEncodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise FormatError(f"{path}: {why}. It was not written.") from error
        return path
    raise AssertionError("there is always a further number")


def records_csv(records: Iterable[Struct], every: Mapping[str, Any]) -> str:
    return lines_csv([dict(flatten_columns(structs.asdict(record))) for record in records], every)


def metrics_csv(lines: Sequence[Mapping[str, Any]], protocol: Protocol3, gold: GoldChoice) -> str:
    """Format metrics in full precision with their protocol and gold; see `lines_csv`."""
    return lines_csv(lines, {"protocol": protocol, "gold": gold})


def lines_csv(lines: Sequence[Mapping[str, Any]], every: Mapping[str, Any]) -> str:
    """Format metrics as CSV at full precision, with the columns of all lines; undefined metrics are empty, and texts
    are made `harmless`.

    Args:
        every: Values that are appended to each line, by column.
    """
    columns = list(dict.fromkeys(column for line in lines for column in line))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*columns, *every])
    for line in lines:
        writer.writerow([_cell(value) for value in (*(line.get(column) for column in columns), *every.values())])
    return buffer.getvalue()


def flatten_columns(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield columns and values: an interval becomes two columns, a nested record one column per field."""
    for name, value in found.items():
        if isinstance(value, Struct):
            yield from flatten_columns(structs.asdict(value), f"{name}_")
        elif name == "ci" or name.endswith("_ci"):
            low, high = value or (None, None)
            yield f"{prefix}{name}_low", low
            yield f"{prefix}{name}_high", high
        else:
            yield f"{prefix}{name}", value


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return escape_csv_text(value) if isinstance(value, str) else value
