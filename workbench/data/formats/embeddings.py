"""Reads embeddings of problems, one per line, or the matrix of their similarities."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats.documents import read_all
from workbench.data.formats.rows import read_checked
from workbench.data.formats.source import detect_format, open_stream
from workbench.data.records.duplicates import EmbeddingLine

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray

_HINT = (
    'Lines are {"task_id": …, "vector": [numbers]}, optionally with source; or the file is one object '
    '{"task_ids": […], "similarity": [[numbers], …]}, optionally with sources.'
)
_CLOSE = 1e-6


class _SimilarityFile(Struct, frozen=True, kw_only=True):
    task_ids: list[str]
    similarity: list[list[float]]
    sources: list[str] | None = None


class Embedded(Struct, frozen=True, kw_only=True):
    """Problems with their embeddings or similarities.

    Attributes:
        sources: The source of each problem; "" if unknown.
        numbers: A matrix with one row per problem: its embedding, or its cosine similarities with all problems.
        is_matrix: Whether the rows are cosine similarities.
    """

    task_ids: tuple[str, ...]
    sources: tuple[str, ...]
    numbers: FloatArray
    is_matrix: bool


def read(path: Path) -> Embedded:
    """Read a file of embeddings or similarities.

    Raises:
        FormatError: The file can't be read, or a line or the matrix is invalid; an incomplete set of problems is of no
            use.
    """
    return _read_lines(path) if detect_format(path) == "jsonl" else _read_matrix(path)


def _read_lines(path: Path) -> Embedded:
    import numpy as np

    found: list[EmbeddingLine] = []
    seen: dict[str, int] = {}
    for number, line in read_checked(path, msgspec.json.Decoder(EmbeddingLine), _vector_fault):
        if isinstance(line, Refusal):
            raise FormatError(f"{path}:{number}:{line.field or ''}: {line.message}", _HINT)
        if seen.setdefault(line.task_id, number) != number:
            raise FormatError(f"{path}:{number}:task_id: {line.task_id!r} is on line {seen[line.task_id]} already.")
        if len(line.vector) != len((found or [line])[0].vector):
            raise FormatError(
                f"{path}:{number}:vector: it has {len(line.vector)} numbers, but vectors on other lines "
                f"have more or fewer."
            )
        found.append(line)
    if not found:
        raise FormatError(f"{path} holds no vectors.", _HINT)
    return Embedded(
        task_ids=tuple(line.task_id for line in found),
        sources=tuple(line.source for line in found),
        numbers=np.array([line.vector for line in found]),
        is_matrix=False,
    )


def _vector_fault(line: EmbeddingLine) -> tuple[str, str] | None:
    if not line.vector or not all(map(isfinite, line.vector)) or not any(line.vector):
        return "vector", "A vector has a direction: numbers, and not all of them 0."
    return None


def _read_matrix(path: Path) -> Embedded:
    import numpy as np

    with open_stream(path) as (stream, _):
        content = read_all(stream, path)
    try:
        found = msgspec.json.decode(content, type=_SimilarityFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{path}: {error}.", _HINT) from error
    size = len(found.task_ids)
    sources = found.sources if found.sources is not None else [""] * size
    if not size or len(sources) != size or [len(row) for row in found.similarity] != [size] * size:
        raise FormatError(f"{path}: task_ids, sources and similarity have different lengths, or are empty.", _HINT)
    if len(set(found.task_ids)) != size:
        raise FormatError(f"{path}:task_ids: an id occurs twice.")
    matrix = np.array(found.similarity)
    if not np.allclose(matrix, matrix.T, rtol=0, atol=_CLOSE):
        raise FormatError(f"{path}:similarity: it is not symmetric.", "Cosines are the same both ways.")
    return Embedded(task_ids=tuple(found.task_ids), sources=tuple(sources), numbers=matrix, is_matrix=True)
