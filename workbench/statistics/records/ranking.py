"""How well verifiers rank and score solutions, as it is read and reported; null for undefined metrics.

Source: Scoring Verifiers (arXiv 2502.13820), section 4.3, and what its authors released.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import TestLine

# -- Solutions of code problems that a set for scoring and ranking is selected from, as they are read and reported.


Id = str | int
"""A solution's or a problem's id, as its file spells it."""
Rules = Literal["released", "formula"]
"""Whose rules of selection: those of the released code, or the formula of the paper's section 2.2, read literally."""
Filter = Literal["exception", "stderr"]
"""What counts as failing by no assertion: the exception's type, or what the released code saw on standard error."""
GroundTruthFrom = Literal["file", "flag", "canonical", "reference", "stand_in"]
"""How a ground truth is known: by rank 1 in a file, a flag on the solution, the canonical solution's own text, as the
reference solution itself, which was run for it, or as the fastest perfect solution, which stands in for one."""
Dropped = Literal["no_result", "no_ground_truth", "only_errors", "same_score", "not_chosen"]
"""Why a solution was not selected."""
DROPPED: Final[dict[Dropped, str]] = {
    "no_result": "not run against all tests",
    "no_ground_truth": "the problem has no ground truth to rank them below",
    "only_errors": "failed every test by an error other than an assertion",
    "same_score": "another solution has the same score",
    "not_chosen": "other scores are nearer to the targets",
}
"""The same in words."""
Shortfall = Literal["no_solutions", "no_ground_truth", "few_scores", "one_twice"]
"""Why a problem has fewer than k solutions selected."""
SHORTFALLS: Final[dict[Shortfall, str]] = {
    "no_solutions": "no solution has a score",
    "no_ground_truth": "no solution is marked as the ground truth, equals the canonical one or passes all tests",
    "few_scores": "there are fewer distinct scores",
    "one_twice": "the paper's rule takes the lowest solution twice",
}
"""The same in words."""
RULES_VERSION: Final = "2"
"""Changes whenever the same input would be selected from differently."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A solution that may be selected.

    Attributes:
        score: Passed tests of all, 0 to 1.
        seconds: Mean time of a test; of equal scores the fastest is kept. Any unit.
        ground_truth: It is the problem's ground truth.
        only_errors: It failed every test by another error than an assertion, which takes it out.
    """

    id: Id
    score: float
    seconds: float
    ground_truth: bool = False
    only_errors: bool = False


class Ranked(Struct, frozen=True, kw_only=True):
    """A selected solution; ``rank`` counts from 1, the best score first, the ground truth or not."""

    id: Id
    score: float
    rank: int
    seconds: float
    ground_truth: bool


class Picked(Struct, frozen=True, kw_only=True):
    """The selection from one problem.

    Attributes:
        ranked: The selected solutions, best first.
        dropped: The others, by why.
        shortfall: Why there are fewer than k; None where there are k.
    """

    ranked: tuple[Ranked, ...]
    dropped: dict[Dropped, list[Id]]
    shortfall: Shortfall | None


class SelectedLine(Struct, frozen=True, kw_only=True):
    """One line of ``workbench code select``.

    Attributes:
        selected: Ids in rank order.
        scores: Their scores.
        ranks: Their ranks, from 1.
        ground_truth: The ground truth's id; None where the problem has none.
        ground_truth_from: How it is known.
        reason: Why fewer than k are selected (see `SHORTFALLS`); None where there are k.
        dropped: Ids of the others, by why (see `DROPPED`).
        k: How many were asked for, the ground truth included.
        exact: Distances were compared as decimal fractions, not as floats.
        rules_version: Version of the rules.
        dataset: The data set; None from a file.
    """

    task_id: Id
    selected: list[Id]
    scores: list[float]
    ranks: list[int]
    ground_truth: Id | None
    ground_truth_from: GroundTruthFrom | None
    reason: Shortfall | None
    dropped: dict[Dropped, list[Id]]
    k: int
    rules: Rules
    rules_version: str
    filter: Filter
    exact: bool
    dataset: str | None = None


