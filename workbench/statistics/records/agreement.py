"""Records of inter-annotator agreement. Shares are fractions, undefined metrics are null; there are no adjectives for
coefficients."""

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
        items: Number of items with a counted label.
        paired: Number of items with at least two counted labels, on which agreement is measured.
        labels: Number of counted labels.
        percent_agreement: Mean over paired items of the share of agreeing pairs of labels; None without such items.
        percent_ci: Its 95 % interval (Wilson, clustered); None with too few questions.
        fleiss_kappa: Fleiss' kappa; None if items differ in their number of labels, or with only one category.
        fleiss_ci: Its 95 % interval, by leaving out one question at a time; None if too few questions have differing or
            rarer labels. The other intervals are computed in the same way.
        krippendorff_alpha: Alpha at the report's level; None with only one category.
        gwet_ac1: Gwet's AC1; None with only one category.
        gwet_ac2: Weighting -> Gwet's AC2; None at the nominal level.
        pabak: Prevalence- and bias-adjusted kappa: 2 po - 1 for two categories.
        prevalence: Category -> its share of the labels; None with more categories than can be listed.
        differing: Number of questions (or items, see ``interval_by``) in which annotators disagree; intervals need 4.
        alike: Number of questions in which two annotators agree on a label other than the most frequent; intervals
            need 4. If several labels are equally frequent, all of them count.
        rarer: Number of questions with a paired item that has such a label; intervals need 7.
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
        kappa: Cohen's kappa; None if both used only a single, common category.
        ci: Its 95 % interval: by leaving out one question at a time if questions have several of the items or the items
            are few, else by Fleiss, Cohen and Everitt; None with too few questions, as for the coefficients of all
            annotators.
        shared: Domain or type (see ``shared_by`` of the report) -> number of common items.
    """

    pair: tuple[str, str]
    n: int
    agreement: float
    kappa: float | None
    ci: Ends | None
    shared: dict[str, int]


class Confounded(Struct, frozen=True, kw_only=True):
    """Two annotators whose common items are all of one domain (or type), although there are several. A low or high
    agreement may be due to the two or to the domain.
    """

    pair: tuple[str, str]
    group: str
    n: int


class Share(Struct, frozen=True, kw_only=True):
    """A share of n labels, decisions or items.

    Attributes:
        share: None if n is 0.
        ci: Its 95 % interval, clustered by question (or item, see ``interval_by``) like that of accuracy; also None
            with too few of them.
    """

    n: int
    share: float | None
    ci: Ends | None


class AnnotatorQuality(Struct, frozen=True, kw_only=True):
    """The quality of one annotator's labels.

    Attributes:
        labels: Number of counted labels.
        unblinded: Number of labels left out because the annotator had seen gold, verdicts or others' labels.
        with_others: On paired items, the mean share of the other annotators who chose the same label; ``n`` is the
            number of items.
        upheld: Of the annotator's adjudicated conflicts, the share decided in this annotator's favour.
        imported: Share of labels that agree with the imported gold (or type).
        checks: Share of correct labels on check items, whose answer is known.
        repeats: Share of the annotator's blind second labels that equal the first.
        consensus: Share of labels that agree with the consensus of Dawid and Skene's model, which includes the
            annotator's own labels; undefined with fewer than 100 items with two labels.
        sensitivity: By that model, the probability of labelling a correct item correct; None without the model, and on
            other tasks.
        specificity: By that model, the probability of labelling an incorrect item incorrect.
        median_ms: Median time of a decision, in milliseconds; None without recorded times.
        fast: Share of decisions in under two seconds, among those with a recorded time.
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
    """Numbers of items with blind labels, by the gold that results.

    Attributes:
        agreed: Items on which annotators agree.
        adjudicated: Items with a disagreement that a third annotator decided.
        in_conflict: Items with an unresolved disagreement, which have no gold.
    """

    agreed: int
    adjudicated: int
    in_conflict: int


class Ceiling(Struct, frozen=True, kw_only=True):
    """The effect of label noise on measured accuracy, if annotators err independently of each other and with equal
    probability on both classes.

    It assumes a verifier whose errors are independent of the annotators': a verifier that errs on the same items may
    have a higher measured accuracy.

    Attributes:
        source: The source of the annotators' accuracy: their agreement, or checks.
        annotator_accuracy: Accuracy of a single annotator.
        accuracy_ci: Its 95 % interval.
        gold: The gold labels that the values are about, without imported ones; None for ratings from a file. If there
            is no gold yet, the values assume that two annotators label every item and a third decides where they
            disagree.
        wrong: The share of that gold that is wrong.
        conflicts_per_1000: Expected number of items, out of 1,000, on which two annotators disagree.
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
    """Agreement between annotators, measured on the current first-pass labels of one round.

    Adjudications, repeats, checks and unblinded labels don't count.

    Attributes:
        task: None for ratings from a file.
        coarse: Whether answer types were compared by their letter only.
        annotators: Number of annotators with counted labels.
        unblinded: Number of unblinded labels, which are left out.
        surplus: Number of counted labels beyond an item's overlap (requested number of labels): merged or imported
            ones.
        round: The round whose labels count for a reopened item; None for ratings from a file.
        reopened: Number of items (or questions, on the type task) that were reopened.
        cohen_kappa: One row for every two annotators with common items.
        shared_by: The grouping of ``shared`` in pairs: ``"domain"`` or ``"type"``; None without groups.
        confounded: Pairs of annotators whose common items are all of one such group.
        per_annotator: One row for each annotator with a label.
        by: The property that forms ``groups``; None without groups.
        over_time: Agreement on blocks of items, in the order in which items were completed.
        ceiling: The ceilings for verdicts, by source; empty if they can't be estimated.
        repeats: Share of all repeated labels that equal the first ones.
        interval_by: The clusters of intervals: questions or items.
        refused: Number of rejected lines of the file.
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
