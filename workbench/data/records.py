"""Records that lists and reports show: items as screens show them, near-duplicates, and pass matrices."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import CodeTest, ExcludedTest, Execution, Problem, SolutionForm, Where
from workbench.core.run import RunState
from workbench.core.selection import Condition

SORTABLE = ("completion_id", "question_id", "dataset", "subtype", "domain", "source", "model", "state", "gold")
"""Columns by which the Browse screen can sort."""


class BrowseQuery(Struct, frozen=True, kw_only=True):
    """The items of a list, and their order.

    Attributes:
        search: Part of an id, question, reference or completion; ASCII letters match in either case.
        sort: One of ``SORTABLE``, or None for the order of import.
    """

    conditions: tuple[Condition, ...] = ()
    search: str = ""
    sort: str | None = None
    descending: bool = False


class ItemProperties(Struct, frozen=True, kw_only=True):
    """The names of an item and its properties; "" if it has none."""

    id: int
    completion_id: str
    question_id: str
    dataset: str
    subtype: str
    domain: str
    source: str
    model: str
    state: str
    gold: str


class BrowseRow(ItemProperties, frozen=True, kw_only=True):
    """One line of the table. ``question`` is its beginning only.

    Attributes:
        found: The first match of the search with its context and field; "" without a search.
    """

    question: str
    verdicts: dict[str, str]
    found: str = ""


class ItemVerdict(Struct, frozen=True, kw_only=True):
    """A verifier's newest verdict on an item, with its evidence.

    Attributes:
        calls: Number of model replies that the verdict is based on.
        recorded: Whether some of these replies were recorded, not given by a live model.
    """

    verifier: str
    run: int
    version: str = ""
    verdict: str
    score: float | None
    reason: str | None
    rule: str | None = None
    ms: float
    reference_final: str | None = None
    candidate_final: str | None = None
    reference_span: tuple[int, int] | None = None
    candidate_span: tuple[int, int] | None = None
    detail: str | None = None
    calls: int = 0
    recorded: bool = False


class ItemLabel(Struct, frozen=True, kw_only=True):
    """A current label, adjudication, exclusion or flag of an item, or the event that began its labelling round, with
    its author's name.
    """

    annotator: str
    kind: str
    task: str
    value: str
    reason: str
    note: str
    unsure: bool
    unblinded: bool
    created_at: str


class ItemDetail(ItemProperties, frozen=True, kw_only=True):
    """All data of one item; showing it is recorded, since it reveals labels and gold."""

    gold_from: str
    imported_gold: str
    reason: str
    question: str
    reference: str
    completion: str
    labels: tuple[ItemLabel, ...]
    verdicts: tuple[ItemVerdict, ...]


class EmbeddingLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code duplicates --from``: a problem's embedding.

    Attributes:
        vector: Numbers, of the same length on every line, not all 0.
        source: The source of the problem.
    """

    task_id: str
    vector: list[float]
    source: str = ""


class DuplicateLine(Struct, frozen=True, kw_only=True):
    """A problem that is dropped as a duplicate of another.

    Attributes:
        of: The kept problem, in ``of_dataset``.
        similarity: The cosine similarity of the two problems.
    """

    task_id: str
    dataset: str
    of: str
    of_dataset: str
    similarity: float


class SourceCount(Struct, frozen=True, kw_only=True):
    """The number of a source's problems before and after duplicates are dropped (table 1)."""

    source: str
    before: int
    after: int


