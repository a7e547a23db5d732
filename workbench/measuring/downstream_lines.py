"""Reads files of downstream scores, JSON lines or tables: each line is a score, or a model to be scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.core.selection import is_usable_number
from workbench.data.formats.documents import TABLES, SourceDocument, documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.rows import field_in_message
from workbench.data.formats.source import detect_format, open_stream
from workbench.statistics.records.combined import DownstreamLine, TrainedModelLine

FORM: Final = 'A line is {"verifier": …, "benchmark": …, "score": …}, optionally with step, seed and n.'
MODEL_FORM: Final = 'Or it is {"verifier": …, "model": …}: the scores are those of that model\'s completions here.'
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WANTED = {
    "verifier": "a name",
    "benchmark": "a name",
    "model": "a name",
    "score": "a number",
    "step": "a whole number from 0",
    "seed": "a whole number from 0",
    "n": "a whole number from 1",
}


Measure = Callable[[TrainedModelLine], Sequence[DownstreamLine]]
"""Returns the scores of a model; raises `RefusedError` if it has none."""


def unmeasured(_line: TrainedModelLine) -> Sequence[DownstreamLine]:
    raise RefusedError("missing_field", "score", f"score is missing. {FORM}")


class DownstreamScores(Struct, frozen=True):
    lines: list[DownstreamLine]
    refused: list[Refusal]


def read_downstream(path: Path, max_line: int, measure: Measure = unmeasured) -> DownstreamScores:
    """Read a file of downstream scores, gzipped or not.

    A second score of a verifier on a benchmark with the same step and seed is rejected.

    Args:
        measure: Returns the scores of a line that names a model instead of a score.

    Raises:
        FormatError: The file can't be read in its format.
    """
    found = DownstreamScores([], [])
    seen: dict[tuple[object, ...], int] = {}
    kind = detect_format(path)
    with open_stream(path) as (stream, _):
        for row in documents(stream, kind, path, max_line):
            if isinstance(row, Refusal):
                found.refused.append(row)
                continue
            try:
                lines = _scores_of_line(row, measure, is_table=kind in TABLES)
                for one in lines:
                    before = seen.get((one.verifier, one.benchmark, one.step, one.seed))
                    if before is not None:
                        message = f"This score is on line {before} already. Give each its own seed or step."
                        raise RefusedError("duplicate_key", "verifier", message)
            except RefusedError as error:
                found.refused.append(make_refusal(row.line, row.raw, error))
                continue
            seen |= {(one.verifier, one.benchmark, one.step, one.seed): row.line for one in lines}
            found.lines.extend(lines)
    return found


def _scores_of_line(row: SourceDocument, measure: Measure, *, is_table: bool) -> Sequence[DownstreamLine]:
    try:
        row.json.decode()
        tokens = _OBJECT.decode(row.json)
        values = {name: msgspec.json.decode(tokens[name]) for name in _WANTED if name in tokens}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise explain_document(row.json) from None
    if is_table:
        values = {name: _parse_cell(name, cell) for name, cell in values.items() if cell.strip()}
    there = {name: value for name, value in values.items() if value is not None}
    is_model = "model" in there and "score" not in there
    kind: type[DownstreamLine] | type[TrainedModelLine] = TrainedModelLine if is_model else DownstreamLine
    try:
        line = msgspec.convert(there, kind)
    except msgspec.ValidationError as error:
        name = field_in_message(str(error)) or ""
        if name not in there:
            raise RefusedError("missing_field", name, f"{name} is missing. {FORM} {MODEL_FORM}") from None
        raise RefusedError("wrong_type", name, f"{name} is not {_WANTED[name]}.") from None
    if isinstance(line, TrainedModelLine):
        return measure(line)
    if not is_usable_number(line.score):
        raise RefusedError("wrong_type", "score", "score is not a finite number, or above 1e100.")
    return (line,)


def _parse_cell(name: str, cell: str) -> float | str:
    """Return the number in a table's cell, as an integer if it is whole (200.0); the cell's text if it isn't a
    number."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if _WANTED[name] == "a name" else int(number) if number.is_integer() else number
