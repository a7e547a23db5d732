"""Comparisons of verifiers as they are reported: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3

Quadrant = Literal["both_right", "only_a", "only_b", "both_wrong"]
"""Who is right on an item."""

Metric = Literal["accuracy", "balanced_accuracy", "mcc"]
Interval = tuple[float, float]

LEVEL: Final = 0.05
"""Below this a p- or q-value, or one adjusted by Holm, speaks of a difference that is no chance."""


class PairedFigures(Struct, frozen=True, kw_only=True):
    """Two verifiers, A and B, on the same items.

    Attributes:
        n: Items with gold that count for both under the protocol.
        both_right: Items both judge rightly.
        only_a: Items only A judges rightly.
        only_b: Items only B judges rightly.
        both_wrong: Items both judge wrongly.
        mcnemar_p: McNemar's exact two-sided p-value; None where the two differ on several items of a question, since it
            takes items as independent: ``permutation_p`` is the same test by question.
        difference: Accuracy of A minus accuracy of B.
        ci: The difference's 95 % interval, clustered by question, in closed form: Newcombe's, from the intervals of
            the shares that only one judges rightly.
        questions: Questions the items belong to; the interval's clusters.
        deff: The design effect of the difference, at least 1.
        permutation_p: Two-sided p-value of the paired permutation test that swaps A and B a question at a time.
        detectable: The true difference that the permutation test would find in four of five data sets of questions of
            these sizes, as discordant and as clustered; None where too few questions, or too few that differ, say so.
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
        group: A type or subtype code or a name; ``"untyped"`` where there is no type.
        q: ``permutation_p`` after Benjamini and Hochberg, over all groups of the report.
    """

    group: str
    q: float


class MetricDifference(Struct, frozen=True, kw_only=True):
    """One metric of A and of B.

    Attributes:
        a: A's figure; None where gold lacks a class and the figure needs both.
        b: B's figure; None likewise.
        difference: The first minus the second.
        ci: The difference's 95 % interval, clustered by question, in closed form, see `PairedFigures`; None where the
            figure is undefined or a class of gold has too few questions to say.
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
        run_a: The run of A; None for a baseline that needs none.
        run_b: The run of B; None for a baseline that needs none.
        accuracy_a: A's accuracy on these items.
        accuracy_b: B's accuracy on these items.
        unpaired: Items with gold that count for one of the two only, and are left out.
        undecided_a: Items with gold and a verdict of both on which A abstains or fails.
        undecided_b: The same of B.
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        examples: Items of each quadrant in the order of import, as many as were asked for.
        metrics: Accuracy, balanced accuracy and Matthews' correlation of both.
        by: What ``groups`` are; None where none were asked for.
        groups: Both verifiers on each group of the items.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
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
        holm_p: ``permutation_p`` after Holm, over all pairs of the family: the chance of any false difference among
            them is kept, however the tests depend on each other.
        q: The same after Benjamini and Hochberg: the expected share of false ones among the differences found.
    """

    a: str
    b: str
    holm_p: float
    q: float


class FamilyMember(Struct, frozen=True, kw_only=True):
    """One verifier of a family, on all the items that count for it.

    Attributes:
        run: Its run; None for a baseline that needs none.
        n: Items with gold that count under the protocol.
        questions: Questions those belong to; the interval's clusters.
        accuracy: Share of them it judges rightly; None without items.
        ci: The accuracy's 95 % interval, clustered by question; None without items.
        letters: Its letters in the display of ``FamilyReport.groups``: two verifiers that share one can't be told
            apart. "" where all are compared with one.
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
        family: Every pair with items in common, A ranked above B; or the reference as B.
        members: The verifiers, the most accurate first.
        apart: Pairs without any item that counts for both.
        against: The reference all are compared with; None for all pairs.
        groups: Verifiers that can't be told apart: no two of a group differ by Holm's p below ``level``, and each
            group is as large as it can be. None where all are compared with one.
        level: What Holm's p must be below for a difference.
        common: Items that count for every verifier.
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
        failed: Verifiers that failed on every item they were asked about, and on how many: nothing is measured of them.
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
        n: Items with gold that count for both under the protocol.
        wrong_a: Items A judges wrongly.
        wrong_b: Items B judges wrongly.
        both_wrong: Items both judge wrongly.
        expected: How many those would be were the errors independent: wrong_a wrong_b / n.
        phi: Correlation of the two error indicators; None where either is always or never wrong.
        phi_ci: Its 95 % interval by question, as that of kappa; None for too few questions to say.
        yules_q: Yule's Q of the same table; None where it has no denominator.
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
        n: Items with a verdict of both that count under the protocol, with gold or without.
        questions: Questions those belong to.
        agreement: Share of them with the same verdict; None without items.
        kappa: Cohen's kappa of the verdicts; None where both say one and the same thing only.
        kappa_ci: Its 95 % interval by question, as that of two people's; None for too few questions to say.
        errors: Joint errors on all items with gold.
        on_correct: The same on correct completions alone.
        on_incorrect: The same on incorrect completions alone.
        expected_given_gold: Joint errors were the errors independent within each gold class; None without items.
        either_right: Share of the items with gold that at least one judges rightly; None without items.
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
        errors: Every pair of the verifiers.
        verifiers: Verifier -> its run; null for a baseline that needs none.
        protocol: How undecided rows count: ``forced`` takes them as "incorrect", ``strict`` as a verdict of its own
            that is always wrong, ``decided`` leaves them out.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
        failed: Verifiers that failed on every item they were asked about, and on how many: nothing is measured of them.
    """

    errors: list[JudgePair]
    verifiers: dict[str, int | None]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
    failed: dict[str, int] = {}
