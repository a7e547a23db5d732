"""Tables of labels and verdicts, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.core.database import events
from workbench.core.label import pseudonym
from workbench.core.states import current_events
from workbench.data.formats.writing import Kind, new_file, write_csv, write_parquet
from workbench.data.store import exporting as store
from workbench.interchange.records import ExportReport
from workbench.interchange.request import Request
from workbench.labelling.own_labels import ROLES

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


def labels(request: Request) -> ExportReport:
    """A row a label in force."""
    return request.report(write_table(request, _LABEL_COLUMNS, _labels(request)))


def verdicts(request: Request) -> ExportReport:
    """A row a verdict of any run."""
    found = store.stream_verdicts(request.project.database.reader(), request.selection)
    return request.report(write_table(request, _VERDICT_COLUMNS, found))


def write_table(request: Request, columns: dict[str, Kind], rows: Iterable[tuple[object, ...]]) -> int:
    """Write a table in the format asked for; returns how many rows it has."""
    with new_file(request.path, force=request.force) as file:
        if request.format == "parquet":
            return write_parquet(file, columns, rows)
        return write_csv(file, list(columns), rows)


def _labels(request: Request) -> Iterator[tuple[object, ...]]:
    reader = request.project.database.reader()
    people = store.annotator_names(reader) if request.names else {}
    for task, subject, question, completion in store.labelled_subjects(reader, request.selection):
        for event in current_events(events.of_subject(reader, task, subject)):
            yield (
                completion,
                question,
                people.get(event.annotator, pseudonym(event.annotator)),
                task,
                event.verdict,
                event.exclusion_reason,
                event.subtype,
                event.note,
                ROLES.get(event.kind, "annotator"),
                event.created_at,
            )
