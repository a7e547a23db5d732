"""A problem's test cases: written, put into form and validated by a model that sees no submission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, structs

from workbench.llm.records import Ask
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase
from workbench.verifiers.judges.outcome import unusable
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.testcases.options import MOST_SAMPLES, TestCaseOptions
from workbench.verifiers.judges.testcases.reading import TestCase, read_tests, read_validation
from workbench.verifiers.judges.together import together
from workbench.verifiers.judges.told import told

LEVELS: Final = ("easy", "medium", "hard")
"""The difficulties tests are written at; the paper has levels but doesn't name them."""

TESTS_PER_LEVEL: Final = 5


class WrittenTests(Struct, frozen=True, kw_only=True):
    """The tests of a problem.

    Attributes:
        written: How many there were before validation, at all levels.
        kept: Those that every validation passed, each once.
    """

    written: int
    kept: list[TestCase]


async def write_tests(case: JudgeCase, ask: Ask, template: Template, beta: int, role: str, alone: bool) -> WrittenTests:
    """Write and validate tests: one generation, one reformat and ``beta`` validations a test, at each level.

    The requests hold nothing of the submission and none of the judge's settings, so all judgments of a problem share
    the replies. Source: MCTS-Judge, section 3.3 and table 12.

    Args:
        case: The item; its question is what tests are written for.
        template: With calls ``generate``, ``reformat`` and ``validate``.
        role: Which server writes.
        alone: The writer sees the problem alone; else the reference and the example too, where the judge may see them.
    """
    writer = _TestWriter(case, ask, template, role)
    hidden = {"reference": "", "example": ""} if alone else {}
    drafts = await together(writer.heard("generate", level, hidden) for level in LEVELS)
    lists = await together(
        writer.heard("reformat", level, {"generate": draft.said}) for level, draft in zip(LEVELS, drafts, strict=True)
    )
    tests = [(level, test) for level, heard in enumerate(lists) for test in read_tests(heard.said, TESTS_PER_LEVEL)]
    # A test that is written at two levels is validated as two: its samples are those of its level.
    trials = [(level, test, level * MOST_SAMPLES + trial) for level, test in tests for trial in range(beta)]
    results = await together(writer.validates(level, test, sample) for level, test, sample in trials)
    failed = {trial[:2] for trial, passed in zip(trials, results, strict=True) if passed is not True}
    kept = dict.fromkeys(test for level, test in tests if (level, test) not in failed)
    return WrittenTests(written=len(tests), kept=list(kept))


def writing_calls(options: TestCaseOptions) -> float:
    """Calls for a problem's tests, when each level has its five."""
    return len(LEVELS) * (2 + TESTS_PER_LEVEL * options.beta)


def told_input(test: TestCase) -> str:
    """A test's input as a prompt shows it."""
    return f"{test.function}: {test.input}" if test.function not in ("", "main") else test.input


def told_test(test: TestCase) -> str:
    """A whole test as a prompt shows it."""
    return f"Input: {told_input(test)}\nExpected output: {test.expected}"


class _TestWriter:
    """The model that writes tests for one problem."""

    def __init__(self, case: JudgeCase, ask: Ask, template: Template, role: str) -> None:
        self._case, self._ask, self._role = case, ask, role
        # A seed is a judge's own; with it each judge would pay for tests of its own.
        self._calls = {
            call.name: structs.replace(call, sampling=structs.replace(call.sampling, seed=None))
            for call in template.calls
        }

    async def heard(self, name: str, level: str, made: Mapping[str, str], sample: int = 0) -> DelimitedReply:
        call = told(self._calls[name], level=level)
        step = f"{level} tests: {name}"
        return await self._case.ask(self._ask, call, made, step=step, role=self._role, sample=sample)

    async def validates(self, level: int, test: TestCase, sample: int) -> bool | None:
        heard = await self.heard("validate", LEVELS[level], {"test": told_test(test)}, sample)
        return None if unusable(heard) else read_validation(heard.reply.text, heard.fence)
