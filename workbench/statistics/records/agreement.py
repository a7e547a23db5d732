"""Inter-annotator agreement as it is reported: fractions, null for undefined metrics, and never an adjective."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.label import Task

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""How categories relate: not at all, by order, by difference, by proportion."""

Source = Literal["agreement", "checks"]
"""Where an estimate of people's accuracy comes from."""

Round = Literal["first", "latest"]
"""Each item's first round of labels, or the one that is under way."""

Ends = tuple[float, float]
"""A 95 % interval."""

FEWEST_DIFFERING: Final = 4
FEWEST_ALIKE: Final = 4
FEWEST_RARER: Final = 7
"""A coefficient has no interval where people differ in fewer questions than the first, agree on a label rarer than the
commonest in fewer than the second, or fewer than the third hold such a label: none would cover."""

FEWEST_MODELLED: Final = 100
"""Items with two labels from which on people are compared with a consensus that is estimated from their labels: of
fewer, it is little more than what each of them said."""


class Figures(Struct, frozen=True, kw_only=True):
    """Agreement on a set of items.

    Attributes:
        items: Items with a label that counts.
        paired: Those with two or more; agreement is about these.
        labels: Labels that count.
        percent_agreement: Mean over paired items of the share of agreeing pairs of labels; None without such items.
        percent_ci: Its 95 % interval (Wilson, clustered); None for too few questions to say.
        fleiss_kappa: None where items differ in their number of labels, or with one category only.
        fleiss_ci: Its 95 % interval, by leaving out one question at a time; None where too few hold differing or rarer
            labels to say. So are the other intervals.
        krippendorff_alpha: At the report's level; None with one category only.
        gwet_ac1: None with one category only.
        gwet_ac2: By weighting; None at the nominal level.
        pabak: Prevalence- and bias-adjusted kappa: 2 po - 1 for two categories.
        prevalence: The share of each category among the labels; None for more categories than can be listed.
        differing: Questions (or items, see ``interval_by``) in which people differ; intervals take 4.
        alike: Those in which two agree on a label rarer than the commonest; intervals take 4. Where several labels
            are as common, all count.
        rarer: Those among paired items' that hold such a label; intervals take 7.
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
    """Agreement on some of the items: of one type or source, or of one stretch of time."""

    group: str


class PairAgreement(Struct, frozen=True, kw_only=True):
    """The agreement of two annotators on the items both have labelled.

    Attributes:
        n: How many there are.
        agreement: The share on which they agree.
        kappa: Cohen's; None where both used one and the same category only.
        ci: Its 95 % interval: by leaving out one question at a time where questions have several of the items or there
            are few, else Fleiss, Cohen and Everitt's; None for too few questions to say, as of the coefficients of all.
        shared: Those items by domain, or by type where the report says so.
    """

    pair: tuple[str, str]
    n: int
    agreement: float
    kappa: float | None
    ci: Ends | None
    shared: dict[str, int]


class Confounded(Struct, frozen=True, kw_only=True):
    """Two people whose common items are all of one domain (or type), where there are several: their agreement and
    that domain's can't be told apart."""

    pair: tuple[str, str]
    group: str
    n: int


class Share(Struct, frozen=True, kw_only=True):
    """A count out of n, as a share with its 95 % interval; both None where n is 0.

    Attributes:
        ci: By question (or item, see ``interval_by``), like that of accuracy; None also for too few to say.
    """

    n: int
    share: float | None
    ci: Ends | None


class AnnotatorQuality(Struct, frozen=True, kw_only=True):
    """The quality of one annotator's labels.

    Attributes:
        labels: Labels that count.
        unblinded: Labels left out: the person had seen gold, verdicts or others' labels.
        with_others: Of the paired items, the mean share of the others who say the same; ``n`` items.
        upheld: Of the conflicts the person was part of, those the third person settled their way.
        imported: Agreement with the gold (or type) the data came with.
        checks: Verdicts on items with a known answer that were right.
        repeats: Own second labels, unseen, that equal the first.
        consensus: Agreement with the consensus of Dawid and Skene's model, which their own label is part of; undefined
            for fewer than 100 items with two labels.
        sensitivity: By that model: the chance to call a correct item correct. None without it, and on other tasks.
        specificity: By that model: the chance to call an incorrect item incorrect.
        median_ms: Median time of a decision, in milliseconds; None where no times are known.
        fast: Decisions under two seconds, of those with a time.
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
    """Items with blind labels, by the gold that they led to.

    Attributes:
        agreed: People agree.
        adjudicated: They differed, and a third one has settled it.
        in_conflict: They differ, and nobody has settled it: those have no gold.
    """

    agreed: int
    adjudicated: int
    in_conflict: int


class Ceiling(Struct, frozen=True, kw_only=True):
    """The effect of label noise, if annotators err independently of each other and with equal probability on both
    classes.

    It speaks of a verifier whose errors have nothing to do with people's: one that errs where they do may be measured
    to have more.

    Attributes:
        source: Where the people's accuracy is estimated from: their agreement, or checks.
        annotator_accuracy: How often one person alone is right.
        accuracy_ci: Its 95 % interval.
        gold: The gold it speaks of, without labels that came with the data; None for ratings without any. Where there
            is none yet, the figures are of "two agree, else a third" on every item.
        wrong: The share of that gold that is wrong.
        conflicts_per_1000: Items of 1,000 the two disagree on.
        highest_accuracy: What a verifier without any error would be measured to have.
        highest_ci: The same at the ends of ``accuracy_ci``.
        sensitivity: The least and the greatest ``highest_accuracy`` where people's errors on an item go together (an
            intra-class correlation of 0 to 0.3) and are as frequent on both classes or all on one.
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
        annotators: How many people have labels that count.
        unblinded: Labels left out.
        surplus: Labels that count beyond an item's overlap: merged, or imported.
        round: Which round's labels count of an item that was reopened; None for ratings from a file.
        reopened: Items (or questions, on the type task) that were reopened.
        cohen_kappa: Every two people with an item in common.
        shared_by: What ``shared`` of a pair counts by: ``"domain"`` or ``"type"``; None without groups.
        confounded: Pairs whose items are all of one such group.
        per_annotator: Everyone with a label.
        by: What ``groups`` are; None without a grouping.
        over_time: Blocks of items in the order in which they were completed.
        ceiling: For verdicts, by source; empty where it can't be told.
        repeats: All second labels of own items that equal the first.
        interval_by: What intervals take as the clusters: questions or items.
        refused: Lines of the file that were refused.
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
