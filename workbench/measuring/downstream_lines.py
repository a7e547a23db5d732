"""Reads files of downstream scores, JSON lines or tables: each line is a score, or a model to be scored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.core.selection import is_usable_number
from workbench.data.formats.documents import TABLES, SourceDocument, documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.source import detect_format, open_stream
from workbench.statistics.records.combined import DownstreamLine, TrainedModelLine

FORM: Final = 'A line is {"verifier": …, "benchmark": …, "score": …}, optionally with step, seed and n.'
MODEL_FORM: Final = 'Or it is {"verifier": …, "model": …}: the scores are those of that model\'s completions here.'
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SCORES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(DownstreamLine)}
_MODELS: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(TrainedModelLine)}
_TYPES = _MODELS | _SCORES
_WANTED = {
    "verifier": "a name",
    "benchmark": "a name",
    "model": "a name",
    "score": "a number",
    "step": "a whole number from 0",
    "seed": "a whole number from 0",
    "n": "a whole number from 1",
}
_NAMES = ("verifier", "benchmark", "model")
_OF_SCORE = ("verifier", "benchmark", "score")
_OF_MODEL = ("verifier", "model")


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
        values = {name: msgspec.json.decode(tokens[name]) for name in _TYPES if name in tokens}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise explain_document(row.json) from None
    if is_table:
        values = {name: cell if name in _NAMES else _parse_cell(cell) for name, cell in values.items() if cell.strip()}
    if values.get("score") is None and values.get("model") is not None:
        return measure(
            TrainedModelLine(**{name: _checked_value(name, values.get(name), _OF_MODEL) for name in _MODELS})
        )
    return (DownstreamLine(**{name: _checked_value(name, values.get(name), _OF_SCORE) for name in _SCORES}),)


def _parse_cell(cell: str) -> float | str:
    """Return the number in a table's cell, as an integer if it is whole (200.0); the cell's text if it isn't a
    number."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() else number


def _checked_value(name: str, value: object, required: Collection[str]) -> Any:
    if value is None:
        if name in required:
            raise RefusedError("missing_field", name, f"{name} is missing. {FORM} {MODEL_FORM}")
        return None
    try:
        taken = msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError:
        raise RefusedError("wrong_type", name, f"{name} is not {_WANTED[name]}.") from None
    if name == "score" and not is_usable_number(taken):
        raise RefusedError("wrong_type", name, "score is not a finite number, or above 1e100.")
    return taken
