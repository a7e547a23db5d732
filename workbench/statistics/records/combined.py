"""Reports on selectors, estimates and downstream scores: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from workbench.core.item import QuarantinedRow
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import BatchSample

PicksBy = Literal["score", "verdict"]


class BestOfRow(Struct, frozen=True, kw_only=True):
    """One verifier picking among n completions of a question, over all sets of n with equal probability.

    Attributes:
        run: The run whose verdicts or scores it picks by; None for a baseline without a run.
        picks_by: ``score`` if the run has scores, else ``verdict``.
        n: Number of completions to pick from.
        questions: Number of questions with at least n completions to pick from; they are weighted equally.
        mixed: Number of these questions with both correct and incorrect completions, where the pick matters.
        completions: Number of completions of these questions.
        accuracy: Probability that the picked completion is correct, with ties broken at random; None without questions.
        ci: Its 95 % interval, questions as units; None for fewer than two.
        random: The lower reference: probability that a random completion is correct.
        oracle: The upper reference, pass@n: probability that any of the n is correct.
        gain: ``accuracy`` minus ``random``.
        gain_ci: Its 95 % interval over questions; None with fewer than two, or if all have the same gain.
        closed: ``gain`` as a share of ``oracle - random``; None if that is 0.
        reason: Why there are no metrics; None if there are.
    """

    verifier: str
    run: int | None
    picks_by: PicksBy
    n: int
    questions: int
    mixed: int
    completions: int
    accuracy: float | None
    ci: tuple[float, float] | None
    random: float | None
    oracle: float | None
    gain: float | None
    gain_ci: tuple[float, float] | None
    closed: float | None
    reason: str | None = None


class BestOfReport(Struct, frozen=True, kw_only=True):
    """Best-of-n of verifiers, with everything needed to reproduce the metrics.

    Attributes:
        questions: Number of questions with gold for any completion.
        several: Number of questions with gold for at least two completions.
        most: The largest number of completions with gold of any question.
        rows: For each verifier one row for each n.
        protocol: How undecided verdicts are counted: as "incorrect", as the opposite of gold, or their completions are
            left out.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        selection_judges: Verifiers that, or whose models, helped to choose the items.
    """

    questions: int
    several: int
    most: int
    rows: list[BestOfRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []


# -- Estimates from few labels and many predictions: fractions, and null for undefined values.


Quantity = Literal["accuracy", "prevalence"]
"""The estimated quantity: the verifier's accuracy, or the share of correct completions."""


class EstimateRow(Struct, frozen=True, kw_only=True):
    """One share, estimated with predictions and without.

    Attributes:
        quantity: The estimated quantity.
        group: Name of the group of items, such as a type; None for all items.
        stratified: Whether each group's labels represent only that group and groups are weighted by their items, so
            that a different mix of groups among labelled items causes no bias.
        labelled: Number of items with gold.
        unlabelled: Number of items without gold.
        questions: Number of questions with at least one item with gold.
        estimate: The prediction-powered estimate; None without labels.
        ci: Its 95 % interval, clustered by question.
        classical: The share among labelled items alone.
        classical_ci: Its 95 % interval, clustered by question.
        power: The weight of the predictions, from 0 to 1.
        effective: Number of labels with which the classical estimate would have an interval as narrow.
        saved: ``effective`` minus ``labelled``.
        reason: Why there is no estimate, or why it is not better than the classical one; else None.
        strata: The property that forms the strata of a stratified row; None for other rows.
    """

    quantity: Quantity
    group: str | None
    stratified: bool
    labelled: int
    unlabelled: int
    questions: int
    estimate: float | None
    ci: tuple[float, float] | None
    classical: float | None
    classical_ci: tuple[float, float] | None
    power: float | None
    effective: float | None
    saved: float | None
    reason: str | None = None
    strata: str | None = None


class SampleCheck(Struct, frozen=True, kw_only=True):
    """A check that the labelled items are a random sample, as the estimate assumes.

    Attributes:
        by: The property, such as the type, whose mix is compared.
        p: p-value for the difference between the mixes of labelled and other items, clustered by question; None if all
            items are equal in this property.
    """

    by: str
    p: float | None


