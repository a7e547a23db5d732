"""Frozen sets as table cells, and one set, or the plan of one, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from textual.content import Content

from workbench.model.set_views import DiffRow, SetDetail, SetDiff, SetLine
from workbench.model.sets import SetReport
from workbench.render import set_text
from workbench.render.bars import NONE
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import Cell, CellStyle, Column, Row

_MINUTE: Final = len("2026-11-22 03:50")
"""Characters of a time that are shown."""


# -- the table of sets -----------------------------------------------------------------------------


def columns(*, wide: bool) -> tuple[Column, ...]:
    """How much a set has, how far people are with it today, and what nobody should overlook."""

    def number(key: str, width: int) -> Column:
        return Column(key, key, width, width, "right", sortable=False)

    return (
        Column("set", "set", 10, 32, sortable=False),
        Column("kind", "kind", 8, 8, sortable=False),
        number("questions", 9),
        number("tuples", 7),
        number("decided", 7),
        number("waiting", 7),
        number("conflict", 8),
        number("short", 6),
        number("gold≠", 7),
        *((Column("frozen", "frozen", _MINUTE, _MINUTE, sortable=False),) if wide else ()),
    )


def row(place: int, line: SetLine, *, wide: bool) -> Row:
    """One set; its place in the order of freezing is the row's id."""
    other_gold = line.changed["gold"]
    styles: tuple[CellStyle, ...] = ("", "accent", "warning")
    people = [Cell(NONE, "dim")] * 3
    if line.progress is not None:
        counts = zip(line.progress, styles, strict=True)
        people = [Cell(f"{count:,}", style if count else "dim") for count, style in counts]
    return Row(
        place,
        (
            Cell(line.full_name, "bold"),
            Cell(line.kind),
            Cell(f"{line.questions:,}"),
            Cell(f"{line.tuples:,}" if line.tuples else NONE),
            *people,
            Cell(f"! {line.short}" if line.short else "", "warning"),
            Cell(f"! {other_gold:,}" if other_gold else "", "warning"),
            *((Cell(_time(line), "dim"),) if wide else ()),
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
    Column("question", "question", 8, 24, sortable=False),
    Column("completion", "completion", 8, 40, sortable=False),
    Column("what", "what differs", 12, 24, sortable=False),
    Column("change", "before → now", 12, 30, sortable=False),
    Column("dataset", "data set", 6, 20, sortable=False),
)


def diff_caption(diff: SetDiff) -> Content:
    """How much is equal, how much differs, and what was asked for otherwise."""
    parts = (f"{title}: {len(rows):,}" for title, rows in set_text.diff_parts(diff).items() if rows)
    counts = [f"{diff.same:,} equal", *parts]
    settings = (f"{key}: {before} → {after}" for key, (before, after) in diff.settings.items())
    return Content("\n").join([_plain([" · ".join(counts)]), *([_plain(settings)] if diff.settings else [])])


def diff_rows(diff: SetDiff) -> Iterator[Row]:
    """Each item or question that differs; its place in `differing` is the row's id."""
    for place, (title, one) in enumerate(differing(diff)):
        changed = "" if one.before is one.after is None else f"{one.before or 'none'} → {one.after or 'none'}"
        cells = (one.question_id, one.completion_id or NONE, title, changed, one.dataset)
        yield Row(place, tuple(map(Cell, cells)))


def differing(diff: SetDiff) -> list[tuple[str, DiffRow]]:
    """What differs, and the item or question."""
    return [(title, one) for title, rows in set_text.diff_parts(diff).items() for one in rows]
