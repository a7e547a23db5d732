"""Items with people's labels, as other annotation tools read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from workbench.formats import argilla, label_studio
from workbench.formats.writing import new_file
from workbench.model.label import LabelLine
from workbench.model.selection import Selection
from workbench.services.labelling.label_export import current_lines
from workbench.services.project import Project
from workbench.store import people
from workbench.store.exporting import stream_items

Tool = Literal["label-studio", "argilla"]

_Item = tuple[str | None, str | None, str]


def write_for(
    project: Project, path: Path, tool: Tool, selection: Selection, *, names: bool, sighted: bool, force: bool
) -> int:
    """Write the chosen items for another tool; returns how many. The file appears whole or not at all.

    Args:
        names: Annotators' names; stable pseudonyms otherwise.
        sighted: With gold, model, source and types.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    lines = _lines(project, names=names)
    written = 0
    with new_file(path, force=force) as file:
        for item in stream_items(project.database.reader(), selection, "imported"):
            said = lines.get((item.dataset, item.question_key, item.completion_key), [])
            if tool == "label-studio":
                element = label_studio.task_of(written + 1, item, said, sighted=sighted)
            else:
                element = argilla.record_of(item, said, sighted=sighted)
            file.write(b",\n" if written else b"[\n")
            file.write(msgspec.json.encode(element))
            written += 1
        file.write(b"\n]\n" if written else b"[]\n")
    return written


def _lines(project: Project, *, names: bool) -> dict[_Item, list[LabelLine]]:
    pseudonyms = {person.name: f"annotator-{person.id}" for person in people.everyone(project.database)}
    found: dict[_Item, list[LabelLine]] = {}
    for line in current_lines(project):
        known = line if names else replace(line, annotator=pseudonyms[line.annotator])
        found.setdefault((line.dataset, line.question_id, line.completion_id), []).append(known)
    return found
