"""Metrics of code as they are reported, and results of model-written tests and solutions; null for undefined values."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import Writer
from workbench.statistics.records.ranking import Ends, Id, RankingRow


class SaturationRow(Struct, frozen=True, kw_only=True):
    """How closely the ranking of solutions by k tests follows that by all tests.

    Attributes:
        rho: Mean over problems and resamples of Spearman's coefficient, an undefined one counted as 0.
        ci: 95 % interval of that mean over resamples, as in the paper's appendix B: it shrinks with their number.
        sigma: Standard deviation over resamples of the mean over problems.
        problems_ci: 95 % interval over problems: how far other problems like these may differ.
        undefined: Share of coefficients that are undefined: k tests tell no two solutions apart.
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
        problems: Problems with enough tests and at least two distinct scores.
        few_tests: Problems left out for having fewer than ``least_tests`` tests.
        one_score: Problems left out since all solutions have the same score.
        enough: The first k whose interval lies wholly at or above ``target``; None where none does.
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
        problems: Problems with at least k solutions.
        fewer: Problems with fewer: they don't count.
        solutions: Solutions of those that count.
        value: Mean over problems of 1 - C(n - c, k) / C(n, k); None without problems.
        ci: Its 95 % interval, problems as units; None for fewer than two.
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
        values: Data set -> pass@k; None where the model has no problem with k solutions.
        average: Mean over all data sets, each counting as much; None where one has no value.
        delta: How far the average lies above that of the model it is held against; None for that one itself.
        gain: How far that model's average lies above this one, as a share of this one (EvolveCoder, table 3); None
            where this one is 0.
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
        judge: What says that a solution passes: the tests of some suites, a verifier, or a file.
        models: By model, too, where that is asked for.
        against: The model that the others are held against.
        unnamed: Solutions of which no model is known: they are in no line of a model.
        unknown: Solutions that neither pass nor fail: not run, or the verifier has no verdict on them but an error.
    """

    rows: list[PassRow]
    judge: str
    refused: int = 0
    unknown: int = 0
    models: list[ModelPasses] = []
    against: str | None = None
    unnamed: int = 0


class PassCount(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code passk --from``: a problem's counts, or what came of one solution.

    Attributes:
        n: Solutions of the problem.
        c: Those of them that pass.
        solution_id: Lines with the same one are of the same solution, such as a line a suite; it passes if it passes
            all tests of all of them. Without it a line is a solution of its own.
        passed: Whether the solution passes; with ``total``, how many tests it passes of so many.
        outcomes: A letter a test, as `workbench.core.code.OUTCOMES` has them.
    """

    task_id: Id
    dataset: str = ""
    n: int | None = None
    c: int | None = None
    solution_id: Id | None = None
    passed: bool | int | None = None
    total: int | None = None
    outcomes: str | None = None


class Bins(Struct, frozen=True, kw_only=True):
    """A histogram: ``counts[i]`` values from ``edges[i]`` to below ``edges[i + 1]``, the last bin with its end."""

    edges: list[float]
    counts: list[int]


class SharesOfTests(Struct, frozen=True, kw_only=True):
    """Shares of test outcomes; None where none was run.

    Attributes:
        tests: Tests times solutions; those that were not run don't count.
        passed: Share that passed.
        assertion: Share that failed by an assertion.
        other: Share that failed by anything else: another error, time, syntax, a kill.
    """

    solutions: int
    tests: int
    passed: float | None
    assertion: float | None
    other: float | None


class OutcomeShares(Struct, frozen=True, kw_only=True):
    """Test outcomes of a suite in one run.

    Attributes:
        every: Over all solutions.
        ground_truth: Over those flagged as their problem's ground truth, where a test that fails is wrong itself; None
            without any.
    """

    verifier: str
    run: int
    suite: str
    dataset: str
    every: SharesOfTests
    ground_truth: SharesOfTests | None


