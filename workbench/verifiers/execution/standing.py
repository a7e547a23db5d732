"""Where it is decided whether a solution passes a test, for those who look at tests without running any."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.code import CodeTest, Problem, Where
from workbench.core.code_tests.broken import broken_tests
from workbench.core.code_tests.callees import callees
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.runners import runner_of


def standings(problem: Problem, tests: Iterable[CodeTest]) -> dict[CodeTest, Where]:
    """Where each of a problem's tests is decided.

    Broken tests of other languages than Python are not known before they are run.
    """
    every = list(dict.fromkeys(tests))
    broken = broken_tests(problem, every)
    return {test: "broken" if place in broken else _where(problem, test) for place, test in enumerate(every)}


def _where(problem: Problem, test: CodeTest) -> Where:
    if test.form == "stdio" or test.form == "program":
        return test.form
    if problem.language == "python":
        outside = callees(problem.entry_point, problem.setup).outside(test.source) is not None
    else:
        outside = _is_outside(problem, test)
    return "outside" if outside else "inside"


def _is_outside(problem: Problem, test: CodeTest) -> bool:
    try:
        runner = runner_of(problem.language)
    except VerifierError:
        return False
    return runner.outside(test, problem.entry_point, problem.setup) is not None
