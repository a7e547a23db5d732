"""The verifier ``execution``: a solution is correct if it passes every test of its problem's suites."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from msgspec import structs

from workbench.core.code import BASE, Execution, Problem, Program, SolutionForm
from workbench.core.options import Options, option
from workbench.verifiers.base import Isolation, Judged
from workbench.verifiers.execution.evidence import mark_unstable, verdict_on, without_tests
from workbench.verifiers.execution.interpreter import DEFAULT_SECONDS, EXTRACTORS, code_of, program_of
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.option_record import choices, meanings, parse_record

HARNESS_VERSION: Final = "6"
"""Incremented with every change that may change an outcome or a verdict."""

_BEST: Final = "best"
_MOST_SEEDS: Final = 32
_LEAST_MEMORY: Final = 16
_SWITCH: Final = ("yes", "no")


def _suite_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("name at least one suite of tests")
    return names


_strip_unit = methodcaller("removesuffix", "MB")


def _interpreter_path(text: str) -> str | None:
    """Return the interpreter's absolute path; links are kept, since virtual environments depend on them."""
    if not text:
        return None
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    return str(path)


class ExecutionOptions(Options, frozen=True, kw_only=True):
    """Options for running solutions."""

    suite: Annotated[
        tuple[str, ...],
        option("test suites to run, separated by commas: base, plus, whole, or any other name", read=_suite_names),
    ] = (BASE,)
    timeout: Annotated[
        float | None,
        option(
            "limit of processor time per test, in seconds; the limit of elapsed time is ten times as long "
            f"(default: the problem's limit, else {DEFAULT_SECONDS:g})",
            ge=0.01,
            le=3600,
        ),
    ] = None
    isolation: Annotated[
        Literal["best", "L3", "L2", "L1"],
        option(
            "level of the sandbox: best, L3 (namespaces, Landlock, seccomp), L2 (no namespaces) or L1 (only limits)"
        ),
    ] = "best"
    stop_early: Annotated[
        bool, option("whether a solution ends at the first test it doesn't pass", choices=_SWITCH)
    ] = False
    fresh_per_test: Annotated[
        bool, option("whether each test runs in a new process, else one process per solution", choices=_SWITCH)
    ] = False
    fresh_namespace: Annotated[
        bool, option("whether the program is executed again before each test, in the same process", choices=_SWITCH)
    ] = False
    hash_seed: Annotated[int, option("value of PYTHONHASHSEED", le=2**32 - _MOST_SEEDS)] = 0
    hash_seeds: Annotated[
        int, option("number of hash seeds to run with, to find verdicts that depend on the seed", ge=1, le=_MOST_SEEDS)
    ] = 1
    extractor: Annotated[
        str,
        option(
            "how code is extracted from a reply: "
            + "; ".join(f"{one.name}: {one.about}" for one in EXTRACTORS.values()),
            choices=tuple(one.name for one in EXTRACTORS.values()),
        ),
    ] = "fence"
    python: Annotated[
        str | None, option("path of the Python interpreter to use, such as one with packages", read=_interpreter_path)
    ] = None
    budget: Annotated[
        float,
        option("limit of all tests of a solution in one suite, in seconds of computing or sleep", ge=0.01, le=3600),
    ] = 60.0
    memory: Annotated[
        int, option("memory limit of a solution, in megabytes", ge=_LEAST_MEMORY, le=2**20, read=_strip_unit)
    ] = 1024
    scratch: Annotated[
        int,
        option(
            "size of a writable folder in megabytes, part of the memory; only at level L3; 0 for none",
            le=2**20,
            read=_strip_unit,
        ),
    ] = 0


class ExecutionVerifier:
    """Runs every solution against the tests of one suite or more.

    The score is the share of tests passed, over the suites together (Scoring Verifiers 2.2).
    """

    description: ClassVar[str] = "Runs code solutions against their tests, in a sandbox"
    options: ClassVar[dict[str, str]] = meanings(ExecutionOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(ExecutionOptions)
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "execution"
    isolation: Isolation = "sandbox"

    def __init__(self, **options: str) -> None:
        self._options = own = parse_record(ExecutionOptions, options)
        self.suites, self.wanted = own.suite, own.isolation
        self.seeds = tuple(range(own.hash_seed, own.hash_seed + own.hash_seeds))
        self.extractor = str(EXTRACTORS[own.extractor])
        self.interpreter = own.python
        self.scratch = own.scratch * 2**20
        if self.scratch and own.isolation not in (_BEST, "L3"):
            raise ValueError("scratch: only isolation L3 has a scratch folder")
        if self.scratch > (own.memory - _LEAST_MEMORY) * 2**20:
            raise ValueError(
                f"scratch: the folder is in memory, and {_LEAST_MEMORY} megabytes must be left for the program"
            )
        # Another interpreter is never started before its user has approved it: provenance gives its version.
        ours = "" if self.interpreter else f"+python{sys.version_info.major}.{sys.version_info.minor}"
        self.version = f"{HARNESS_VERSION}{ours}"

    def config(self) -> dict[str, object]:
        own = {"suites": list(self.suites), "hash_seeds": list(self.seeds), "extractor": self.extractor}
        config = structs.asdict(self._options) | own
        left_out = {"suite", "hash_seed"} | ({"scratch"} if not self.scratch else set())
        return {name: value for name, value in config.items() if name not in left_out}

    def settings(self, seed: int) -> PoolSettings:
        own = self._options
        return PoolSettings(
            hash_seed=seed,
            stop_early=own.stop_early,
            fresh_per_test=own.fresh_per_test,
            fresh_namespace=own.fresh_namespace,
            memory_bytes=own.memory * 2**20,
            scratch_bytes=self.scratch,
            seconds_total=own.budget,
            python=self.interpreter,
        )

    def programs(self, problem: Problem, text: str, form: SolutionForm | None) -> dict[str, Program]:
        return {
            suite: program_of(
                problem,
                suite,
                text,
                form,
                self._options.extractor,
                seconds=self._options.timeout,
                grammar=self.interpreter is None,
            )
            for suite in self.suites
            if problem.suites.get(suite)
        }

    def verdict(
        self, problem: Problem | None, text: str, form: SolutionForm | None, runs: Sequence[Mapping[str, Execution]]
    ) -> Judged:
        """Return "correct" if every test of every suite passes, under the first hash seed."""
        if problem is None or not any(runs):
            return Judged(verdict=without_tests(problem, self.suites))
        code = code_of(problem, text, form, self._options.extractor)
        votes = [verdict_on(problem, text, code, found) for found in runs]
        if len(votes) == 1:
            return Judged(verdict=votes[0])
        return Judged(verdict=mark_unstable(votes[0], self.seeds, runs), votes=tuple(votes))
