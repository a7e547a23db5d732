"""Test cases that a model writes, checks and then executes by reasoning.

A submission is simulated on them, and judged by the result only.

Source: MCTS-Judge, arXiv 2502.12468, section 3.3 and tables 9, 12 and 13.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Struct, structs

from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer, RequestExtras
from workbench.verifiers.base import TEST_SERVER_AT, Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, fill_call, unusable
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.parsers.base import DOUBT, MARKUP, own_lines, verdict_in
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.voting import Draws, run_concurrently
from workbench.verifiers.option_record import parse_record
from workbench.verifiers.serving import extras_from, model_name, server_from

# -- Options of test cases and their simulated execution.


MAX_SAMPLES = 100
"""Maximum validations or executions of a test. Samples are numbered in steps of it, so that judges with different
numbers of them share the common ones.
"""


class TestCaseOptions(Options, frozen=True, kw_only=True):
    """Settings of the tests; the defaults are those of MCTS-Judge, table 6."""

    __test__ = False

    beta: Annotated[
        int, option("number of validations of each written test; all must pass it", ge=1, le=MAX_SAMPLES)
    ] = 5
    gamma: Annotated[int, option("number of tests that are executed", ge=1, le=MAX_SAMPLES)] = 3
    delta: Annotated[int, option("number of simulated executions of a test; most must match", ge=1, le=MAX_SAMPLES)] = 7
    early_stop: Annotated[bool, option("whether execution stops as soon as the result is decided")] = False
    seed: Annotated[int, option("seed of all random choices")] = 0


# -- Parsing replies about test cases: lists of tests, PASS or FAIL, MATCH or NOT MATCH.


_VALUE_START = re.compile(r"\[\s*\{|\{")
_ATTEMPTS = 200
# In capitals, as requested: in prose a test passes and two numbers match.
_PASS = re.compile(r"\b(PASS|FAIL)(?:ED|S)?\b")
_MATCH = re.compile(r"((?i:\bnot\b|n['’]t\b)[ \t*_]*\bMATCH\b|\bMISMATCH\b|\bMATCH\b)")
_MAX_DEPTH = 3


class TestCase(Struct, frozen=True, order=True):
    """An input and the output of a correct program.

    Attributes:
        function: The function to call, as the test's writer names it; "" for a whole program.
    """

    __test__ = False

    function: str
    input: str
    expected: str


def read_tests(said: str, most: int) -> tuple[TestCase, ...]:
    """Parse the first tests in a reply: objects with ``input`` and ``expected_output``, in a list or grouped by
    function name."""
    found: list[TestCase] = []
    for value in _json_values(said):
        found += _collect_tests(value)
    return tuple(found[:most])


def read_validation(raw: str, delimiter: str | None) -> bool | None:
    """Return whether a test was found correct, by the last line with PASS or FAIL; None without such a line."""
    word = _last_word(raw, delimiter, _PASS, ("PASS", "FAIL"))
    return None if word is None else word == "PASS"


def read_comparison(raw: str, delimiter: str | None) -> bool | None:
    """Return whether an output is the expected one, by the last line with MATCH or NOT MATCH; None without such a
    line."""
    words = _last_word(raw, delimiter, _MATCH, ("MATCH", "NOT MATCH"))
    return None if words is None else words == "MATCH"


def _last_word(raw: str, delimiter: str | None, pattern: re.Pattern[str], alone: tuple[str, str]) -> str | None:
    def read(line: str) -> str | None:
        bare = line.strip(MARKUP).upper()
        if bare in alone:
            return bare
        found = {word if word in alone else alone[1] for word in pattern.findall(line)}
        return DOUBT if len(found) > 1 else next(iter(found), None)

    word = verdict_in(own_lines(raw, delimiter), read)
    return None if word == DOUBT else word


def _json_values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    place = 0
    for _ in range(_ATTEMPTS):
        start = _VALUE_START.search(text, place)
        if start is None:
            return
        try:
            value, place = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.start() + 1
        else:
            yield value


def _collect_tests(value: Any, function: str = "", depth: int = 0) -> list[TestCase]:
    if isinstance(value, dict) and "input" in value and "expected_output" in value:
        return [TestCase(function, _as_text(value["input"]), _as_text(value["expected_output"]))]
    if depth == _MAX_DEPTH or not isinstance(value, list | dict):
        return []
    inner = value.items() if isinstance(value, dict) else ((function, one) for one in value)
    return [test for name, one in inner for test in _collect_tests(one, name, depth + 1)]


def _as_text(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "..."
    return text.encode("utf-8", "replace").decode()


LEVELS: Final = ("easy", "medium", "hard")
"""The difficulties of tests; the paper has levels but doesn't name them."""
OF_FUNCTION: Final = ("unit",)
"""The level of tests that are written for one function, without levels."""
TESTS_PER_LEVEL: Final = 5


class WrittenTests(Struct, frozen=True, kw_only=True):
    """The tests of a problem.

    Attributes:
        written: Number of tests before validation, at all levels.
        kept: Distinct tests that passed every validation.
    """

    written: int
    kept: list[TestCase]


