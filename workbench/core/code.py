"""Code problems, their tests, the outcomes of running solutions against them, and the lines of their files."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from msgspec import Struct

from workbench.core.errors import opt
from workbench.core.item import ItemRecord
from workbench.core.text import figures

Form = Literal["expression", "statement", "program", "stdio"]
"""The form of a test.

- ``expression``: an assertion about the value of one call, such as ``assert f(1) == literal``. If it calls the
  code under test, only the call is evaluated in the sandbox, and its value is compared outside; else it is run as a
  ``statement``.
- ``statement``: any other statements; only code inside the sandbox sees whether they raise (forgeable).
- ``program``: statements appended to the solution as one program (``suite=whole``; forgeable).
- ``stdio``: a text for standard input and the text expected on standard output, which is compared outside.
"""
Where = Literal["outside", "inside", "program", "stdio", "broken"]
"""Where it is decided whether a test passes.

``outside``: outside the sandbox, by the value of a call. ``inside`` (forgeable): inside the sandbox. ``program``
(forgeable): inside, as one program with the solution. ``stdio``: outside, by what is printed. ``broken``: the test is
broken and not run.
"""
SolutionForm = Literal["program", "continuation", "reply"]
"""The form of a solution's text: a complete program, a continuation of the prompt, or a reply with code in it."""
Writer = Literal["human", "model"]
"""Who wrote a problem's reference solution; only a person's solution shows which tests are correct."""
Origin = Literal["imported", "generated", "evolved"]
"""Where a suite comes from: an imported file, a model that generated it, or an evolution."""
Level = Literal["L1", "L2", "L3"]
"""How a running solution is isolated. L1: by resource limits only; L2: also by Landlock and seccomp; L3: also by
separate namespaces.
"""
OUTCOMES: Final[dict[str, str]] = {
    "p": "passed",
    "f": "assertion failed",
    "e": "raised another error",
    "t": "took too long",
    "s": "no Python: a syntax error",
    "x": "killed, or never reported",
    "n": "not run",
    "b": "excluded: it never counts",
}
"""Outcome letters of a test and their meanings."""
PASS: Final = "p"
ASSERTION: Final = "f"
NOT_RUN: Final = "n"
WHOLE: Final = "whole"
"""Name of the suite that runs a problem's original test as one program."""
BROKEN: Final = "b"
HARNESS_KILLED: Final = "harness_killed"
"""The reason of a verdict on a solution that crashed the process that runs solutions."""
BASE: Final = "base"


def counted(outcomes: str) -> int:
    return len(outcomes) - outcomes.count(BROKEN)


class CodeTest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One test of a problem.

    Attributes:
        form: See `Form`.
        source: The test's code; for ``stdio`` the text for standard input.
        expected: For ``stdio`` the text expected on standard output; else None.
    """

    form: Form
    source: str
    expected: str | None = None


class ExcludedTest(NamedTuple):
    reason: str
    person: str

    @property
    def words(self) -> str:
        return f"{self.reason} ({self.person})"


class Problem(Struct, frozen=True, kw_only=True):
    """A code problem: its texts, its tests, and what its solutions are run with.

    Attributes:
        task_id: The source's own id, which is the question's key.
        prompt: The question's text; a ``continuation`` continues it.
        canonical: The reference solution, a complete program; "" if there is none.
        canonical_by: The author of the reference solution.
        entry_point: The function or class that tests call, if the source says so.
        setup: Code run between the solution and each test, such as ``candidate = add``.
        language: ``"python"`` or the name of a runner (``"javascript"``).
        seconds: The time limit for a test in the source's data; None if it states none.
        suites: Tests by the suite's name, in order.
        apart: Excluded tests, which don't count, with the reasons: by suite, then by position.
        written: Names of suites whose tests a model wrote. A broken test in such a suite is the model's mistake and
            counts: every solution fails it.
    """

    task_id: str
    prompt: str = ""
    canonical: str = ""
    canonical_by: Writer = "human"
    entry_point: str | None = None
    setup: str = ""
    language: str = "python"
    seconds: float | None = None
    suites: dict[str, tuple[CodeTest, ...]] = {}
    apart: dict[str, dict[int, ExcludedTest]] = {}
    written: frozenset[str] = frozenset()

    @property
    def oracle(self) -> str:
        """Return the reference solution if a person wrote it, otherwise "": only such a solution shows which tests are
        correct.
        """
        return self.canonical if self.canonical_by == "human" else ""


class Program(Struct, frozen=True, kw_only=True):
    """A solution ready to be run against tests.

    Attributes:
        source: The solution's code.
        setup: Code run between the solution and each test.
        tests: The tests, in order.
        language: As in `Problem`.
        seconds: Maximum wall time of a test.
        entry_point: As in `Problem`.
        broken: Indexes of tests that no solution can pass; they are not run.
    """

    source: str
    tests: tuple[CodeTest, ...]
    setup: str = ""
    language: str = "python"
    seconds: float = 3.0
    entry_point: str | None = None
    broken: tuple[int, ...] = ()


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a test did not pass.

    Attributes:
        position: The test's index in its suite, from 0.
        outcome: Its letter (a key of `OUTCOMES`).
        error: The exception's type, if one was raised.
        message: The exception's message, or what else is known about the failure; shortened.
        got: The ``repr`` of the actual value; shortened.
        expected: The expected value.
        line: Line of the solution where the exception was raised, from 1.
    """

    position: int
    outcome: str
    error: str | None = None
    message: str | None = None
    got: str | None = None
    expected: str | None = None
    line: int | None = None


