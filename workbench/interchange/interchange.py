"""Files that are read elsewhere or back here: of other annotation tools, of labels, and archives."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from workbench.core.errors import UsageError
from workbench.core.item import StoredItem
from workbench.core.label import LabelLine
from workbench.data.formats.argilla import record_of
from workbench.data.formats.label_studio import task_of
from workbench.data.formats.writing import new_file, write_lines
from workbench.data.store.exporting import stream_items
from workbench.interchange.archive import write_archive
from workbench.interchange.records import ExportReport
from workbench.interchange.request import Request
from workbench.labelling.label_export import current_lines

_Element = Callable[[int, StoredItem, list[LabelLine]], object]
"""An item as a tool has it, from its number (from 1), itself, and what people say of it."""


def label_studio(request: Request) -> ExportReport:
    """Items with people's labels as Label Studio reads them."""
    return _tool(request, lambda number, item, said: task_of(number, item, said, sighted=request.sighted))


def argilla(request: Request) -> ExportReport:
    """Items with people's labels as Argilla reads them."""
    return _tool(request, lambda _, item, said: record_of(item, said, sighted=request.sighted))


def labels(request: Request) -> ExportReport:
    """Label lines: what stands of the chosen items, as ``workbench labels DB export`` writes it of all."""
    lines = current_lines(request.project, selection=request.selection, names=request.names)
    return request.report(write_lines(request.path, lines, force=request.force))


def archive(request: Request) -> ExportReport:
    """Everything, to be read back.

    Raises:
        UsageError: Only some items are asked for.
    """
    if request.selection.conditions:
        raise UsageError(
            "An archive holds all of a database: --where and --dataset don't go with it.",
            "Other formats write a choice of items.",
        )
    written = write_archive(
        request.project, request.path, checks=request.checks, calls=request.calls, force=request.force
    )
    return request.report(written.written, archive=written)


def _tool(request: Request, element: _Element) -> ExportReport:
    """A JSON list of the chosen items."""
    lines = _lines(request)
    written = 0
    with new_file(request.path, force=request.force) as file:
        for item in stream_items(request.project.database.reader(), request.selection, "imported"):
            said = lines.get((item.dataset, item.question_key, item.completion_key), [])
            file.write(b",\n" if written else b"[\n")
            written += 1
            file.write(msgspec.json.encode(element(written, item, said)))
        file.write(b"\n]\n" if written else b"[]\n")
    return request.report(written)


def _lines(request: Request) -> dict[tuple[str | None, str | None, str], list[LabelLine]]:
    found: dict[tuple[str | None, str | None, str], list[LabelLine]] = {}
    for line in current_lines(request.project, names=request.names):
        found.setdefault((line.dataset, line.question_id, line.completion_id), []).append(line)
    return found
