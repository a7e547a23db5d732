"""Downstream scores: JSON Lines or a table with ``verifier``, ``benchmark`` and ``score``, beside whatever else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.core.selection import is_figure
from workbench.data.formats.documents import TABLES, SourceDocument, documents
from workbench.data.formats.lines import RefusedError, explain_document, refusal
from workbench.data.formats.source import detect_format, open_stream
from workbench.statistics.records.combined import DownstreamLine

FORM: Final = 'A line is {"verifier": …, "benchmark": …, "score": …}, optionally with step, seed and n.'

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TYPES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(DownstreamLine)}
_WANTED = {
    "verifier": "a name",
    "benchmark": "a name",
    "score": "a number",
    "step": "a whole number from 0",
    "seed": "a whole number from 0",
    "n": "a whole number from 1",
}
_NAMES = ("verifier", "benchmark")
_REQUIRED = (*_NAMES, "score")


class DownstreamScores(Struct, frozen=True):
    """The scores of a file in its order, and the lines that were not taken."""

    lines: list[DownstreamLine]
    refused: list[Refusal]


def read(path: Path, max_line: int) -> DownstreamScores:
    """Read a file, gzip or not.

    A second score of a verifier on a benchmark with the same step and seed is refused, and the first one stays.

    Raises:
        FormatError: The file can't be read as what it is.
    """
    found = DownstreamScores([], [])
    seen: dict[tuple[object, ...], int] = {}
    for line, raw, taken in _lines(path, max_line):
        if isinstance(taken, DownstreamLine):
            before = seen.setdefault((taken.verifier, taken.benchmark, taken.step, taken.seed), line)
            if before == line:
                found.lines.append(taken)
                continue
            message = f"This score stands on line {before} already. Give each a seed or step of its own."
            taken = refusal(line, raw, RefusedError("duplicate_key", "verifier", message))
        found.refused.append(taken)
    return found


def _lines(path: Path, max_line: int) -> Iterator[tuple[int, bytes, DownstreamLine | Refusal]]:
    kind = detect_format(path)
    with open_stream(path) as (stream, _):
        for row in documents(stream, kind, path, max_line):
            yield row.line, row.raw, row if isinstance(row, Refusal) else _line(row, is_table=kind in TABLES)


def _line(row: SourceDocument, *, is_table: bool) -> DownstreamLine | Refusal:
    try:
        row.json.decode()
        tokens = _OBJECT.decode(row.json)
        values = {name: msgspec.json.decode(tokens[name]) for name in _TYPES if name in tokens}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return refusal(row.line, row.raw, explain_document(row.json))
    if is_table:
        values = {name: cell if name in _NAMES else _number_in(cell) for name, cell in values.items() if cell.strip()}
    try:
        return DownstreamLine(**{name: _value(name, values.get(name)) for name in _TYPES})
    except RefusedError as error:
        return refusal(row.line, row.raw, error)


def _number_in(cell: str) -> float | str:
    """The number a table's cell holds; whole ones may be spelled 200.0. The cell itself where it holds none."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() else number


def _value(name: str, value: object) -> Any:
    """One field's value.

    Raises:
        RefusedError: It is missing or of another kind.
    """
    if value is None:
        if name in _REQUIRED:
            raise RefusedError("missing_field", name, f"{name} is missing. {FORM}")
        return None
    try:
        taken = msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError:
        raise RefusedError("wrong_type", name, f"{name} is not {_WANTED[name]}.") from None
    if name == "score" and not is_figure(taken):
        raise RefusedError("wrong_type", name, "score is no finite number, or above 1e100.")
    return taken
