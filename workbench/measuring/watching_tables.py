"""Renders watched trainings as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Final

from workbench.core.options import TableForm
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.measuring.records.watching import (
    AlikeGroup,
    DriftAlarm,
    TrainingReport,
    Trainings,
    TrainingSteps,
    WordingAlarm,
)
from workbench.tables.document import Table, percentage
from workbench.tables.files import format_tables
from workbench.tables.table import Columns, count, ends, metric_column, table, text, word

_WIDTH: Final = 79
_MAX_SHOWN: Final = 40
NOTHING: Final = (
    'No training is monitored here. Give workbench.reward("rules", audit="p.db") or a reward server this project '
    "as its audit database."
)

STEPS: Final[Columns[TrainingSteps]] = (
    text("steps", lambda row: _steps_text(row.first, row.last), by=lambda row: row.first),
    count("judged", lambda row: row.judged),
    metric_column("accepted", lambda row: row.acceptance),
    count("audited", lambda row: row.audited),
    count("labelled", lambda row: row.labelled),
    metric_column("right", lambda row: row.right),
    ends(lambda row: row.right_ci),
    metric_column("accuracy", lambda row: row.accuracy),
    ends(lambda row: row.accuracy_ci),
    metric_column("FPR", lambda row: row.fpr),
    ends(lambda row: row.fpr_ci),
    metric_column("wrong of accepted", lambda row: row.wrong),
    ends(lambda row: row.wrong_ci),
)
WORDINGS: Final[Columns[WordingAlarm]] = (
    count("step", lambda row: row.step),
    word("wording", lambda row: inert(row.wording)),
    metric_column("before", lambda row: row.before),
    metric_column("accepted", lambda row: row.accepted),
    metric_column("rejected", lambda row: row.rejected),
    word("example", lambda row: _shorten(row.example)),
)
ALIKE: Final[Columns[AlikeGroup]] = (
    count("completions", lambda row: len(row.items)),
    count("questions", lambda row: row.questions),
    text("wrong", lambda row: _wrong_text(row), by=lambda row: row.wrong),
    text("steps", lambda row: _steps_text(row.first, row.last), by=lambda row: row.first),
    word("example", lambda row: _shorten(row.example)),
)


def _steps_text(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _wrong_text(row: AlikeGroup) -> str:
    return NONE if row.wrong is None else f"{row.wrong:,} of {row.labelled:,}"


def _shorten(completion: str) -> str:
    line = " ".join(inert(completion).split()) or "(nothing)"
    return line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 1]}…"


def tables_of(report: TrainingReport) -> list[Table]:
    by = "gold" if report.scored_by is None else report.scored_by
    notes = (
        f"Truth is from {by}. Accepted is counted; right, accuracy, FPR and wrong are Hájek's estimates from what "
        "is labelled, each with weighted by the inverse of its sampling probability.",
    )
    found = [table(f"Training {report.training}", STEPS, report.steps, notes=notes)]
    if report.wordings:
        note = "Shares of the questions of a step. # is a number, ^ the beginning, $ the end."
        caption = "Phrasings suddenly frequent among accepted completions"
        found.append(table(caption, WORDINGS, report.wordings, notes=(note,)))
    if report.alike:
        left = f"{counted(report.left_out, 'older accepted completion')} not compared." if report.left_out else ""
        caption = "Similar accepted completions, of several questions"
        found.append(table(caption, ALIKE, report.alike, notes=(left,) if left else ()))
    return found


def sentences(report: TrainingReport) -> Iterator[str]:
    whole = report.all
    if whole is None:
        yield f"{report.training}: {report.verifier} {report.version}; nothing was judged yet."
        return
    yield (
        f"{report.training}: {report.verifier} {report.version}, steps {_steps_text(whole.first, whole.last)}, "
        f"{counted(whole.judged, 'completion')} judged, {whole.audited:,} audited, {whole.labelled:,} of them labelled."
    )
    if whole.dropped:
        yield f"{counted(whole.dropped, 'completion')} could not be audited; no metric covers them."
    if report.drift is not None:
        yield _drift_sentence(report.drift)
    if report.wordings:
        yield _wordings_sentence(report.wordings)
    if report.drift is None and not report.wordings:
        yield "No alarm."


def _drift_sentence(drift: DriftAlarm) -> str:
    accepted, right = map(_from_to, (drift.acceptance, drift.right))
    return (
        f"Alarm at step {drift.step:,}: more completions are wrongly accepted than the {percentage(drift.bound)} % of "
        f"all completions that were plausible before. Accepted went from {accepted} %, right from {right} %."
    )


def _from_to(pair: tuple[float | None, float | None]) -> str:
    before, since = (NONE if value is None else percentage(value) for value in pair)
    return f"{before} to {since}"


def _wordings_sentence(alarms: Sequence[WordingAlarm]) -> str:
    first = alarms[0]
    more = len(alarms) - 1
    return (
        f"Alarm at step {first.step:,}: {inert(first.wording)!r} went from {percentage(first.before)} to "
        f"{percentage(first.accepted)} % of the questions with an accepted completion"
        + (f", and {counted(more, 'wording')} more since." if more else ".")
    )


def training_text(found: Trainings, form: TableForm) -> str:
    if not found.trainings:
        return NOTHING
    tables = format_tables([one for report in found.trainings for one in tables_of(report)], form)
    if form.format != "text":
        return tables
    said = [fill(line, _WIDTH) for report in found.trainings for line in sentences(report)]
    return "\n".join([*said, "", tables])
