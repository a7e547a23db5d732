"""Tests as a reward: a data set's columns with tests in place of references, and the test reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from workbench.core.code import BASE, PASS, Execution, Where
from workbench.core.verdict import Verdict
from workbench.training.frameworks import REFERENCES
from workbench.training.pay import SuiteVerdict
from workbench.verifiers.execution.evidence import decision_sites
from workbench.verifiers.execution.given import COLUMNS, RowProblem, tests_columns


def with_tests(columns: Mapping[str, Any], wanted: str | None, length: int) -> dict[str, Any]:
    """Return a data set's columns with tests in place of references; see `tests_columns` for arguments and errors."""
    tests = tests_columns(columns, wanted, length)
    known = {name: value for name, value in columns.items() if name not in (*REFERENCES, *COLUMNS)}
    return {**known, wanted or REFERENCES[1]: tests}


_OF_TIME: Final = frozenset("tn")
_INSIDE: Final[frozenset[Where]] = frozenset({"inside", "program"})
_LEAST: Final = 0.01


def suite_verdict(verdict: Verdict, given: RowProblem, runs: Mapping[str, Execution]) -> SuiteVerdict:
    ran = {suite: one for suite, one in runs.items() if not one.harness_killed}
    every = [
        (test, letter, _weight(given, suite, place))
        for suite, one in ran.items()
        for place, (test, letter) in enumerate(zip(given.problem.suites[suite], one.outcomes, strict=True))
        if letter != "b"
    ]
    forgeable = sum(one.forgeable for one in ran.values())
    missed = {letter for _, letter, _ in every if letter != PASS}
    passes = [(test, weight) for test, letter, weight in every if letter == PASS]
    total = sum(weight for _, _, weight in every)
    trusted = None
    if forgeable:
        where = decision_sites(given.problem, [test for test, _ in passes])
        # A non-plain value moves its test into the sandbox, and the message doesn't name the test: assume the hardest
        # one.
        sure = sorted(weight for test, weight in passes if where[test] not in _INSIDE)[: len(passes) - forgeable]
        trusted = len(sure) / len(every), sum(sure) / total
    return SuiteVerdict(
        **structs.asdict(verdict),
        passed=len(passes),
        total=len(every),
        forgeable=forgeable,
        late=bool(missed) and missed <= _OF_TIME,
        weighted=sum(weight for _, weight in passes) / total if total else None,
        trusted=trusted,
    )


def _weight(given: RowProblem, suite: str, place: int) -> float:
    if given.rates is None or suite != BASE:
        return 1.0
    return max(1 - given.rates[place], _LEAST)
