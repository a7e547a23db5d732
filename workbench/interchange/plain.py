"""Items in the released schema, with everything, or as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from workbench.core.item import StoredItem
from workbench.core.progress import stepping
from workbench.data.formats.writing import ITEM_COLUMNS, item_cells, item_line, new_file, released_line
from workbench.data.store import exporting as store
from workbench.interchange.records import ExportReport
from workbench.interchange.request import Request
from workbench.interchange.tables import write_table
from workbench.labelling.own_labels import LabelIndex


class _Items:
    """The chosen items, one at a time; those without gold are counted."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.without_gold = 0

    def __iter__(self) -> Iterator[StoredItem]:
        reader, selection = self._request.project.database.reader(), self._request.selection
        many = store.count_items(reader, selection)
        found = store.stream_items(reader, selection, self._request.gold)
        for item in stepping(found, "writing", "items", min(many, selection.limit or many)):
            self.without_gold += item.gold is None
            yield item


def released(request: Request) -> ExportReport:
    """The released schema, byte for byte."""
    return _write(request, released_line)


def fixed(request: Request) -> ExportReport:
    """The same with the type fields the right way round."""
    return _write(request, lambda item: released_line(item, fixed=True))


def lines(request: Request) -> ExportReport:
    """Everything we know of an item, with what people say of it."""
    labels = LabelIndex(request.project, request.selection, names=request.names)

    def line(item: StoredItem) -> bytes:
        said = labels.of(item.dataset, item.question_key, item.completion_key)
        return item_line(item, msgspec.to_builtins(said))

    return _write(request, line)


def cells(request: Request) -> ExportReport:
    """A table of items."""
    items = _Items(request)
    written = write_table(request, ITEM_COLUMNS, map(item_cells, items))
    return request.report(written, without_gold=items.without_gold)


def _write(request: Request, line: Callable[[StoredItem], bytes]) -> ExportReport:
    items, written = _Items(request), 0
    with new_file(request.path, force=request.force) as file:
        for item in items:
            file.write(line(item))
            written += 1
    return request.report(written, without_gold=items.without_gold)
