"""Selectors, estimates and downstream scores as they are reported: fractions, and null for undefined metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from workbench.core.item import QuarantinedRow
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import BatchSample

PicksBy = Literal["score", "verdict"]


class BestOfRow(Struct, frozen=True, kw_only=True):
    """One verifier picking among n completions of a question, each set of n as likely as any other.

    Attributes:
        run: Whose verdicts or scores it picks by; None for a baseline that needs none.
        picks_by: ``score`` where the run has scores, else ``verdict``.
        n: Completions to pick from.
        questions: Questions with at least n completions to pick from; each counts alike.
        mixed: Those of them that have correct and incorrect completions: only there does a pick matter.
        completions: Completions of these questions.
        accuracy: Chance that the pick is correct; picks among equals are even. None without questions.
        ci: Its 95 % interval, questions as units; None for fewer than two.
        random: The floor: chance that a random completion is correct.
        oracle: The ceiling, pass@n: chance that any of the n is correct.
        gain: ``accuracy`` less ``random``.
        gain_ci: Its 95 % interval over questions; None for fewer than two, or where all gain alike.
        closed: Share of the way from ``random`` to ``oracle``; None where they are equal.
        reason: Why there are no figures; None where there are.
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
        questions: Questions with gold for any completion.
        several: Those with gold for two completions or more.
        most: The largest number of completions with gold that a question has.
        rows: For each verifier one row for each n.
        protocol: What becomes of undecided verdicts: they count as "incorrect", as the opposite of gold, or their
            completions are left out.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
    """

    questions: int
    several: int
    most: int
    rows: list[BestOfRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []


# -- Estimates from few labels and many predictions, as they are reported: fractions, and null where undefined.


Quantity = Literal["accuracy", "prevalence"]
"""The share of the verifier's verdicts that are right, or of completions that are correct."""


class EstimateRow(Struct, frozen=True, kw_only=True):
    """One share, estimated with predictions and without.

    Attributes:
        quantity: What is estimated.
        group: A type, a name ...; None for all items.
        stratified: Whether each group's labels speak for the group alone and groups are weighed by their items, so
            that another mix of groups among the labelled items does no harm.
        labelled: Items with gold.
        unlabelled: Items without.
        questions: Questions that have any item with gold.
        estimate: The prediction-powered estimate; None without labels.
        ci: Its 95 % interval, clustered by question.
        classical: The share among labelled items alone.
        classical_ci: Its 95 % interval, clustered by question.
        power: How far the predictions are trusted, from 0 (not at all) to 1.
        effective: Labels that would give the classical estimate an interval as narrow.
        saved: ``effective`` less ``labelled``.
        reason: Why there is no estimate, or why it is no better than the classical one; None where neither is so.
        strata: What the groups of a stratified row are.
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
        by: What their mix is looked at by.
        p: Chance of mixes of labelled and other items as different, with items of one question as one; None where all
            are alike in this.
    """

    by: str
    p: float | None


class MixRow(Struct, frozen=True, kw_only=True):
    """A group's share among the questions with labels and among the others.

    Attributes:
        group: Its name.
        labelled: Questions in it with any labelled item.
        unlabelled: The others.
    """

    group: str
    labelled: int
    unlabelled: int


