"""The verdict that outcomes of tests imply, with the first failure as its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from workbench.core.code import BROKEN, HARNESS_KILLED, NOT_RUN, PASS, CodeTest, Execution, Failure, Problem, Where
from workbench.core.code_tests.broken import broken_tests
from workbench.core.code_tests.callees import callees
from workbench.core.errors import VerifierError
from workbench.core.text.figures import counted
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.execution.interpreter import Code
from workbench.verifiers.execution.runners import runner_of

_REASONS: Final = {
    "f": "assertion",
    "e": "exception",
    "s": "syntax",
    "t": "time_limit",
    "x": "killed",
    "n": "time_limit",
}
"""Outcome letter of the first test that isn't passed -> reason code; a test that was not run had no time left."""
_LONGEST_TEST = 300


class _FirstFailure(NamedTuple):
    suite: str
    position: int
    letter: str
    failure: Failure | None


def verdict_on(problem: Problem, text: str, code: Code, found: Mapping[str, Execution]) -> Verdict:
    """Return the verdict that outcomes by suite imply.

    Args:
        problem: The problem with the tests of these suites.
        text: The stored solution.
        code: The code that was run.
        found: Outcomes by suite, of at least one suite.
    """
    executions = list(found.values())
    total = sum(one.counted for one in executions)
    ms = sum(one.ms * one.ran for one in executions)
    if any(one.harness_killed for one in executions):
        return Verdict(
            outcome=Outcome.ERROR,
            reason=HARNESS_KILLED,
            detail="The process that runs solutions died over this one; its tests say nothing.",
            ms=ms,
        )
    apart = _count_excluded(problem, found)
    if not total:
        return Verdict(outcome=Outcome.ABSTAIN, reason="broken_tests", detail=apart.error, ms=ms)
    score = sum(one.passed for one in executions) / total
    first = _find_first_failure(found)
    if first is None:
        return Verdict(outcome=Outcome.CORRECT, score=score, reason="tests_passed", detail=apart.words or None, ms=ms)
    failure = first.failure
    return Verdict(
        outcome=Outcome.INCORRECT,
        score=score,
        reason=_reason(first, found[first.suite].outcomes),
        rule=f"test.{first.suite}.{first.position + 1}",
        reference_final=None if failure is None else failure.expected,
        candidate_final=None if failure is None else failure.got,
        candidate_span=None if failure is None else _locate_line(text, code, failure.line),
        detail=_detail(problem, first, len(found[first.suite].outcomes), apart.words),
        ms=ms,
    )


def without_tests(problem: Problem | None, suites: Sequence[str]) -> Verdict:
    detail = "no code problem" if problem is None else f"no tests in {' or '.join(suites)}"
    return Verdict(outcome=Outcome.ABSTAIN, reason="no_tests", detail=detail)


def mark_unstable(verdict: Verdict, seeds: Sequence[int], runs: Sequence[Mapping[str, Execution]]) -> Verdict:
    """Return the verdict under the first hash seed, marked if other seeds give other outcomes."""
    first = _outcomes(runs[0])
    others = [str(seed) for seed, found in zip(seeds, runs, strict=True) if _outcomes(found) != first]
    if not others or verdict.outcome is Outcome.ERROR:
        return verdict
    text = f"other outcomes with PYTHONHASHSEED={', '.join(others)} than with {seeds[0]}"
    return structs.replace(verdict, reason="unstable", detail=" · ".join(filter(None, (text, verdict.detail))))


def _outcomes(found: Mapping[str, Execution]) -> dict[str, str]:
    return {suite: one.outcomes for suite, one in found.items()}


def _reason(first: _FirstFailure, outcomes: str) -> str:
    return "exception" if first.letter == "s" and set(outcomes) - {"s", BROKEN} else _REASONS[first.letter]


def _find_first_failure(found: Mapping[str, Execution]) -> _FirstFailure | None:
    missed = [
        (suite, position, letter)
        for suite, one in found.items()
        for position, letter in enumerate(one.outcomes)
        if letter not in (PASS, BROKEN)
    ]
    if not missed:
        return None
    # Tests run in groups, so a test that was not run may precede the one that ended the program.
    suite, position, letter = next((one for one in missed if one[2] != NOT_RUN), missed[0])
    failure = next((failure for failure in found[suite].failures if failure.position == position), None)
    return _FirstFailure(suite, position, letter, failure)


class _ExcludedTests(NamedTuple):
    """The number of excluded tests, and the most frequent reason: an error in the test, or an annotator's decision."""

    tests: int
    error: str | None

    @property
    def words(self) -> str:
        if not self.tests:
            return ""
        why = f": {self.error}" if self.error else ""
        return f"{counted(self.tests, 'test')} excluded{why}"


def _count_excluded(problem: Problem, found: Mapping[str, Execution]) -> _ExcludedTests:
    errors: Counter[str] = Counter()
    for suite, one in found.items():
        if BROKEN in one.outcomes:
            errors.update(wrong.error for wrong in broken_tests(problem, problem.suites.get(suite, ()), suite).values())
            errors.update(one.words for one in problem.apart.get(suite, {}).values())
    count = sum(one.outcomes.count(BROKEN) for one in found.values())
    return _ExcludedTests(count, errors.most_common(1)[0][0] if errors else None)


def _detail(problem: Problem, first: _FirstFailure, total: int, apart: str) -> str:
    failure = first.failure
    test = problem.suites[first.suite][first.position]
    parts = [f"{first.suite} {first.position + 1} of {total}", _shorten_test(test)]
    if failure is not None:
        raised = ": ".join(filter(None, (failure.error, " ".join((failure.message or "").split()))))
        parts += [raised, "" if failure.line is None else f"line {failure.line}"]
    parts.append(apart)
    return " · ".join(part for part in parts if part)


def _shorten_test(test: CodeTest) -> str:
    if test.form == "program":
        return ""
    text = f"input {test.source.strip()}" if test.form == "stdio" else test.source.strip()
    return text if len(text) <= _LONGEST_TEST else text[: _LONGEST_TEST - 1] + "…"


def _locate_line(text: str, code: Code, line: int | None) -> tuple[int, int] | None:
    lines = text.split("\n")
    place = -1 if line is None else code.first_line + line - 1
    if not 0 <= place < len(lines):
        return None
    found = lines[place]
    start = sum(len(before) + 1 for before in lines[:place]) + len(found) - len(found.lstrip())
    end = start + len(found.strip())
    return (start, end) if start < end else None


# -- Where a test's outcome is decided, without running it.


def decision_sites(problem: Problem, tests: Iterable[CodeTest], suite: str | None = None) -> dict[CodeTest, Where]:
    """Return for each of a problem's tests where its outcome is decided: inside or outside the sandbox.

    Broken tests in other languages than Python are not known before they are run.
    """
    every = list(dict.fromkeys(tests))
    broken = broken_tests(problem, every, suite)
    return {test: "broken" if place in broken else _decision_site(problem, test) for place, test in enumerate(every)}


def _decision_site(problem: Problem, test: CodeTest) -> Where:
    if test.form == "stdio" or test.form == "program":
        return test.form
    if problem.language == "python":
        outside = callees(problem.entry_point, problem.setup).assertion_outside(test.source) is not None
    else:
        outside = _is_compared_outside(problem, test)
    return "outside" if outside else "inside"


def _is_compared_outside(problem: Problem, test: CodeTest) -> bool:
    try:
        runner = runner_of(problem.language)
    except VerifierError:
        return False
    return runner.outside(test, problem.entry_point, problem.setup) is not None
