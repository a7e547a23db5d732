"""Reads embeddings of problems, one per line."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import msgspec

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats.rows import read_checked
from workbench.data.records import EmbeddingLine

_HINT = 'Lines are {"task_id": …, "vector": [numbers]}, optionally with source.'


def read(path: Path) -> dict[str, EmbeddingLine]:
    """Return the embeddings in a file, by the problem's id.

    Raises:
        FormatError: The file can't be read, or a line is invalid; an incomplete set of problems is of no use.
    """
    found: dict[str, EmbeddingLine] = {}
    size = 0
    for number, line in read_checked(path, msgspec.json.Decoder(EmbeddingLine), _vector_fault):
        if isinstance(line, Refusal):
            raise FormatError(f"{path}:{number}:{line.field or ''}: {line.message}", _HINT)
        if line.task_id in found:
            raise FormatError(f"{path}:{number}:task_id: {line.task_id!r} is on an earlier line already.")
        size = size or len(line.vector)
        if len(line.vector) != size:
            raise FormatError(
                f"{path}:{number}:vector: it has {len(line.vector)} numbers, but vectors on other lines "
                f"have more or fewer."
            )
        found[line.task_id] = line
    if not found:
        raise FormatError(f"{path} holds no vectors.", _HINT)
    return found


def _vector_fault(line: EmbeddingLine) -> tuple[str, str] | None:
    if not line.vector or not all(map(isfinite, line.vector)) or not any(line.vector):
        return "vector", "A vector has a direction: numbers, and not all of them 0."
    return None
