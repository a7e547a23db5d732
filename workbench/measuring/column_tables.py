"""Columns as tables of arrays, read from the database in full or for ranges of rows that may have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbench.core.database.column_files import ColumnHeader, ColumnPart
from workbench.core.database.generation import ChangeMark
from workbench.data.store import columns as stored
from workbench.data.store.columns import Connection, ItemNumbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import IntArray

    Array = npt.NDArray[Any]

Range = tuple[int, int]
"""First and last row id."""

SCORE = "score"
REASON = "reason"


class ColumnTable(Struct, frozen=True, kw_only=True, eq=False):
    """Columns with one value for each item; the arrays of a table are never modified.

    Attributes:
        columns: Name -> values. A column of names holds positions in ``names``.
        names: Column of names -> its names in order of position; a name may have no item.
    """

    columns: Mapping[str, Array]
    names: Mapping[str, tuple[str, ...]]

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def read_items(connection: Connection, first: int, last: int, numbers: ItemNumbers | None = None) -> ColumnTable:
    """Read the items of a range, in order of row id.

    Columns: ``item``, ``question`` (int64), ``characters`` (int32), ``final`` and ``imported`` (gold: 1 correct, 0
        incorrect, -1 none),
    ``origin`` (of the gold; `ORIGINS`) and one for each of `FIELDS`.

    Args:
        numbers: Numbers of these items, if already read.
    """
    import numpy as np

    from workbench.statistics.intervals import compact

    found = stored.item_numbers(connection, first, last) if numbers is None else numbers
    item, imported = found.item, found.imported.astype(np.int8)
    of_question, questions = compact(found.question)
    told = stored.item_names(connection, first, last, questions.tolist())
    columns: dict[str, Array] = {
        "item": item,
        "question": found.question,
        "characters": found.characters.astype(np.int32),
        "final": imported.copy(),
        "imported": imported,
        "origin": (imported >= 0).astype(np.int8),
    }
    place = np.searchsorted(sorted(told.models), found.model)
    named = {"model": _encode_names(place, [told.models[key] for key in sorted(told.models)])}
    for position, field in enumerate(stored.OF_QUESTION):
        named[field] = _encode_names(of_question, [told.questions[key][position] for key in questions.tolist()])
    place = np.searchsorted(item, [touched[0] for touched in told.touched])
    for column, position in (("final", 1), ("origin", 2), ("imported", 3)):
        columns[column][place] = [touched[position] for touched in told.touched]
    for column, position in (("type", 4), ("subtype", 5)):
        code, names = named[column]
        known = {name: number for number, name in enumerate(names)}
        said = [str(touched[position]) for touched in told.touched]
        code[place] = [known.setdefault(name, len(known)) for name in said]
        named[column] = code, tuple(known)
    for column, (code, names) in named.items():
        columns[column] = _narrow(code, len(names))
    return _freeze(columns, {column: names for column, (_, names) in named.items()})


def read_verdicts(connection: Connection, run: int, items: IntArray, first: int, last: int) -> ColumnTable:
    """Read a run's verdicts on the items of a range.

    Columns: ``outcome`` (-1 without a verdict), ``reason`` (position 0 without a verdict) and, if the run has scores,
        ``score`` (float64, NaN without a score).

    Args:
        items: Row ids of the items of the range.
    """
    import numpy as np

    from workbench.statistics.confusion import align

    rows = stored.verdict_rows(connection, run, first, last)
    reason = align(items, rows.item, rows.reason, missing=np.int32(0))
    columns: dict[str, Array] = {
        "outcome": align(items, rows.item, rows.outcome, missing=np.int8(-1)),
        REASON: _narrow(reason, len(rows.reasons)),
    }
    if len(rows.scored):
        columns[SCORE] = align(items, rows.scored, rows.score, missing=np.float64(np.nan))
    return _freeze(_drop_empty_scores(columns), {REASON: rows.reasons})


def of_part(part: ColumnPart) -> ColumnTable:
    import numpy as np

    kinds = part.head.kinds
    columns = {name: np.frombuffer(values, dtype=kinds[name]) for name, values in part.columns.items()}
    return ColumnTable(columns=columns, names=part.head.names)


def to_part(table: ColumnTable, run: int | None, mark: ChangeMark, schema: int, aligned: int) -> ColumnPart:
    """Convert a table to the form stored in a file; see `ColumnHeader`."""
    head = ColumnHeader(
        run=run,
        version=mark.version,
        token=mark.token.hex(),
        schema=schema,
        rows=table.rows,
        aligned=aligned,
        kinds={name: values.dtype.str for name, values in table.columns.items()},
        names=dict(table.names),
    )
    return ColumnPart(head=head, columns={name: values.data.cast("B") for name, values in table.columns.items()})


def put_in(table: ColumnTable, parts: Sequence[tuple[slice, ColumnTable]]) -> ColumnTable:
    """Return the table with ranges of its rows replaced, given in order; an unchanged column keeps its array."""
    columns: dict[str, Array] = {}
    names = dict(table.names)
    for column in dict.fromkeys([*table.columns, *(name for _, part in parts for name in part.columns)]):
        pieces = [(rows, _column_or_nan(part, column)) for rows, part in parts]
        if column in names:
            pieces = [(rows, _translate_codes(part, column, names)) for rows, part in parts]
            pieces = [(rows, _narrow(values, len(names[column]))) for rows, values in pieces]
        columns[column] = _replace_rows(_column_or_nan(table, column), pieces)
    return _freeze(_drop_empty_scores(columns), names)


def joined(parts: Sequence[ColumnTable]) -> ColumnTable:
    import numpy as np

    names = {
        column: tuple(dict.fromkeys(name for part in parts for name in part.names[column])) for column in parts[0].names
    }
    columns: dict[str, Array] = {}
    for column in dict.fromkeys(name for part in parts for name in part.columns):
        values = [_column_or_nan(part, column) for part in parts]
        if column in names:
            place = {name: number for number, name in enumerate(names[column])}
            codes = [np.array([place[name] for name in part.names[column]], dtype=np.int32) for part in parts]
            values = [code[value] for code, value in zip(codes, values, strict=True)]
        column_values = np.concatenate(values)
        columns[column] = _narrow(column_values, len(names[column])) if column in names else column_values
    return _freeze(columns, names)


def aligned(table: ColumnTable, old: IntArray, new: IntArray) -> ColumnTable:
    """Realign a run's verdicts with other items; new items have none."""
    import numpy as np

    from workbench.statistics.confusion import align

    missing = {"outcome": np.int8(-1), SCORE: np.float64(np.nan)}
    columns = {
        column: align(new, old, values, missing=missing.get(column, values.dtype.type(0)))
        for column, values in table.columns.items()
    }
    return _freeze(_drop_empty_scores(columns), table.names)


