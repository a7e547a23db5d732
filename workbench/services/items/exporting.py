"""Exporting items, labels and verdicts to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from workbench.annotation.states import current_events
from workbench.errors import UsageError
from workbench.formats.writing import (
    ITEM_COLUMNS,
    Kind,
    item_cells,
    item_line,
    new_file,
    released_line,
    write_csv,
    write_parquet,
)
from workbench.model.item import StoredItem
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice
from workbench.services.items.interchange import write_for
from workbench.services.labelling.own_labels import ROLES, LabelIndex
from workbench.services.project import Project
from workbench.store import events
from workbench.store import exporting as store
from workbench.store.selection import check_names

ExportFormat = Literal["verifybench", "verifybench-fixed", "csv", "parquet", "jsonl", "label-studio", "argilla"]
Table = Literal["items", "labels", "verdicts"]

FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
TABLES: tuple[Table, ...] = ("items", "labels", "verdicts")

_LABEL_COLUMNS: dict[str, Kind] = dict.fromkeys(
    (
        "completion_id",
        "question_id",
        "annotator",
        "task",
        "verdict",
        "reason",
        "subtype",
        "note",
        "role",
        "created_at",
    ),
    "text",
)
_VERDICT_COLUMNS: dict[str, Kind] = {
    "question_id": "text",
    "completion_id": "text",
    "verifier": "text",
    "run": "int",
    "verdict": "text",
    "score": "float",
    "reason": "text",
    "ms": "float",
}


class ExportReport(Struct, frozen=True, kw_only=True):
    """What was written.

    Attributes:
        written: Rows.
        without_gold: Items that have no label of the gold asked for (in conflict, excluded, or nobody's).
    """

    written: int
    without_gold: int = 0


def export(
    project: Project,
    path: Path,
    *,
    format: ExportFormat,
    table: Table = "items",
    dataset: str | None = None,
    selection: Selection | None = None,
    gold: GoldChoice = "final",
    names: bool = False,
    sighted: bool = False,
    force: bool = False,
) -> ExportReport:
    """Write the chosen rows to a file, which appears whole or not at all.

    Args:
        table: Labels and verdicts exist as ``csv`` and ``parquet``.
        dataset: Only this data set's items.
        selection: Only these items.
        gold: Whose labels stand in ``gold_correct``; ``imported`` gives back the file's own labels and types.
        names: Annotators' names; stable pseudonyms otherwise.
        sighted: In a file for another annotation tool, also what annotators must not see: gold, model, source, types.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: There is no such data set, or the table does not come in this format.
    """
    if table != "items" and format not in ("csv", "parquet"):
        raise UsageError(f"{table} can't be written as {format}.", "Use --format csv or --format parquet.")
    project.database.require_other(path)
    chosen = check_names(project.database.reader(), _with_dataset(project, selection or Selection(), dataset))
    if format in ("label-studio", "argilla"):
        return ExportReport(written=write_for(project, path, format, chosen, names=names, sighted=sighted, force=force))
    if table == "items":
        return _export_items(project, path, format, chosen, gold, names, force)
    columns = _LABEL_COLUMNS if table == "labels" else _VERDICT_COLUMNS
    rows = _labels(project, chosen, names) if table == "labels" else _verdicts(project, chosen)
    return ExportReport(written=_write_table(path, format, columns, rows, force))


def _with_dataset(project: Project, selection: Selection, dataset: str | None) -> Selection:
    if dataset is None:
        return selection
    known = store.dataset_names(project.database.reader())
    if dataset not in known:
        raise UsageError(f"There is no data set {dataset!r}.", f"Data sets: {', '.join(known) or 'none yet'}.")
    return Selection((*selection.conditions, Condition("dataset", "=", dataset)), selection.limit)


def _export_items(
    project: Project,
    path: Path,
    format: ExportFormat,
    selection: Selection,
    gold: GoldChoice,
    names: bool,
    force: bool,
) -> ExportReport:
    without_gold = 0

    def items() -> Iterator[StoredItem]:
        nonlocal without_gold
        for item in store.stream_items(project.database.reader(), selection, gold):
            without_gold += item.gold is None
            yield item

    if format in ("csv", "parquet"):
        written = _write_table(path, format, ITEM_COLUMNS, map(item_cells, items()), force)
        return ExportReport(written=written, without_gold=without_gold)
    written, labels = 0, LabelIndex(project, selection, names=names) if format == "jsonl" else None
    with new_file(path, force=force) as file:
        for item in items():
            if labels is not None:
                said = labels.of(item.dataset, item.question_key, item.completion_key)
                file.write(item_line(item, msgspec.to_builtins(said)))
            else:
                file.write(released_line(item, fixed=format == "verifybench-fixed"))
            written += 1
    return ExportReport(written=written, without_gold=without_gold)


def _write_table(
    path: Path, format: ExportFormat, columns: dict[str, Kind], rows: Iterable[tuple[object, ...]], force: bool
) -> int:
    with new_file(path, force=force) as file:
        if format == "parquet":
            return write_parquet(file, columns, rows)
        return write_csv(file, list(columns), rows)


def _labels(project: Project, selection: Selection, names: bool) -> Iterator[tuple[object, ...]]:
    reader = project.database.reader()
    people = store.annotator_names(reader) if names else {}
    for task, subject, question, completion in store.labelled_subjects(reader, selection):
        for event in current_events(events.of_subject(reader, task, subject)):
            yield (
                completion,
                question,
                people.get(event.annotator, f"annotator-{event.annotator}"),
                task,
                event.verdict,
                event.exclusion_reason,
                event.subtype,
                event.note,
                ROLES.get(event.kind, "annotator"),
                event.created_at,
            )


def _verdicts(project: Project, selection: Selection) -> Iterator[tuple[object, ...]]:
    return store.stream_verdicts(project.database.reader(), selection)
