"""Reports on watched trainings: acceptance by step, how much of it is correct, and alarms about rising shares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.core.errors import UsageError
from workbench.core.options import TableForm, record_from
from workbench.core.project import Project, at_one_moment
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.core.text.wordings import Wording, word_trigrams
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.measuring.columns import columns
from workbench.measuring.downstream_scores import item_truth
from workbench.measuring.records.watching import (
    AlikeGroup,
    DriftAlarm,
    TrainingReport,
    Trainings,
    TrainingSteps,
    WordingAlarm,
)
from workbench.measuring.store import watching as stored
from workbench.measuring.store.watching import AuditedRow, JudgedStep, TrainingRow
from workbench.tables.document import Table, percentage
from workbench.tables.files import format_tables
from workbench.tables.table import Columns, count, counts, metric_column, table, text, with_interval, word

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.watching import WeightedShare


PARTS: Final = 20
"""Most parts of a training that are reported."""
_MAX_COMPARED: Final = 1_000
_MIN_SIMILARITY: Final = 0.5
_MAX_GROUPS: Final = 20
_MIN_REFERENCE_LABELS: Final = 30
"""Fewest labelled completions in the reference steps of the drift test."""
_MIN_BOUND: Final = 0.02


class _AuditedCompletions(NamedTuple):
    """The audited completions of a training, as arrays of one length.

    Attributes:
        weight: The inverse of the probability of being sampled for the audit.
        truth: 1 correct, 0 incorrect, -1 unknown.
    """

    item: IntArray
    question: IntArray
    step: IntArray
    accepted: BoolArray
    weight: FloatArray
    truth: IntArray

    def of(self, rows: BoolArray) -> _AuditedCompletions:
        return _AuditedCompletions._make(column[rows] for column in self)


@at_one_moment
def watched(
    project: Project,
    training: str | None = None,
    *,
    scored_by: str | None = None,
    gold: GoldChoice = "final",
    parts: int = PARTS,
) -> Trainings:
    """Report on watched trainings.

    Args:
        training: Report only on the training of this name; None for all.
        scored_by: The verifier whose verdicts count as truth; None for gold.
        parts: Maximum number of parts, of equal numbers of steps, into which each training is split.

    Raises:
        UsageError: The training does not exist, or the verifier has no complete run.
    """
    found = stored.trainings(project.database.reader())
    if training is not None:
        names = [one.name for one in found]
        found = [one for one in found if one.name == training]
        if not found:
            there = ", ".join(names) or 'none yet: workbench.reward("rules", audit="p.db")'
            raise UsageError(f"There is no training {training!r}.", f"There are: {there}")
    if not found:
        return Trainings(trainings=[])
    known = columns(project)
    truth, _ = item_truth(project, known, scored_by, gold)
    return Trainings(
        trainings=[
            _training_report(project, one, (known.item, known.question, truth), scored_by, parts) for one in found
        ]
    )


def _training_report(
    project: Project, one: TrainingRow, items: tuple[IntArray, IntArray, IntArray], scored_by: str | None, parts: int
) -> TrainingReport:
    reader = project.database.reader()
    steps = stored.steps(reader, one.id)
    audited = _audited_arrays(stored.audited(reader, one.id), *items)
    groups, left_out = _similar_groups(project, audited)
    size = max(1, -(-len(steps) // parts))
    return record_from(
        TrainingReport,
        one,
        training=one.name,
        scored_by=scored_by,
        all=_steps_report(steps, audited) if steps else None,
        steps=[_steps_report(steps[at : at + size], audited) for at in range(0, len(steps), size)],
        wordings=stored.alarms(reader, one.id),
        drift=_drift_alarm(steps, audited),
        alike=groups,
        left_out=left_out,
    )


def _audited_arrays(
    rows: Sequence[AuditedRow], item: IntArray, question: IntArray, truth: IntArray
) -> _AuditedCompletions:
    import numpy as np

    place = {int(number): at for at, number in enumerate(item)} if rows else {}
    there = [row for row in rows if row.completion in place]
    at = np.array([place[row.completion] for row in there], dtype=np.int64)
    return _AuditedCompletions(
        item=item[at],
        question=question[at],
        step=np.array([row.step for row in there], dtype=np.int64),
        accepted=np.array([row.outcome == OutcomeCode.CORRECT for row in there], dtype=np.bool_),
        weight=np.array([1 / row.chance for row in there], dtype=np.float64),
        truth=truth[at],
    )


# -- By step.


def _steps_report(steps: Sequence[JudgedStep], audited: _AuditedCompletions) -> TrainingSteps:
    from workbench.statistics.watching import weighted_share

    own = audited.of((audited.step >= steps[0].step) & (audited.step <= steps[-1].step))
    known = own.of(own.truth >= 0)
    right = known.truth == 1

    def share(hit: BoolArray, of: BoolArray | None = None) -> WeightedShare:
        rows = slice(None) if of is None else of
        return weighted_share(hit[rows], known.weight[rows], known.question[rows])

    true, agree = share(right), share(known.accepted == right)
    fpr, wrong = share(known.accepted, ~right), share(~right, known.accepted)
    judged = sum(step.accepted + step.rejected + step.undecided for step in steps)
    return TrainingSteps(
        first=steps[0].step,
        last=steps[-1].step,
        judged=judged,
        dropped=sum(step.dropped for step in steps),
        undecided=sum(step.undecided for step in steps),
        acceptance=_acceptance_rate(steps),
        audited=len(own.item),
        labelled=len(known.item),
        right=true.share,
        right_ci=true.ci,
        accuracy=agree.share,
        accuracy_ci=agree.ci,
        fpr=fpr.share,
        fpr_ci=fpr.ci,
        wrong=wrong.share,
        wrong_ci=wrong.ci,
    )


def _acceptance_rate(steps: Sequence[JudgedStep]) -> float | None:
    judged = sum(step.accepted + step.rejected + step.undecided for step in steps)
    return sum(step.accepted for step in steps) / judged if judged else None


# -- Drift: rising false acceptances.


def _drift_alarm(steps: Sequence[JudgedStep], audited: _AuditedCompletions) -> DriftAlarm | None:
    from workbench.statistics.watching import first_rise, weighted_share

    known = audited.of(audited.truth >= 0)
    first = _reference_steps(steps, known)
    if first is None:
        return None
    before = known.of(known.step < steps[first].step)
    share = weighted_share(before.accepted & (before.truth == 0), before.weight, before.question)
    if share.ci is None:
        return None
    rise = first_rise(_false_acceptance_estimates(steps, audited), max(_MIN_BOUND, share.ci[1]), first)
    if rise is None:
        return None
    since = known.of((known.step >= steps[first].step) & (known.step <= steps[rise.place].step))
    right = [weighted_share(one.truth == 1, one.weight, one.question).share for one in (before, since)]
    return DriftAlarm(
        step=steps[rise.place].step,
        bound=rise.before,
        acceptance=(_acceptance_rate(steps[:first]), _acceptance_rate(steps[first : rise.place + 1])),
        right=(right[0], right[1]),
        evidence=rise.evidence,
    )


def _reference_steps(steps: Sequence[JudgedStep], known: _AuditedCompletions) -> int | None:
    import numpy as np

    labels = np.cumsum([int((known.step == step.step).sum()) for step in steps])
    for place in range(max(1, len(steps) // 4), len(steps)):
        if labels[place - 1] >= _MIN_REFERENCE_LABELS:
            return place
    return None


def _false_acceptance_estimates(steps: Sequence[JudgedStep], audited: _AuditedCompletions) -> FloatArray:
    """Return the Horvitz-Thompson estimate of the share of false acceptances at each step.

    If not all audited completions are labelled, the labelled ones represent the others of their step.
    """
    import numpy as np

    found = np.full(len(steps), np.nan)
    for place, step in enumerate(steps):
        own = audited.of(audited.step == step.step)
        labelled, judged = own.truth >= 0, step.accepted + step.rejected + step.undecided
        if not judged or (len(own.item) and not labelled.any()):
            continue
        times = len(own.item) / labelled.sum() if len(own.item) else 1.0
        found[place] = times * own.weight[own.accepted & (own.truth == 0)].sum() / judged
    return found


# -- Similar accepted completions.


def _similar_groups(project: Project, audited: _AuditedCompletions) -> tuple[list[AlikeGroup], int]:
    """Group the newest accepted completions, and return the groups with the number of completions that were not
    compared.

    Each completion joins the first group with which it shares half of its phrasings. Groups of completions of a single
    question are left out.
    """
    accepted = audited.of(audited.accepted)
    newest = range(max(0, len(accepted.item) - _MAX_COMPARED), len(accepted.item))
    rows = stored.texts(project.database.reader(), [int(accepted.item[at]) for at in newest])
    leaders: list[set[Wording]] = []
    members: dict[int, list[int]] = defaultdict(list)
    for place, (_, _, completion) in enumerate(rows):
        own = word_trigrams(completion)
        group = next((number for number, leader in enumerate(leaders) if _is_similar(own, leader)), len(leaders))
        if group == len(leaders):
            leaders.append(own)
        members[group].append(place)
    groups = [
        _similar_group([int(newest[place]) for place in places], [rows[place] for place in places], accepted)
        for places in members.values()
        if len({rows[place][1] for place in places}) > 1
    ]
    groups.sort(key=lambda one: (-one.questions, -len(one.items), one.first, one.items))
    return groups[:_MAX_GROUPS], len(accepted.item) - len(newest)


def _is_similar(one: set[Wording], other: set[Wording]) -> bool:
    least, most = sorted((len(one), len(other)))
    if least < _MIN_SIMILARITY * most:
        return False
    shared = len(one & other)
    return shared >= _MIN_SIMILARITY * (least + most - shared)


def _similar_group(
    places: Sequence[int], rows: Sequence[tuple[int, int, str]], accepted: _AuditedCompletions
) -> AlikeGroup:
    truth, steps = accepted.truth[list(places)], accepted.step[list(places)]
    labelled = int((truth >= 0).sum())
    return AlikeGroup(
        items=[row[0] for row in rows],
        questions=len({row[1] for row in rows}),
        wrong=int((truth == 0).sum()) if labelled else None,
        labelled=labelled,
        first=int(steps.min()),
        last=int(steps.max()),
        example=rows[0][2],
    )


# -- As sentences and tables.


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
    *counts("audited", "labelled"),
    *with_interval("right", "right"),
    *with_interval("accuracy", "accuracy"),
    *with_interval("FPR", "fpr"),
    *with_interval("wrong of accepted", "wrong"),
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
    text(
        "wrong",
        lambda row: NONE if row.wrong is None else f"{row.wrong:,} of {row.labelled:,}",
        by=lambda row: row.wrong,
    ),
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
