"""Frozen sets as table cells, and one set, or the plan of one, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from textual.content import Content

from workbench.app.tui.kit.columns import CellStyle, TableCell, TableColumn, TableRow
from workbench.app.tui.kit.matrix import printable
from workbench.benchmarks import set_text
from workbench.benchmarks.records import DiffRow, SetDetail, SetDiff, SetLine
from workbench.core.sets import SetReport
from workbench.core.text.figures import NONE

_MINUTE: Final = len("2026-11-22 03:50")
"""Characters of a time that are shown."""


# -- the table of sets -----------------------------------------------------------------------------


def columns(*, wide: bool) -> tuple[TableColumn, ...]:
    """How much a set has, how far people are with it today, and what nobody should overlook."""

    def number(key: str, width: int) -> TableColumn:
        return TableColumn(key, key, width, width, "right")

    return (
        TableColumn("set", "set", 10, 32),
        TableColumn("kind", "kind", 8, 8),
        number("questions", 9),
        number("tuples", 7),
        number("decided", 7),
        number("waiting", 7),
        number("conflict", 8),
        number("short", 6),
        number("gold≠", 7),
        *((TableColumn("frozen", "frozen", _MINUTE, _MINUTE),) if wide else ()),
    )


def row(place: int, line: SetLine, *, wide: bool) -> TableRow:
    """One set; its place in the order of freezing is the row's id."""
    other_gold = line.changed["gold"]
    styles: tuple[CellStyle, ...] = ("", "accent", "warning")
    people = [TableCell(NONE, "dim")] * 3
    if line.progress is not None:
        counts = zip(line.progress, styles, strict=True)
        people = [TableCell(f"{count:,}", style if count else "dim") for count, style in counts]
    return TableRow(
        place,
        (
            TableCell(line.full_name, "bold"),
            TableCell(line.kind),
            TableCell(f"{line.questions:,}"),
            TableCell(f"{line.tuples:,}" if line.tuples else NONE),
            *people,
            TableCell(f"! {line.short}" if line.short else "", "warning"),
            TableCell(f"! {other_gold:,}" if other_gold else "", "warning"),
            *((TableCell(_time(line), "dim"),) if wide else ()),
        ),
    )


def _time(line: SetLine) -> str:
    return line.created_at.replace("T", " ")[:_MINUTE]


# -- one set ---------------------------------------------------------------------------------------


def detail(found: SetDetail) -> Content:
    """Everything of a set, what is missing and what has changed first."""
    line, report = found.set, found.report
    guideline = f", guidelines {line.guideline}" if line.guideline else ""
    return _paragraphs(
        _title(report),
        _warnings([*set_text.shortfall_lines(report), *set_text.changed_lines(found.changed)]),
        _plain([f"frozen {_time(line)} by version {line.code_version}{guideline}", *set_text.chosen_lines(report)]),
        _plain(set_text.content_lines(report)),
        _plain(set_text.flip_lines(found.flips)),
        _plain(f"{key}: {value}" for key, value in found.config.items()),
        _plain(text.replace("\t", " · ") for text in set_text.left_out_lines(report)),
    )


def plan(report: SetReport) -> Content:
    """What a set would be, what is missing first."""
    return _paragraphs(
        _title(report),
        _warnings(set_text.shortfall_lines(report)),
        _plain(set_text.chosen_lines(report)),
        _plain(set_text.content_lines(report)),
        _plain([f"then: {report.next}"] if report.next else []),
    )


def _title(report: SetReport) -> Content:
    return Content.styled(printable(set_text.size_line(report)), "bold")


def _warnings(lines: Iterable[str]) -> Content:
    return Content("\n").join(Content.styled(f"! {printable(line)}", "$text-warning") for line in lines)


def _plain(lines: Iterable[str]) -> Content:
    return Content("\n".join(map(printable, lines)).strip("\n"))


def _paragraphs(*parts: Content) -> Content:
    return Content("\n\n").join(part for part in parts if part)


# -- two sets --------------------------------------------------------------------------------------

DIFF_COLUMNS: Final = (
    TableColumn("question", "question", 8, 24),
    TableColumn("completion", "completion", 8, 40),
    TableColumn("what", "what differs", 12, 24),
    TableColumn("change", "before → now", 12, 30),
    TableColumn("dataset", "data set", 6, 20),
)


def diff_caption(diff: SetDiff) -> Content:
    """How much is equal, how much differs, and what was asked for otherwise."""
    parts = (f"{title}: {len(rows):,}" for title, rows in set_text.diff_parts(diff).items() if rows)
    counts = [f"{diff.same:,} equal", *parts]
    settings = (f"{key}: {before} → {after}" for key, (before, after) in diff.settings.items())
    return Content("\n").join([_plain([" · ".join(counts)]), *([_plain(settings)] if diff.settings else [])])


def diff_rows(diff: SetDiff) -> Iterator[TableRow]:
    """Each item or question that differs; its place in `differing` is the row's id."""
    for place, (title, one) in enumerate(differing(diff)):
        changed = "" if one.before is one.after is None else f"{one.before or 'none'} → {one.after or 'none'}"
        cells = (one.question_id, one.completion_id or NONE, title, changed, one.dataset)
        yield TableRow(place, tuple(map(TableCell, cells)))


def differing(diff: SetDiff) -> list[tuple[str, DiffRow]]:
    """What differs, and the item or question."""
    return [(title, one) for title, rows in set_text.diff_parts(diff).items() for one in rows]
