"""The strategy ``test-cases``: correct if and only if a simulated execution gives the expected outputs.

The baseline of MCTS-Judge, table 9: where the judge may see a reference or an example, the tests' writer sees them too.
Without them it is h alone, the search's reward as a verifier of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.draws import Draws
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.testcases.execution import ExecutionScore, SubmissionExecutor, execution_calls
from workbench.verifiers.judges.testcases.options import testcase_options
from workbench.verifiers.judges.testcases.server import TestServer
from workbench.verifiers.judges.testcases.writing import write_tests, writing_calls


class TestCases:
    """Verification by test cases.

    Args:
        template: ``mcts``.
        parser: Not used: PASS, FAIL, MATCH and NOT MATCH have readers of their own.
        options: As in `TESTCASE_OPTIONS` and `TEST_SERVER_OPTIONS`.

    Raises:
        ValueError: An option is wrong.
    """

    __test__ = False

    def __init__(self, template: Template, parser: Parser, options: Mapping[str, str]) -> None:
        self._template = template
        self._options = testcase_options(options)
        self._writer = TestServer(options)

    def config(self) -> dict[str, object]:
        """Every option of the tests, and who writes them."""
        return {**msgspec.to_builtins(self._options), **self._writer.config()}

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        """The judge's and, if it is another one, that which writes tests."""
        return self._writer.servers(judge)

    def calls_per_item(self) -> float:
        """Writing the tests and executing them; other completions of the problem share the first part."""
        return writing_calls(self._options) + execution_calls(self._options)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Write tests, execute some, and require all of them to pass; without tests it abstains."""
        options = self._options
        tests = await write_tests(case, ask, self._template, options.beta, self._writer.role, alone=False)
        draws = Draws(options.seed, case.texts["question"], case.texts["completion"])
        executed = await SubmissionExecutor(case, ask, self._template, tests.kept, options, draws).run()
        trace = {"judge": "test-cases", "tests": tests, "execution": executed}
        return Judged(verdict=_verdict(executed), trace=msgspec.to_builtins(trace))


def _verdict(executed: ExecutionScore) -> Verdict:
    if not executed.runs:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_tests")
    passed = sum(run.passed is True for run in executed.runs)
    words = f"{passed} of {len(executed.runs)} tests pass"
    if executed.h is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed", detail=words)
    return Verdict(
        outcome=Outcome.CORRECT if executed.h else Outcome.INCORRECT,
        score=passed / len(executed.runs),
        detail=words,
    )
