"""Metrics of code problems, and results of model-written tests and solutions; None for undefined values."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import Writer
from workbench.statistics.records.ranking import Ends, RankingRow


class SaturationRow(Struct, frozen=True, kw_only=True):
    """The agreement between the rankings of solutions by k tests and by all tests, for one k.

    Attributes:
        rho: Mean over problems and resamples of Spearman's coefficient, an undefined one counted as 0.
        ci: 95 % interval of that mean over resamples, as in the paper's appendix B; it narrows with their number.
        sigma: Standard deviation over resamples of the mean over problems.
        problems_ci: 95 % interval over problems as sampling units.
        undefined: Share of coefficients that are undefined because all solutions have the same score on the k tests.
    """

    k: int
    rho: float
    ci: Ends
    sigma: float
    problems_ci: Ends | None
    undefined: float


class SaturationReport(Struct, frozen=True, kw_only=True):
    """``workbench code saturation --json``.

    Attributes:
        dataset: None for all data sets together.
        problems: Number of problems with enough tests and at least two distinct scores.
        few_tests: Number of problems excluded for having fewer than ``least_tests`` tests.
        one_score: Number of problems excluded because all solutions have the same score.
        enough: The first k whose interval is entirely at or above ``target``; None without one.
    """

    definition: str
    problems: int
    few_tests: int
    one_score: int
    least_tests: int
    target: float
    enough: int | None
    rows: list[SaturationRow]
    suites: list[str]
    truth: str
    truth_runs: dict[str, int]
    resamples: int
    seed: int


class PassRow(Struct, frozen=True, kw_only=True):
    """pass@k of a data set.

    Attributes:
        problems: Number of problems with at least k solutions.
        fewer: Number of problems with fewer solutions, which don't count.
        solutions: Number of solutions of the counted problems.
        value: Mean over problems of 1 - C(n - c, k) / C(n, k); None without problems.
        ci: 95 % interval of the value over problems; None for fewer than two problems.
    """

    dataset: str
    k: int
    problems: int
    fewer: int
    solutions: int
    value: float | None
    ci: Ends | None


class ModelPasses(Struct, frozen=True, kw_only=True):
    """pass@k of one model's solutions, data set by data set (EvolveCoder, table 3).

    Attributes:
        values: Data set -> pass@k; None if the model has no problem with k solutions.
        average: Unweighted mean over all data sets; None if one has no value.
        delta: The average minus that of the model ``against``; None for that model itself.
        gain: The compared model's average minus this one's, relative to this one's (EvolveCoder, table 3); None if this
            one's average is 0.
    """

    model: str
    k: int
    values: dict[str, float | None]
    average: float | None
    delta: float | None
    gain: float | None


class PassReport(Struct, frozen=True, kw_only=True):
    """``workbench code passk --json``.

    Attributes:
        judge: What decides whether a solution passes: the tests of some suites, or a verifier.
        models: Rows by model, if requested.
        against: The model that the others are compared with.
        unnamed: Number of solutions of unknown models, which are in no model's row.
        unknown: Number of solutions that neither pass nor fail: not run, or without a verdict other than an error.
    """

    rows: list[PassRow]
    judge: str
    unknown: int = 0
    models: list[ModelPasses] = []
    against: str | None = None
    unnamed: int = 0


class Bins(Struct, frozen=True, kw_only=True):
    """A histogram: ``counts[i]`` values from ``edges[i]`` to below ``edges[i + 1]``, the last bin with its end."""

    edges: list[float]
    counts: list[int]


class SharesOfTests(Struct, frozen=True, kw_only=True):
    """Shares of test outcomes; None if no test was run.

    Attributes:
        tests: Number of executions, one for each test and solution; tests that were not run don't count.
        passed: Share that passed.
        assertion: Share that failed by an assertion.
        other: Share that failed in another way: another error, a timeout, a syntax error, a kill.
    """

    solutions: int
    tests: int
    passed: float | None
    assertion: float | None
    other: float | None


class OutcomeShares(Struct, frozen=True, kw_only=True):
    """Test outcomes of a suite in one run.

    Attributes:
        every: Shares over all solutions.
        ground_truth: Shares over solutions flagged as ground truth, whose failures indicate wrong tests; None without
            such solutions.
    """

    verifier: str
    run: int
    suite: str
    dataset: str
    every: SharesOfTests
    ground_truth: SharesOfTests | None


class SelectedScores(Struct, frozen=True, kw_only=True):
    """A verifier's scores of the selected solutions: figure 5b of the paper as data.

    Attributes:
        run: The run of the scores.
        solutions: Number of selected solutions with a score.
        without: Number of selected solutions without a score.
        mean_score: Mean score; None without scores.
    """

    verifier: str
    run: int
    solutions: int
    without: int
    mean_score: float | None
    scores: Bins


class HistogramReport(Struct, frozen=True, kw_only=True):
    """The selection from one data set: the figures 3 and 4 and appendix C of the paper as data.

    Attributes:
        problems: Number of problems with a selection.
        mean_score: Mean score of the selected solutions.
        mean_tests: Mean number of tests that a true score is based on; None for imported scores.
        scores: Histogram of the scores of the selected solutions.
        gaps: Histogram of the best minus the worst selected score of each problem.
        sizes: Number of problems, by number of selected solutions.
        given: Scores of the named verifiers on the same solutions.
    """

    dataset: str
    problems: int
    solutions: int
    mean_score: float
    scores: Bins
    gaps: Bins
    sizes: dict[int, int]
    mean_tests: float | None = None
    given: list[SelectedScores] = []


class HistogramsReport(Struct, frozen=True, kw_only=True):
    """``workbench code histograms --json``: by data set, and test outcomes by run and suite (figure 5a)."""

    histograms: list[HistogramReport]
    shares: list[OutcomeShares]


# -- Results of having models write tests and solutions.


SolutionKind = Literal["correct", "incorrect"]
"""The kind of code requested from a model: code that solves the problem, or code that almost does."""
SKIPPED: Final[dict[str, str]] = {
    "language": "not Python",
    "stdio": "tests of standard input: there is nothing that an assert could call",
    "no_tests": "no tests to score solutions by",
    "outside": "contests outside the dates asked for",
    "no_date": "no day of a contest (contest_date) is known",
    "no_field": "the field to ask by is missing or no text",
}
"""Why nothing is written for a problem, by code."""


class TestsWritten(Struct, frozen=True, kw_only=True):
    """The result of a command that writes tests.

    Attributes:
        run: The run that counts its calls.
        model: The requested name of the model that writes.
        with_solution: Whether tests were written for each solution, which the model saw; else for each problem.
        targets: Number of problems or solutions that tests were requested for.
        unchanged: Number of targets that already had their tests.
        failed: Number of targets without a reply, by the failure's code.
        empty: Number of targets whose reply contains no test that was kept.
        found: Number of tests in the replies from which the suite was made.
        kept: Number of tests in the suite.
        dropped: Number of rejected tests, by code.
        skipped: Number of skipped problems, by a code of `SKIPPED`.
    """

    __test__ = False

    suite: str
    dataset: str
    run: int
    model: str
    with_solution: bool
    targets: int
    unchanged: int
    failed: dict[str, int]
    empty: int
    found: int
    kept: int
    dropped: dict[str, int]
    skipped: dict[str, int]


class ScaledPoint(Struct, frozen=True, kw_only=True):
    """Metrics of the tests that a model wrote, for one number of tests, on one data set.

    Attributes:
        n: Number of tests requested for each problem.
        mean_tests: Mean tests of a problem, or of a solution if they were written for each; None without any.
    """

    model: str
    n: int
    mean_tests: float | None
    figures: RankingRow


class ScaleReport(Struct, frozen=True, kw_only=True):
    """``workbench code scale --json``.

    Attributes:
        points: Results by data set, model and number; all on the same problems.
        left_out: Number of problems in which a solution lacks a score.
        filled: Number of scores that count as 0 because the problem has no test in the suite, by suite.
    """

    name: str
    truth: str
    truth_runs: dict[str, int]
    points: tuple[ScaledPoint, ...]
    left_out: int
    filled: dict[str, int]
    samples: int
    seed: int


class ProblemSolutions(Struct, frozen=True, kw_only=True):
    """The solutions of one problem written so far.

    Attributes:
        scores: Distinct scores, rounded to two decimals, the best first: of the reference, of existing and of written
            solutions; without solutions that fail all tests by errors only.
        reached: Whether the desired number of scores was reached.
        rounds: Number of requested rounds.
        written: Number of new solutions.
        repeated: Number of replies with the code of another solution.
        empty: Number of replies without code.
        failed: Number of calls without a reply.
        killed: Number of new solutions that crashed the sandbox: they are not added, and the same command runs them
            again.
    """

    task_id: str
    scores: tuple[float, ...]
    reached: bool
    rounds: int
    written: int
    repeated: int
    empty: int
    failed: int
    killed: int = 0


class SolutionsWritten(Struct, frozen=True, kw_only=True):
    """The result of a command that writes solutions, over all of its starts.

    Attributes:
        run: The run that counts its calls.
        k: Desired number of distinct scores.
        suites: The tests that solutions were scored by.
        imported: Number of solutions that are new in the data set.
        problems: The problems in the order of import.
        skipped: Skipped problems, by a code of `SKIPPED`.
    """

    dataset: str
    run: int
    k: int
    suites: tuple[str, ...]
    imported: int
    problems: tuple[ProblemSolutions, ...]
    skipped: dict[str, int]


# -- Problems that were rewritten as functions, and pools of model-written solutions.


class RefinedProblem(Struct, frozen=True, kw_only=True):
    """A problem of standard input, rewritten with a function to write: a line of a file of problems.

    Attributes:
        task_id: Id of the original problem.
        canonical_solution: The solution; "" if the prompt requests none.
        canonical_solution_by: Marks the solution as written by a model, so that it doesn't decide which tests are
            correct.
        tests: Tests that call the function.
        proposed_tests: Number of tests the model wrote.
        passed_tests: Number of ``tests`` that the model's solution passes; None without one.
    """

    task_id: str
    entry_point: str
    prompt: str
    canonical_solution: str
    canonical_solution_by: Writer
    tests: tuple[str, ...]
    source: str | None
    proposed_tests: int
    passed_tests: int | None


class RefusedProblem(Struct, frozen=True, kw_only=True):
    """A problem that was not rewritten.

    Attributes:
        reason: ``no_problem``: no reply, or an incomplete one; ``few_tests``: too few of its tests call the function.
        tests: Number of tests the model wrote.
        passed: Number of tests that the model's solution passes.
    """

    task_id: str
    reason: str
    tests: int
    passed: int


class RefineReport(Struct, frozen=True, kw_only=True):
    """``workbench code refine --json``.

    Attributes:
        problems: Number of problems of standard input.
        written: Number of rewritten problems.
        refused: Number of problems that were not rewritten.
        tests: Number of tests of the rewritten problems.
        tried_tests: Number of these tests that the model's solution was run against.
        passed_tests: Number of these tests that it passes.
    """

    dataset: str
    problems: int
    written: int
    refused: tuple[RefusedProblem, ...]
    tests: int
    tried_tests: int
    passed_tests: int
    file: str


class PoolReport(Struct, frozen=True, kw_only=True):
    """``workbench code pool --json``.

    Attributes:
        run: The run that counts its calls.
        samples: Number of solutions requested for each problem and model.
        added: Number of new solutions in the data set.
        failed: Number of calls without a reply.
        skipped: Number of skipped problems, by reason.
    """

    dataset: str
    run: int
    problems: int
    models: int
    samples: int
    added: int
    failed: int
    skipped: dict[str, int]
