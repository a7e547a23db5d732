"""Files of pass vectors: a case a line, or one JSON object of named cases.

A case is ``{"vectors": ["1101", …]}``, one text a solution and one character a test, ``1`` for a pass; on a line it may
have a ``name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.coding.records.evolution import VectorCase
from workbench.core.item import Refusal
from workbench.data.formats.documents import documents, whole
from workbench.data.formats.explain import RefusedError, explain_document, refusal
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.records import decoded
from workbench.data.formats.source import detect_format, open_stream

_CASE = msgspec.json.Decoder(VectorCase)
_BY_NAME = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read(path: Path) -> Iterator[tuple[int, VectorCase | Refusal]]:
    """The cases of a file with the numbers of their lines, and the lines that can't be taken.

    Raises:
        FormatError: The file can't be read.
    """
    if detect_format(path) != "jsonl":
        with open_stream(path) as (stream, _):
            document = whole(stream, path)
        yield from ((1, case) for case in _named(1, document))
        return
    with open_stream(path) as (stream, _):
        for row in documents(stream, "jsonl", path, DEFAULT_MAX_LINE):
            cases = [row] if isinstance(row, Refusal) else _named(row.line, row.json)
            yield from ((row.line, case) for case in cases)


def _named(line: int, raw: bytes) -> list[VectorCase | Refusal]:
    """The case that an object is, or those it holds by name."""
    try:
        found = _BY_NAME.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [refusal(line, raw, explain_document(raw))]
    if "vectors" in found or not found:
        return [_case(line, raw, None)]
    return [_case(line, bytes(value), name) for name, value in found.items()]


def _case(line: int, raw: bytes, name: str | None) -> VectorCase | Refusal:
    case = decoded(line, raw, _CASE)
    if isinstance(case, Refusal):
        return case if name is None else msgspec.structs.replace(case, message=f"{name}: {case.message}")
    place = "vectors" if name is None else f"{name}.vectors"
    if not case.vectors or any(set(vector) - {"0", "1"} for vector in case.vectors):
        message = f"{place} is a list of texts of 0 and 1, one a solution."
        return refusal(line, raw, RefusedError("wrong_type", "vectors", message))
    if len(set(map(len, case.vectors))) > 1:
        message = f"{place} have different lengths. Give every solution a character for every test."
        return refusal(line, raw, RefusedError("wrong_type", "vectors", message))
    return case if name is None else msgspec.structs.replace(case, name=name)
