"""Exporting items, labels, verdicts and whole projects to files: one function, one table of formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import Struct, structs

from workbench.core.database.selection import check_names
from workbench.core.database.vocabularies import dataset_names
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.verdict import GoldChoice
from workbench.data.formats.source import path_text
from workbench.interchange import interchange, plain, tables, training
from workbench.interchange.records import ExportReport
from workbench.interchange.request import Request, Table

__all__ = ["FORMATS", "TABLES", "ExportFormat", "ExportReport", "Table", "export", "format_of"]

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

Writer = Callable[[Request], ExportReport]


class _Format(Struct, frozen=True):
    """How a format is written.

    Attributes:
        items: Writes items.
        others: Writes labels and verdicts, where the format can.
        options: Options that mean something to this format, and are refused elsewhere.
    """

    items: Writer
    others: dict[Table, Writer] = {}
    options: tuple[str, ...] = ()


_TABLES: Final[dict[Table, Writer]] = {"labels": tables.labels, "verdicts": tables.verdicts}

_WRITERS: Final[dict[ExportFormat, _Format]] = {
    "verifybench": _Format(plain.released),
    "verifybench-fixed": _Format(plain.fixed),
    "jsonl": _Format(plain.lines),
    "csv": _Format(plain.cells, _TABLES),
    "parquet": _Format(plain.cells, _TABLES),
    "sft": _Format(training.sft, options=("system", "per_question", "seed")),
    "pairs": _Format(training.pairs),
    "labels": _Format(interchange.labels),
    "label-studio": _Format(interchange.label_studio, options=("sighted",)),
    "argilla": _Format(interchange.argilla, options=("sighted",)),
    "workbench": _Format(interchange.archive, options=("checks", "calls")),
}

_ENDINGS: Final[dict[str, tuple[ExportFormat, ...]]] = {
    ".csv": ("csv",),
    ".parquet": ("parquet",),
    ".zip": ("workbench",),
    ".jsonl": ("verifybench", "verifybench-fixed", "jsonl", "sft", "pairs", "labels"),
    ".json": ("label-studio", "argilla"),
}
"""How a file's name ends -> the formats that it may be of."""

FORMATS: Final[tuple[ExportFormat, ...]] = tuple(_WRITERS)
TABLES: Final[tuple[Table, ...]] = get_args(Table)

_FLAGS: Final = {"calls": "--without-calls"}
_NOTHING_SAID: Final = {field.name: field.default for field in structs.fields(Request)}


def export(
    project: Project,
    path: Path,
    *,
    format: ExportFormat,
    table: Table = "items",
    dataset: str | None = None,
    selection: Selection | None = None,
    verifiers: Sequence[str] = (),
    gold: GoldChoice = "final",
    names: bool = False,
    sighted: bool = False,
    system: str | None = None,
    per_question: int | None = None,
    seed: int = 0,
    checks: bool = False,
    calls: bool = True,
    force: bool = False,
) -> ExportReport:
    """Write the chosen rows to a file, which appears whole or not at all.

    Args:
        table: Labels and verdicts exist as ``csv`` and ``parquet``.
        dataset: Only this data set's items.
        selection: Only these items.
        verifiers: Whose verdicts ``verdict`` in the selection means: the condition must hold for each.
        gold: Whose labels stand in ``gold_correct``; ``imported`` gives back the file's own labels and types.
        names: Annotators' names; stable pseudonyms otherwise. An archive always has the names.
        sighted: For label-studio and argilla: also what annotators must not see: gold, model, source, types.
        system: For sft: the text of a system message.
        per_question: For sft: at most so many completions of a question, drawn by ``seed``.
        checks: For workbench: with the items that are checks and what was answered to them.
        calls: For workbench: with calls to model servers.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: There is no such data set or verifier, or the format has no such table or option.
    """
    project.database.require_other(path)
    request = Request(
        project=project,
        path=path,
        format=format,
        table=table,
        selection=_chosen(project, selection or Selection(), dataset, verifiers),
        gold=gold,
        names=names,
        sighted=sighted,
        system=system,
        per_question=per_question,
        seed=seed,
        checks=checks,
        calls=calls,
        force=force,
    )
    _require_options(request)
    return _writer(format, table)(request)


def format_of(path: Path) -> ExportFormat:
    """The format that a file's name says, ``.gz`` aside.

    Raises:
        UsageError: It says none, or several could be meant.
    """
    name = path.name.lower().removesuffix(".gz")
    ending = Path(name).suffix
    formats = _ENDINGS.get(ending, ())
    if len(formats) == 1:
        return formats[0]
    if formats:
        raise UsageError(f"Several formats end in {ending}: say which.", f"--format {' or --format '.join(formats)}")
    raise UsageError(
        f"The name {path_text(path)} doesn't say a format.", f"Name one with --format: {', '.join(FORMATS)}."
    )


def _chosen(project: Project, selection: Selection, dataset: str | None, verifiers: Sequence[str]) -> Selection:
    if verifiers and not selection.asks_for_verdicts:
        raise UsageError(
            "--verifier says whose verdicts are meant.",
            'Add --where "verdict=correct", or leave it out: formats like pairs go by --gold.',
        )
    return check_names(project.database.reader(), _with_dataset(project, selection, dataset), verifiers)


def _writer(format: ExportFormat, table: Table) -> Writer:
    found = _WRITERS[format].items if table == "items" else _WRITERS[format].others.get(table)
    if found is None:
        there = [name for name, known in _WRITERS.items() if table in known.others]
        raise UsageError(f"{table} can't be written as {format}.", f"Use --format {' or --format '.join(there)}.")
    return found


def _require_options(request: Request) -> None:
    """Refuse what this format would not heed."""
    for name in sorted({name for found in _WRITERS.values() for name in found.options}):
        known = {other: found for other, found in _WRITERS.items() if name in found.options}
        if getattr(request, name) != _NOTHING_SAID[name] and request.format not in known:
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            raise UsageError(f"{flag} means nothing for {request.format}.", f"It is for {', '.join(known)}.")


def _with_dataset(project: Project, selection: Selection, dataset: str | None) -> Selection:
    if dataset is None:
        return selection
    known = dataset_names(project.database.reader())
    if dataset not in known:
        raise UsageError(f"There is no data set {dataset!r}.", f"Data sets: {', '.join(known) or 'none yet'}.")
    return Selection((*selection.conditions, Condition("dataset", "=", dataset)), selection.limit)
