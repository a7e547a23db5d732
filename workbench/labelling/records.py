"""Reports on labelling: checks, and plans of further labels."""

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
        question_id: Distinguishes completions with the same id.
        dataset: Distinguishes questions with the same id.
    """

    completion_id: str
    verdict: LabelVerdict
    question_id: str | None = None
    dataset: str | None = None


class CheckInfo(Struct, frozen=True):
    """A check: one element of ``workbench checks DB list --json``.

    Attributes:
        answered: Number of people who have answered it.
        right: Number of them who gave the known answer.
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
        n: Number of checks answered.
        right: Number of them with the known answer.
        accuracy: ``right / n``; None without any.
        lo: Lower end of its 95 % interval, by question like that of a verifier's accuracy; None with too few questions.
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
    """The result of adding or importing checks, as numbers of items or lines.

    Attributes:
        added: Items that are checks now, or whose known answer was corrected.
        unchanged: Items that already were checks with this answer.
        refused: Rejected items or lines.
        passed_over: Items that were drawn but can't be checks, if enough others can.
        chosen_from: Items that meet the conditions.
        seed: Seed of the random choice; None without one.
        refusals: Reasons for rejections, with a count or line number.
    """

    added: int = 0
    unchanged: int = 0
    refused: int = 0
    passed_over: int = 0
    chosen_from: int = 0
    seed: int | None = None
    refusals: list[dict[str, object]] = []


# -- The number of further labels for a required precision.


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
