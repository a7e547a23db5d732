"""How well verifiers rank and score solutions, as it is read and reported; null where undefined.

Source: Scoring Verifiers (arXiv 2502.13820), section 4.3, and what its authors released.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.statistics.records.candidates import Id

Ends = tuple[float, float]
"""An interval."""

Missing = Literal["zero", "drop"]
"""What becomes of a score that a verifier refuses to give: it is the lowest, or nobody is measured on the problem."""


class RankingRow(Struct, frozen=True, kw_only=True):
    """How well one verifier ranks and scores the solutions of a data set; figures are None without problems.

    Attributes:
        run: Whose scores they are; None from a file.
        problems: Problems measured; each counts alike but in ``mae`` and ``r2``.
        solutions: Their solutions; each counts alike in ``mae`` and ``r2``.
        top1: How often the best solution has the highest score; ties share.
        bottom1: How often the worst one has the lowest.
        spearman: Mean of the problems' coefficients, an undefined one counted as 0.
        kendall: The same of tau-b.
        mae: Mean absolute difference to the true scores, over all solutions.
        r2: Coefficient of determination, over all solutions.
        top1_ci: 95 % intervals by the bootstrap over problems; None where all samples are alike.
        spearman_undefined: Problems without a coefficient: one solution, or scores that are all the same.
        coverage: Share of the solutions with true scores that the verifier gives a score; None from a file.
        normalised: Scores were stretched to 0 to 1 in each problem, as a reward model's are and whatever else is no
            share; they count so in ``mae`` and ``r2``.
    """

    verifier: str
    dataset: str
    run: int | None
    problems: int
    solutions: int
    top1: float | None
    bottom1: float | None
    spearman: float | None
    kendall: float | None
    mae: float | None
    r2: float | None
    top1_ci: Ends | None
    bottom1_ci: Ends | None
    spearman_ci: Ends | None
    kendall_ci: Ends | None
    mae_ci: Ends | None
    r2_ci: Ends | None
    spearman_undefined: int
    kendall_undefined: int
    normalised: bool
    coverage: float | None = None


class ProblemRow(Struct, frozen=True, kw_only=True):
    """The same of one problem; a coefficient that is undefined is None here."""

    verifier: str
    dataset: str
    task_id: Id
    solutions: int
    top1: float
    bottom1: float
    spearman: float | None
    kendall: float | None
    mae: float


class PartialVerifier(Struct, frozen=True, kw_only=True):
    """A verifier that is left out, since it has judged too little: so many of the solutions with true scores."""

    verifier: str
    judged: int
    solutions: int


class RankingReport(Struct, frozen=True, kw_only=True):
    """``workbench code metrics --json``.

    Attributes:
        rows: One a verifier and data set.
        problems: One a verifier and problem, where asked for.
        truth: Where the true scores come from.
        truth_runs: The run of each suite they are counted from; empty for a file.
        left_out: Problems that were not measured: a true score or a verifier's is missing for some solution.
        lacking: The same by verifier, and by ``truth``.
        missing: What scores count that verifiers refused to give; None from a file.
        filled: How many of them there are, by verifier.
        partial: Verifiers that are left out.
        k: Only the solutions that selection would keep were measured, k of each problem; None for all.
        samples: Bootstrap samples behind the intervals.
        refused: Lines of a file that were not taken.
    """

    rows: list[RankingRow]
    problems: list[ProblemRow]
    truth: str
    truth_runs: dict[str, int]
    left_out: int
    lacking: dict[str, int]
    samples: int
    seed: int
    missing: Missing | None = None
    filled: dict[str, int] = {}
    partial: list[PartialVerifier] = []
    k: int | None = None
    refused: int = 0


class Reward(Struct, frozen=True):
    """A reward model's score, in any unit."""

    reward_score: float


class ScoredRow(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code metrics --from``: a solution with its true score and a verifier's.

    Attributes:
        rank: Its true rank in its problem, 1 for the best.
        ground_average_test_score: Its true score.
        average_test_score: What generated tests say of it (``utg``).
        reward: What a reward model says of it: ``{"reward_score": …}``.
    """

    dataset: str
    task_id: Id
    rank: float
    ground_average_test_score: float
    average_test_score: float | None = None
    reward: Reward | None = None


class ScoredSolution(Struct, frozen=True, kw_only=True):
    """A solution with its true score beside each verifier's.

    Attributes:
        item: The completion's row id.
        score: Passed tests of all; None where it was not run against all of them.
        rank: By score among the problem's solutions, 1 the best; equal scores share the mean of their ranks.
        ms: Mean time of a test.
        scores: Each verifier's score, by name; None for none.
        ranks: The same as ranks among the solutions that have one.
        unjudged: Verifiers that have no verdict of it, or failed over it.
    """

    item: int
    solution_id: str
    ground_truth: bool
    score: float | None
    rank: float | None
    ms: float | None
    scores: dict[str, float | None]
    ranks: dict[str, float | None]
    unjudged: frozenset[str] = frozenset()


class ScoredProblem(Struct, frozen=True, kw_only=True):
    """A problem's solutions in the order of import; ``question`` is its row id."""

    question: int
    dataset: str
    task_id: str
    solutions: tuple[ScoredSolution, ...]
