"""What models trained with verifiers score on benchmarks, and how that goes with the verifiers' accuracy."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from workbench.core.item import QuarantinedRow
from workbench.core.verdict import GoldChoice, Protocol3

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class DownstreamLine(Struct, frozen=True, kw_only=True):
    """One score: a model was trained with a verifier's rewards and then measured.

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


class DownstreamPoint(Struct, frozen=True, kw_only=True):
    """A verifier's accuracy beside the score of what was trained with it.

    Attributes:
        benchmark: The benchmark's name; None for the mean of the ranks over all benchmarks, 1 being the lowest score.
        accuracy: The verifier's, on all items; None where no row counts.
        ci: Its 95 % interval, clustered by question.
        n: Items it counts.
        score: Mean over seeds, then over the steps compared.
        score_ci: Its 95 % interval over the benchmark's items; None where their number is not given or the scores are
            no shares.
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
    """How the order of verifiers by accuracy goes with their order on a benchmark.

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
    """Accuracy of verifiers beside downstream scores, with everything a reader needs to repeat the figures.

    Attributes:
        lines: Lines of the file that were taken.
        refused: Lines that were not.
        refusals: Why, line by line.
        unmeasured: Verifiers of the file that have no complete run here, and don't count.
        samples: Samples of the bootstrap.
        seed: Of random orders and samples.
        points: Accuracies and scores, by benchmark and descending accuracy.
        rows: By benchmark, then over all of them, all items first, then by group.
        by: What groups are; None for all items only.
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, none.
        gold_choice: Which gold was asked for.
    """

    lines: int
    refused: int
    refusals: list[QuarantinedRow]
    unmeasured: list[str]
    samples: int
    seed: int
    points: list[DownstreamPoint]
    rows: list[DownstreamRow]
    by: str | None
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