class MixRow(Struct, frozen=True, kw_only=True):
    """A group's numbers of questions with and without labels.

    Attributes:
        group: The group's name.
        labelled: Number of the group's questions with at least one labelled item.
        unlabelled: Number of the group's other questions.
    """

    group: str
    labelled: int
    unlabelled: int


class EstimateReport(Struct, frozen=True, kw_only=True):
    """A verifier's accuracy on all items, with everything needed to reproduce the estimate.

    Attributes:
        run: The verifier's run; None for a baseline without a run.
        predictors: The verifiers whose verdicts predict gold.
        rows: For each quantity, a row for all items, a stratified one if there are groups, and one for each group;
            last, rows stratified by the properties that checks found uneven.
        headline: The row in ``rows`` to quote for all items: the stratified one if a check found the labels uneven;
            None if that is not available.
        by: The property that forms groups of items; None for all items only.
        checks: Checks that the labelled items are a random sample: by type, model and length, by any two of them
            crossed, and by the grouping.
        uneven: The properties of ``checks`` with a p below .05 divided by the number of checks (Bonferroni), so that
            the labels are not a random sample; crossed properties only if neither of their parts is uneven.
        mix_by: The property that forms the groups of ``mix``.
        mix: The numbers of labelled and other questions of each group.
        in_conflict: Number of items without gold because their annotators disagree; they are unlikely to be a random
            sample.
        protocol: How the verifier's undecided rows are counted.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
        selection_judges: The verifier and predictors that helped to choose the items, themselves or through their
            model.
        samples: Batches whose labels are not a random sample, although the estimate assumes one.
    """

    verifier: str
    run: int | None
    predictors: list[str]
    rows: list[EstimateRow]
    headline: int | None
    by: str | None
    checks: list[SampleCheck]
    uneven: list[str]
    mix_by: str
    mix: list[MixRow]
    in_conflict: int
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
    samples: list[BatchSample] = []


# -- Benchmark scores of models trained with verifiers, and their relation to the verifiers' accuracy.


Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class DownstreamLine(Struct, frozen=True, kw_only=True):
    """One score of a model that was trained with a verifier's rewards.

    Attributes:
        verifier: The verifier's name in the database.
        benchmark: The benchmark of the score.
        score: The model's score, in any unit, higher being better.
        step: The training step, if models are compared at equal steps.
        seed: The training run's seed; scores of several are averaged.
        n: Number of items of the benchmark; if all scores of a benchmark are shares, it determines their intervals.
    """

    verifier: Name
    benchmark: Name
    score: float
    step: Count | None = None
    seed: Count | None = None
    n: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None


class TrainedModelLine(Struct, frozen=True, kw_only=True):
    """A model trained with a verifier's rewards that is scored by its completions in the project.

    Attributes:
        verifier: See `DownstreamLine`.
        model: The model whose completions are scored.
        benchmark: The data set of the completions; None for every data set with completions of the model, each as a
            separate benchmark.
        step: See `DownstreamLine`, also for ``seed``.
    """

    verifier: Name
    model: Name
    benchmark: Name | None = None
    step: Count | None = None
    seed: Count | None = None


class ModelAverage(Struct, frozen=True, kw_only=True):
    """The mean accuracy of a model's samples on a benchmark: avg@k (VerifyBench, appendix D).

    Attributes:
        questions: Number of questions with a counted sample of the model.
        samples: The smallest and the largest number of counted samples of a question.
        undecided: Number of samples undecided by the scoring verifier; 0 if samples are scored by gold.
        left_out: Number of samples that don't count: without gold, or undecided if the protocol leaves these out.
        accuracy: The mean over questions of the share of their samples that are correct.
        ci: Its 95 % interval, by question; None for a single question.
    """

    verifier: str
    benchmark: str
    model: str
    step: int | None
    seed: int | None
    questions: int
    samples: tuple[int, int]
    undecided: int
    left_out: int
    accuracy: float
    ci: tuple[float, float] | None


