"""Files of other annotation tools: which tool's it is, and the rows that items are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from workbench.formats import argilla, label_studio
from workbench.formats.documents import Document, Row
from workbench.formats.explain import RefusedError, refusal
from workbench.formats.source import FileFormat, first_element
from workbench.model.item import Refusal

TOOLS: dict[FileFormat, ModuleType] = {"label-studio": label_studio, "argilla": argilla}
"""Format -> module that reads an element of its files: ``row_of``, ``dataset_of``, ``answers_in``."""


def tool_of(path: Path) -> FileFormat | None:
    """Whose file it is by its first element; None for any other.

    Raises:
        FormatError: The file can't be read.
    """
    element = first_element(path)
    if not isinstance(element, dict):
        return None
    if label_studio.is_task(element):
        return "label-studio"
    return "argilla" if argilla.is_record(element) else None


def items(rows: Iterable[Row], kind: FileFormat) -> Iterator[Row]:
    """The rows of a tool's file, each as the item in it."""
    row_of = TOOLS[kind].row_of
    for row in rows:
        if isinstance(row, Refusal):
            yield row
            continue
        try:
            yield Document(row.line, row_of(row.raw), row.raw)
        except RefusedError as error:
            yield refusal(row.line, row.raw, error)
