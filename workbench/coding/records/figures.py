"""How many tests are enough, pass@k, and histograms of scores, as they are reported; null where undefined."""

from __future__ import annotations

from msgspec import Struct

from workbench.statistics.records.candidates import Id
from workbench.statistics.records.ranking import Ends


class SaturationRow(Struct, frozen=True, kw_only=True):
    """How far scores on k tests rank solutions as those on all tests do.

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
        ci: Its 95 % interval, problems as units.
    """

    dataset: str
    k: int
    problems: int
    fewer: int
    solutions: int
    value: float | None
    ci: Ends | None


class PassReport(Struct, frozen=True, kw_only=True):
    """``workbench code passk --json``.

    Attributes:
        judge: What says that a solution passes: the tests of some suites, a verifier, or a file.
    """

    rows: list[PassRow]
    judge: str
    refused: int = 0


class PassCount(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code passk --from``: a problem's counts, or what came of one solution.

    Attributes:
        n: Solutions of the problem.
        c: Those of them that pass.
        solution_id: Lines with the same one are of the same solution, such as a line a suite; it passes if it passes
            all tests of all of them. Without it a line is a solution of its own.
        passed: Whether the solution passes; with ``total``, how many tests it passes of so many.
    """

    task_id: Id
    dataset: str = ""
    n: int | None = None
    c: int | None = None
    solution_id: Id | None = None
    passed: bool | int | None = None
    total: int | None = None


class Bins(Struct, frozen=True, kw_only=True):
    """A histogram: ``counts[i]`` values from ``edges[i]`` to below ``edges[i + 1]``, the last bin with its end."""

    edges: list[float]
    counts: list[int]


class SharesOfTests(Struct, frozen=True, kw_only=True):
    """What came of tests; shares are None where none was run.

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
    """What came of the tests of a suite in one run.

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


class HistogramReport(Struct, frozen=True, kw_only=True):
    """What was selected of one data set: the figures 3 and 4 and appendix C of the paper as data.

    Attributes:
        dataset: "" from a file.
        problems: Problems with a selection.
        mean_score: Mean score of the selected solutions.
        scores: Scores of the selected solutions.
        gaps: Best less worst selected score of each problem.
        sizes: Problems by number of selected solutions.
    """

    dataset: str
    problems: int
    solutions: int
    mean_score: float
    scores: Bins
    gaps: Bins
    sizes: dict[int, int]


class HistogramsReport(Struct, frozen=True, kw_only=True):
    """``workbench code histograms --json``: by data set, and what came of tests by run and suite (figure 5a)."""

    histograms: list[HistogramReport]
    shares: list[OutcomeShares]
    refused: int = 0
