"""Estimates a verifier's accuracy on all judged items from the few items with gold and from other verifiers' verdicts
on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import Command, UsageError, opt
from workbench.core.progress import step, stepping
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection, group_name
from workbench.core.text import figures
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import NONE, counted, listed, p_value, whole_number
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.labelling.store import check_items
from workbench.measuring import notes
from workbench.measuring.columns import Columns, Groups
from workbench.measuring.judged import BASELINE, JudgedSelection, counting, judged, judges_of, nothing_measured
from workbench.measuring.planning import sample_sentences, uneven_samples
from workbench.statistics.records.combined import EstimateReport, EstimateRow, MixRow, Quantity, SampleCheck
from workbench.statistics.records.comparison import LEVEL
from workbench.tables.document import Table
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table import column, count, table, with_interval, word
from workbench.tables.table_text import plain_table

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray


_MIXES = "type", "model", "length"
"""Properties by which the mix of labelled items is checked, singly and in pairs, in addition to the grouping. The first
one is shown.
"""


class _EstimatedShare(Struct, frozen=True, kw_only=True, eq=False):
    """A share to be estimated, with arrays of one value for each item.

    Attributes:
        truth: Whether the item counts towards the share by its gold: 1 or 0, -1 without gold.
        predicted: The value of ``truth`` expected from the predictors' verdicts, from 0 to 1.
        group: The item's group, as a position in ``names``.
        place: The item's position among all selected items.
    """

    quantity: Quantity
    truth: IntArray
    predicted: FloatArray
    question: IntArray
    group: IntArray
    names: tuple[str, ...]
    place: IntArray

    def of(self, chosen: BoolArray) -> _EstimatedShare:
        if chosen.all():
            return self
        names = ("truth", "predicted", "question", "group", "place")
        return structs.replace(self, **{name: getattr(self, name)[chosen] for name in names})


def estimate(
    project: Project,
    verifier: str,
    predictors: tuple[str, ...] = (),
    *,
    by: str | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> EstimateReport:
    """Estimate a verifier's accuracy, and the share of correct completions, by prediction-powered inference.

    Every item judged by the verifier counts, except excluded items and check items. The mean vote of the predictors is
    the
    expected gold; an abstention or a failure counts as one half. For the share of correct completions the verifier
    itself is also a predictor.

    Args:
        predictors: Verifiers whose verdicts predict gold; empty for all others with a complete run.
        by: The property that forms groups, as for accuracy: it adds an estimate for each group and a stratified one of
            all items.

    Raises:
        UsageError: There is no predictor, no complete run, or no item with gold.
    """
    import numpy as np

    from workbench.statistics.prediction_powered import mix_p

    protocol = protocol or protocol_of(project)
    reader = project.database.reader()
    asked = check_names(reader, selection or Selection())
    wanted = Selection((*asked.conditions, Condition("state", "!=", "excluded")), asked.limit)
    names = _predictors(project, verifier, predictors)
    found = judged(project, (verifier, *names), gold=gold, selection=wanted)
    everything = found.columns
    if verifier in found.failed:
        raise UsageError(" ".join(nothing_measured({verifier: found.failed[verifier]})))
    outcomes = {judge.name: outcome for judge, outcome in zip(found.judges, found.outcomes, strict=True)}
    groups = _selected_groups(everything, wanted, by or _MIXES[0])
    checked = np.asarray(check_items.ids(reader), dtype=np.int64)
    kept = np.asarray((outcomes[verifier] >= 0) & ~np.isin(found.item, checked))
    shares = _shares_to_estimate(found, outcomes, verifier, groups, protocol, kept)
    if not (shares[0].truth >= 0).any():
        raise UsageError(
            f"No item that {verifier} has judged has gold ({gold}, protocol {protocol}).",
            "Have some labelled, drawn at random from all",
            Command("assign DB", annotators="A,B", limit="200"),
        )
    kinds = dict.fromkeys((*_MIXES, *map(",".join, combinations(_MIXES, 2)), *([by] if by else [])))
    first, has_label = shares[0], np.greater_equal(shares[0].truth, 0)
    mixes = ((kind, _selected_groups(everything, wanted, kind).code[first.place]) for kind in kinds)
    checks = [SampleCheck(by=kind, p=mix_p(has_label, group, first.question)) for kind, group in mixes]
    uneven = _uneven_properties(checks)
    with step("estimating"):
        rows = [row for share in shares for row in _estimate_rows(share, by)]
        strata = _strata_fields(uneven)
        if strata not in ("", by):
            rows += [_stratified_row(share, _selected_groups(everything, wanted, strata), strata) for share in shares]
    mix_by = by or (*uneven, _MIXES[0])[0]
    return EstimateReport(
        verifier=verifier,
        run=next(judge.run for judge in found.judges if judge.name == verifier),
        predictors=[judge.name for judge in found.judges if judge.name in names],
        rows=rows,
        headline=_headline_row(rows, uneven),
        by=by,
        checks=checks,
        uneven=uneven,
        mix_by=mix_by,
        mix=_mix_rows(_regroup(shares[-1], _selected_groups(everything, wanted, mix_by))),
        in_conflict=_count_conflicts(everything, found, kept),
        protocol=protocol,
        gold=everything.gold_counts(gold, everything.chosen(asked)),
        gold_choice=gold,
        selection_judges=notes.among(project, (verifier, *names), asked, everything),
        samples=uneven_samples(project, everything, found.item[kept & (found.gold >= 0)]),
    )


def _predictors(project: Project, verifier: str, named: tuple[str, ...]) -> tuple[str, ...]:
    if verifier in named:
        raise UsageError(f"{verifier} can't predict its own accuracy.", f"Name others: {opt.predictor}")
    known = named or tuple(judge.name for judge in judges_of(project) if judge.name not in (verifier, BASELINE))
    if not known:
        raise UsageError(f"No verifier but {verifier} has a complete run.", "Start one", Command("verify DB NAME"))
    return known


def _selected_groups(everything: Columns, wanted: Selection, by: str) -> Groups:
    groups, chosen = everything.groups(by), everything.chosen(wanted)
    return groups if chosen is None else structs.replace(groups, code=groups.code[chosen])


def _shares_to_estimate(
    found: JudgedSelection,
    outcomes: dict[str, IntArray],
    verifier: str,
    groups: Groups,
    protocol: Protocol3,
    kept: BoolArray,
) -> tuple[_EstimatedShare, _EstimatedShare]:
    import numpy as np

    from workbench.statistics.confusion import grade
    from workbench.statistics.intervals import compact

    own, is_known = outcomes[verifier], found.gold >= 0
    others = _mean_votes([outcome for name, outcome in outcomes.items() if name != verifier])
    right = np.where(is_known, grade(own, found.gold, protocol).right, np.int8(-1))
    # By protocol, an undecided verdict counts as "incorrect", or as wrong whatever the gold.
    predicted_right = np.where(own == OutcomeCode.CORRECT, others, 1 - others)
    if protocol == "strict":
        predicted_right[own >= OutcomeCode.ABSTAIN] = 0
    counted = kept & (own < OutcomeCode.ABSTAIN) if protocol == "decided" else kept
    accuracy = _EstimatedShare(
        quantity="accuracy",
        truth=right,
        predicted=predicted_right,
        question=compact(found.question)[0].astype(np.int32),
        group=groups.code,
        names=groups.names,
        place=np.arange(len(own)),
    )
    correct = structs.replace(
        accuracy, quantity="prevalence", truth=found.gold, predicted=_mean_votes(list(outcomes.values()))
    )
    return accuracy.of(counted), correct.of(kept)


def _mean_votes(outcomes: list[IntArray]) -> FloatArray:
    import numpy as np

    worth = np.array([0, 2, 1, 1, 1], dtype=np.int16)
    # Half votes are counted as whole numbers: a float array for each verifier would be large with many items.
    halves = sum(worth[outcome] for outcome in outcomes)
    return np.asarray(halves / (2 * len(outcomes)), dtype=np.float64)


def _regroup(share: _EstimatedShare, groups: Groups) -> _EstimatedShare:
    return structs.replace(share, group=groups.code[share.place], names=groups.names)


def _uneven_properties(checks: Sequence[SampleCheck]) -> list[str]:
    found = [one.by for one in checks if one.p is not None and one.p < LEVEL / len(checks)]
    alone = {by for by in found if "," not in by}
    return [by for by in found if by in alone or not alone & set(by.split(","))]


def _strata_fields(uneven: Sequence[str]) -> str:
    return ",".join(dict.fromkeys(",".join(uneven).split(",")))


def _stratified_row(share: _EstimatedShare, groups: Groups, strata: str) -> EstimateRow:
    from workbench.statistics.intervals import compact

    regrouped = _regroup(share, groups)
    return structs.replace(_estimate_row(regrouped, None, compact(regrouped.group)[0]), strata=strata)


def _headline_row(rows: Sequence[EstimateRow], uneven: Sequence[str]) -> int | None:
    """Return the position of the accuracy of all items, weighted by strata if the sample is uneven."""
    wanted = ("accuracy", None, _strata_fields(uneven) or None)
    same = (place for place, one in enumerate(rows) if (one.quantity, one.group, one.strata) == wanted)
    return next((place for place in same if rows[place].estimate is not None), None)


def _estimate_rows(share: _EstimatedShare, by: str | None) -> Iterator[EstimateRow]:
    import numpy as np

    from workbench.statistics.accuracy import group_order
    from workbench.statistics.intervals import compact

    yield _estimate_row(share, None)
    if by is None:
        return
    stratum, present = compact(share.group)
    yield structs.replace(_estimate_row(share, None, stratum), strata=by)
    ordered = sorted(present.tolist(), key=lambda place: group_order(share.names[place]))
    for place in stepping(ordered, "estimating", "groups"):
        yield _estimate_row(share.of(np.equal(share.group, place)), share.names[place])


def _estimate_row(share: _EstimatedShare, group: str | None, stratum: IntArray | None = None) -> EstimateRow:
    import numpy as np

    from workbench.statistics.intervals import compact
    from workbench.statistics.prediction_powered import estimate_share

    has_label = share.truth >= 0
    labelled = int(np.count_nonzero(has_label))
    row = EstimateRow(
        quantity=share.quantity,
        group=group,
        stratified=stratum is not None,
        labelled=labelled,
        unlabelled=len(has_label) - labelled,
        questions=len(compact(share.question[has_label])[1]),
        estimate=None,
        ci=None,
        classical=None,
        classical_ci=None,
        power=None,
        effective=None,
        saved=None,
    )
    strata = np.zeros(len(has_label), dtype=np.int8) if stratum is None else stratum
    of_all = np.bincount(strata)
    is_bare = (of_all > 0) & (np.bincount(strata[has_label], minlength=len(of_all)) == 0)
    if is_bare.any() or not labelled:
        bare = np.bincount(share.group[is_bare[strata]], minlength=len(share.names)).nonzero()[0]
        names = ", ".join(sorted(share.names[place] for place in bare.tolist()))
        return structs.replace(row, reason=f"No labelled item in: {names}." if group is None else "No labelled item.")
    found = estimate_share(share.truth, share.predicted, share.question, strata)
    return structs.replace(
        row, **structs.asdict(found), saved=found.effective - labelled, reason=_missing_reason(row, share, found.power)
    )


def _missing_reason(row: EstimateRow, share: _EstimatedShare, power: float) -> str | None:
    from workbench.statistics.intervals import compact
    from workbench.statistics.prediction_powered import FEWEST, alike

    if not row.unlabelled:
        return "Every item has gold: there is nothing to predict."
    if power:
        return None
    bare = share.question[share.truth < 0]
    others, worth = len(compact(bare)[1]), alike(bare)
    if others < FEWEST:
        return f"Only {figures.counted(others, 'question')} without gold: predictions count from {FEWEST} on."
    if worth < FEWEST:
        return (
            f"The {figures.counted(others, 'question')} without gold are so unequal in size that they count as only "
            f"{worth:.1f}: predictions count from {FEWEST} on."
        )
    known = share.truth[share.truth >= 0]
    if known.min() == known.max():
        return "All labels are equal: the quality of predictions can't be estimated."
    return "The predictions don't correlate with the labels."


def _mix_rows(share: _EstimatedShare) -> list[MixRow]:
    import numpy as np

    from workbench.statistics.accuracy import group_order
    from workbench.statistics.intervals import clusters

    with_label = np.isin(share.question, share.question[share.truth >= 0])
    counts = []
    for side in (with_label, ~with_label):
        # A group, such as a model, may contain only some of a question's completions; it counts in each group.
        pairs = clusters(share.question[side], share.group[side], len(share.names))
        counts.append(np.bincount(pairs.group, minlength=len(share.names)))
    rows = [
        MixRow(group=name, labelled=labelled, unlabelled=others)
        for name, labelled, others in zip(share.names, *(count.tolist() for count in counts), strict=True)
        if labelled + others
    ]
    return sorted(rows, key=lambda row: group_order(row.group))


def _count_conflicts(everything: Columns, found: JudgedSelection, kept: BoolArray) -> int:
    import numpy as np

    differ = everything.chosen(Selection((Condition("state", "=", "conflict"),)))
    ids = everything.item if differ is None else everything.item[differ]
    return int(np.isin(found.item[kept], ids).sum())


# -- Estimates from few labels as tables and as text.


_WIDTH = 79
_QUANTITIES = {"accuracy": "accuracy", "prevalence": "share correct"}


def estimate_text(report: EstimateReport) -> str:
    blocks = [estimate_head(report), fill(verdict(report), _WIDTH), plain_table(estimate_table(report)).rstrip("\n")]
    if report.uneven:
        blocks.append(plain_table(mix_table(report)).rstrip("\n"))
    return "\n\n".join(blocks) + "\n"


def verdict(report: EstimateReport) -> str:
    if report.headline is None:
        return f"No estimate. {_missing_text(report)}".rstrip()
    one = report.rows[report.headline]
    assert one.estimate is not None
    weighed = f", weighed by {_strata_text(one.strata)}" if one.strata else ""
    within = "too few questions for an interval"
    if one.ci is not None:
        within = f"95 % interval {100 * one.ci[0]:.1f} to {100 * one.ci[1]:.1f}"
    judged = "decides" if report.protocol == "decided" else "has judged"
    that_count = f"{counted(one.labelled + one.unlabelled, 'item')} that it {judged}"
    sentence = f"{inert(report.verifier)} is right on {100 * one.estimate:.1f} % of all {that_count}, {within}{weighed}"
    if one.reason is not None:
        return f"{sentence}. {one.reason}"
    return (
        f"{sentence}. The {counted(one.labelled, 'label')} are as precise as {one.effective or 0:,.0f} without "
        f"predictions would be: {one.saved or 0:,.0f} saved."
    )


def _missing_text(report: EstimateReport) -> str:
    if not report.uneven:
        return report.rows[0].reason or ""
    strata = _strata_fields(report.uneven)
    weighed = next(one for one in report.rows if (one.quantity, one.strata) == ("accuracy", strata))
    return (
        f"The mix by {_strata_text(strata)} of labelled items differs from the others, so their share, corrected by "
        f"predictions or not, does not hold for all items; and groups can't be weighted. {weighed.reason or ''}"
    )


def _strata_text(strata: str) -> str:
    return listed(strata.split(","))


def estimate_table(report: EstimateReport) -> Table:
    columns: TableColumns[EstimateRow] = (
        word("", lambda one: _QUANTITIES[one.quantity]),
        word("items", lambda one: _group_text(one, report.by), there=any(one.strata for one in report.rows)),
        count("labelled", lambda one: one.labelled),
        count("others", lambda one: one.unlabelled),
        *with_interval("estimate", "estimate", "ci"),
        *with_interval("labels only", "classical"),
        column("trust", lambda one: one.power, lambda power: NONE if power is None else f"{power:.2f}"),
        column("worth", lambda one: one.effective, whole_number),
        column("saved", lambda one: one.saved, whole_number),
    )
    caption = "Estimates for all items, with predictions and from labels only"
    return table(caption, columns, report.rows, notes=_table_notes(report))


def _group_text(one: EstimateRow, by: str | None) -> str:
    every = f"all, by {one.strata}" if one.strata else "all"
    return every if one.group is None else group_name(one.group, by)


def mix_table(report: EstimateReport) -> Table:
    columns: TableColumns[MixRow] = (
        word("", lambda one: group_name(one.group, report.mix_by)),
        count("labelled", lambda one: one.labelled),
        count("others", lambda one: one.unlabelled),
    )
    return table(f"Questions by {report.mix_by}", columns, report.mix)


def _table_notes(report: EstimateReport) -> Iterator[str]:
    yield (
        "Labelled items are assumed to be a random sample. trust: the weight of predictions, 0 to 1; worth: labels "
        "that would give the same precision without them. Intervals by question."
    )
    for strata in dict.fromkeys(one.strata for one in report.rows if one.strata):
        yield f"by {strata}: labels speak for their own group only, and groups are weighed by their items."
    for check in report.checks:
        if check.by in report.uneven:
            yield (
                f"The mix by {_strata_text(check.by)} of labelled items differs from others "
                f"(p {p_value(check.p or 0)}): "
                "they are hardly a random sample, and only estimates weighted by group hold for all items."
            )
    yield from sample_sentences(report.samples, report.by)
    if report.in_conflict:
        conflicts = counted(report.in_conflict, "item")
        yield f"{conflicts} in conflict, without gold: the sample is probably not random. Adjudicate them."
    reasons = dict.fromkeys(one.reason for one in report.rows[1:] if one.reason)
    for reason in reasons:
        names = [one.group or "all" for one in report.rows if one.reason == reason]
        yield f"{', '.join(dict.fromkeys(names))}: {reason}"
    yield from explain_marks(report.selection_judges)


def estimate_head(report: EstimateReport) -> str:
    chose = report.selection_judges
    run = "" if report.run is None else f", run {report.run}"
    return (
        f"{inert(with_mark(report.verifier, chose))}{run}; "
        f"gold predicted by {inert(', '.join(with_mark(name, chose) for name in report.predictors))}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}"
    )
