"""An import in words, before and after it: accepted and rejected rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from workbench.app.tui.kit.matrix import printable
from workbench.core.item import QuarantinedRow, gold_source
from workbench.core.run import RefusedLine
from workbench.core.text.figures import counted
from workbench.interchange.importing import ImportReport, PreviewRow

_MAX_TEXT = 70
_MAX_CODE = 40
_OF_LINES = ("csv", "tsv", "jsonl", "verifybench")
"""Formats whose rows are identified by line."""
_MAX_REJECTED = 5
_SWAPPED = "! the two type columns are swapped in the file; they are corrected"


def preview(found: ImportReport) -> Content:
    lines = [Content.styled(_row_counts(found, "would be imported"), "bold")]
    lines += [Content(f"{found.code.words}.")] if found.code else []
    lines += [Content.styled(_SWAPPED, "$text-warning")] if found.swapped_types else []
    lines += [Content(printable(gold))] if (gold := gold_source(found.mapping)) else []
    lines += [Content(line) for line in _preview_lines(found.first or ())]
    return Content("\n").join([*lines, *_remark_lines(found)])


def import_sentence(found: ImportReport) -> str:
    runs = f"; verdicts of {', '.join(found.verifiers)}" if found.verifiers else ""
    types = "".join(f"; {column.description}" for column in found.type_columns or [])
    code = f"; {found.code.words}" if found.code else ""
    broken = f"; {counted(found.broken, 'test')} can say nothing about any solution" if found.broken else ""
    return printable(f"{_row_counts(found, 'taken')}{code}{broken}{runs}{types}")


def _row_counts(found: ImportReport, done: str) -> str:
    parts = [f"{found.imported:,} {done}"]
    if found.unchanged:
        parts.append(f"{found.unchanged:,} already imported or twice in the file")
    if found.quarantined:
        parts.append(f"{found.quarantined:,} rejected (kept in quarantine)")
    return f"{found.format} · {counted(found.read, 'row')}: {', '.join(parts)}"


def _preview_lines(rows: Sequence[PreviewRow]) -> Iterator[str]:
    for row in rows:
        if row.tests:
            yield printable(f"  {row.line}: {_problem_text(row)}")
            continue
        gold = "" if row.gold is None else f" │ {'correct' if row.gold else 'incorrect'}"
        texts = [text for text in (row.question, row.reference, row.completion) if text is not None]
        yield printable(f"  {row.line}: {' │ '.join(map(_beginning, texts))}{gold}")


def _problem_text(row: PreviewRow) -> str:
    parts = {
        "prompt": row.question,
        "reference": row.reference,
        "entry point": row.entry_point or "",
        "tests": ", ".join(f"{name} {number:,}" for name, number in (row.tests or {}).items()),
    }
    return " │ ".join(f"{name}: {_beginning(said)[:_MAX_CODE] or 'none'}" for name, said in parts.items())


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}…"


def _remark_lines(found: ImportReport) -> Iterator[Content]:
    refused: list[QuarantinedRow | RefusedLine] = [*found.quarantine, *(found.refused_verdicts or [])]
    where = "line" if found.format in _OF_LINES else "row"
    for row in refused[:_MAX_REJECTED]:
        at = f"{where} {row.line}, {row.field or 'whole'}"
        yield Content.styled(printable(f"! {at}: {row.message}"), "$text-warning")
    if len(refused) > _MAX_REJECTED:
        yield Content.styled(f"! and {len(refused) - _MAX_REJECTED:,} more", "$text-warning")
    for column in found.verdict_columns or []:
        yield Content(printable(f"verdicts of {column.verifier}: {column.counted}"))
    if found.broken:
        first = (found.broken_tests or [])[0]
        said = f"! {counted(found.broken, 'test')} can say nothing about any solution; {first.words}"
        yield Content.styled(printable(said), "$text-warning")
    if found.missing:
        said = ", ".join(f"{column} {many:,}" for column, many in found.missing.items())
        yield Content(printable(f"rows without a value: {said}"))
    for types in found.type_columns or []:
        yield Content.styled(printable(f"! {types.description}"), "$text-warning")
    if found.kept:
        yield Content(printable(f"kept with the items: {', '.join(found.kept)}"))
