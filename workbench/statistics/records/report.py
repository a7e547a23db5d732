"""Metrics as they are reported: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.comparison import LEVEL

Kind = Literal["verifier", "baseline"]
NO_REASON = "none"
"""The group of verdicts that came without a reason."""


class AccuracyRow(Struct, frozen=True, kw_only=True):
    """One verifier on one group of items.

    Attributes:
        verifier: The verifier's name.
        group: A type or subtype code, a name or a verdict's reason; ``"untyped"`` where there is no type, ``"none"``
            where there is no reason; None for all items.
        n: Rows counted under the protocol.
        questions: Questions those rows belong to; the interval's clusters.
        accuracy: Share of counted rows that are right; None without rows.
        effective_questions: Questions of equal size that would say as much of the interval's width, were each all right
            or all wrong; few of many where some have most of the items.
        ci: The accuracy's 95 % interval, clustered by question; None for too few questions to say, or without rows.
        balanced_accuracy: Mean of both classes' accuracy; None when gold lacks a class.
        mcc: Matthews' correlation; None where gold lacks a class, 0 where all verdicts are the same.
        fpr: Share of wrong completions accepted; None when there are none.
        fnr: Share of right completions rejected; None when there are none.
        coverage: Decided rows over all rows with gold and a stored verdict; None without rows.
        tp: Correct completions counted as accepted.
        fp: Incorrect completions counted as accepted.
        tn: Incorrect completions counted as refused.
        fn: Correct completions counted as refused.
        abstain: Rows the verifier abstained on, whatever the protocol makes of them.
        error: Rows the verifier failed on, whatever the protocol makes of them.
        deff: The design effect behind ``ci``, at least 1.
        auroc: Area under the ROC curve of the verifier's scores over all items with a score and gold, whatever the
            protocol; None without scores or when gold lacks a class.
        kind: ``baseline`` for what needs no run and no look at the completion.
        groups: The parts of the group of a crossing, such as ``("A", "math_reasoning")``; one part of any other.
        delta: Accuracy less that of the items the group is set against: those of its type for a subtype, all items for
            any other group (VerifyBench, arXiv 2505.15801, table 5). None where either has no accuracy.
        p: Chance of a delta as large, were groups dealt out to questions at random within those items, or among the
            answers to each question where groups share questions; None for a baseline, for the row of all items, and
            where the group is all there is.
        q: The same after Benjamini and Hochberg over all cells of the table; of subtypes within selected types, a type
            of a verifier being selected by all of its subtypes (Benjamini and Bogomolov).
        selection_judge: The verifier, or the model behind it, helped to choose what belongs to the data.
        balanced_accuracy_ci: Its 95 % interval, put together from those of both classes; None where one has too few
            questions, or for a baseline.
        mcc_ci: The same of ``mcc``.
    """

    verifier: str
    group: str | None
    n: int
    questions: int
    effective_questions: float
    accuracy: float | None
    ci: tuple[float, float] | None
    balanced_accuracy: float | None
    mcc: float | None
    fpr: float | None
    fnr: float | None
    coverage: float | None
    tp: int
    fp: int
    tn: int
    fn: int
    abstain: int
    error: int
    deff: float
    auroc: float | None
    kind: Kind = "verifier"
    groups: tuple[str, ...] = ()
    delta: float | None = None
    p: float | None = None
    q: float | None = None
    selection_judge: bool = False
    balanced_accuracy_ci: tuple[float, float] | None = None
    mcc_ci: tuple[float, float] | None = None

    @property
    def is_significant(self) -> bool:
        return self.q is not None and self.q < LEVEL


class AverageRow(Struct, frozen=True, kw_only=True):
    """One verifier's accuracy, averaged in both ways.

    Attributes:
        micro: The mean over items.
        macro: The unweighted mean over groups that have items.
        over: What the groups are: what the rows are grouped by, else ``"type"``.
        groups: How many groups ``macro`` is the mean of.
    """

    verifier: str
    micro: float | None
    macro: float | None
    over: str
    groups: int


class TransferRow(Struct, frozen=True, kw_only=True):
    """One verifier's expected metrics on data with another share of correct completions.

    Attributes:
        prevalence: The share of correct completions there; None where none was asked for.
        accuracy: Expected accuracy there; None also where gold lacks a class here.
        ci: Its 95 % interval; None also for a baseline.
        accept_rate: The share of completions the verifier accepts elsewhere; None where none was given.
        true_rate: The share of correct completions behind it, by Rogan and Gladen; None also where the verifier accepts
            wrong completions as readily as right ones.
    """

    verifier: str
    prevalence: float | None = None
    accuracy: float | None = None
    ci: tuple[float, float] | None = None
    accept_rate: float | None = None
    true_rate: float | None = None


class NoisyRow(Struct, frozen=True, kw_only=True):
    """One verifier's accuracy against error-free labels, estimated from the annotators' error rate.

    It takes labels to be wrong independently of verdicts, on both classes alike.

    Attributes:
        source: Where people's errors are estimated from: their agreement, or checks.
        wrong: The share of gold that is wrong.
        measured: Accuracy against the gold there is.
        measured_ci: Its 95 % interval, which takes gold for right.
        accuracy: Accuracy against labels without error.
        ci: Its 95 % interval, which carries the uncertainty of ``wrong``; None as ``measured_ci`` is, where half of the
            labels may be wrong, and where labels so noisy would not agree with it as much, or as little.
    """

    verifier: str
    source: Literal["agreement", "checks"]
    wrong: float
    measured: float
    measured_ci: tuple[float, float] | None
    accuracy: float | None = None
    ci: tuple[float, float] | None = None


class BestAt(Struct, frozen=True, kw_only=True):
    """The verifier with the highest expected accuracy from one share of correct completions to another."""

    verifier: str
    low: float
    high: float


class CellTests(Struct, frozen=True, kw_only=True):
    """How the p- and q-values of the cells were computed.

    Attributes:
        method: The test.
        hypotheses: How many distinct tests, or looks, the table takes: each verifier's groups, the two that are all of
            a scope as one. The q-values of a table that is read alone are over these; in a report, over all tables'.
        exact: How many of them count every way of dealing out the groups.
        drawn: How many draw ways at random, up to 99,999.
        approximate: How many take the normal distribution with the deals' own mean and variance, until they are drawn.
        families: Families of tests: each verifier's subtypes of a type, else one of all.
        seed: Of what was drawn; None while nothing has been.
    """

    method: Literal["permutation by question"] = "permutation by question"
    hypotheses: int
    exact: int
    drawn: int = 0
    approximate: int = 0
    families: int = 1
    seed: int | None = None


class AccuracyReport(Struct, frozen=True, kw_only=True):
    """Verifiers against gold, with everything needed to reproduce the metrics.

    Attributes:
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        by: What rows are grouped by, such as ``"type"``; None for all items only.
        rows: For each verifier the row of all items, then one row a group. Baselines come last.
        averages: Micro and macro average of each verifier.
        transfer: Each verifier elsewhere, where a prevalence or an accept rate was given.
        best_at: Which verifier is ahead at which prevalence, where one was given; baselines are among them.
        label_noise: Each verifier without the errors of gold, where that was asked for.
        tests: How ``p`` and ``q`` came about; None where there are no groups to test.
        notes: What a reader should know before quoting the figures, a sentence each.
        unfinished: Verifiers whose run is on its way and has never been complete, and the share of it that is judged;
            there only where such were asked for.
    """

    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    by: str | None
    rows: list[AccuracyRow]
    averages: list[AverageRow] = []
    transfer: list[TransferRow] = []
    best_at: list[BestAt] = []
    label_noise: list[NoisyRow] = []
    tests: CellTests | None = None
    notes: tuple[str, ...] = ()
    unfinished: dict[str, float] = {}


class CorrelationRow(Struct, frozen=True, kw_only=True):
    """One coefficient between scores and gold, from -1 to 1.

    Attributes:
        method: ``kendall`` (tau-b), ``pearson`` or ``spearman``.
        corpus: Over all rows; None where scores or gold don't vary.
        per_question: Mean of the questions' own coefficients; None where none has one.
        defined: Questions with a coefficient: both their scores and their gold vary.
        questions: Questions with any row.
    """

    method: str
    corpus: float | None
    per_question: float | None
    defined: int
    questions: int


class CorrelationReport(Struct, frozen=True, kw_only=True):
    """The correlation of a verifier's scores with gold.

    Attributes:
        n: Items with gold and a score.
        unscored: Items with gold and a verdict without a score; they don't count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        selection_judges: The verifier, if it or its model helped to choose the items; else nobody.
    """

    verifier: str
    run: int
    n: int
    unscored: int
    gold: dict[str, int]
    gold_choice: GoldChoice
    rows: list[CorrelationRow]
    selection_judges: list[str] = []


# -- In what order items are labelled.


OrderName = Literal["random", "disagreement", "uncertainty"]
"""By chance; those first on which verifiers differ most; those first of which they are least sure."""


Sample = Literal["all", "drawn", "quota", "order", "first"]
"""How the items of a batch were chosen: all that meet its conditions; by chance, spread over their questions; so many
of each answer subtype by chance; those first that verifiers differ on or are unsure of; or the first imported, as
limits were kept before schema version 8."""


class BatchSample(Struct, frozen=True, kw_only=True):
    """Labels from a batch that is not a random sample.

    Attributes:
        batch: Its number.
        items: Labelled items of it.
    """

    batch: int
    sample: Sample
    items: int


class BatchOrder(Struct, frozen=True, kw_only=True):
    """The order of a batch's items, and how many of each answer subtype it has.

    Attributes:
        verifiers: Whose newest complete runs decide; empty for all that judge completions.
        per_subtype: At most so many items of a subtype, the first ones in this order; None for all.
        limit: At most so many items, the first ones in this order; None for all.
    """

    name: OrderName = "random"
    verifiers: tuple[str, ...] = ()
    per_subtype: int | None = None
    limit: int | None = None

    def __str__(self) -> str:
        words: list[str] = [self.name]
        if self.verifiers:
            words.append(f"of {', '.join(self.verifiers)}")
        if self.per_subtype is not None:
            words.append(f"at most {self.per_subtype} of a subtype")
        if self.limit is not None:
            words.append(f"limit {self.limit}")
        return ", ".join(words)
