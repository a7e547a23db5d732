"""The report of an import, or of its dry run, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from workbench.core.errors import some_of
from workbench.core.item import gold_source
from workbench.core.run import VerdictColumn
from workbench.core.text.figures import counted
from workbench.data.formats.source import QUESTIONS
from workbench.interchange.importing import ImportReport, PreviewRow

_MAX_TEXT = 60
"""Characters of a text in a preview."""


def counts_line(report: ImportReport, done: str) -> str:
    """Return the numbers of rows.

    Args:
        done: What happened to accepted rows: imported, would be imported.
    """
    return (
        f"{report.dataset}: {counted(report.read, 'row')} read, {report.imported} {done}, "
        f"{report.unchanged} unchanged, {report.quarantined} quarantined ({report.format})"
    )


def import_lines(report: ImportReport, done: str) -> Iterator[str]:
    """Yield the report line by line, without the rejected rows; see `counts_line`."""
    yield counts_line(report, done)
    if report.repeated:
        equal = "equals" if report.repeated == 1 else "equal"
        yield f"{counted(report.repeated, 'row')} without ids {equal} another row of the file: equal rows are one item."
        yield "To count samples one by one: --keep-equal, or --map completion_id=COLUMN where they have ids."
    if report.mended:
        yield f"{report.mended} previously rejected rows are now accepted, and have left quarantine."
    columns = ", ".join(f"{field}={column}" for field, column in report.mapping.items() if field != column)
    if columns:
        yield f"Columns: {columns}"
    if gold := gold_source(report.mapping):
        yield gold
    for row in report.first or []:
        yield f"  {row.line}: {' │ '.join(_row_parts(row))}"
    if any(one.format == QUESTIONS for one in (report, *(report.files or []))):
        yield "Questions without completions: a pool to curate and draw from."
    if report.missing:
        yield "Without a value: " + some_of(f"{column} {many:,}" for column, many in report.missing.items())
    for column in report.type_columns or []:
        yield column.description
    if report.kept:
        yield f"Other columns, kept with the items: {some_of(report.kept)}"
    yield from column_lines(report.verdict_columns or [])
    if report.swapped_types:
        yield "The two type fields were swapped, as in the released file, and have been corrected."
    for code, number in report.reasons.items():
        yield f"  {code}: {number}"
    if report.code:
        yield f"  {report.code.words}"
    if report.broken:
        many = counted(report.broken, "broken test")
        yield f"  {many} excluded: they distinguish no solutions, and never count"
    for file in report.files or []:
        counts = f"{file.imported} {done}, {file.unchanged} unchanged, {file.quarantined} quarantined"
        yield f"  {file.file}: {counts}"
    if report.verifiers is not UNSET:
        refused = f"{report.verdicts_refused} rejected"
        yield f"Verdicts: {report.verdicts} imported, {report.verdicts_unchanged} unchanged, {refused}"
        yield from (f"  {name}: run {run}" for name, run in (report.verifiers or {}).items())


def column_lines(columns: Iterable[VerdictColumn]) -> Iterator[str]:
    for column in columns:
        yield f"Verdicts of {column.verifier} in {column.column}: {column.counted}"


def _row_parts(row: PreviewRow) -> Iterator[str]:
    texts = {"question": row.question, "reference": row.reference, "completion": row.completion}
    yield from (f"{field} {_shorten(text)}" for field, text in texts.items() if text is not None)
    if row.tests:
        yield f"entry point {row.entry_point or '(none)'}"
        yield f"tests {', '.join(f'{name} {number:,}' for name, number in row.tests.items())}"
    if row.gold is not None:
        yield "correct" if row.gold else "incorrect"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}…"
