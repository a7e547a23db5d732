"""Export items, labels, verdicts and whole projects to files; each format has its writers in one table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Struct, structs

from workbench.coding import problems
from workbench.coding.outcome_lines import TestOutcome, lines_by_test
from workbench.core.code import SolutionResult
from workbench.core.database import events
from workbench.core.database.selection import check_names, count_items, dataset_names
from workbench.core.errors import UsageError, opt
from workbench.core.files import part_folder
from workbench.core.item import StoredItem
from workbench.core.options import Force, Options, Where, Whole, argument, grouped, option
from workbench.core.progress import stepping
from workbench.core.project import Project, open_project, opened_project
from workbench.core.selection import Condition, Selection, selection_of
from workbench.core.states import current_events
from workbench.core.verdict import GoldChoice
from workbench.data.formats.argilla import record_of
from workbench.data.formats.label_studio import task_of
from workbench.data.formats.source import path_text
from workbench.data.formats.writing import (
    ITEM_COLUMNS,
    Kind,
    item_cells,
    item_line,
    new_file,
    released_line,
    write_csv,
    write_lines,
    write_parquet,
)
from workbench.data.store import reading as store
from workbench.data.store.reading import stream_items
from workbench.interchange.records import ArchiveWritten, ExportReport
from workbench.interchange.store import archiving
from workbench.interchange.training_files import PairLines, SftLines
from workbench.labelling.label_export import LabelIndex, current_lines, own_label
from workbench.labelling.ledger import recompute

__all__ = ["FORMATS", "TABLES", "ExportFormat", "ExportOptions", "ExportReport", "Table", "export", "format_of"]

# -- The options of an export.


Table = Literal["items", "labels", "verdicts", "outcomes", "tests"]


ExportFormat = Literal[
    "verifybench",
    "verifybench-fixed",
    "jsonl",
    "csv",
    "parquet",
    "sft",
    "pairs",
    "labels",
    "label-studio",
    "argilla",
    "workbench",
]


_FORMAT_MEANINGS: Final[dict[ExportFormat, str]] = {
    "verifybench": "the released schema, byte for byte",
    "verifybench-fixed": "the same, with corrected type fields",
    "jsonl": "everything about each item, one per line",
    "csv": "a table for spreadsheets",
    "parquet": "a table for pandas and the like",
    "sft": "training file: completions that verifiers call correct",
    "pairs": "training file: chosen and rejected (DPO)",
    "labels": "labels, one per line, to be read back",
    "label-studio": "items with labels, for Label Studio",
    "argilla": "items with labels, for Argilla",
    "workbench": "an archive of everything: a database",
}


class ExportOptions(Options, frozen=True, kw_only=True):
    """The rows to export, their content and format; tables other than items can be ``csv``, ``parquet`` or ``jsonl``.

    An archive always has annotators' names.
    """

    file: Annotated[Path, argument("FILE", output="stream")]
    format: Annotated[
        ExportFormat | None, option("Format of the file.  [default: by the name of FILE]", meanings=_FORMAT_MEANINGS)
    ] = None
    table: Annotated[Table, option("Table to write.")] = "items"
    dataset: Annotated[str | None, option("Export only this data set.")] = None
    where: Where = ()
    verifiers: Annotated[
        tuple[str, ...],
        option(
            "Verifier to which conditions on verdicts apply. For pairs: the verifier that decides, instead of gold, "
            "what is correct. If repeated, all must agree.",
            "--verifier",
            metavar="NAME",
            later=True,
        ),
    ] = ()
    gold: Annotated[
        GoldChoice,
        option("Source of the exported labels. The value imported restores the labels and types of the imported file."),
    ] = "final"
    names: Annotated[bool, option("Write annotators' names instead of pseudonyms.", later=True)] = False
    sighted: Annotated[
        bool,
        option(
            "For label-studio and argilla: also write gold, model, source and types, which annotators must not see.",
            later=True,
        ),
    ] = False
    system: Annotated[
        str | None, option("For sft: system message at the beginning of each conversation.", metavar="TEXT", later=True)
    ] = None
    per_question: Annotated[
        Whole | None,
        option(
            "For sft: maximum number of completions per question (default: all). For pairs: maximum number of pairs "
            "per question (default: 1).",
            metavar="N",
            later=True,
        ),
    ] = None
    seed: Annotated[int, option("For sft and pairs: seed of the random draw within each question.", later=True)] = 0
    checks: Annotated[
        bool,
        option(
            "For workbench: include the checks (items with a known answer); anyone with the file "
            "can tell which they are.",
            later=True,
        ),
    ] = False
    without_calls: Annotated[
        bool, option("For workbench: leave out the requests to model servers and their responses.", later=True)
    ] = False
    force: Force = False


class Request(Struct, frozen=True, kw_only=True):
    """The input of a writer.

    Attributes:
        selection: The rows selected by the options ``dataset``, ``where`` and ``verifiers``.
    """

    project: Project
    options: ExportOptions
    format: ExportFormat
    selection: Selection

    def report(self, written: int, **more: Any) -> ExportReport:
        file, table = path_text(self.options.file), self.options.table
        return ExportReport(written=written, file=file, format=self.format, table=table, **more)


def export(project: Project, options: ExportOptions) -> ExportReport:
    """Write the selected rows to a file, which appears whole or not at all.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: There is no such data set or verifier, or the format has no such table or option.
    """
    format = options.format or format_of(options.file, options.table)
    project.database.require_other(options.file)
    request = Request(
        project=project, options=options, format=format, selection=_full_selection(project, options, format)
    )
    for name in sorted({name for found in _WRITERS.values() for name in found.options}):
        known = {other: found for other, found in _WRITERS.items() if name in found.options}
        if getattr(request.options, name) != _NOTHING_SAID[name] and request.format not in known:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} has no effect on {request.format}.", f"It is for {', '.join(known)}.")
    return _require_writer(format, options.table)(request)


def format_of(path: Path, table: Table = "items") -> ExportFormat:
    """Return the format that a file name (without ``.gz``) implies, among those in which the table can be written.

    Raises:
        UsageError: The name implies no format, or several.
    """
    name = path.name.lower().removesuffix(".gz")
    ending = Path(name).suffix
    known = [format for format in FORMATS if _find_writer(format, table) is not None]
    if ending == ".zip":
        raise UsageError("An archive is a database, not a zip file.", "Use a name that ends in .db.")
    formats = [format for format in _ENDINGS.get(ending, ()) if format in known]
    if len(formats) == 1:
        return formats[0]
    if formats:
        raise UsageError(f"Several formats end in {ending}: say which.", f"{opt.format:{' or '.join(formats)}}")
    raise UsageError(
        f"The name {path_text(path)} doesn't imply a format.", f"Name one with {opt.format}: {', '.join(known)}."
    )


def _full_selection(project: Project, options: ExportOptions, format: ExportFormat) -> Selection:
    selection, verifiers = selection_of(options.where), options.verifiers
    if verifiers and not selection.asks_for_verdicts:
        if format != "pairs":
            raise UsageError(
                f"{opt.verifier} needs a condition on verdicts.", f"Add {opt.where:verdict=correct}, or leave it out."
            )
        check_names(project.database.reader(), Selection((Condition("verdict", "=", "correct"),)), verifiers)
    return check_names(project.database.reader(), _with_dataset(project, selection, options.dataset), verifiers)


def _find_writer(format: ExportFormat, table: Table) -> Writer | None:
    return _WRITERS[format].items if table == "items" else _WRITERS[format].others.get(table)


def _require_writer(format: ExportFormat, table: Table) -> Writer:
    if (found := _find_writer(format, table)) is None:
        there = [name for name in FORMATS if _find_writer(name, table) is not None]
        raise UsageError(f"{table} can't be written as {format}.", f"Use {opt.format:{' or '.join(there)}}.")
    return found


def _with_dataset(project: Project, selection: Selection, dataset: str | None) -> Selection:
    if dataset is None:
        return selection
    known = dataset_names(project.database.reader())
    if dataset not in known:
        raise UsageError(f"There is no data set {dataset!r}.", f"Data sets: {', '.join(known) or 'none yet'}.")
    return Selection((*selection.conditions, Condition("dataset", "=", dataset)), selection.limit)


# -- Files to train with.


def training(request: Request, lines: type[SftLines | PairLines]) -> ExportReport:
    """Write conversations for rejection sampling (VerifyBench, section 5.2), or pairs of a correct and an incorrect
    completion. Completions of a question with the same text count once.
    """
    found = lines(request)
    written = write_lines(request.options.file, found.lines(), force=request.options.force)
    return request.report(written, **{request.format: found.report()})


# -- Tables of labels and verdicts, as CSV, Parquet or JSON Lines.


_LABEL_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("completion_id", "question_id", "annotator", "task", "verdict", "reason", "subtype"), "text"),
    **dict.fromkeys(("note", "role", "created_at"), "text"),
    "round": "int",
    "unsure": "bool",
    "tags": "text",
}
_VERDICT_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("question_id", "completion_id", "verifier"), "text"),
    "run": "int",
    "verdict": "text",
    "score": "float",
    "reason": "text",
    "ms": "float",
}
_OUTCOME_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(SolutionResult.__struct_fields__, "text"),
    **dict.fromkeys(("passed", "total", "forgeable"), "int"),
    **dict.fromkeys(("score", "ms"), "float"),
}
_TEST_COLUMNS: dict[str, Kind] = {**dict.fromkeys(TestOutcome.__struct_fields__, "text"), "test": "int", "run": "int"}


def labels(request: Request) -> ExportReport:
    return request.report(write_table(request, _LABEL_COLUMNS, _label_rows(request)))


def verdicts(request: Request) -> ExportReport:
    found = store.stream_verdicts(request.project.database.reader(), request.selection)
    return request.report(write_table(request, _VERDICT_COLUMNS, found))


def outcomes(request: Request) -> ExportReport:
    """Write one row per executed solution and suite, of every verifier that executes solutions."""
    found = problems.results(request.project, selection=request.selection)
    return _write_outcomes(request, _OUTCOME_COLUMNS, found)


def tests(request: Request) -> ExportReport:
    found = lines_by_test(request.project, request.selection)
    return _write_outcomes(request, _TEST_COLUMNS, found)


def _write_outcomes(
    request: Request,
    columns: dict[str, Kind],
    found: problems.OutcomeLines[SolutionResult] | problems.OutcomeLines[TestOutcome],
) -> ExportReport:
    written = write_table(request, columns, map(structs.astuple, found))
    left_out = found.left_out
    return request.report(written, without_tests=left_out.without_tests, not_run=tuple(left_out.not_run))


def write_table(request: Request, columns: dict[str, Kind], rows: Iterable[tuple[object, ...]]) -> int:
    if request.format == "jsonl":
        named = (dict(zip(columns, row, strict=True)) for row in rows)
        return write_lines(request.options.file, named, force=request.options.force)
    with new_file(request.options.file, force=request.options.force) as file:
        if request.format == "parquet":
            return write_parquet(file, columns, rows)
        return write_csv(file, list(columns), rows)


def _label_rows(request: Request) -> Iterator[tuple[object, ...]]:
    reader = request.project.database.reader()
    people = store.annotator_names(reader) if request.options.names else {}
    for task, subject, question, completion in store.labelled_subjects(reader, request.selection):
        for event in current_events(events.events_of(reader, task, subject)):
            label = own_label(event, people)
            values = (getattr(label, name) for name in [*_LABEL_COLUMNS][2:-1])
            yield completion, question, *values, " ".join(label.tags)


# -- Items in the released schema, with all data, or as a table.


class _ExportedItems:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.without_gold = 0

    def __iter__(self) -> Iterator[StoredItem]:
        reader, selection = self._request.project.database.reader(), self._request.selection
        many = count_items(reader, selection)
        found = store.stream_items(reader, selection, self._request.options.gold)
        for item in stepping(found, "writing", "items", min(many, selection.limit or many)):
            self.without_gold += item.gold is None
            yield item


def lines(request: Request) -> ExportReport:
    labels = LabelIndex(request.project, request.selection, names=request.options.names)

    def line(item: StoredItem) -> bytes:
        found = labels.of(item.dataset, item.question_key, item.completion_key)
        return item_line(item, msgspec.to_builtins(found))

    return _write_items(request, line)


def cells(request: Request) -> ExportReport:
    items = _ExportedItems(request)
    written = write_table(request, ITEM_COLUMNS, map(item_cells, items))
    return request.report(written, without_gold=items.without_gold)


def _write_items(request: Request, line: Callable[[StoredItem], bytes]) -> ExportReport:
    items, written = _ExportedItems(request), 0
    with new_file(request.options.file, force=request.options.force) as file:
        for item in items:
            file.write(line(item))
            written += 1
    return request.report(written, without_gold=items.without_gold)


# -- Files for other tools or for reimport: other annotation tools, labels, and archives.


def peer_labels(request: Request) -> ExportReport:
    """Write the labels in force on the selected items, as ``workbench labels DB export`` does for all."""
    lines = current_lines(request.project, selection=request.selection, names=request.options.names)
    return request.report(write_lines(request.options.file, lines, force=request.options.force))


def archive(request: Request) -> ExportReport:
    """Write an archive of the whole project, from which it can be restored.

    Raises:
        UsageError: Only some items are selected.
    """
    if request.selection.conditions:
        raise UsageError(
            f"An archive contains the whole database: {opt.where} and {opt.dataset} can't be used with it.",
            "Other formats can write selected items.",
        )
    asked = request.options
    written = write_archive(
        request.project, asked.file, checks=asked.checks, calls=not asked.without_calls, force=asked.force
    )
    return request.report(written.written, archive=written)


def write_archive(
    project: Project, path: Path, *, checks: bool = False, calls: bool = True, force: bool = False
) -> ArchiveWritten:
    """Write the whole project as of one moment into a new database; the file appears whole or not at all.

    An archive is private to its owner: it has people's names and all that is stored about them. It never holds the
    database's secret or logins.

    Args:
        checks: Include items that are checks and the answers to them; anyone with the archive can tell which they are.
        calls: Include the requests to model servers and their responses.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself, or the disk is full.
        UsageError: The name ends in ``.gz``.
    """
    project.database.require_other(path)
    if path.suffix == ".gz":
        raise UsageError(f"{path}: an archive is a database.", "Use a name that ends in .db.")
    with new_file(path, force=force) as file, part_folder(path.with_name(f"{path.name}-rows")) as part:
        made = part / "archive.db"
        open_project(made, create=True).close()
        with project.database.reading() as reader:
            archiving.copy_rows(reader, made, archiving.Conditions(checks=checks), calls=calls)
            left_out = {
                "checks": 0 if checks else archiving.count(reader, "check_items"),
                "responses": 0 if calls else archiving.count(reader, "responses"),
                "unfinished imports": archiving.count(reader, "imports", "state = 'running'"),
            }
        with opened_project(made) as archived:
            recompute(archived)
        archiving.close_log(made)
        rows = archiving.row_counts(made)
        with made.open("rb") as whole:
            shutil.copyfileobj(whole, file)
    return ArchiveWritten(rows=rows, left_out={what: number for what, number in left_out.items() if number})


def for_tool(request: Request) -> ExportReport:
    """Write the items with their current labels in the format of another annotation tool."""
    labels = current_lines(request.project, names=request.options.names)
    lines = grouped(((line.dataset, line.question_id, line.completion_id), line) for line in labels)
    written = 0
    with new_file(request.options.file, force=request.options.force) as file:
        for item in stream_items(request.project.database.reader(), request.selection, "imported"):
            said = lines.get((item.dataset, item.question_key, item.completion_key), [])
            file.write(b",\n" if written else b"[\n")
            written += 1
            sighted = request.options.sighted
            file.write(
                msgspec.json.encode(
                    task_of(written, item, said, sighted=sighted)
                    if request.format == "label-studio"
                    else record_of(item, said, sighted=sighted)
                )
            )
        file.write(b"\n]\n" if written else b"[]\n")
    return request.report(written)


# -- The writers of each format.


Writer = Callable[[Request], ExportReport]


class _ExportWriter(Struct, frozen=True):
    """The writers of a format.

    Attributes:
        items: Writes items.
        others: Writes labels, verdicts, outcomes and tests, if the format can.
        options: Options that this format accepts; other formats reject them.
    """

    items: Writer
    others: dict[Table, Writer] = {}
    options: tuple[str, ...] = ()


_TABLES: Final[dict[Table, Writer]] = {"labels": labels, "verdicts": verdicts, "outcomes": outcomes, "tests": tests}
_WRITERS: Final[dict[ExportFormat, _ExportWriter]] = {
    "verifybench": _ExportWriter(partial(_write_items, line=released_line)),
    "verifybench-fixed": _ExportWriter(partial(_write_items, line=partial(released_line, fixed=True))),
    "jsonl": _ExportWriter(lines, _TABLES),
    "csv": _ExportWriter(cells, _TABLES),
    "parquet": _ExportWriter(cells, _TABLES),
    "sft": _ExportWriter(partial(training, lines=SftLines), options=("system", "per_question", "seed")),
    "pairs": _ExportWriter(partial(training, lines=PairLines), options=("per_question", "seed")),
    "labels": _ExportWriter(peer_labels),
    "label-studio": _ExportWriter(for_tool, options=("sighted",)),
    "argilla": _ExportWriter(for_tool, options=("sighted",)),
    "workbench": _ExportWriter(archive, options=("checks", "without_calls")),
}
_ENDINGS: Final[dict[str, tuple[ExportFormat, ...]]] = {
    ".csv": ("csv",),
    ".parquet": ("parquet",),
    ".db": ("workbench",),
    ".jsonl": ("verifybench", "verifybench-fixed", "jsonl", "sft", "pairs", "labels"),
    ".json": ("label-studio", "argilla"),
}
"""File suffix -> possible formats."""
FORMATS: Final[tuple[ExportFormat, ...]] = tuple(_WRITERS)
TABLES: Final[tuple[Table, ...]] = get_args(Table)
_NOTHING_SAID: Final = {field.name: field.default for field in structs.fields(ExportOptions)}
