"""The strategies ``test-cases`` and ``test-verification``: correct if and only if all simulated executions are right.

The first is h, the search's reward, as a separate verifier; if the judge may see a reference or an example, the model
that writes the tests sees them, too. The second is the baseline of MCTS-Judge, table 9: tests written from the code
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec
from msgspec import Struct

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, unusable
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.testcases.writing import (
    LEVELS,
    MAX_SAMPLES,
    OF_FUNCTION,
    TestCase,
    TestCaseOptions,
    TestServer,
    input_text,
    read_comparison,
    test_text,
    write_tests,
    writing_calls,
)
from workbench.verifiers.judges.voting import Draws, run_concurrently
from workbench.verifiers.option_record import parse_record

# -- Simulated execution of a submission on tests: h, correct if and only if all tests pass.


class TestRun(Struct, frozen=True, kw_only=True):
    """All executions of one test.

    Attributes:
        test: Its index in the problem's list of tests.
        matches: Number of executions whose output was found to be the expected one.
        mismatches: Number of executions whose output was found to be another one.
        unread: Number of executions without a verdict, since the comparison's reply could not be parsed.
        passed: Whether more than half of the requested executions match; None if unparsed ones leave it undecided.
    """

    __test__ = False

    test: int
    matches: int
    mismatches: int
    unread: int
    passed: bool | None


class ExecutionScore(Struct, frozen=True, kw_only=True):
    """The score h: False if a test failed, else None if a test is undecided, else True."""

    runs: list[TestRun]
    h: bool | None


class ComparisonTally:
    def __init__(self, test: int, delta: int) -> None:
        self.test, self._delta = test, delta
        self._needed = delta // 2 + 1
        self._found: list[bool | None] = []

    @property
    def passed(self) -> bool | None:
        """Return whether the test passes; None until that is certain."""
        if self._found.count(True) >= self._needed:
            return True
        return False if self._found.count(False) > self._delta - self._needed else None

    @property
    def shortest(self) -> int:
        """Return the minimum number of further comparisons that can decide the test; 0 once decided or all are made."""
        if self.passed is not None:
            return 0
        to_pass = self._needed - self._found.count(True)
        to_fail = self._delta - self._needed + 1 - self._found.count(False)
        return min(to_pass, to_fail, self._delta - self.made)

    @property
    def made(self) -> int:
        return len(self._found)

    def add(self, matches: Iterable[bool | None]) -> None:
        self._found += matches

    def run(self) -> TestRun:
        matches, mismatches = self._found.count(True), self._found.count(False)
        unread = self.made - matches - mismatches
        return TestRun(test=self.test, matches=matches, mismatches=mismatches, unread=unread, passed=self.passed)


class SubmissionExecutor:
    """Executes one submission on its problem's tests.

    Args:
        template: A template with the calls ``execute`` and ``compare``.
        tests: All tests.
        draws: The random draws that choose the executed tests.
    """

    def __init__(
        self,
        case: JudgeCase,
        ask: Ask,
        template: Template,
        tests: Sequence[TestCase],
        options: TestCaseOptions,
        draws: Draws,
    ) -> None:
        self.tests = tests
        self._case, self._ask, self._options, self._draws = case, ask, options, draws
        self._execute, self._compare = template.call("execute"), template.call("compare")

    async def run(self, batch: int = 0) -> ExecutionScore:
        """Draw some of the tests and execute them; ``batch`` distinguishes independent draws and executions."""
        places = self._draws.sample(range(len(self.tests)), self._options.gamma, "tests", batch)
        tallies = [ComparisonTally(place, self._options.delta) for place in places]
        if self._options.early_stop:
            for tally in tallies:
                while tally.shortest:
                    await self._compare_more([(tally, tally.shortest)], batch)
                if tally.passed is False:
                    break
        else:
            await self._compare_more([(tally, self._options.delta) for tally in tallies], batch)
        runs = [tally.run() for tally in tallies if tally.made]
        results = [run.passed for run in runs]
        return ExecutionScore(runs=runs, h=False if False in results else None if None in results else True)

    async def _compare_more(self, wanted: Sequence[tuple[ComparisonTally, int]], batch: int) -> None:
        jobs = [(tally, tally.made + number) for tally, more in wanted for number in range(more)]
        first = batch * MAX_SAMPLES
        outputs = await run_concurrently(self._execute_test(tally.test, first + number) for tally, number in jobs)
        matches = await run_concurrently(
            self._compare_output(tally.test, output, first + number)
            for (tally, number), output in zip(jobs, outputs, strict=True)
        )
        for (tally, _), matched in zip(jobs, matches, strict=True):
            tally.add((matched,))

    async def _execute_test(self, place: int, sample: int) -> DelimitedReply:
        made = {"input": input_text(self.tests[place])}
        return await self._case.ask(self._ask, self._execute, made, sample=sample)

    async def _compare_output(self, place: int, output: DelimitedReply, sample: int) -> bool | None:
        made = {"test": test_text(self.tests[place]), "execute": output.answer}
        heard = await self._case.ask(self._ask, self._compare, made, sample=sample)
        return None if unusable(output) or unusable(heard) else read_comparison(heard.reply.text, heard.fence)


def execution_calls(options: TestCaseOptions) -> float:
    """Return the number of calls for one score h; with early stopping, as if all executions of a test agreed."""
    runs = options.delta // 2 + 1 if options.early_stop else options.delta
    return 2 * options.gamma * runs


class TestCases:
    """Verification by test cases.

    Args:
        template: The template ``mcts``.
        parser: Not used: PASS, FAIL, MATCH and NOT MATCH have separate parsers.
        options: A judge's options.

    Raises:
        ValueError: An option is wrong.
    """

    __test__ = False
    _levels: ClassVar[tuple[str, ...]] = LEVELS
    _judge: ClassVar[str] = "test-cases"

    def __init__(self, template: Template, parser: Parser, options: Mapping[str, str]) -> None:
        self._template = template
        self._options = parse_record(TestCaseOptions, options)
        self._writer = TestServer(options)

    def config(self) -> dict[str, object]:
        return {**msgspec.to_builtins(self._options), **self._writer.config()}

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        return self._writer.servers(judge)

    def calls_per_item(self) -> float:
        """Return the number of calls for writing and executing the tests; items with equal requests share those for
        writing."""
        return writing_calls(self._options, len(self._levels)) + execution_calls(self._options)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Write tests, execute some, and require all of them to pass; without tests abstain."""
        options = self._options
        tests = await write_tests(
            case, ask, self._template, options.beta, self._writer.role, alone=False, levels=self._levels
        )
        draws = Draws(options.seed, case.texts["question"], case.texts["completion"])
        executed = await SubmissionExecutor(case, ask, self._template, tests.kept, options, draws).run()
        trace = {"judge": self._judge, "tests": tests, "execution": executed}
        return Judged(verdict=_verdict(executed), trace=msgspec.to_builtins(trace))


class TestVerification(TestCases):
    """The baseline of test-case verification that MCTS-Judge is compared with: each submission has separate tests.

    The model that writes them sees the code, the required function and the public examples. The paper doesn't state how
    tests determine a verdict: all executed tests must pass, as in h. It prints no prompts for formatting tests or
    comparing outputs: these are those of the search. Source: MCTS-Judge, tables 1 and 9.
    """

    _levels = OF_FUNCTION
    _judge = "test-verification"


def _verdict(executed: ExecutionScore) -> Verdict:
    if not executed.runs:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_tests")
    passed = sum(run.passed is True for run in executed.runs)
    words = f"{passed} of {len(executed.runs)} tests pass"
    if executed.h is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed", detail=words)
    return Verdict(
        outcome=Outcome.CORRECT if executed.h else Outcome.INCORRECT, score=passed / len(executed.runs), detail=words
    )
