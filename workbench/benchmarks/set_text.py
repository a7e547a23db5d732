"""Renders reports on benchmarks as text: how they were built, their contents, their differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.core.text.figures import NONE, aligned, counted, percent, time_to_minute
from workbench.tables.table import Column, Columns, count, counts, text, word

if TYPE_CHECKING:
    from workbench.benchmarks.records import DiffRow, Flip, SetDetail, SetDiff, SetLine
    from workbench.core.sets import SetReport

_MAX_SHOWN = 20


def _progress_column(heading: str, place: int) -> Column[SetLine]:
    return text(heading, lambda one: NONE if one.progress is None else f"{one.progress[place]:,}", room=(7, 8))


SET_COLUMNS: Columns[SetLine] = (
    word("set", lambda one: one.full_name, room=(10, 32), tone="bold"),
    word("kind", lambda one: one.kind, room=8),
    *counts("questions", "tuples"),
    *(_progress_column(heading, place) for place, heading in enumerate(("decided", "waiting", "conflict"))),
    count("short", lambda one: one.short, room=6),
    count("gold≠", lambda one: one.changed["gold"], room=7),
    word("digest", lambda one: one.digest[:12], room=12, tone="dim"),
    word("frozen", lambda one: time_to_minute(one.created_at), room=16, tone="dim"),
)
"""A list of sets; ``gold≠`` counts items whose gold has changed since."""


def detail_lines(found: SetDetail) -> Iterator[str]:
    yield from report_lines(found.report)
    guideline = f", guidelines {found.set.guideline}" if found.set.guideline else ""
    yield f"frozen {time_to_minute(found.set.created_at)} UTC by version {found.set.code_version}{guideline}"
    yield from (f"{key}: {value}" for key, value in found.config.items())
    yield from flip_lines(found.flips)
    yield from left_out_lines(found.report)


def report_lines(report: SetReport) -> Iterator[str]:
    yield size_line(report)
    yield from chosen_lines(report)
    yield from shortfall_lines(report)
    yield from content_lines(report)


def size_line(report: SetReport) -> str:
    name = report.name if report.version is None else f"{report.name}@{report.version}"
    state = "not frozen" if report.version is None else "unchanged" if report.unchanged else "frozen"
    return f"{name} ({report.kind}, {state}): {report.tuples:,} tuples of {report.questions:,} questions"


def chosen_lines(report: SetReport) -> Iterator[str]:
    yield f"seed {report.seed}" + (f", digest {report.digest}" if report.digest else "") + _gold_text(report)
    if report.judges:
        yield "judges: " + ", ".join(f"{judge} (run {run})" for judge, run in report.judges.items())
    yield from _counts_line("stages", report.stages)
    yield from _counts_line("splits", report.splits)
    yield ""
    rows = [(one.name, f"{one.population:,}", f"{one.quota:,}", f"{one.taken:,}") for one in report.strata]
    if rows:
        yield from aligned([("stratum", "population", "quota", "taken"), *rows]).split("\n")
        yield ""


def shortfall_lines(report: SetReport) -> Iterator[str]:
    for short in report.shortfall:
        missing = f"{short.taken:,} of {short.wanted:,} {short.of}"
        yield f"short  {short.stratum or 'all'}: {missing}, {short.available:,} available: {short.why}"


def content_lines(report: SetReport) -> Iterator[str]:
    yield from _counts_line("out", report.excluded)
    yield from _counts_line("domains", report.domains)
    yield from _counts_line("models", report.models)
    if report.missing_models:
        yield f"models without a tuple: {', '.join(report.missing_models)}"
    if report.always_incorrect is not None:
        always = percent(report.always_incorrect)
        yield f'correct: {report.correct:,} of {report.tuples:,}; always "incorrect" is right on {always} %'


def _gold_text(report: SetReport) -> str:
    if report.gold is None:
        return ""
    return ", gold by people" if report.gold == "people" else ", GOLD AS IMPORTED: no person's label counts"


def _counts_line(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items())


def changed_lines(changed: Mapping[str, int]) -> Iterator[str]:
    for what, many in changed.items():
        if many:
            yield f"Another {'gold' if what == 'gold' else 'answer type'} now: {counted(many, 'item')}."


def left_out_lines(report: SetReport) -> Iterator[str]:
    for one in report.left_out:
        notes = "; ".join(filter(None, one.notes))
        yield "\t".join((one.completion_id, one.reason, one.how, ", ".join(one.people), notes)).rstrip()


def flip_lines(flips: Iterable[Flip]) -> Iterator[str]:
    for one in flips:
        if one.later is None:
            yield f"{one.judge} (run {one.run}): no later run"
        else:
            rate = percent(one.rate)
            runs = f"{one.judge} (run {one.run}, then {one.later})"
            yield f"{runs}: {one.flipped:,} of {one.both:,} verdicts flip, {rate} %"


def diff_lines(diff: SetDiff) -> Iterator[str]:
    yield f"{diff.old} → {diff.new}: {diff.same:,} equal"
    for key, (before, after) in diff.settings.items():
        yield f"{key}: {before} → {after}"
    for title, rows in diff_parts(diff).items():
        if rows:
            yield f"{title}: {len(rows):,}"
            yield from (f"  {_diff_row_line(row)}" for row in rows[:_MAX_SHOWN])
        if len(rows) > _MAX_SHOWN:
            yield f"  … and {len(rows) - _MAX_SHOWN:,} more."


def diff_parts(diff: SetDiff) -> dict[str, tuple[DiffRow, ...]]:
    return {
        f"only in {diff.old}": diff.only_old,
        f"only in {diff.new}": diff.only_new,
        "other gold": diff.gold,
        "another answer type": diff.subtypes,
        "other texts": diff.texts,
    }


def _diff_row_line(row: DiffRow) -> str:
    changed = "" if row.before is row.after is None else f"\t{row.before or 'none'} → {row.after or 'none'}"
    return f"{row.dataset}\t{row.question_id}\t{row.completion_id or ''}{changed}".rstrip()
