"""Plans the number of further labels for a given precision of accuracy in each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, structs

from workbench.core.errors import Command, UsageError, opt
from workbench.core.progress import step
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice
from workbench.data.store import reading
from workbench.data.store.columns import ORIGINS
from workbench.data.store.reading import SamplingFrame
from workbench.labelling.assigning import RANDOM, Ordering
from workbench.labelling.store import assignments, check_items
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import Columns, columns
from workbench.measuring.judged import BASELINE, judges_of
from workbench.measuring.store import figures
from workbench.measuring.store.figures import StartedItem
from workbench.statistics.records.report import AccuracyRow, BatchOrder, BatchSample, Sample
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table import aligned_rows, count, counts, metric_column, text, word

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

    Array = npt.NDArray[Any]


class PlanRow(Struct, frozen=True, kw_only=True):
    """One group of items.

    Attributes:
        group: A type or subtype.
        verifier: The verifier that needs most gold in this group; None without data on any.
        n: Number of items with gold that the verifier has judged.
        accuracy: Its accuracy on them; None without any.
        half_width: Half of that accuracy's 95 % interval.
        deff: The design effect used, since completions share questions.
        needed: Number of items with gold that the precision requires.
        more: Number of these that have no gold yet.
        available: Number of items without gold that can still be labelled.
        shortfall: By how many ``more`` exceeds ``available``.
        labels: Number of labels to make for the missing items that exist, expected adjudications included. Items that
            need the fewest labels come first.
        made: Number of labels that already exist on these items.
    """

    group: str
    verifier: str | None
    n: int
    accuracy: float | None
    half_width: float
    deff: float
    needed: int
    more: int
    available: int
    shortfall: int
    labels: int
    made: int = 0


class Plan(Struct, frozen=True, kw_only=True):
    """The labels still needed so that accuracy is known to ± ``within`` in each group.

    Attributes:
        within: The required half width of the 95 % intervals.
        by: The kind of groups.
        gold: Which gold labels count.
        per_item: Number of labels for each item.
        conflict_rate: Share of doubly labelled items with a conflict; None without such items.
        adjudications: How many of ``labels`` are expected to be adjudications.
        labels: Number of labels to make in all groups.
        seconds_per_label: Median seconds of the labels so far; None without recorded times.
        hours: Projected hours of work; None without recorded times.
        samples: Batches whose labels are not a random sample, although the plan assumes it.
    """

    within: float
    by: str
    gold: GoldChoice
    per_item: int
    conflict_rate: float | None
    rows: list[PlanRow]
    adjudications: int
    labels: int
    seconds_per_label: float | None
    hours: float | None
    samples: list[BatchSample] = []


# -- Labels that the plan treats as a random sample of all items, but that are biased.


_HOW: Final[dict[Sample, str]] = {
    "first": "were taken in import order",
    "order": "were given first to items on which verifiers disagree or are uncertain",
    "quota": "are a fixed number per answer subtype",
}


def uneven_samples(project: Project, known: Columns, items: IntArray) -> list[BatchSample]:
    """Return the batches whose labels are not a random sample, with their numbers of labelled items.

    Args:
        items: Row ids of items whose gold is treated as a random sample; gold that is not from annotators has no batch.
    """
    import numpy as np

    by_people = known.item[known.origin >= ORIGINS.index("agreed")]
    found = []
    for batch, sample, chosen in assignments.nonrandom_batches(project.database.reader()):
        # A batch of all items is unbiased.
        if len(chosen) < len(known.item) and (labelled := np.isin(chosen, np.intersect1d(items, by_people)).sum()):
            found.append(BatchSample(batch=batch, sample=sample, items=int(labelled)))
    return found


def sample_sentences(samples: Sequence[BatchSample], by: str | None) -> Iterator[str]:
    """Explain how batches bias metrics, in one sentence for each way of choosing their items.

    Args:
        by: The property that groups the metrics: quotas of subtypes don't bias metrics by subtype.
    """
    for sample, how in _HOW.items():
        of_it = [one for one in samples if one.sample == sample]
        if not of_it or (sample == "quota" and by == "subtype"):
            continue
        names = ", ".join(str(one.batch) for one in of_it)
        batch = "batch" if len(of_it) == 1 else "batches"
        many = counted(sum(one.items for one in of_it), "item")
        advice = " Break metrics down by subtype." if sample == "quota" else ""
        yield f"The labels of {batch} {names} ({many}) {how}; they are not a random sample of all.{advice}"


By = Literal["subtype", "type"]
FINEST = 0.0001
"""Least half width of a plan, which needs a hundred million items."""
MOST_PEOPLE = 1_000


def plan(
    project: Project,
    *,
    within: float = 0.05,
    by: By = "subtype",
    verifier: str | None = None,
    per_item: int = 2,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> Plan:
    """Estimate how many labels are still missing, group by group.

    The accuracy expected on more items is the centre of the current interval: without gold it is 0.5, the worst case,
    and with little gold it is close to that. The design effect of a group is the current one; for a group without gold
    it is that of all items.

    Args:
        verifier: The verifier to measure; None for all: then the verifier that needs the most items determines the
            number.

    Raises:
        UsageError: ``within`` is not a valid half width, or the verifier has no complete run.
    """
    if not FINEST <= within < 0.5:
        raise UsageError(
            f"{opt.within} must be from {FINEST:g} to less than 0.5, not {within:g}.", "0.05 is ± 5 points."
        )
    if not 1 <= per_item <= MOST_PEOPLE:
        raise UsageError(f"{opt.per_item} must be at least 1 and at most {MOST_PEOPLE:,}.")
    selection = selection or Selection()
    named = () if verifier is None else (verifier,)
    with step("measuring accuracy"):
        said = accuracy(project, verifiers=named, by=by, gold=gold, selection=selection, seed=None, notes=False).rows
    reader = project.database.reader()
    differed, spoken = figures.disputed(reader)
    rate = differed / spoken if spoken and per_item > 1 else None
    known = columns(project)
    chosen = known.chosen(selection)
    open_items = _open_items(known, chosen, check_items.ids(reader), gold)
    available = known.groups(by).count(open_items)
    begun = _started_by_group(known, open_items, figures.partly_labelled(reader), by)
    rows, adjudications, disputes = [], 0, 0.0
    for row in _plan_rows(said, verifier, within):
        items = min(row.more, available[row.group])
        taken = sorted(begun[row.group], key=lambda one: _missing_labels(one, per_item))[:items]
        conflicts = sum(one.differs for one in taken)
        missing = sum(_missing_labels(one, per_item) for one in taken) + (items - len(taken)) * per_item
        # Round up the total once, not each group.
        disputes += conflicts + (items - conflicts) * (rate or 0.0)
        expected = ceil(round(disputes, 9)) - adjudications
        adjudications += expected
        rows.append(
            structs.replace(
                row,
                available=available[row.group],
                shortfall=row.more - items,
                labels=missing + expected,
                made=sum(one.labels for one in taken),
            )
        )
    labels = sum(row.labels for row in rows)
    times = figures.label_times(reader)
    seconds = median(times) / 1000 if times else None
    labelled = known.gold(gold) >= 0
    return Plan(
        within=within,
        by=by,
        gold=gold,
        per_item=per_item,
        conflict_rate=rate,
        rows=rows,
        adjudications=adjudications,
        labels=labels,
        seconds_per_label=seconds,
        hours=None if seconds is None else labels * seconds / 3600,
        samples=uneven_samples(project, known, known.item[labelled if chosen is None else labelled & chosen]),
    )


def _plan_rows(said: Sequence[AccuracyRow], verifier: str | None, within: float) -> Iterator[PlanRow]:
    # A run of the baseline counts as a verifier's run, but would always need the most items.
    judges = [row for row in said if row.verifier == verifier or (row.kind == "verifier" and row.verifier != BASELINE)]
    overall = {row.verifier: row.deff for row in judges if row.group is None}
    # The baseline's rows cover every item with gold, judged or not.
    for base in (row for row in said if row.verifier == BASELINE and row.group is not None):
        # A verifier that failed on a whole group has no metrics there, but the group's gold exists.
        here = [row for row in judges if row.group == base.group and (row.n or not row.error)]
        rows = [_row_of_verifier(row, overall[row.verifier], within) for row in here]
        # Without verdicts, assume an accuracy of 0.5 and the design effect of gold.
        unknown = _plan_row(base, None, None, 0.5, base.deff, within)
        yield max(rows, key=lambda row: (row.more, row.needed), default=unknown)


def _row_of_verifier(said: AccuracyRow, deff: float, within: float) -> PlanRow:
    lo, hi = said.ci or (0.0, 1.0)
    return _plan_row(said, said.verifier, said.accuracy, (lo + hi) / 2, said.deff if said.n else deff, within)


def _plan_row(
    said: AccuracyRow, verifier: str | None, accuracy: float | None, expected: float, deff: float, within: float
) -> PlanRow:
    from workbench.statistics.prediction_powered import half_width, needed_items

    shown = said.ci if verifier is not None else None
    width = half_width(expected if accuracy is None else accuracy, said.n, deff)
    if shown is not None:
        width = (shown[1] - shown[0]) / 2
    enough = needed_items(expected, deff, within)
    if width <= within:
        enough = min(enough, said.n)
    return PlanRow(
        group=said.group or "",
        verifier=verifier,
        n=said.n,
        accuracy=accuracy,
        half_width=width,
        deff=deff,
        needed=enough,
        more=max(enough - said.n, 0),
        available=0,
        shortfall=0,
        labels=0,
    )


def _missing_labels(one: StartedItem, per_item: int) -> int:
    return 0 if one.differs else max(per_item - one.labels, 1)


def _open_items(known: Columns, chosen: BoolArray | None, checks: list[int], gold: GoldChoice) -> BoolArray:
    import numpy as np

    excluded = known.chosen(Selection((Condition("state", "=", "excluded"),)))
    counted = (known.gold(gold) < 0) & ~np.isin(known.item, checks)
    if chosen is not None:
        counted &= chosen
    if excluded is not None:
        counted &= ~excluded
    return counted


def _started_by_group(
    known: Columns, items: BoolArray, begun: dict[int, StartedItem], by: By
) -> dict[str, list[StartedItem]]:
    import numpy as np

    groups, found = known.groups(by), defaultdict[str, list[StartedItem]](list)
    for place in np.flatnonzero(items & np.isin(known.item, list(begun))).tolist():
        found[groups.names[groups.code[place]]].append(begun[int(known.item[place])])
    return found


# -- A plan as text for a terminal.


_COLUMNS: TableColumns[PlanRow] = (
    word("group", lambda row: type_display(row.group)),
    count("gold", lambda row: row.n),
    metric_column("accuracy", lambda row: row.accuracy),
    metric_column("±", lambda row: row.half_width),
    *counts("needed", "more", "available"),
    count("short", lambda row: row.shortfall),
    count("labels", lambda row: row.labels),
    text("verifier", lambda row: NONE if row.verifier is None else inert(row.verifier)),
)


def plan_text(plan: Plan) -> str:
    table = aligned_rows(_COLUMNS, plan.rows)
    return f"± {plan.within:g} by {plan.by}, gold {plan.gold}\n\n{table}\n\n" + "".join(
        f"{sentence}\n" for sentence in _plan_sentences(plan)
    )


def _plan_sentences(plan: Plan) -> list[str]:
    lines = [f"{counted(plan.labels, 'label')} to make, {plan.per_item} an item."]
    if plan.adjudications:
        rate = plan.conflict_rate or 0.0
        lines.append(
            f"{counted(plan.adjudications, 'adjudication')} of them: annotators disagreed on {rate:.1%} so far."
        )
    made = sum(row.made for row in plan.rows)
    if made:
        lines.append(f"Not counted: {counted(made, 'label')} that these items have already.")
    if plan.hours is None or plan.seconds_per_label is None:
        lines.append("No label so far has a time: the hours can't be projected.")
    else:
        lines.append(f"About {plan.hours:,.1f} hours at {plan.seconds_per_label:,.0f} s a label, the median so far.")
    short = sum(row.shortfall for row in plan.rows)
    if short:
        lines.append(f"{counted(short, 'item')} short: there are too few items without gold. Import more.")
    lines.extend(sample_sentences(plan.samples, plan.by))
    if any(row.accuracy is None for row in plan.rows):
        lines.append("Where no accuracy is known, 0.5 is assumed, the worst case.")
    return lines


# -- The order in which the items of a batch are labelled: random, or the most informative first.


def ordering_by(project: Project, order: BatchOrder) -> Ordering:
    """Return the order of items for `people.assign`; verdicts are read on first use."""
    if order == BatchOrder():
        return RANDOM
    return Ordering(str(order), _sample_kind(order), partial(_rank_items, project, order))


def _sample_kind(order: BatchOrder) -> Sample:
    if order.name != "random":
        return "order"
    return "drawn" if order.per_subtype is None else "quota"


def _rank_items(project: Project, order: BatchOrder, found: SamplingFrame, seed: int) -> IntArray:
    from workbench.statistics.prediction_powered import by_priority, first_of_each

    known = columns(project)
    places = by_priority(_item_priority(project, known, found.item, order), reading.sampling_positions(found, seed))
    if order.per_subtype is not None:
        code = known.groups("subtype").code
        places = first_of_each(places, _values_of_items(found.item, known, code), order.per_subtype)
    return places[: order.limit]


def _item_priority(project: Project, known: Columns, items: IntArray, order: BatchOrder) -> FloatArray:
    import numpy as np

    from workbench.statistics.prediction_powered import disagreement

    if order.name == "random" or not len(items):
        return np.zeros(len(items))
    numbers = [judge.run for judge in judges_of(project, order.verifiers) if judge.run is not None]
    if not numbers:
        raise UsageError("No complete run of any verifier.", "Start one", Command("verify DB NAME"))
    if len(numbers) < 2:
        raise UsageError("One verifier can't disagree with itself.", "Name two.")
    return disagreement([_values_of_items(items, known, known.outcome(run)) for run in numbers])


def _values_of_items(items: IntArray, known: Columns, values: Array) -> Array:
    import numpy as np

    return values[np.searchsorted(known.item, items)]
