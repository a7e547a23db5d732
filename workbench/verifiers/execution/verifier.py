"""The verifier ``execution``: a solution is correct if it passes every test of its problem's suites."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import ClassVar, Final, get_args

from workbench.core.code import BASE, Execution, Level, Problem, Program, SolutionForm
from workbench.verifiers.base import Isolation, Judged
from workbench.verifiers.execution.evidence import mark_unstable, verdict_on, without_tests
from workbench.verifiers.execution.interpreter import DEFAULT_SECONDS, EXTRACTORS, code_of, program_of
from workbench.verifiers.execution.settings import PoolSettings

HARNESS_VERSION: Final = "6"
"""Incremented with every change that may change an outcome or a verdict."""

_BEST: Final = "best"
_MOST_SEEDS: Final = 32
_LEAST_MEMORY: Final = 16
_WORDS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class ExecutionVerifier:
    """Runs every solution against the tests of one suite or more.

    The score is the share of tests passed, over the suites together (Scoring Verifiers 2.2).

    Args:
        suite: Names of suites, separated by commas.
        timeout: Seconds of processor time a test may take, and ten times as much wall time; by default the problem's
            limit, else 3.
        isolation: ``best``, ``L3``, ``L2`` or ``L1``.
        stop_early: Whether to end a solution at the first test that it doesn't pass.
        fresh_per_test: Whether each test gets a separate process; else they share one, as in EvalPlus.
        fresh_namespace: Whether the program is executed again before each test, in that one process, as in Scoring
            Verifiers.
        hash_seed: PYTHONHASHSEED.
        hash_seeds: Number of seeds to run with, from ``hash_seed`` on, to find verdicts that depend on the seed.
        extractor: The method of extracting code from a reply.
        python: Another Python interpreter, such as one with packages.
        budget: Seconds that all tests of a solution in one suite may take, computing or asleep.
        memory: Megabytes of memory a solution may use.
        scratch: Megabytes of a writable folder, as a part of the memory; 0 for none.
    """

    description: ClassVar[str] = "Runs code solutions against their tests, in a sandbox"
    options: ClassVar[dict[str, str]] = {
        "suite": "test suites to run, separated by commas: base (default), plus, whole, or any other name",
        "timeout": "limit of processor time per test, in seconds; the limit of elapsed time is ten times as long "
        "(default: "
        f"the problem's limit, else {DEFAULT_SECONDS:g})",
        "isolation": "level of the sandbox: best (the best available, default), L3 (namespaces, Landlock, "
        "seccomp), L2 (Landlock, seccomp) or L1 (resource limits only)",
        "stop_early": "whether a solution ends at the first test it doesn't pass, with the other tests not "
        "run: yes or no (default)",
        "fresh_per_test": "whether each test runs in a new process: yes, or no for one process per solution (default)",
        "fresh_namespace": "whether the program is executed again before each test, in the same process: yes "
        "or no (default)",
        "hash_seed": "value of PYTHONHASHSEED (default 0)",
        "hash_seeds": "number of hash seeds to run each solution under, to find verdicts that depend on the "
        "seed (default 1)",
        "extractor": "how code is extracted from a reply: "
        + "; ".join(f"{one.name}: {one.about}" for one in EXTRACTORS.values()),
        "python": "path of the Python interpreter to use, such as one with packages",
        "budget": "total time limit of a solution in one suite, in seconds, whether it computes or sleeps (default 60)",
        "memory": "memory limit of a solution, in megabytes (default 1024)",
        "scratch": "size of an empty folder that a solution may write in, in megabytes, at level L3; it "
        "counts as memory (default 0: no folder)",
    }
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "isolation": ("best", "L3", "L2", "L1"),
        **dict.fromkeys(("stop_early", "fresh_per_test", "fresh_namespace"), ("no", "yes")),
        "extractor": tuple(one.name for one in EXTRACTORS.values()),
    }
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "execution"
    isolation: Isolation = "sandbox"

    def __init__(
        self,
        suite: str = BASE,
        timeout: str = "",
        isolation: str = _BEST,
        stop_early: str = "no",
        fresh_per_test: str = "no",
        fresh_namespace: str = "no",
        hash_seed: str = "0",
        hash_seeds: str = "1",
        extractor: str = "fence",
        python: str = "",
        budget: str = "60",
        memory: str = "1024",
        scratch: str = "0",
    ) -> None:
        self.suites = _suite_names(suite)
        self._timeout = _parse_seconds("timeout", timeout) if timeout else None
        self.wanted = _require_choice("isolation", isolation, (_BEST, *get_args(Level)))
        self._stop_early = _parse_switch("stop_early", stop_early)
        self._fresh_process = _parse_switch("fresh_per_test", fresh_per_test)
        self._fresh_namespace = _parse_switch("fresh_namespace", fresh_namespace)
        first = _parse_integer("hash_seed", hash_seed, 0, 2**32 - _MOST_SEEDS)
        self.seeds = tuple(range(first, first + _parse_integer("hash_seeds", hash_seeds, 1, _MOST_SEEDS)))
        self._extractor = _require_choice("extractor", extractor, tuple(EXTRACTORS))
        self.extractor = str(EXTRACTORS[extractor])
        self.interpreter = _interpreter_path(python)
        self._budget = _parse_seconds("budget", budget)
        self._memory = _parse_megabytes("memory", memory, _LEAST_MEMORY)
        self.scratch = _parse_megabytes("scratch", scratch, 0) * 2**20
        if self.scratch and isolation not in (_BEST, "L3"):
            raise ValueError("scratch: only isolation L3 has a scratch folder")
        if self.scratch > (self._memory - _LEAST_MEMORY) * 2**20:
            raise ValueError(
                f"scratch: the folder is in memory, and {_LEAST_MEMORY} megabytes must be left for the program"
            )
        # Another interpreter is never started before its user has approved it: provenance gives its version.
        own = "" if self.interpreter else f"+python{sys.version_info.major}.{sys.version_info.minor}"
        self.version = f"{HARNESS_VERSION}{own}"

    def config(self) -> dict[str, object]:
        return {
            "suites": list(self.suites),
            "timeout": self._timeout,
            "isolation": self.wanted,
            "stop_early": self._stop_early,
            "fresh_per_test": self._fresh_process,
            "fresh_namespace": self._fresh_namespace,
            "hash_seeds": list(self.seeds),
            "extractor": self.extractor,
            "python": self.interpreter,
            "budget": self._budget,
            "memory": self._memory,
            **({"scratch": self.scratch // 2**20} if self.scratch else {}),
        }

    def settings(self, seed: int) -> PoolSettings:
        return PoolSettings(
            hash_seed=seed,
            stop_early=self._stop_early,
            fresh_per_test=self._fresh_process,
            fresh_namespace=self._fresh_namespace,
            memory_bytes=self._memory * 2**20,
            scratch_bytes=self.scratch,
            seconds_total=self._budget,
            python=self.interpreter,
        )

    def programs(self, problem: Problem, text: str, form: SolutionForm | None) -> dict[str, Program]:
        return {
            suite: program_of(
                problem, suite, text, form, self._extractor, seconds=self._timeout, grammar=self.interpreter is None
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
        code = code_of(problem, text, form, self._extractor)
        votes = [verdict_on(problem, text, code, found) for found in runs]
        if len(votes) == 1:
            return Judged(verdict=votes[0])
        return Judged(verdict=mark_unstable(votes[0], self.seeds, runs), votes=tuple(votes))


def _suite_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("suite: name at least one suite of tests")
    return names


def _parse_seconds(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (isfinite(value) and 0.01 <= value <= 3600):
        raise ValueError(f"{option}: must be a number of seconds from 0.01 to 3600, not {text!r}")
    return value


def _parse_integer(option: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise ValueError(f"{option}: it is a whole number from {least} to {most}, not {text!r}")
    return int(text)


def _parse_megabytes(option: str, text: str, least: int) -> int:
    return _parse_integer(option, text.removesuffix("MB"), least, 2**20)


def _require_choice(option: str, text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise ValueError(f"{option}: it is one of {', '.join(known)}, not {text!r}")
    return text


def _parse_switch(option: str, text: str) -> bool:
    return _WORDS[_require_choice(option, text.lower(), tuple(_WORDS))]


def _interpreter_path(text: str) -> str | None:
    """Return the interpreter's absolute path; links are kept, since virtual environments depend on them."""
    if not text:
        return None
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ValueError(f"python: there is no file {str(path)!r}")
    return str(path)
