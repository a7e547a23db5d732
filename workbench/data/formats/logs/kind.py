"""What a kind of log says of itself: how its files are told from others, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.data.formats.documents import Row, documents
from workbench.data.formats.lines import Stream
from workbench.data.formats.logs.logged import Logged
from workbench.data.formats.source import FileFormat

Read = Callable[[Mapping[str, Any]], Iterable[Logged]]
"""What a row holds, its JSON as plain objects; raises RefusedError where it holds nothing that can be taken."""

Begin = Callable[[Path], Read]
"""Called once a file, which may lie beside others that say more of it."""

Rows = Callable[[Stream, FileFormat, Path, int], Iterator[Row]]
"""The rows of an open file, as `documents` gives them."""


def always(read: Read) -> Begin:
    """For files of which nothing but the row itself needs to be known."""
    return lambda _path: read


def _never(_head: bytes) -> bool:
    return False


def _unnamed(_path: Path) -> str | None:
    return None


class LogKind(Struct, frozen=True, kw_only=True):
    """One kind of log.

    Attributes:
        name: What ``import --format`` calls it.
        recognises: Whether the first row of a file is one of this kind.
        begin: A function that reads the rows of one file.
        rows: How rows are found where they don't simply stand one after the other.
        begins: Whether a file that begins with these bytes is one document of this kind, not rows.
        dataset_of: What a file calls the data set that it is about, if anything; raises FormatError.
        questions: Its rows are questions without completions.
        later: Codes of refusals of rows that can be taken once more lies beside the file.
    """

    name: str
    recognises: Callable[[Mapping[str, Any]], bool]
    begin: Begin
    rows: Rows = documents
    begins: Callable[[bytes], bool] = _never
    dataset_of: Callable[[Path], str | None] = _unnamed
    questions: bool = False
    later: frozenset[str] = frozenset()