class DownstreamStep(Struct, frozen=True, kw_only=True):
    """A verifier's score on a benchmark at a step of training: a point of its curve (VerifyBench, figure 3).

    Attributes:
        step: None if scores have no step.
        score: Mean over seeds.
        scores: Number of scores behind the mean.
        compared: Whether all verifiers have a score at this step.
    """

    benchmark: str
    verifier: str
    step: int | None
    score: float
    scores: int
    compared: bool


class DownstreamPoint(Struct, frozen=True, kw_only=True):
    """A verifier's accuracy, and the score of the model trained with it.

    Attributes:
        benchmark: The benchmark's name; None for all benchmarks: ``score`` is then the verifier's mean rank, 1 for the
            lowest score.
        accuracy: The verifier's accuracy on all items; None without counted rows.
        ci: Its 95 % interval, clustered by question.
        n: Number of counted items.
        score: The model's score, averaged over seeds, then over the compared steps.
        score_ci: Its 95 % interval over the benchmark's items, like that of accuracy with every item as a separate
            question, since a file has no questions; None if the number of items is not given or 1, or the scores are
            not shares.
        scores: Number of lines of the file behind ``score``.
    """

    verifier: str
    benchmark: str | None
    accuracy: float | None
    ci: tuple[float, float] | None
    n: int
    score: float
    score_ci: tuple[float, float] | None
    scores: int


class Association(Struct, frozen=True, kw_only=True):
    """A rank correlation over verifiers.

    Attributes:
        coefficient: The rank correlation, from -1 to 1; None if accuracies or scores don't vary.
        p: One-sided p-value under random assignment of scores to verifiers.
        least_p: The least possible p with this many verifiers, which results if both orders are equal.
        ci: 95 % percentile interval, by a bootstrap over verifiers; None with fewer than ten, and if nearly all samples
            have the same order or no coefficient.
    """

    coefficient: float | None
    p: float | None
    least_p: float | None
    ci: tuple[float, float] | None


class DownstreamRow(Struct, frozen=True, kw_only=True):
    """The correlation between the order of verifiers by accuracy and by score on a benchmark.

    Attributes:
        benchmark: The benchmark's name; None for verifiers' mean ranks over all benchmarks.
        group: The group of items, such as a type, on which accuracy is measured; None for all items.
        verifiers: Number of verifiers with an accuracy on these items and a score.
        steps: The compared training steps; empty if none are given.
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
        exact: Whether every order of the verifiers was enumerated for p.
        permutations: Number of orders used for p.
        reason: Why there is no coefficient, or no interval; None if there are both.
    """

    benchmark: str | None
    group: str | None
    verifiers: int
    steps: list[int]
    spearman: Association
    kendall: Association
    exact: bool
    permutations: int
    reason: str | None


class DownstreamReport(Struct, frozen=True, kw_only=True):
    """Accuracy of verifiers and downstream scores, with everything needed to reproduce the metrics.

    Attributes:
        lines: Number of accepted lines of the file.
        refused: Number of rejected lines.
        refusals: Rejected lines with the reasons.
        unmeasured: Verifiers of the file without a complete run in this database, which don't count.
        samples: Number of bootstrap samples.
        seed: Seed of random orders and samples.
        points: Accuracies and scores, ordered by benchmark and descending accuracy.
        steps: Scores at each step, ordered by benchmark and verifier.
        averages: Scores computed from completions in the project.
        scored_by: The verifier that scores these completions; None for gold.
        rows: Rows of each benchmark, then of all benchmarks: each with the row of all items first, then one for each
            group.
        by: The property that forms groups of items; None for all items only.
        protocol: How undecided rows are counted.
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: The requested gold.
    """

    lines: int
    refused: int
    refusals: list[QuarantinedRow]
    unmeasured: list[str]
    samples: int
    seed: int
    points: list[DownstreamPoint]
    steps: list[DownstreamStep]
    averages: list[ModelAverage]
    scored_by: str | None
    rows: list[DownstreamRow]
    by: str | None
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