class DuplicateReport(Struct, frozen=True, kw_only=True):
    """``workbench code duplicates --json``.

    Attributes:
        similarity: Where the embeddings come from: the name of a model, or of a file.
        threshold: Two problems are duplicates if their cosine similarity is greater.
        problems: Number of problems before duplicates are dropped.
        kept: Number of problems after duplicates are dropped.
        sources: Counts by source (table 1).
        overlaps: For each source, by other source: the share of its problems that are similar to one of the other
            source (figure 1).
        neighbours: Number of nearest neighbours over which the means are taken.
        mean_before: Mean over all problems of the mean cosine similarity with the nearest neighbours; None for a single
            problem.
        mean_after: The same mean over the kept problems.
        edges: Bounds of the histogram's bins for a problem's mean similarity (figure 2).
        before: Number of problems by bin.
        after: Number of kept problems by bin.
        duplicates: The dropped problems.
    """

    similarity: str
    threshold: float
    seed: int
    problems: int
    kept: int
    sources: tuple[SourceCount, ...]
    overlaps: dict[str, dict[str, float]]
    neighbours: int
    mean_before: float | None
    mean_after: float | None
    edges: tuple[float, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    duplicates: tuple[DuplicateLine, ...]


class RemainingProblem(Struct, frozen=True, kw_only=True):
    """A kept problem: one line of the output of ``workbench code duplicates --output``."""

    task_id: str
    dataset: str
    source: str


ProblemKind = Literal["all", "mixed", "none", "every", "waiting", "broken", "differs", "suites"]
"""Kinds of problems by the results of their solutions in one run."""

PROBLEM_KINDS: Final[dict[ProblemKind, str]] = {
    "all": "all problems",
    "mixed": "some solutions pass, some fail",
    "none": "no solution passes",
    "every": "every solution passes",
    "waiting": "solutions wait to be run",
    "differs": "tests and gold differ",
    "suites": "solutions pass one suite and fail another",
    "broken": "no test counts: every one is broken or excluded",
}
"""Descriptions of the kinds."""

PROBLEM_SORTS: Final = ("task_id", "dataset", "entry_point", "solutions", "tests", "gold", "passing", "beside", "done")
"""Columns by which the list of problems can be sorted."""


class SuiteRun(Struct, frozen=True, kw_only=True):
    """A run with outcomes of a suite.

    Attributes:
        verifier: The verifier's name.
        complete: Whether the run has ever been complete (items may have been added since).
    """

    run: int
    verifier: str
    suite: str
    state: RunState
    complete: bool


class ProblemQuery(Struct, frozen=True, kw_only=True):
    """The problems of a list, and their order.

    Attributes:
        search: Part of a task id, an entry point or a prompt; ASCII letters match in either case.
        kind: Only problems whose outcomes are of this kind.
        dataset: Only problems of this data set.
        run: The run whose outcomes are counted; None if there is no run, so that no solution has outcomes.
        beside: A run with outcomes of another suite, for comparison.
        sort: One of ``PROBLEM_SORTS``, or None for the order of import.
    """

    search: str = ""
    kind: ProblemKind = "all"
    dataset: str | None = None
    run: SuiteRun | None = None
    beside: SuiteRun | None = None
    sort: str | None = None
    descending: bool = False


class ProblemRow(Struct, frozen=True, kw_only=True):
    """A problem as a line of the list.

    Attributes:
        id: Row id of its question.
        tests: Number of tests by suite.
        correct: Number of solutions whose gold is correct.
        golden: Number of solutions with gold.
        passing: Number of solutions that pass every test of the run's suite.
        done: Number of solutions with outcomes in the run.
        judged: Number of the ``done`` solutions with at least one counted test.
        beside: Share of solutions that pass another suite, for comparison; None if none was run on it.
    """

    id: int
    task_id: str
    dataset: str
    entry_point: str
    solutions: int
    tests: dict[str, int]
    correct: int
    golden: int
    passing: int
    done: int
    judged: int
    beside: float | None = None

    @property
    def share_correct(self) -> float | None:
        return self.correct / self.golden if self.golden else None

    @property
    def pass_at_1(self) -> float | None:
        """Return the share of judged solutions that pass (the unbiased pass@k for k = 1, Chen et al. 2021)."""
        return self.passing / self.judged if self.judged else None


class MatrixSolution(Struct, frozen=True, kw_only=True):
    """A solution as a row of the matrix.

    Attributes:
        id: Row id of the completion.
        key: The completion's id.
        solution_id: The source's own id.
        ground_truth: Whether it is marked as the problem's ground truth, which rankings use instead of the reference.
        gold: ``correct``, ``incorrect`` or ``none``.
        verdicts: The verdict of each verifier, by its name.
        outcomes: One letter for each test in the suite's order; "" if it has not been run.
        execution: Further details of its execution; None if unknown, or if it has not been run.
        tests: Tests written only for this solution; empty if the suite's tests are shared.
    """

    id: int
    key: str
    solution_id: str
    model: str
    ground_truth: bool
    gold: str
    verdicts: dict[str, str]
    outcomes: str
    execution: Execution | None
    tests: tuple[CodeTest, ...] = ()


class PassMatrix(Struct, frozen=True, kw_only=True):
    """A problem's solutions against the tests of one suite, by one run.

    Attributes:
        question: The problem's row id.
        problem: The problem with only the tests of ``suite``.
        suites: Number of tests by suite; the maximum over solutions if each solution has its own tests.
        suite: The suite that is shown; "" without tests.
        runs: Runs with outcomes of the suite, complete ones first, then the newest.
        run: The run that is shown; None if no run has outcomes.
        evolution: The evolution that created the suite; without a run, its own outcomes are shown. None for other
            suites.
        rounds: The round of the evolution in which each test was added; empty for other suites.
        verifiers: Verifiers whose verdicts are in ``solutions``, in order.
        solutions: Solutions in the order of import.
        where: Where the outcome of each test is decided: inside or outside the sandbox, by test.
        faults: The error of each broken test, by test, if its text shows that it is broken.
    """

    question: int
    problem: Problem
    dataset: str
    suites: dict[str, int]
    suite: str
    runs: tuple[SuiteRun, ...]
    run: SuiteRun | None
    evolution: str | None
    rounds: tuple[int, ...]
    verifiers: tuple[str, ...]
    solutions: tuple[MatrixSolution, ...]
    where: dict[CodeTest, Where] = {}
    faults: dict[CodeTest, str] = {}

    @property
    def shared(self) -> tuple[CodeTest, ...]:
        """Return the suite's tests in order if all solutions share them; empty if each solution has its own tests."""
        return self.problem.suites.get(self.suite, ())

    @property
    def excluded(self) -> dict[int, ExcludedTest]:
        return self.problem.apart.get(self.suite, {})

    def count(self, *places: Where) -> int:
        return sum(self.where.get(test) in places for test in self.shared)

    @property
    def width(self) -> int:
        return self.suites.get(self.suite, 0)

    @property
    def own(self) -> bool:
        return self.width > len(self.shared)

    def test_of(self, solution: MatrixSolution, position: int) -> CodeTest | None:
        tests = solution.tests if self.own else self.shared
        return tests[position] if position < len(tests) else None


class SolutionCode(Struct, frozen=True, kw_only=True):
    """A solution's code in the form that is run.

    Attributes:
        stored: The completion's text as stored.
        form: The form of the stored text: a program, a continuation of the prompt, or a reply.
        source: The program built from it.
        extractor: How code was extracted from a reply.
    """

    stored: str
    form: SolutionForm
    source: str
    extractor: str