class Execution(Struct, frozen=True, kw_only=True):
    """Outcomes of one solution on the tests of a suite.

    Attributes:
        outcomes: One letter per test, in order (keys of `OUTCOMES`).
        level: The isolation level.
        forgeable: Number of passed tests whose result comes from inside the sandbox, so that a malicious program could
            forge it.
        ms: Mean wall time of the tests that were run, in milliseconds; the program's own start is not counted.
        failures: Why tests did not pass, for the first few of them.
        harness_killed: Whether the process that runs solutions crashed on this one, which then counts as not run,
            whatever its outcomes are.
    """

    outcomes: str
    level: Level
    forgeable: int = 0
    ms: float = 0.0
    failures: tuple[Failure, ...] = ()
    harness_killed: bool = False

    @property
    def passed(self) -> int:
        return self.outcomes.count(PASS)

    @property
    def ran(self) -> int:
        return self.counted - self.outcomes.count(NOT_RUN)

    @property
    def settled(self) -> int:
        return len(self.outcomes) - self.outcomes.count(NOT_RUN)

    @property
    def counted(self) -> int:
        return counted(self.outcomes)

    @property
    def score(self) -> float | None:
        """Return the share of counted tests that passed (Scoring Verifiers, section 2.2); None if no test counts or the
        harness was killed."""
        return self.passed / self.counted if self.counted and not self.harness_killed else None


class SolutionResult(Struct, frozen=True, kw_only=True):
    """A solution's outcomes as a line of ``workbench code results``.

    Attributes:
        outcomes: One letter per test (see `OUTCOMES`).
        passed: Number of tests that passed, of ``total``.
        total: Number of tests that count: all except broken ones.
        score: ``passed / total``, or None without tests.
        isolation: The isolation level of the solution.
        forgeable: Number of passed tests whose result comes from inside the sandbox.
        ms: Mean wall time of a test in milliseconds.
    """

    task_id: str
    solution_id: str
    completion_id: str
    suite: str
    outcomes: str
    passed: int
    total: int
    score: float | None
    isolation: Level
    forgeable: int
    ms: float
    verifier: str
    dataset: str


class NotRun(Struct, frozen=True, kw_only=True):
    """Solutions of a run that have no outcomes: they neither pass nor fail.

    Attributes:
        solutions: Number of these solutions; each counts once, not once per suite.
        judged: Number of items that the run has judged so far, of ``items``.
        killed: Number of solutions that crashed the process that runs them.
    """

    run: int
    solutions: int
    judged: int
    items: int
    killed: int = 0

    @property
    def words(self) -> str:
        """Describe these solutions, such as ``668 solutions that run 1 has not run: it is at 132 of 800``."""
        partial = f": it is at {self.judged:,} of {self.items:,}" if self.judged < self.items else ""
        killed = f"; the sandbox died over {self.killed:,} (see {opt.retry_errors})" if self.killed else ""
        return f"{figures.counted(self.solutions, 'solution')} that run {self.run} has not run{partial}{killed}"


