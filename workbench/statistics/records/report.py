"""Reports on accuracy and scores: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.metrics.accuracy import ACCURACY
from workbench.statistics.metrics.auroc import AUROC
from workbench.statistics.metrics.balanced_accuracy import BALANCED_ACCURACY
from workbench.statistics.metrics.coverage import COVERAGE
from workbench.statistics.metrics.fnr import FNR
from workbench.statistics.metrics.fpr import FPR
from workbench.statistics.metrics.mcc import MCC
from workbench.statistics.metrics.metric import metrics_of
from workbench.statistics.records.comparison import LEVEL

Kind = Literal["verifier", "baseline"]
NO_REASON = "none"
"""The group of verdicts without a reason."""


class AccuracyRow(Struct, frozen=True, kw_only=True):
    """One verifier on one group of items.

    Attributes:
        verifier: The verifier's name.
        group: A type or subtype code, a name or a verdict's reason; ``"untyped"`` without a type, ``"none"`` without a
            reason; None for all items.
        n: Number of rows counted under the protocol.
        questions: Number of questions of these rows; questions are the interval's clusters.
        effective_questions: Number of questions of equal size that would estimate the accuracy's variance as
            precisely, if each were all right or all wrong; small if a few questions have most of the items.
        ci: The accuracy's 95 % interval, clustered by question; None with too few questions, or without rows.
        tp: Number of correct completions counted as accepted.
        fp: Number of incorrect completions counted as accepted.
        tn: Number of incorrect completions counted as rejected.
        fn: Number of correct completions counted as rejected.
        abstain: Number of rows on which the verifier abstained, under any protocol.
        error: Number of rows on which the verifier failed, under any protocol.
        deff: The design effect behind ``ci``, at least 1.
        kind: ``baseline`` for constant or majority-class verdicts, which need no run and ignore the completion.
        groups: The parts of a group by several properties, such as ``("A", "math_reasoning")``; one part for other
            groups.
        delta: Accuracy minus that of the group's scope: the items of its type for a subtype, all items for any other
            group (VerifyBench, arXiv 2505.15801, table 5). None if either has no accuracy.
        p: p-value of the delta under random assignment of groups to questions within the scope, or among the
            completions of each question if groups share questions; None for a baseline, for the row of all items, and
            if the group is the whole scope.
        q: ``p`` adjusted by Benjamini and Hochberg over all cells of the table. Subtypes are tested only within
            selected types; a verifier's type is selected by the tests of all its subtypes (Benjamini and Bogomolov).
        selection_judge: Whether the verifier, or its model, helped to choose the items.
        balanced_accuracy_ci: The 95 % interval of ``balanced_accuracy``, combined from those of both classes; None if
            a class has too few questions, or for a baseline.
        mcc_ci: The 95 % interval of ``mcc``, None in the same cases.
    """

    verifier: str
    group: str | None
    n: int
    questions: int
    effective_questions: float
    accuracy: Annotated[float | None, ACCURACY]
    ci: tuple[float, float] | None
    balanced_accuracy: Annotated[float | None, BALANCED_ACCURACY]
    mcc: Annotated[float | None, MCC]
    fpr: Annotated[float | None, FPR]
    fnr: Annotated[float | None, FNR]
    coverage: Annotated[float | None, COVERAGE]
    tp: int
    fp: int
    tn: int
    fn: int
    abstain: int
    error: int
    deff: float
    auroc: Annotated[float | None, AUROC]
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


METRICS: Final = metrics_of(AccuracyRow)
"""The metrics by field, in the order of tables."""


class AverageRow(Struct, frozen=True, kw_only=True):
    """One verifier's micro- and macro-averaged accuracy.

    Attributes:
        micro: The mean over items.
        macro: The unweighted mean over groups with items.
        over: The property that forms the groups of ``macro``: that of the rows, else ``"type"``.
        groups: Number of groups in ``macro``.
    """

    verifier: str
    micro: float | None
    macro: float | None
    over: str
    groups: int


class TransferRow(Struct, frozen=True, kw_only=True):
    """One verifier's expected metrics on data with another share of correct completions.

    Attributes:
        prevalence: The share of correct completions in that data; None if not requested.
        accuracy: Expected accuracy on that data; None without ``prevalence``, or if gold lacks a class.
        ci: Its 95 % interval; also None for a baseline.
        accept_rate: The share of completions that the verifier accepts in that data; None if not given.
        true_rate: The share of correct completions implied by ``accept_rate``, by Rogan and Gladen; None without
            ``accept_rate``, or if the verifier accepts incorrect completions as readily as correct ones.
    """

    verifier: str
    prevalence: float | None = None
    accuracy: float | None = None
    ci: tuple[float, float] | None = None
    accept_rate: float | None = None
    true_rate: float | None = None


class NoisyRow(Struct, frozen=True, kw_only=True):
    """One verifier's accuracy against error-free labels, estimated from the annotators' error rate.

    It assumes label errors independent of verdicts and equally frequent on both classes.

    Attributes:
        source: The source of the annotators' error rate: their agreement, or checks.
        wrong: The share of gold that is wrong.
        measured: Accuracy against the existing gold.
        measured_ci: Its 95 % interval, which assumes gold to be right.
        accuracy: Accuracy against error-free labels.
        ci: Its 95 % interval, which includes the uncertainty of ``wrong``; None if ``measured_ci`` is, if half of the
            labels may be wrong, and if labels with this noise are incompatible with the measured accuracy.
    """

    verifier: str
    source: Literal["agreement", "checks"]
    wrong: float
    measured: float
    measured_ci: tuple[float, float] | None
    accuracy: float | None = None
    ci: tuple[float, float] | None = None


class BestAt(Struct, frozen=True, kw_only=True):
    """The verifier with the highest expected accuracy on data whose share of correct completions is from ``low`` to
    ``high``."""

    verifier: str
    low: float
    high: float


class CellTests(Struct, frozen=True, kw_only=True):
    """The computation of the p- and q-values of the table's cells.

    Attributes:
        method: The test.
        hypotheses: Number of distinct tests of the table: each verifier's groups, where two groups that make up a scope
            are one test. The q-values of a single table are adjusted over these; in a report, over all tables'.
        exact: Number of tests that enumerate all permutations.
        drawn: Number of tests that draw permutations at random, up to 99,999.
        approximate: Number of tests that use a normal approximation with the permutations' mean and variance, until
            they are
            drawn.
        families: Number of families of tests: one for each verifier and type if the groups are subtypes, else one for
            all tests.
        seed: Seed of the drawn permutations; None if none were drawn.
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
        protocol: How undecided rows are counted.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        by: The property that forms the groups of rows, such as ``"type"``; None for all items only.
        rows: For each verifier the row of all items, then one row for each group. Baselines come last.
        averages: Micro and macro average of each verifier.
        transfer: Each verifier's expected metrics on other data, if a prevalence or an accept rate was given.
        best_at: The best verifier for each range of prevalence, baselines included, if a prevalence was given.
        label_noise: Each verifier's accuracy corrected for errors of gold, if requested.
        tests: How ``p`` and ``q`` were computed; None without groups to test.
        notes: Caveats to read before quoting the metrics, one sentence each.
        unfinished: Verifier whose first run is in progress -> the share of its items that is judged; filled only if
            requested.
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
        corpus: Coefficient over all rows; None if scores or gold don't vary.
        per_question: Mean of the questions' coefficients; None if no question has a coefficient.
        defined: Number of questions with a coefficient: both their scores and their gold vary.
        questions: Number of questions with at least one row.
    """

    method: str
    corpus: float | None
    per_question: float | None
    defined: int
    questions: int


class CorrelationReport(Struct, frozen=True, kw_only=True):
    """The correlation of a verifier's scores with gold.

    Attributes:
        n: Number of items with gold and a score.
        unscored: Number of items with gold and a verdict but no score, which don't count.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        selection_judges: The verifier, if it or its model helped to choose the items; else empty.
    """

    verifier: str
    run: int
    n: int
    unscored: int
    gold: dict[str, int]
    gold_choice: GoldChoice
    rows: list[CorrelationRow]
    selection_judges: list[str] = []


# -- The order in which items are labelled.


OrderName = Literal["random", "disagreement"]
"""Random; by descending disagreement of verifiers."""


Sample = Literal["all", "drawn", "quota", "order", "first"]
"""How the items of a batch were chosen: all that meet its conditions; at random, spread over their questions; at random
with a quota for each answer subtype; by verifiers' disagreement; or the first imported ones, as limits
worked before schema version 8.
"""


class BatchSample(Struct, frozen=True, kw_only=True):
    """Labels from a batch that is not a random sample.

    Attributes:
        batch: The batch's number.
        items: Number of the batch's labelled items.
    """

    batch: int
    sample: Sample
    items: int


class BatchOrder(Struct, frozen=True, kw_only=True):
    """The order of a batch's items, and limits on their number.

    Attributes:
        verifiers: Verifiers whose newest complete runs determine the order; empty for all that judge completions.
        per_subtype: Maximum number of items of each subtype, the first ones in this order; None without a limit.
        limit: Maximum number of items, the first ones in this order; None without a limit.
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