class SelectedScores(Struct, frozen=True, kw_only=True):
    """A verifier's scores of the solutions that true scores have selected: figure 5b of the paper as data.

    Attributes:
        run: Where they come from.
        solutions: Selected solutions that it gave a score.
        without: Those that it gave none.
        mean_score: None where it scored none of them.
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
        dataset: "" from a file.
        problems: Problems with a selection.
        mean_score: Mean score of the selected solutions.
        mean_tests: Tests a problem has that true scores are by; None from a file.
        scores: Scores of the selected solutions.
        gaps: Best less worst selected score of each problem.
        sizes: Problems by number of selected solutions.
        given: What verifiers gave the same solutions, where any are named.
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
    """``workbench code histograms --json``: by data set, and what came of tests by run and suite (figure 5a)."""

    histograms: list[HistogramReport]
    shares: list[OutcomeShares]
    refused: int = 0


# -- What came of having models write tests and solutions.


SolutionKind = Literal["correct", "incorrect"]
"""What a model is asked to write: code that solves the problem, or code that almost does."""
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
        run: The run that its calls are counted in.
        model: Who writes, by the name it is asked for by.
        with_solution: Tests were written for each solution, by a writer who saw it; else for each problem.
        targets: Problems, or solutions, that tests were asked for.
        unchanged: Those that had their tests before.
        failed: Those without a reply, by the failure's code.
        empty: Those of the whole suite whose reply holds no test that is kept.
        found: Tests in all replies that the suite was made of.
        kept: Those that are in it.
        dropped: Those that are left out, by code.
        skipped: Problems that nothing is written for, by a code of `SKIPPED`.
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
    """A model's tests at one number, on one data set.

    Attributes:
        n: Tests asked for of each problem.
        mean_tests: Tests a problem has, or a solution where they were written for each; None where there is none.
    """

    model: str
    n: int
    mean_tests: float | None
    figures: RankingRow


class ScaleReport(Struct, frozen=True, kw_only=True):
    """``workbench code scale --json``.

    Attributes:
        points: By data set, model and number; all on the same problems.
        left_out: Problems in which a score is missing for some solution.
        filled: Scores that count as 0, by suite: of problems without a test in it.
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
        scores: Distinct scores, rounded to two decimals, the best first: of the reference, of solutions that were
            there, and of those written; without those that fail all tests by errors alone.
        reached: There are as many as were wanted.
        rounds: Rounds that were asked for.
        written: New solutions.
        repeated: Replies with the code of another solution.
        empty: Replies without code.
        failed: Calls without a reply.
        killed: New solutions that the sandbox died over: they are not added, and the same call runs them again.
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
        run: The run that its calls are counted in.
        k: Distinct scores that were wanted.
        suites: The tests that solutions were scored by.
        imported: Solutions that are new in the data set; the others it had already.
        problems: The problems in the order of import.
        skipped: Problems that nothing is written for, by a code of `SKIPPED`.
    """

    dataset: str
    run: int
    k: int
    suites: tuple[str, ...]
    imported: int
    problems: tuple[ProblemSolutions, ...]
    skipped: dict[str, int]


# -- Problems that were written anew as functions, and pools of solutions that models wrote.


class RefinedProblem(Struct, frozen=True, kw_only=True):
    """A problem of standard input, rewritten with a function to write: a line of a file of problems.

    Attributes:
        task_id: The old problem's.
        canonical_solution: "" where the prompt asks for none.
        canonical_solution_by: A model wrote the solution, so that it doesn't say which tests are right.
        tests: Those that ask something of the function.
        proposed_tests: How many tests the model wrote.
        passed_tests: How many of ``tests`` its own solution passes; None without one.
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
        reason: ``no_problem``: no reply, or one that lacks a part; ``few_tests``: too few of its tests ask something
            of the function.
        tests: Tests the model wrote.
        passed: Those that its own solution passes.
    """

    task_id: str
    reason: str
    tests: int
    passed: int


class RefineReport(Struct, frozen=True, kw_only=True):
    """``workbench code refine --json``.

    Attributes:
        problems: Problems of standard input there are.
        written: Those written anew.
        refused: The others.
        tests: Tests of those written.
        tried_tests: Those of them that a solution of the model's was run against.
        passed_tests: How many of these it passes.
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
        run: The run that its calls are counted in.
        samples: Solutions asked for of each problem and model.
        added: New solutions in the data set.
        failed: Calls without a reply.
        skipped: Problems that nothing is written for, by why.
    """

    dataset: str
    run: int
    problems: int
    models: int
    samples: int
    added: int
    failed: int
    skipped: dict[str, int]