class Provenance(Struct, frozen=True, kw_only=True):
    """The environment of a run: what its outcomes depend on in addition to the stored texts.

    Attributes:
        interpreter: Such as ``"CPython 3.11.7 (linux, x86_64)"``.
        flags: The interpreter's command-line flags.
        packages: sha256 of the names and versions of the installed packages.
        hash_seed: PYTHONHASHSEED.
        level: The isolation level of solutions.
        limits: The limits (seconds, bytes, numbers) by name.
        extractor: How code was extracted from a reply: name and version.
    """

    interpreter: str
    flags: tuple[str, ...]
    packages: str
    hash_seed: int
    level: Level
    limits: dict[str, float]
    extractor: str


# -- Code problems and solutions read from files, validated and ready to store.


class ProblemRecord(Struct, kw_only=True, gc=False):
    """One problem of a file.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        raw: The row's bytes as read, kept in quarantine if it contradicts a stored problem.
        problem: Its texts and its tests.
        source: The benchmark it is from, as ``code/name``; None if the file doesn't say.
        extra: JSON object of unknown keys; or None.
    """

    line: int
    raw: bytes
    problem: Problem
    source: str | None = None
    extra: str | None = None


class SolutionRecord(Struct, kw_only=True, gc=False):
    """One solution of a problem.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number); 0 if it is not from a file.
        raw: The row's bytes as read.
        task_id: The problem's id.
        solution_id: The solution's id, unique among the problem's solutions.
        code: The text in the file.
        form: The form of the text.
        gold: Whether it passes all tests according to the file; None if the file doesn't state it.
        model: The model that wrote it, if known.
        ground_truth: Whether the file marks it as the problem's ground truth (rank 1), for rankings of solutions.
        extra: JSON object of unknown keys; or None.
    """

    line: int = 0
    raw: bytes = b""
    task_id: str
    solution_id: str
    code: str
    form: SolutionForm = "program"
    gold: bool | None = None
    model: str | None = None
    ground_truth: bool = False
    extra: str | None = None

    @property
    def key(self) -> str:
        return f"{self.task_id}/{self.solution_id}"


CodeRecord = ProblemRecord | SolutionRecord
"""A record of a code file."""
Record = ItemRecord | CodeRecord
"""An imported record."""


# -- Lines of workbench's own files of code problems and of their solutions.


class StdioTest(Struct, frozen=True, forbid_unknown_fields=True):
    """A test of a program's standard input and output.

    Attributes:
        input: The text on its standard input.
        output: The text that it must write on its standard output.
    """

    input: str
    output: str


TestLine = str | StdioTest
"""A test: Python statements as a text, or a text for standard input with the text expected."""


class ProblemLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem with its tests; unknown keys are stored too.

    Attributes:
        task_id: The problem's id in its dataset.
        prompt: The text of the problem.
        source: The benchmark it is from.
        entry_point: The function or class that tests call.
        language: ``python``, or the name of a runner.
        canonical_solution: The reference solution, a complete program.
        canonical_solution_by: The author of the reference solution; only a person's shows which tests are correct.
        setup: Code run between a solution and each test, such as ``candidate = add``.
        seconds: Maximum wall time of a test.
        tests: The suite ``base``.
        plus_tests: The suite ``plus``.
        whole_test: The suite ``whole``: one program appended to the solution.
        suites: Suites of other names.
    """

    task_id: str | int
    prompt: str
    source: str | None = None
    entry_point: str | None = None
    language: str = "python"
    canonical_solution: str = ""
    canonical_solution_by: Writer = "human"
    setup: str = ""
    seconds: float | None = None
    tests: list[TestLine] = []
    plus_tests: list[TestLine] = []
    whole_test: str | None = None
    suites: dict[str, list[TestLine]] = {}


class SolutionLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A solution of a problem; unknown keys are stored too.

    Attributes:
        task_id: The problem's id.
        solution_id: The solution's id, unique among the problem's solutions.
        code: The solution's text.
        form: The form of the text: a complete program, a continuation of the prompt, or a reply with code in it.
        model: The model that wrote it.
        recorded_pass: Whether it is known to pass; 1 and 0 are accepted too.
        ground_truth: Whether it is the problem's ground truth, for rankings of solutions.
    """

    task_id: str | int
    solution_id: str | int
    code: str
    form: SolutionForm = "program"
    model: str | None = None
    recorded_pass: bool | int | None = None
    ground_truth: bool = False
