"""Watched trainings: acceptance by step, its correctness, and alarms about rising shares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.core.errors import UsageError
from workbench.core.options import record_from
from workbench.core.project import Project, at_one_moment
from workbench.core.text.wordings import Wording, wordings
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.measuring.columns import columns
from workbench.measuring.records.watching import AlikeGroup, DriftAlarm, TrainingReport, Trainings, TrainingSteps
from workbench.measuring.store import watching as stored
from workbench.measuring.store.watching import AuditedRow, JudgedStep, TrainingRow
from workbench.measuring.trained import item_truth

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.watching import WeightedShare

PARTS: Final = 20
"""Most parts of a training that are reported."""
_COMPARED: Final = 1_000
_ALIKE: Final = 0.5
_GROUPS: Final = 20
_REFERENCE: Final = 30
"""Fewest labelled completions in the reference steps of the drift test."""
_LEAST_BOUND: Final = 0.02


class _Audited(NamedTuple):
    """The audited completions of a training, as arrays of one length.

    Attributes:
        truth: 1 right, 0 wrong, -1 unknown.
    """

    item: IntArray
    question: IntArray
    step: IntArray
    accepted: BoolArray
    weight: FloatArray
    truth: IntArray

    def of(self, rows: BoolArray) -> _Audited:
        return _Audited(
            item=self.item[rows],
            question=self.question[rows],
            step=self.step[rows],
            accepted=self.accepted[rows],
            weight=self.weight[rows],
            truth=self.truth[rows],
        )


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
        training: Only this training.
        scored_by: The verifier whose verdicts count as truth; None for gold.
        parts: Most parts, of equal numbers of steps, that each training is split into.

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
        trainings=[_report(project, one, (known.item, known.question, truth), scored_by, parts) for one in found]
    )


def _report(
    project: Project,
    one: TrainingRow,
    items: tuple[IntArray, IntArray, IntArray],
    scored_by: str | None,
    parts: int,
) -> TrainingReport:
    reader = project.database.reader()
    steps = stored.steps(reader, one.id)
    audited = _arrays(stored.audited(reader, one.id), *items)
    groups, left_out = _alike(project, audited)
    return record_from(
        TrainingReport,
        one,
        training=one.name,
        scored_by=scored_by,
        all=_part(steps, audited) if steps else None,
        steps=[_part(some, audited) for some in _cut(steps, parts)],
        wordings=stored.alarms(reader, one.id),
        drift=_drift(steps, audited),
        alike=groups,
        left_out=left_out,
    )


def _arrays(rows: Sequence[AuditedRow], item: IntArray, question: IntArray, truth: IntArray) -> _Audited:
    import numpy as np

    place = {int(number): at for at, number in enumerate(item)} if rows else {}
    there = [row for row in rows if row.completion in place]
    at = np.array([place[row.completion] for row in there], dtype=np.int64)
    return _Audited(
        item=item[at],
        question=question[at],
        step=np.array([row.step for row in there], dtype=np.int64),
        accepted=np.array([row.outcome == OutcomeCode.CORRECT for row in there], dtype=np.bool_),
        weight=np.array([1 / row.chance for row in there], dtype=np.float64),
        truth=truth[at],
    )


# -- By step.


def _cut(steps: Sequence[JudgedStep], parts: int) -> list[Sequence[JudgedStep]]:
    size = max(1, -(-len(steps) // parts))
    return [steps[at : at + size] for at in range(0, len(steps), size)]


def _part(steps: Sequence[JudgedStep], audited: _Audited) -> TrainingSteps:
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
        acceptance=_acceptance(steps),
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


def _acceptance(steps: Sequence[JudgedStep]) -> float | None:
    judged = sum(step.accepted + step.rejected + step.undecided for step in steps)
    return sum(step.accepted for step in steps) / judged if judged else None


# -- Drift: rising false acceptances.


def _drift(steps: Sequence[JudgedStep], audited: _Audited) -> DriftAlarm | None:
    from workbench.statistics.watching import first_rise, weighted_share

    known = audited.of(audited.truth >= 0)
    first = _reference(steps, known)
    if first is None:
        return None
    before = known.of(known.step < steps[first].step)
    share = weighted_share(before.accepted & (before.truth == 0), before.weight, before.question)
    if share.ci is None:
        return None
    rise = first_rise(_estimates(steps, audited), max(_LEAST_BOUND, share.ci[1]), first)
    if rise is None:
        return None
    since = known.of((known.step >= steps[first].step) & (known.step <= steps[rise.place].step))
    right = [weighted_share(one.truth == 1, one.weight, one.question).share for one in (before, since)]
    return DriftAlarm(
        step=steps[rise.place].step,
        bound=rise.before,
        acceptance=(_acceptance(steps[:first]), _acceptance(steps[first : rise.place + 1])),
        right=(right[0], right[1]),
        evidence=rise.evidence,
    )


def _reference(steps: Sequence[JudgedStep], known: _Audited) -> int | None:
    import numpy as np

    labels = np.cumsum([int((known.step == step.step).sum()) for step in steps])
    for place in range(max(1, len(steps) // 4), len(steps)):
        if labels[place - 1] >= _REFERENCE:
            return place
    return None


def _estimates(steps: Sequence[JudgedStep], audited: _Audited) -> FloatArray:
    """Return the Horvitz-Thompson estimate of the share of false acceptances, step by step.

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


def _alike(project: Project, audited: _Audited) -> tuple[list[AlikeGroup], int]:
    """Group the newest completions: each joins the first group with which it shares half of its phrasings; groups
    within one question don't count.
    """
    accepted = audited.of(audited.accepted)
    newest = range(max(0, len(accepted.item) - _COMPARED), len(accepted.item))
    rows = stored.texts(project.database.reader(), [int(accepted.item[at]) for at in newest])
    leaders: list[set[Wording]] = []
    members: dict[int, list[int]] = defaultdict(list)
    for place, (_, _, text) in enumerate(rows):
        own = wordings(text)
        group = next((number for number, leader in enumerate(leaders) if _is_alike(own, leader)), len(leaders))
        if group == len(leaders):
            leaders.append(own)
        members[group].append(place)
    groups = [
        _group([int(newest[place]) for place in places], [rows[place] for place in places], accepted)
        for places in members.values()
        if len({rows[place][1] for place in places}) > 1
    ]
    groups.sort(key=lambda one: (-one.questions, -len(one.items), one.first, one.items))
    return groups[:_GROUPS], len(accepted.item) - len(newest)


def _is_alike(one: set[Wording], other: set[Wording]) -> bool:
    least, most = sorted((len(one), len(other)))
    if least < _ALIKE * most:
        return False
    shared = len(one & other)
    return shared >= _ALIKE * (least + most - shared)


def _group(places: Sequence[int], rows: Sequence[tuple[int, int, str]], accepted: _Audited) -> AlikeGroup:
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
