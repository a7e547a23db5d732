"""Selects parts of tables: columns by heading, and rows without baselines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from msgspec import structs

from workbench.core.errors import UsageError, nearest
from workbench.core.options import TableForm
from workbench.tables.document import Head, Row, Table

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