class EstimateReport(Struct, frozen=True, kw_only=True):
    """A verifier's accuracy on all items, with everything needed to reproduce the estimate.

    Attributes:
        run: The verifier's run; None for a baseline that needs none.
        predictors: The verifiers whose verdicts predict gold.
        rows: For each quantity all items, the same stratified where there are groups, then each group; last come those
            stratified by what checks found uneven.
        headline: Which of ``rows`` may be quoted for all items: the stratified one where a check found the labels
            uneven; None where that can't be had.
        by: What groups are; None for all items only.
        checks: Whether the labelled items are a random sample, looked at by type, model and length, by any two of
            them crossed, and by what items are grouped by.
        uneven: Those of ``checks`` that find it unlikely: p below .05, shared out evenly among them; crossed ones
            where neither of their parts does.
        mix_by: What ``mix`` counts questions by.
        mix: The mix.
        in_conflict: Items without gold because those who labelled them differ; they are hardly a random sample.
        protocol: How the verifier's undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
        selection_judges: The verifier and the predictors that helped, or whose model helped, to choose the items.
        samples: Batches whose labels are no random sample, though they are taken for one.
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


# -- What models trained with verifiers score on benchmarks, and how that goes with the verifiers' accuracy.


Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class DownstreamLine(Struct, frozen=True, kw_only=True):
    """One score: of a model that was trained with a verifier's rewards.

    Attributes:
        verifier: The verifier's name in the database.
        benchmark: What the model was measured on.
        score: Its score, in any unit, higher being better.
        step: The training step, where models are compared at equal steps.
        seed: The training run's seed; scores of several are averaged.
        n: Items of the benchmark; where all of a benchmark's scores are shares, it gives them intervals.
    """

    verifier: Name
    benchmark: Name
    score: float
    step: Count | None = None
    seed: Count | None = None
    n: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None


class TrainedModelLine(Struct, frozen=True, kw_only=True):
    """A model that was trained with a verifier's rewards, and is scored by its completions in the project.

    Attributes:
        verifier: As of `DownstreamLine`.
        model: Whose completions count.
        benchmark: The data set they are of; None for every one that has some, each a benchmark of its own.
        step: As of `DownstreamLine`, and ``seed`` too.
    """

    verifier: Name
    model: Name
    benchmark: Name | None = None
    step: Count | None = None
    seed: Count | None = None


class ModelAverage(Struct, frozen=True, kw_only=True):
    """The mean accuracy of a model's samples on a benchmark: avg@k (VerifyBench, appendix D).

    Attributes:
        questions: That count: those with a sample of the model's that counts.
        samples: The fewest and the most that count of a question.
        undecided: Samples without a verdict of the verifier that says what is correct; 0 where gold does.
        left_out: Samples that don't count: without gold, or undecided where the protocol leaves such out.
        accuracy: The mean over questions of the share of their samples that are correct.
        ci: Its 95 % interval, by question; None for a single one.
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
        step: None where scores have none.
        score: Mean over seeds.
        scores: How many that is.
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
        benchmark: The benchmark's name; None for the mean of the ranks over all benchmarks, 1 being the lowest score.
        accuracy: The verifier's, on all items; None where no row counts.
        ci: Its 95 % interval, clustered by question.
        n: Items it counts.
        score: Mean over seeds, then over the steps compared.
        score_ci: Its 95 % interval over the benchmark's items, like that of accuracy with every item as a question of
            its own, since a file doesn't say which belong together; None where their number is not given or one, or
            the scores are no shares.
        scores: Lines of the file behind it.
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
        coefficient: From -1 to 1; None where accuracies or scores don't vary.
        p: Chance of one as large, were scores dealt out to verifiers at random (one-sided).
        least_p: The least p that so many verifiers could give: where all are in the same order.
        ci: 95 % percentile interval, by a bootstrap over verifiers; None for fewer than ten, and where nearly all
            samples are in the same order or without a coefficient.
    """

    coefficient: float | None
    p: float | None
    least_p: float | None
    ci: tuple[float, float] | None


class DownstreamRow(Struct, frozen=True, kw_only=True):
    """The correlation between the order of verifiers by accuracy and by score on a benchmark.

    Attributes:
        benchmark: Its name; None for the mean of the ranks over all benchmarks.
        group: The items the accuracy is of: a type, a name ...; None for all.
        verifiers: Verifiers with an accuracy on them and a score.
        steps: The training steps compared; empty where none are given.
        spearman: Rank correlation.
        kendall: Tau-b.
        exact: Whether every order of the verifiers was looked at for p.
        permutations: How many orders were.
        reason: Why there is no coefficient, or no interval; None where there is all.
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
        lines: Lines of the file that were taken.
        refused: Lines that were not.
        refusals: Why, line by line.
        unmeasured: Verifiers of the file that have no complete run here, and don't count.
        samples: Samples of the bootstrap.
        seed: Of random orders and samples.
        points: Accuracies and scores, by benchmark and descending accuracy.
        steps: Scores by step, by benchmark and verifier.
        averages: Of models whose completions the project holds, the scores these made.
        scored_by: The verifier that says which of these are correct; None for gold.
        rows: By benchmark, then over all of them, all items first, then by group.
        by: What groups are; None for all items only.
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, conflict (where any), none.
        gold_choice: Which gold was asked for.
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
