"""Input and reports on how well verifiers rank and score solutions; undefined metrics are null.

Source: Scoring Verifiers (arXiv 2502.13820), section 4.3, and the authors' release.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import TestLine

# -- Solutions of code problems from which a set for scoring and ranking is selected: input and reports.


Id = str | int
"""A solution's or a problem's id, as in its file."""
Rules = Literal["released", "formula"]
"""The selection rules: those of the released code, or the literal formula of the paper's section 2.2."""
Filter = Literal["exception", "stderr"]
"""How failures without an assertion are detected: by the exception's type, or by standard error as in the released
code.
"""
GroundTruthFrom = Literal["file", "flag", "canonical", "reference", "stand_in"]
"""The source of a ground truth: rank 1 in a file, a flag on the solution, the text of the canonical solution, a run of
the reference solution, or the fastest perfect solution as a substitute.
"""
Dropped = Literal["no_result", "no_ground_truth", "only_errors", "same_score", "not_chosen"]
"""Why a solution was not selected."""
DROPPED: Final[dict[Dropped, str]] = {
    "no_result": "not run against all tests",
    "no_ground_truth": "the problem has no ground truth to rank them below",
    "only_errors": "failed every test by an error other than an assertion",
    "same_score": "another solution has the same score",
    "not_chosen": "other scores are nearer to the targets",
}
"""Descriptions of these reasons."""
Shortfall = Literal["no_solutions", "no_ground_truth", "few_scores", "one_twice"]
"""Why a problem has fewer than k solutions selected."""
SHORTFALLS: Final[dict[Shortfall, str]] = {
    "no_solutions": "no solution has a score",
    "no_ground_truth": "no solution is marked as the ground truth, equals the canonical one or passes all tests",
    "few_scores": "there are fewer distinct scores",
    "one_twice": "the paper's rule takes the lowest solution twice",
}
"""Descriptions of these reasons."""
RULES_VERSION: Final = "2"
"""Changes whenever the selection from the same input would change."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A solution that may be selected.

    Attributes:
        score: Share of passed tests, 0 to 1.
        seconds: Mean time of a test in any unit; of solutions with equal scores the fastest is kept.
        ground_truth: Whether it is the problem's ground truth.
        only_errors: Whether it failed every test by an error other than an assertion, which excludes it.
    """

    id: Id
    score: float
    seconds: float
    ground_truth: bool = False
    only_errors: bool = False


class Ranked(Struct, frozen=True, kw_only=True):
    """A selected solution; ``rank`` counts from 1 for the best score, whether or not that is the ground truth."""

    id: Id
    score: float
    rank: int
    seconds: float
    ground_truth: bool


class Picked(Struct, frozen=True, kw_only=True):
    """The selection from one problem.

    Attributes:
        ranked: The selected solutions, best first.
        dropped: Reason -> ids of the solutions that were not selected.
        shortfall: Why fewer than k solutions were selected; None if k were.
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
        ground_truth: The ground truth's id; None if the problem has none.
        ground_truth_from: The source of the ground truth.
        reason: Why fewer than k are selected (see `SHORTFALLS`); None if there are k.
        dropped: Ids of the other solutions, by reason (see `DROPPED`).
        k: Requested number of solutions, including the ground truth.
        exact: Whether distances were compared as exact decimal fractions instead of floats.
        rules_version: Version of the rules.
        dataset: The data set; None if the candidates are from a file.
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
    """A candidate in a file for ``workbench code select --from``.

    Attributes:
        id: The solution's id. It may be missing in a list ``all_solutions``; it is then the position in the list, from
            0.
        average_test_score: Share of passed tests, 0 to 1.
        average_time_taken: Mean time of a test, in any unit.
        rank: 1 for the ground truth; other numbers only number the input.
        ground_truth: Marks the ground truth instead of rank 1: if any candidate has this flag, ranks are ignored.
        unit_test_stderrs: Standard error of each test, for ``--filter stderr``.
        outcomes: One letter for each test, for ``--filter exception``.
    """

    id: Id | None = None
    average_test_score: float
    average_time_taken: float
    rank: int | None = None
    ground_truth: bool | None = None
    unit_test_stderrs: list[str] | None = None
    outcomes: str | None = None


class ProblemCandidates(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code select --from``; the candidates are in one of three keys.

    Attributes:
        task_id: The problem's id; it may be missing if the problem's name is the line's key.
        all_solutions: Candidates in the format of the released sets.
        input: Candidates in the format of worked examples.
    """

    task_id: Id | None = None
    candidates: list[CandidateRow] | None = None
    all_solutions: list[CandidateRow] | None = None
    input: list[CandidateRow] | None = None