class CandidateRow(Struct, frozen=True, kw_only=True):
    """A candidate as a file for ``workbench code select --from`` spells it.

    Attributes:
        id: In a list ``all_solutions`` it may be left out: it is the place in the list then, from 0.
        average_test_score: Passed tests of all, 0 to 1.
        average_time_taken: Mean time of a test, in any unit.
        rank: 1 for the ground truth; other numbers only count the input.
        ground_truth: Says it where rank 1 does not: where any candidate has it, ranks say nothing.
        unit_test_stderrs: What each test wrote to standard error, for ``--filter stderr``.
        outcomes: One letter a test, for ``--filter exception``.
    """

    id: Id | None = None
    average_test_score: float
    average_time_taken: float
    rank: int | None = None
    ground_truth: bool | None = None
    unit_test_stderrs: list[str] | None = None
    outcomes: str | None = None


class ProblemCandidates(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code select --from``; the candidates stand under one of three names.

    Attributes:
        task_id: It may be left out where lines stand under names.
        all_solutions: As in the released sets.
        input: As in worked examples.
    """

    task_id: Id | None = None
    candidates: list[CandidateRow] | None = None
    all_solutions: list[CandidateRow] | None = None
    input: list[CandidateRow] | None = None


class SetSolution(Struct, frozen=True, kw_only=True):
    """A solution of a set as it is written; see `Ranked`."""

    id: Id
    rank: int
    average_test_score: float
    average_time_taken: float
    ground_truth: bool
    solution: str


class SetRules(Struct, frozen=True, kw_only=True):
    """The rules by which a problem's solutions were selected; see `SelectedLine`.

    Attributes:
        suites: Suites whose tests are counted, and the run of each; empty from a file.
    """

    rules: Rules
    rules_version: str
    k: int
    filter: Filter
    exact: bool
    ground_truth_from: GroundTruthFrom | None
    reason: Shortfall | None
    suites: dict[str, int]


class RankingSetLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a set as ``workbench code select DB --write`` writes it, in the shape of the released HE-R sets.

    Attributes:
        canonical_solution: The reference solution where it goes on from the prompt, without the prompt.
        code: The reference solution where it is a program of its own.
        suites: The tests that true scores are by, and the problem's others, by suite.
    """

    dataset: str
    task_id: str
    prompt: str
    entry_point: str | None
    all_solutions: list[SetSolution]
    selection: SetRules
    canonical_solution: str | None = None
    code: str | None = None
    language: str = "python"
    setup: str = ""
    seconds: float | None = None
    whole_test: str | None = None
    suites: dict[str, list[TestLine]] = {}


Ends = tuple[float, float]
"""An interval."""
Missing = Literal["zero", "drop"]
"""What becomes of a score that a verifier refuses to give: it is the lowest, or nobody is measured on the problem."""


class RankingRow(Struct, frozen=True, kw_only=True):
    """The quality of one verifier's ranking and scores on a data set; metrics are None without problems.

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


class ProblemMetrics(Struct, frozen=True, kw_only=True):
    """The metrics of one problem; an undefined coefficient is None."""

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


class SelectedProblems(Struct, frozen=True, kw_only=True):
    """The results of selecting solutions, in problems.

    Attributes:
        problems: Those of which solutions were selected.
        stand_ins: Of these, those in which the fastest perfect solution stands in for a ground truth that isn't known.
        without_ground_truth: Problems that have neither, of which nothing was selected.
        without_scores: Problems no solution of which has a true score, so that nothing was selected either.
        fewer: Of those selected from, those with fewer solutions than were asked for.
    """

    problems: int
    stand_ins: int
    without_ground_truth: int
    without_scores: int
    fewer: int


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
        selected: What became of the problems then.
        samples: Bootstrap samples behind the intervals.
        refused: Lines of a file that were not taken.
    """

    rows: list[RankingRow]
    problems: list[ProblemMetrics]
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
    selected: SelectedProblems | None = None
    refused: int = 0


class RewardScore(Struct, frozen=True):
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
    reward: RewardScore | None = None


class ScoredSolution(Struct, frozen=True, kw_only=True):
    """A solution with its true score and each verifier's.

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
