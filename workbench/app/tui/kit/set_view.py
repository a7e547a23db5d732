"""Frozen sets of items as table cells; one set in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.content import Content

from workbench.app.tui.kit.matrix import printable
from workbench.benchmarks import set_text
from workbench.benchmarks.records import DiffRow, SetDetail, SetDiff, SetLine
from workbench.core.sets import SetReport
from workbench.core.text.figures import NONE, time_to_minute
from workbench.tables.document import Cell, Tone
from workbench.tables.table import Column, Columns, column, count, word

_MINUTE: Final = len("2026-11-22 03:50")
"""Number of characters of a time that are shown."""


# -- the table of sets -----------------------------------------------------------------------------


def columns(*, wide: bool) -> Columns[SetLine]:
    def people(heading: str, place: int, tone: Tone, room: int) -> Column[SetLine]:
        return column(
            heading,
            lambda line: None if line.progress is None else line.progress[place],
            lambda n: Cell(NONE if n is None else f"{n:,}", tone if n else "dim"),
            room=room,
        )

    return (
        word("set", lambda line: line.full_name, room=(10, 32), tone="bold"),
        word("kind", lambda line: line.kind, room=8),
        count("questions", lambda line: line.questions, room=9),
        column("tuples", lambda line: line.tuples or None, lambda n: NONE if n is None else f"{n:,}", room=7),
        people("decided", 0, "", 7),
        people("waiting", 1, "accent", 7),
        people("conflict", 2, "warning", 8),
        column("short", lambda line: line.short or None, _warning_count, room=6, tone="warning"),
        column("gold≠", lambda line: line.changed["gold"] or None, _warning_count, room=7, tone="warning"),
        word("frozen", lambda line: time_to_minute(line.created_at), room=_MINUTE, tone="dim", there=wide),
    )


def _warning_count(n: int | None) -> str:
    return f"! {n:,}" if n else ""


# -- one set ---------------------------------------------------------------------------------------


def detail(found: SetDetail) -> Content:
    line, report = found.set, found.report
    guideline = f", guidelines {line.guideline}" if line.guideline else ""
    return _paragraphs(
        _title(report),
        _warning_lines([*set_text.shortfall_lines(report), *set_text.changed_lines(found.changed)]),
        _plain_lines(
            [
                f"frozen {time_to_minute(line.created_at)} by version {line.code_version}{guideline}",
                *set_text.chosen_lines(report),
            ]
        ),
        _plain_lines(set_text.content_lines(report)),
        _plain_lines(set_text.flip_lines(found.flips)),
        _plain_lines(f"{key}: {value}" for key, value in found.config.items()),
        _plain_lines(text.replace("\t", " · ") for text in set_text.left_out_lines(report)),
    )


def _title(report: SetReport) -> Content:
    return Content.styled(printable(set_text.size_line(report)), "bold")


def _warning_lines(lines: Iterable[str]) -> Content:
    return Content("\n").join(Content.styled(f"! {printable(line)}", "$text-warning") for line in lines)


def _plain_lines(lines: Iterable[str]) -> Content:
    return Content("\n".join(map(printable, lines)).strip("\n"))


def _paragraphs(*parts: Content) -> Content:
    return Content("\n\n").join(part for part in parts if part)


# -- two sets --------------------------------------------------------------------------------------

DIFF_COLUMNS: Columns[tuple[str, DiffRow]] = (
    word("question", lambda one: one[1].question_id, room=(8, 24)),
    word("completion", lambda one: one[1].completion_id or NONE, room=(8, 40)),
    word("difference", lambda one: one[0], room=(12, 24)),
    word("before → now", lambda one: _change_text(one[1]), room=(12, 30)),
    word("data set", lambda one: one[1].dataset, room=(6, 20)),
)
"""Columns of the differences between two sets: the kind of difference, and the item or question."""


def _change_text(one: DiffRow) -> str:
    return "" if one.before is one.after is None else f"{one.before or 'none'} → {one.after or 'none'}"


def diff_caption(diff: SetDiff) -> Content:
    """Return how many items are the same and how many differ between two sets, and the changed settings."""
    parts = (f"{title}: {len(rows):,}" for title, rows in set_text.diff_parts(diff).items() if rows)
    counts = [f"{diff.same:,} equal", *parts]
    settings = (f"{key}: {before} → {after}" for key, (before, after) in diff.settings.items())
    return Content("\n").join(
        [_plain_lines([" · ".join(counts)]), *([_plain_lines(settings)] if diff.settings else [])]
    )


def differing(diff: SetDiff) -> list[tuple[str, DiffRow]]:
    return [(title, one) for title, rows in set_text.diff_parts(diff).items() for one in rows]
