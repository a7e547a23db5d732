"""Reports on comparisons of verifiers: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3

Quadrant = Literal["both_right", "only_a", "only_b", "both_wrong"]
"""Which verifiers are right on an item."""

Metric = Literal["accuracy", "balanced_accuracy", "mcc"]
Interval = tuple[float, float]

LEVEL: Final = 0.05
"""Level below which a p-value, q-value or Holm-adjusted p-value is significant."""


class PairedFigures(Struct, frozen=True, kw_only=True):
    """Two verifiers, A and B, on the same items.

    Attributes:
        n: Number of items with gold that count for both under the protocol.
        both_right: Number of items judged correctly by both.
        only_a: Number of items judged correctly only by A.
        only_b: Number of items judged correctly only by B.
        both_wrong: Number of items judged wrongly by both.
        mcnemar_p: McNemar's exact two-sided p-value; None if the two differ on several items of a question, since it
            assumes independent items: ``permutation_p`` is the same test by question.
        difference: Accuracy of A minus accuracy of B.
        ci: The difference's 95 % interval, clustered by question, in closed form: Newcombe's, from the intervals of the
            shares that only one judges correctly.
        questions: Number of questions of the items; questions are the interval's clusters.
        deff: The design effect of the difference, at least 1.
        permutation_p: Two-sided p-value of the paired permutation test that swaps A and B a question at a time.
        detectable: The true difference that the permutation test would find in four of five data sets with questions of
            these sizes, the same discordance and the same clustering; None with too few questions, or too few that
            differ.
    """

    n: int
    both_right: int
    only_a: int
    only_b: int
    both_wrong: int
    mcnemar_p: float | None
    difference: float
    ci: Interval
    questions: int
    deff: float
    permutation_p: float
    detectable: float | None


class GroupComparison(PairedFigures, frozen=True, kw_only=True):
    """A and B on the items of one group: A wins ``only_a`` of them, loses ``only_b`` and ties on the rest.

    Attributes:
        group: The group's name, such as a type or subtype code; ``"untyped"`` for items without a type.
        q: ``permutation_p`` adjusted by Benjamini and Hochberg, over all groups of the report.
    """

    group: str
    q: float


class MetricDifference(Struct, frozen=True, kw_only=True):
    """One metric of A and of B.

    Attributes:
        a: A's value; None if gold lacks a class and the metric needs both.
        b: B's value; None in the same case.
        difference: ``a - b``.
        ci: The difference's 95 % interval, clustered by question, in closed form, see `PairedFigures`; None if the
            metric is undefined or a class of gold has too few questions.
    """

    metric: Metric
    a: float | None
    b: float | None
    difference: float | None
    ci: Interval | None = None


class Example(Struct, frozen=True, kw_only=True):
    """An item with the verdicts of two verifiers.

    Attributes:
        a: A's verdict.
        b: B's verdict.
    """

    dataset: str
    question_id: str
    completion_id: str
    gold: OutcomeWord
    a: OutcomeWord
    b: OutcomeWord


class CompareReport(PairedFigures, frozen=True, kw_only=True):
    """A paired comparison, with everything needed to reproduce it.

    Attributes:
        a: The first verifier.
        b: The second verifier.
        run_a: The run of A; None for a baseline without a run.
        run_b: The run of B; None for a baseline without a run.
        accuracy_a: A's accuracy on these items.
        accuracy_b: B's accuracy on these items.
        unpaired: Number of items with gold that count for only one of the two, which are left out.
        undecided_a: Number of items with gold and both verdicts on which A abstains or fails.
        undecided_b: Number of items with gold and both verdicts on which B abstains or fails.
        protocol: How undecided rows are counted.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        examples: Items of each quadrant (both right, only A right, …) in the order of import, as many as requested.
        metrics: Accuracy, balanced accuracy and Matthews' correlation of both.
        by: The property that forms ``groups``; None without groups.
        groups: Both verifiers on each group of the items.
        selection_judges: Verifiers that, or whose models, helped to choose the items.
    """

    a: str
    b: str
    run_a: int | None
    run_b: int | None
    accuracy_a: float
    accuracy_b: float
    unpaired: int
    undecided_a: int
    undecided_b: int
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    examples: dict[Quadrant, list[Example]]
    metrics: list[MetricDifference]
    by: str | None = None
    groups: list[GroupComparison] = []
    selection_judges: list[str] = []


class FamilyPair(PairedFigures, frozen=True, kw_only=True):
    """Two verifiers of a family, on the items that count for both.

    Attributes:
        a: The first verifier.
        b: The second verifier.
        holm_p: ``permutation_p`` adjusted by Holm, over all pairs of the family: it controls the probability of any
            false difference under any dependence of the tests.
        q: The same adjusted by Benjamini and Hochberg, which controls the expected share of false differences among
            those found.
    """

    a: str
    b: str
    holm_p: float
    q: float


class FamilyMember(Struct, frozen=True, kw_only=True):
    """One verifier of a family, on all the items that count for it.

    Attributes:
        run: Its run; None for a baseline without a run.
        n: Number of items with gold that count under the protocol.
        questions: Number of questions of these items; questions are the interval's clusters.
        accuracy: Share of them that it judges correctly; None without items.
        ci: The accuracy's 95 % interval, clustered by question; None without items.
        letters: The letters of its ``FamilyReport.groups``: two verifiers that share a letter are not distinguishable.
            "" if all are compared with one reference.
    """

    verifier: str
    run: int | None
    n: int
    questions: int
    accuracy: float | None
    ci: Interval | None
    letters: str


class FamilyReport(Struct, frozen=True, kw_only=True):
    """Comparisons of several verifiers with each other, or of all with one, corrected for multiple tests.

    Attributes:
        family: Every pair with common items, A ranked above B; or the reference as B.
        members: The verifiers, the most accurate first.
        apart: Pairs of verifiers without common counted items, which are not compared.
        against: The reference of all comparisons; None for all pairs.
        groups: Indistinguishable verifiers: within a group, no two differ by Holm's p below ``level``, and each group
            is maximal. None if all are compared with one reference.
            level: The level below which Holm's p shows a difference.
            common: Number of items that count for every verifier.
        protocol: How undecided rows are counted.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        selection_judges: Verifiers that, or whose models, helped to choose the items.
        failed: Verifiers that failed on every item -> number of items; they are not measured.
    """

    family: list[FamilyPair]
    members: list[FamilyMember]
    apart: list[tuple[str, str]]
    against: str | None
    groups: list[list[str]] | None
    level: float
    common: int
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
    failed: dict[str, int] = {}


class JointErrors(Struct, frozen=True, kw_only=True):
    """The dependence of two verifiers' errors, on the items of both gold classes or of one.

    Attributes:
        n: Number of items with gold that count for both under the protocol.
        wrong_a: Number of items judged wrongly by A.
        wrong_b: Number of items judged wrongly by B.
        both_wrong: Number of items judged wrongly by both.
        expected: Expected ``both_wrong`` under independence: wrong_a wrong_b / n.
        phi: Correlation of the two error indicators; None if either is always or never wrong.
        phi_ci: Its 95 % interval by question, like that of kappa; None with too few questions.
        yules_q: Yule's Q of the same table; None if its denominator is 0.
    """

    n: int
    wrong_a: int
    wrong_b: int
    both_wrong: int
    expected: float | None
    phi: float | None
    phi_ci: Interval | None
    yules_q: float | None


class JudgePair(Struct, frozen=True, kw_only=True):
    """The verdicts and errors of two verifiers.

    Attributes:
        a: The first verifier.
        b: The second verifier.
        n: Number of items with a verdict of both that count under the protocol, with gold or without.
        questions: Number of questions of these items.
        agreement: Share of them with the same verdict; None without items.
        kappa: Cohen's kappa of the verdicts; None if both give only a single, common verdict.
        kappa_ci: Its 95 % interval by question, as for two annotators; None with too few questions.
        errors: Joint errors on all items with gold.
        on_correct: Joint errors on correct completions.
        on_incorrect: Joint errors on incorrect completions.
        expected_given_gold: Expected number of joint errors if errors are independent within each gold class; None
            without items.
        either_right: Share of items with gold that at least one judges correctly; None without items.
    """

    a: str
    b: str
    n: int
    questions: int
    agreement: float | None
    kappa: float | None
    kappa_ci: Interval | None
    errors: JointErrors
    on_correct: JointErrors
    on_incorrect: JointErrors
    expected_given_gold: float | None
    either_right: float | None


class JointErrorReport(Struct, frozen=True, kw_only=True):
    """Verifiers' agreement with each other, and the dependence of their errors.

    Attributes:
        errors: One row for every pair of the verifiers.
        verifiers: Verifier -> its run; null for a baseline without a run.
        protocol: How undecided rows are counted: ``forced`` counts them as "incorrect", ``strict`` as a separate
            verdict that is always wrong, ``decided`` leaves them out.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        selection_judges: Verifiers that, or whose models, helped to choose the items.
        failed: Verifiers that failed on every item -> number of items; they are not measured.
    """

    errors: list[JudgePair]
    verifiers: dict[str, int | None]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
    failed: dict[str, int] = {}
