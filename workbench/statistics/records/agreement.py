"""Reported inter-annotator agreement: fractions, null for undefined metrics, no adjectives."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.label import Task

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""The level of measurement: categories are unrelated, ordered, or have differences or ratios."""

Source = Literal["agreement", "checks"]
"""The source of an estimate of annotators' accuracy."""

Round = Literal["first", "latest"]
"""Each item's first round of labels, or the current one."""

Ends = tuple[float, float]
"""A 95 % interval."""

FEWEST_DIFFERING: Final = 4
FEWEST_ALIKE: Final = 4
FEWEST_RARER: Final = 7
"""A coefficient has no interval if annotators disagree in fewer questions than the first limit, agree on a label other
than the most frequent in fewer than the second, or have such a label in fewer than the third: its coverage would be too
low.
"""

FEWEST_MODELLED: Final = 100
"""Fewest items with two labels for comparing annotators with a consensus estimated from their labels: with fewer, the
consensus mostly reflects each of them.
"""


class Figures(Struct, frozen=True, kw_only=True):
    """Agreement on a set of items.

    Attributes:
        items: Items with a counted label.
        paired: Items with at least two counted labels, on which agreement is measured.
        labels: Counted labels.
        percent_agreement: Mean over paired items of the share of agreeing pairs of labels; None without such items.
        percent_ci: Its 95 % interval (Wilson, clustered); None with too few questions.
        fleiss_kappa: None if items differ in their number of labels, or with only one category.
        fleiss_ci: Its 95 % interval, by leaving out one question at a time; None if too few questions have differing or
            rarer labels. The other intervals are computed in the same way.
        krippendorff_alpha: Alpha at the report's level; None with only one category.
        gwet_ac1: None with only one category.
        gwet_ac2: AC2 by weighting; None at the nominal level.
        pabak: Prevalence- and bias-adjusted kappa: 2 po - 1 for two categories.
        prevalence: The share of each category among the labels; None with more categories than can be listed.
        differing: Questions (or items, see ``interval_by``) in which annotators disagree; intervals need 4.
        alike: Questions in which two annotators agree on a label other than the most frequent; intervals need 4. If
            several labels are equally frequent, all count.
        rarer: Questions of paired items with such a label; intervals need 7.
    """

    items: int
    paired: int
    labels: int
    percent_agreement: float | None
    percent_ci: Ends | None
    fleiss_kappa: float | None
    fleiss_ci: Ends | None = None
    krippendorff_alpha: float | None
    alpha_ci: Ends | None = None
    gwet_ac1: float | None
    ac1_ci: Ends | None = None
    gwet_ac2: dict[str, float | None] | None
    pabak: float | None
    prevalence: dict[str, float] | None
    differing: int
    alike: int
    rarer: int


class GroupFigures(Figures, frozen=True, kw_only=True):
    """Agreement on some of the items: of one type or source, or of one period of time."""

    group: str


class PairAgreement(Struct, frozen=True, kw_only=True):
    """The agreement of two annotators on the items both have labelled.

    Attributes:
        n: Number of common items.
        agreement: Share of them on which they agree.
        kappa: Cohen's kappa; None if both used only one and the same category.
        ci: Its 95 % interval: by leaving out one question at a time if questions have several of the items or the items
            are few, else by Fleiss, Cohen and Everitt; None with too few questions, as for the coefficients of all.
        shared: Common items by domain, or by type (see ``shared_by`` of the report).
    """

    pair: tuple[str, str]
    n: int
    agreement: float
    kappa: float | None
    ci: Ends | None
    shared: dict[str, int]


class Confounded(Struct, frozen=True, kw_only=True):
    """Two annotators whose common items are all of one domain (or type) of several: their agreement can't be
    distinguished from that of the domain.
    """

    pair: tuple[str, str]
    group: str
    n: int


class Share(Struct, frozen=True, kw_only=True):
    """A count out of n, as a share with its 95 % interval; both None if n is 0.

    Attributes:
        ci: By question (or item, see ``interval_by``), like that of accuracy; also None with too few of them.
    """

    n: int
    share: float | None
    ci: Ends | None