class SetSolution(Struct, frozen=True, kw_only=True):
    """One solution of a ranked set, as it is written to the output file; see `Ranked`."""

    id: Id
    rank: int
    average_test_score: float
    average_time_taken: float
    ground_truth: bool
    solution: str


class SetRules(Struct, frozen=True, kw_only=True):
    """The rules by which a problem's solutions were selected; see `SelectedLine`.

    Attributes:
        suites: Suite whose tests are counted -> its run; empty from a file.
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
    """One line of a set written by ``workbench code select DB --write``, in the format of the released HE-R sets.

    Attributes:
        canonical_solution: The reference solution without the prompt, if it continues the prompt.
        code: The reference solution, if it is a complete program.
        suites: The tests behind true scores and the problem's other tests, by suite.
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
"""How a missing score of a verifier is treated: as the lowest score, or the problem is dropped for all verifiers."""


class RankingRow(Struct, frozen=True, kw_only=True):
    """The quality of one verifier's ranking and scores on a data set; metrics are None without problems.

    Attributes:
        run: The run of the scores; None if they are from a file.
        problems: Number of measured problems, which are weighted equally except in ``mae`` and ``r2``.
        solutions: Number of their solutions, which are weighted equally in ``mae`` and ``r2``.
        top1: Share of problems whose best solution has the highest score; a problem with a tie counts as a fraction.
        bottom1: Share of problems whose worst solution has the lowest score; a problem with a tie counts as a fraction.
        spearman: Mean of the problems' coefficients (Spearman's rho); an undefined one counts as 0.
        kendall: The same for Kendall's tau-b.
        mae: Mean absolute difference to the true scores, over all solutions.
        r2: Coefficient of determination, over all solutions.
        top1_ci: 95 % intervals by the bootstrap over problems; None if all samples are equal.
        spearman_undefined: Number of problems without a coefficient: with a single solution, or scores that are all
            equal.
        coverage: Share of the solutions with true scores that have a score from the verifier; None for scores from a
            file.
        normalised: Whether scores were scaled to 0 to 1 in each problem for ``mae`` and ``r2``, as for a reward model
            and other scores that are not shares.
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
    """A verifier that is left out because it has judged too few of the solutions with true scores."""

    verifier: str
    judged: int
    solutions: int


class SelectedProblems(Struct, frozen=True, kw_only=True):
    """The results of selecting solutions from problems, as numbers of problems.

    Attributes:
        problems: Problems with selected solutions.
        stand_ins: Those of these problems in which the fastest perfect solution replaces an unknown ground truth.
        without_ground_truth: Problems with neither a ground truth nor a perfect solution, from which nothing was
            selected.
        without_scores: Problems without true scores, from which nothing was selected.
        fewer: Problems with fewer selected solutions than requested.
    """

    problems: int
    stand_ins: int
    without_ground_truth: int
    without_scores: int
    fewer: int


class RankingReport(Struct, frozen=True, kw_only=True):
    """The output of ``workbench code metrics --json``.

    Attributes:
        rows: One row for each verifier and data set.
        problems: One row for each verifier and problem, if requested.
        truth: The source of the true scores.
        truth_runs: Test suite behind the true scores -> its run; empty for a file.
        left_out: Number of problems that were not measured because a true score or a verifier's score is missing for
            some
            solution.
        lacking: Verifier, or ``truth``, whose scores are missing -> number of such problems.
        missing: How missing scores of verifiers are treated; None for scores from a file.
        filled: Verifier -> number of missing scores that were filled in.
        partial: Verifiers that are left out because they have judged too few solutions.
        k: Number of solutions of each problem that selection would keep, to which the metrics are limited; None for all
            solutions.
        selected: The results of that selection.
        samples: Number of bootstrap samples behind the intervals.
        refused: Number of rejected lines of the file.
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
    """One line of a file for ``workbench code metrics --from``: a solution with its true score and a verifier's score.

    Attributes:
        rank: Its true rank in its problem, 1 for the best.
        ground_average_test_score: Its true score.
        average_test_score: Its score by generated tests (``utg``).
        reward: Its score by a reward model: ``{"reward_score": …}``.
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
        score: Share of passed tests; None if it was not run against all tests.
        rank: Its rank by ``score`` among the problem's solutions, 1 for the best; equal scores share their mean rank.
        ms: Mean time of a test, in milliseconds.
        scores: Verifier -> its score; None without a score.
        ranks: Verifier -> the rank of the solution's score among the problem's solutions with a score.
        unjudged: Verifiers that have no verdict on the solution, or that failed on it.
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