def _encode_names(place: Array, names: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    import numpy as np

    known: dict[str, int] = {}
    code = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)
    return code[place], tuple(known)


def _translate_codes(part: ColumnTable, column: str, known: dict[str, tuple[str, ...]]) -> Array:
    import numpy as np

    values, names = part.columns[column], part.names[column]
    places = {name: place for place, name in enumerate(known[column])}
    used = np.bincount(values, minlength=len(names)) > 0
    code = [places.setdefault(name, len(places)) if there else 0 for name, there in zip(names, used, strict=True)]
    known[column] = tuple(places)
    return np.array([*code, 0], dtype=np.int32)[values]


def _replace_rows(old: Array, pieces: Sequence[tuple[slice, Array]]) -> Array:
    import numpy as np

    if all(np.array_equal(old[rows], values, equal_nan=old.dtype.kind == "f") for rows, values in pieces):
        return old
    if all(len(old[rows]) == len(values) for rows, values in pieces):
        changed = old.astype(np.result_type(old, *(values for _, values in pieces)))
        for rows, values in pieces:
            changed[rows] = values
        return changed
    joined, at = [], 0
    for rows, values in pieces:
        joined += [old[at : rows.start], values]
        at = rows.stop
    return np.concatenate([*joined, old[at:]])


def _column_or_nan(table: ColumnTable, column: str) -> Array:
    import numpy as np

    found = table.columns.get(column)
    return np.full(table.rows, np.nan) if found is None else found


def _drop_empty_scores(columns: dict[str, Array]) -> dict[str, Array]:
    import numpy as np

    return {column: values for column, values in columns.items() if column != SCORE or not np.isnan(values).all()}


def _narrow(code: Array, names: int) -> Array:
    import numpy as np

    return code.astype(np.min_scalar_type(max(names - 1, 0)), copy=False)


def _freeze(columns: Mapping[str, Array], names: Mapping[str, tuple[str, ...]]) -> ColumnTable:
    for values in columns.values():
        values.setflags(write=False)
    return ColumnTable(columns=columns, names=names)
