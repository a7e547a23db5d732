"""Detects files of other annotation tools, and reads the items in them as rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats import argilla, label_studio
from workbench.data.formats.documents import Row, SourceDocument, documents
from workbench.data.formats.lines import RefusedError, Stream, make_refusal
from workbench.data.formats.source import FileFormat, first_element

TOOLS: dict[FileFormat, ModuleType] = {"label-studio": label_studio, "argilla": argilla}
"""The module that reads the elements of a tool's files, by format. Each has ``row_of``, ``dataset_of``,
``answers_in``.
"""


def tool_of(path: Path) -> FileFormat | None:
    """Return the tool that wrote a file, by its first element; None for any other file.

    Raises:
        FormatError: The file can't be read, or lacks parts of the labels.
    """
    element = first_element(path)
    if not isinstance(element, dict):
        return None
    if label_studio.is_task(element):
        return "label-studio"
    if {"annotation_id", "annotator", "lead_time"} <= element.keys():
        raise FormatError(f"{path}: Label Studio's JSON-MIN lacks parts of the labels.", "Export the tasks as JSON.")
    return "argilla" if argilla.is_record(element) else None


def dataset_of(path: Path, kind: FileFormat) -> str | None:
    """Return the data set that the first element of a tool's file names; None for any other file.

    Raises:
        FormatError: The file can't be read.
    """
    element = first_element(path) if kind in TOOLS else None
    if not isinstance(element, dict):
        return None
    try:
        named: str | None = TOOLS[kind].dataset_of(json.dumps(element).encode())
    except (RefusedError, RecursionError):
        return None
    return named


def rows(stream: Stream, kind: FileFormat, path: Path) -> Iterator[Row]:
    """Yield the rows of an open file, like `documents`; of an annotation tool's file its items."""
    found = documents(stream, kind, path)
    return _items(found, TOOLS[kind].row_of) if kind in TOOLS else found


def _items(rows: Iterable[Row], row_of: Callable[[bytes], bytes]) -> Iterator[Row]:
    for row in rows:
        if isinstance(row, Refusal):
            yield row
            continue
        try:
            yield SourceDocument(row.line, row_of(row.raw), row.raw)
        except RefusedError as error:
            yield make_refusal(row.line, row.raw, error)
