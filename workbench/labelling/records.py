"""Reports on labelling: checks, and how many more labels a precision takes."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.label import LabelVerdict
from workbench.core.verdict import GoldChoice
from workbench.statistics.records.report import BatchSample


class CheckLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench checks DB import``.

    Attributes:
        completion_id: The completion's own id.
        verdict: The known answer.
        question_id: Tells two completions with the same id apart.
        dataset: The same across data sets.
    """

    completion_id: str
    verdict: LabelVerdict
    question_id: str | None = None
    dataset: str | None = None


class CheckInfo(Struct, frozen=True, kw_only=True):
    """A check: one element of ``workbench checks DB list --json``.

    Attributes:
        answered: How many people have answered it.
        right: How many of them gave the known answer.
    """

    dataset: str
    question_id: str
    completion_id: str
    verdict: LabelVerdict
    answered: int
    right: int


class CheckScore(Struct, frozen=True, kw_only=True):
    """One person's score on checks: one element of ``workbench checks DB report --json``.

    Attributes:
        n: Checks answered.
        right: Those with the known answer.
        accuracy: ``right / n``; None without any.
        lo: Lower end of its 95 % interval, by question like that of a verifier's accuracy; None for too few questions
            to say.
        hi: The upper end.
        paused: Whether the person gets no items for now.
        why: Why they are paused.
    """

    annotator: str
    n: int
    right: int
    accuracy: float | None
    lo: float | None
    hi: float | None
    paused: bool
    why: str = ""


class ChecksChanged(Struct, kw_only=True):
    """The result of adding or importing checks.

    Attributes:
        added: Items that are checks now, or whose known answer was corrected.
        unchanged: Items that were such checks before.
        refused: Items or lines that were not taken.
        passed_over: Items that were drawn but can't be checks, where enough others can.
        chosen_from: Items that meet the conditions.
        seed: Of what chance chose; None where it chose nothing.
        refusals: Why, with how many or in which line.
    """

    added: int = 0
    unchanged: int = 0
    refused: int = 0
    passed_over: int = 0
    chosen_from: int = 0
    seed: int | None = None
    refusals: list[dict[str, object]] = []


# -- How many more labels a precision takes.


class PlanRow(Struct, frozen=True, kw_only=True):
    """One group of items.

    Attributes:
        group: A type or subtype.
        verifier: The verifier that needs most gold in this group; None where nothing is known of any.
        n: Its judged items with gold now.
        accuracy: Its accuracy on them; None without any.
        half_width: Half of that accuracy's 95 % interval.
        deff: The design effect that is reckoned with: completions share questions.
        needed: Items with gold that the precision takes.
        more: How many of them are missing.
        available: Items without gold that can still be labelled.
        shortfall: How many of the missing ones are not there to be labelled.
        labels: Labels to be made: those of the missing items that are there, and their expected adjudications. Of
            these items those come first that take least.
        made: Labels that stand on these items already, and are not made again.
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
        within: The half width wanted of the 95 % intervals.
        by: What the groups are.
        gold: Which gold counts.
        per_item: Labels an item.
        conflict_rate: Share of doubly labelled items that people differed on; None without any.
        adjudications: How many of ``labels`` are expected to be adjudications.
        labels: Labels to be made in all groups.
        seconds_per_label: The median of the labels so far; None where none has its time.
        hours: Projected hours of work; None where the time of a label is not known.
        samples: Batches whose labels are no random sample, though the plan takes them for one.
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
