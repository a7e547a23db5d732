"""The labels in files of other annotation tools, as label lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.core.item import Refusal
from workbench.core.label import LabelLine
from workbench.data.formats.carried import CarriedItem, line_of
from workbench.data.formats.documents import documents
from workbench.data.formats.explain import RefusedError, refusal
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.peers import TOOLS
from workbench.data.formats.reading import plan_file, read_items
from workbench.data.formats.source import FileFormat, open_stream


def read(path: Path, kind: FileFormat) -> Iterator[tuple[int, bytes, LabelLine | Refusal]]:
    """Element numbers (from 1), each with the element and one person's label of it, or why there is none to be taken.

    Items are named as an import of the same file names them.

    Raises:
        FormatError: The file can't be read.
    """
    plan = plan_file(path, format=kind)
    tool = TOOLS[kind]
    with read_items(plan) as (items, _), open_stream(path) as (stream, _):
        for row, item in zip(documents(stream, kind, path, DEFAULT_MAX_LINE), items, strict=True):
            raw = row.raw
            if isinstance(item, Refusal):
                yield item.line, raw, item
                continue
            try:
                place = CarriedItem(tool.dataset_of(raw), item.question_key, item.completion_key)
                for answers in tool.answers_in(raw):
                    yield item.line, raw, line_of(answers, place)
            except RefusedError as error:
                yield item.line, raw, refusal(item.line, raw, error)