async def write_tests(
    case: JudgeCase, ask: Ask, template: Template, beta: int, role: str, alone: bool, levels: tuple[str, ...] = LEVELS
) -> WrittenTests:
    """Write and validate tests: at each level one generation, one reformat and ``beta`` validations of each test.

    The requests contain nothing of the judge's settings, and nothing of the submission unless the template includes
    it; so all judgments of a problem share the replies. Source: MCTS-Judge, section 3.3 and table 12.

    Args:
        case: The item; tests are written for its question.
        template: A template with the calls ``generate``, ``reformat`` and ``validate``.
        role: The role of the server that writes.
        alone: Whether the model sees only the problem; else also the reference and the example, if the judge may see
            them.
        levels: Levels of difficulty, each with separate tests.
    """
    writer = _TestWriter(case, ask, template, role)
    hidden = {"reference": "", "example": ""} if alone else {}
    drafts = await run_concurrently(writer.ask_step("generate", level, hidden) for level in levels)
    lists = await run_concurrently(
        writer.ask_step("reformat", level, {"generate": one.answer}) for level, one in zip(levels, drafts, strict=True)
    )
    tests = [(level, test) for level, heard in enumerate(lists) for test in read_tests(heard.answer, TESTS_PER_LEVEL)]
    # A test that is written at two levels is validated twice: its samples belong to its level.
    trials = [(level, test, level * MAX_SAMPLES + trial) for level, test in tests for trial in range(beta)]
    results = await run_concurrently(writer.validates(levels[level], test, sample) for level, test, sample in trials)
    failed = {trial[:2] for trial, passed in zip(trials, results, strict=True) if passed is not True}
    kept = dict.fromkeys(test for level, test in tests if (level, test) not in failed)
    return WrittenTests(written=len(tests), kept=list(kept))


def writing_calls(options: TestCaseOptions, levels: int = len(LEVELS)) -> float:
    return levels * (2 + TESTS_PER_LEVEL * options.beta)


def input_text(test: TestCase) -> str:
    return f"{test.function}: {test.input}" if test.function not in ("", "main") else test.input


def test_text(test: TestCase) -> str:
    return f"Input: {input_text(test)}\nExpected output: {test.expected}"


class _TestWriter:
    def __init__(self, case: JudgeCase, ask: Ask, template: Template, role: str) -> None:
        self._case, self._ask, self._role = case, ask, role
        # A seed belongs to a judge; with it each judge would pay for separate tests.
        self._calls = {
            call.name: structs.replace(call, sampling=structs.replace(call.sampling, seed=None))
            for call in template.calls
        }

    async def ask_step(self, name: str, level: str, made: Mapping[str, str], sample: int = 0) -> DelimitedReply:
        call = fill_call(self._calls[name], level=level)
        step = f"{level} tests: {name}"
        return await self._case.ask(self._ask, call, made, step=step, role=self._role, sample=sample)

    async def validates(self, level: str, test: TestCase, sample: int) -> bool | None:
        answer = await self.ask_step("validate", level, {"test": test_text(test)}, sample)
        return None if unusable(answer) else read_validation(answer.reply.text, answer.fence)


# -- The server that writes test cases: by default the judge's.


class TestServerOptions(Options, frozen=True, kw_only=True):
    """The server that writes tests; it parses the options as those of the judge's server."""

    __test__ = False

    test_model: Annotated[
        str | None, option("model that writes and validates tests (default: the judge)", read=model_name)
    ] = None
    test_base_url: Annotated[str | None, option("base URL of test_model's server (default: the judge's)")] = None
    test_api_key_env: Annotated[str | None, option("environment variable with the API key for test_base_url")] = None
    test_reasoning_effort: Annotated[str | None, option("reasoning effort of test_model (default: the judge's)")] = None
    test_extra_body: Annotated[str | None, option("JSON fields added to each request to test_model")] = None


_AS = {name: name.removeprefix("test_") for name in TestServerOptions.__struct_fields__}
_ITS_OWN: Final = ("test_reasoning_effort", "test_extra_body")


class TestServer:
    """The server that writes tests.

    Args:
        options: A judge's options; those of `TestServerOptions` are used.

    Raises:
        ValueError: An option is missing or wrong.
    """

    __test__ = False

    def __init__(self, options: Mapping[str, str]) -> None:
        self._model = parse_record(TestServerOptions, options).test_model
        self._server: ModelServer | None = None
        if "test_base_url" in options:
            # The judge's key must not be sent to another host.
            try:
                self._server = server_from({_AS[name]: value for name, value in options.items() if name in _AS})
            except ValueError as error:
                raise ValueError(f"test_{error}") from error
        elif "test_api_key_env" in options:
            raise ValueError(
                "test_api_key_env: only test_base_url needs it; the key of the judge's own server is api_key_env"
            )
        self._extras = self._extras_for_tests(options)

    def _extras_for_tests(self, options: Mapping[str, str]) -> RequestExtras | None:
        named = [name for name in _ITS_OWN if name in options]
        if self._server is not None or not named:
            return None
        if self._model is None:
            raise ValueError(f"{named[0]}: it requires test_model; the judge takes {_AS[named[0]]}")
        try:
            return extras_from({_AS[name]: options[name] for name in named})
        except ValueError as error:
            raise ValueError(f"test_{error}") from error

    @property
    def role(self) -> str:
        return "tests" if self._model or self._server else "judge"

    def config(self) -> dict[str, object]:
        said: dict[str, object] = {
            "test_model": self._model,
            "test_server": self._server.profile if self._server else None,
        }
        extras = self._server.extras if self._server else self._extras
        if extras is not None and extras.config():
            said["test_extras"] = extras.config()
        return said | ({TEST_SERVER_AT: list(self._server.identities)} if self._server else {})

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        if self.role == "judge":
            return {"judge": judge}
        if self._server is not None:
            return {"judge": judge, "tests": self._server}
        extras = judge.extras
        if self._extras is not None:
            effort = self._extras.reasoning_effort or extras.reasoning_effort
            body = self._extras.body or extras.body
            extras = structs.replace(extras, reasoning_effort=effort, body=body)
        return {"judge": judge, "tests": structs.replace(judge, model=self._model or judge.model, extras=extras)}


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
        answer = await self._case.ask(self._ask, self._compare, made, sample=sample)
        return None if unusable(output) or unusable(answer) else read_comparison(answer.reply.text, answer.fence)


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
