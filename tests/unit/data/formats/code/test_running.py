"""Imported code files behave correctly in the sandbox: references pass, other programs fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.unit.data.formats.code.documented_rows import EXAMPLES, problem, read
from workbench.core.code import Problem, ProblemRecord, SolutionRecord
from workbench.core.errors import VerifierError
from workbench.data.formats.reading import plan_file, read_records
from workbench.verifiers.execution.interpreter import program_of
from workbench.verifiers.execution.levels import best_level
from workbench.verifiers.execution.pool import SandboxPool

SAMPLE = Path(__file__).resolve().parents[5] / "sample_data"


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    try:
        level = best_level()
    except VerifierError as error:
        pytest.skip(str(error))
    with SandboxPool(level, 2) as made:
        yield made


def outcomes(pool: SandboxPool, problem: Problem, code: str) -> dict[str, str]:
    jobs = [(suite, program_of(problem, suite, code, "program")) for suite in problem.suites]
    return {suite: execution.outcomes for suite, execution in pool.run(jobs)}


REFERENCES: Mapping[str, str] = {
    "codeforces": "print(2 * int(input()))\n",
    "evolved": "def inc(x):\n    return x + 1\n",
    "evolvecoder": "def add(a, b):\n    return a + b\n",
    "livecodebench": "print(input())\n",
}
WRONG: Mapping[str, str] = {
    "code-contests": "print(3)\n",
    "codeforces": "print(4)\n",
    "synthetic": "def join(a, b):\n    return (*a, *b, 0)\n",
    "evolved": "def inc(x):\n    return 2\n",
    "problems": "def double(n):\n    return 4\n",
    "humaneval": "def half(n):\n    return n / 2\n",
    "evalplus": "def mean(numbers):\n    return sum(numbers) / 2\n",
    "mbpp": "def add(a, b):\n    return a - b\n",
    "apps": "input()\n",
    "taco": "class Solution:\n    def join(self, a, b):\n        return b + a\n",
    "bigcodebench": "def task_func(x):\n    return x / 2\n",
    "livecodebench": "print(1)\n",
    "scoring-verifiers": "def sign(n):\n    return 1 if n > 0 else -1\n",
    "evolvecoder": "def add(a, b):\n    return 3\n",
}
EXPECTED: Mapping[str, dict[str, str]] = {
    "code-contests": {"base": "pf", "public": "p"},
    "codeforces": {"base": "pf", "public": "p"},
    "synthetic": {"base": "f"},
    "evolved": {"base": "pf", "hard": "pf"},
    "problems": {"base": "pf", "plus": "f", "whole": "p", "hard": "f"},
    "humaneval": {"base": "pfp", "whole": "f"},
    "evalplus": {"base": "p", "plus": "ff"},
    "mbpp": {"base": "ff", "challenge": "f", "whole": "f"},
    "apps": {"base": "f"},
    "taco": {"base": "f"},
    "bigcodebench": {"base": "pf", "whole": "f"},
    "livecodebench": {"base": "pf", "public": "p"},
    "scoring-verifiers": {"base": "pp", "plus": "f"},
    "evolvecoder": {"base": "pf"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_reference_passes_and_another_program_does_not(pool: SandboxPool, name: str) -> None:
    asked = problem(name).problem
    passed = outcomes(pool, asked, REFERENCES.get(name, asked.canonical))
    assert set("".join(passed.values())) == {"p"}, passed
    assert outcomes(pool, asked, WRONG[name]) == EXPECTED[name]


def test_floats_are_compared_within_evalplus_tolerance(pool: SandboxPool) -> None:
    asked = problem("evalplus", plus_input=[[[0.1, 0.2]], [[1e300, 1e300]], [["a"]]]).problem
    near = "def mean(numbers):\n    return sum(n / len(numbers) for n in numbers) * (1 + 1e-9)\n"
    far = "def mean(numbers):\n    return sum(numbers) / len(numbers) + 1e-5\n"
    # The reference itself raises for a text, so the input tells nothing and is dropped.
    assert outcomes(pool, asked, near) == {"base": "p", "plus": "ppe"}
    assert outcomes(pool, asked, far) == {"base": "f", "plus": "fpe"}


def test_a_method_of_a_class_and_tuples_for_lists(pool: SandboxPool) -> None:
    asked = problem("taco").problem
    assert outcomes(pool, asked, "class Solution:\n    def join(self, a, b):\n        return (*a, *b)\n") == {
        "base": "p"
    }


def test_ranked_solutions_run_with_their_published_results(pool: SandboxPool) -> None:
    found = read("scoring-verifiers", EXAMPLES["scoring-verifiers"])
    assert isinstance(found[0], ProblemRecord)
    asked = found[0].problem
    for one in found[1:]:
        assert isinstance(one, SolutionRecord)
        letters = "".join(outcomes(pool, asked, one.code).values())
        assert (set(letters) == {"p"}) == one.gold


def test_the_labels_of_the_sample_equal_its_base_tests(pool: SandboxPool) -> None:
    with read_records(plan_file(SAMPLE / "code_problems.jsonl")) as (rows, _):
        problems = {row.problem.task_id: row.problem for row in rows if isinstance(row, ProblemRecord)}
    with read_records(plan_file(SAMPLE / "code_solutions.jsonl")) as (rows, _):
        solutions = {row.key: row for row in rows if isinstance(row, SolutionRecord)}
    # One loops for ever twice, which takes its time; the others show that the labels hold.
    del solutions["Sample/5/7"]
    jobs = [(key, program_of(problems[row.task_id], "base", row.code, "program")) for key, row in solutions.items()]
    passed = {key: set(execution.outcomes) == {"p"} for key, execution in pool.run(jobs)}
    assert passed == {key: row.gold for key, row in solutions.items()}
    references = [(key, program_of(one, "plus", one.canonical, "program")) for key, one in problems.items()]
    assert all(set(execution.outcomes) == {"p"} for _, execution in pool.run(references))