class AnnotatorQuality(Struct, frozen=True, kw_only=True):
    """The quality of one annotator's labels.

    Attributes:
        labels: Counted labels.
        unblinded: Labels left out because the person had seen gold, verdicts or others' labels.
        with_others: On paired items, the mean share of the others with the same label; ``n`` items.
        upheld: Of the person's conflicts, the share that a third person decided their way.
        imported: Agreement with the imported gold (or type).
        checks: Share of correct verdicts on items with a known answer.
        repeats: Share of the person's blind second labels that equal the first.
        consensus: Agreement with the consensus of Dawid and Skene's model, which includes their own label; undefined
            with fewer than 100 items with two labels.
        sensitivity: By that model, the probability of labelling a correct item correct; None without the model, and on
            other tasks.
        specificity: By that model, the probability of labelling an incorrect item incorrect.
        median_ms: Median time of a decision, in milliseconds; None without recorded times.
        fast: Share of decisions under two seconds, among those with a time.
    """

    name: str
    labels: int
    unblinded: int
    with_others: Share
    upheld: Share
    imported: Share
    checks: Share
    repeats: Share
    consensus: Share
    sensitivity: float | None
    specificity: float | None
    median_ms: float | None
    fast: Share


class GoldLabels(Struct, frozen=True, kw_only=True):
    """Items with blind labels, by their resulting gold.

    Attributes:
        agreed: Items on which annotators agree.
        adjudicated: Items with a disagreement that a third person decided.
        in_conflict: Items with an unresolved disagreement, which have no gold.
    """

    agreed: int
    adjudicated: int
    in_conflict: int


class Ceiling(Struct, frozen=True, kw_only=True):
    """The effect of label noise, if annotators err independently of each other and with equal probability on both
    classes.

    It assumes a verifier whose errors are independent of the annotators': a verifier that errs on the same items may
    have a higher measured accuracy.

    Attributes:
        source: The source of the annotators' accuracy: their agreement, or checks.
        annotator_accuracy: Accuracy of a single annotator.
        accuracy_ci: Its 95 % interval.
        gold: The gold concerned, without imported labels; None for ratings without any. If there is no gold yet, the
            values assume "two agree, else a third" on every item.
        wrong: The share of that gold that is wrong.
        conflicts_per_1000: Items of 1,000 on which two annotators disagree.
        highest_accuracy: Measured accuracy of an error-free verifier.
        highest_ci: The same at the ends of ``accuracy_ci``.
        sensitivity: The least and the greatest ``highest_accuracy`` if annotators' errors on an item are correlated (an
            intra-class correlation of 0 to 0.3) and equally frequent on both classes or all on one.
    """

    source: Source
    annotator_accuracy: float
    accuracy_ci: Ends
    gold: GoldLabels | None
    wrong: float
    conflicts_per_1000: float
    highest_accuracy: float
    highest_ci: Ends
    sensitivity: Ends


class AgreementReport(Figures, frozen=True, kw_only=True):
    """Agreement between annotators: first-pass labels in force of one round.

    Adjudications, repeats, checks and unblinded labels don't count.

    Attributes:
        task: None for ratings from a file.
        coarse: Types were compared by their letter.
        annotators: Number of people with counted labels.
        unblinded: Unblinded labels, which are left out.
        surplus: Counted labels beyond an item's overlap: merged or imported ones.
        round: The round whose labels count for a reopened item; None for ratings from a file.
        reopened: Items (or questions, on the type task) that were reopened.
        cohen_kappa: One row for every two people with common items.
        shared_by: The grouping of ``shared`` in pairs: ``"domain"`` or ``"type"``; None without groups.
        confounded: Pairs whose items are all of one such group.
        per_annotator: One row for everyone with a label.
        by: The grouping of ``groups``; None without one.
        over_time: Blocks of items in the order in which they were completed.
        ceiling: The ceilings for verdicts, by source; empty if they can't be estimated.
        repeats: Share of all repeated labels that equal the first ones.
        interval_by: The clusters of intervals: questions or items.
        refused: Rejected lines of the file.
    """

    task: Task | None
    level: Level
    coarse: bool = False
    annotators: int
    unblinded: int = 0
    surplus: int = 0
    round: Round | None = None
    reopened: int = 0
    cohen_kappa: list[PairAgreement]
    shared_by: Literal["domain", "type"] | None = None
    confounded: list[Confounded] = []
    per_annotator: list[AnnotatorQuality]
    by: str | None = None
    groups: list[GroupFigures] = []
    over_time: list[GroupFigures] = []
    ceiling: list[Ceiling] = []
    repeats: Share
    interval_by: Literal["question", "item"]
    refused: int = 0
