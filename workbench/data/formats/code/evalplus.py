"""EvalPlus' own files: inputs without the values expected, which the reference solution gives.

The reference is never run here. Each test calls it beside the solution, in the sandbox, and compares; passes of such
tests are forgeable and marked so, as those of any test that is more than one call of the solution.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from workbench.core.code import Problem, ProblemRecord
from workbench.core.code_tests.assertion import parsed
from workbench.data.formats.code.literals import DEFINITION, NAME, arguments
from workbench.data.formats.code.row import CodeRow, Tests, named, program, source_of, statements, tests_from
from workbench.data.formats.code.splitting import CANDIDATE, SplitSource, split_check, split_module
from workbench.data.formats.lines import RefusedError

REFERENCE: Final = "reference"
_ORACLES: Final = ("find_zero", "are_equivalent", "sum_div")
"""Functions that EvalPlus checks by rules of their own."""


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "prompt", "entry_point", "canonical_solution", "base_input", "plus_input"} <= set(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row: the inputs of HumanEval as ``base``, those added as ``plus``.

    Raises:
        RefusedError: A field is missing or of another type, or what the inputs mean isn't in the file.
    """
    task_id, entry_point = row.identifier("task_id"), row.text("entry_point")
    prompt = row.text("prompt")
    canonical = prompt + row.text("canonical_solution")
    refused = unsupported(task_id, entry_point)
    if refused is not None:
        raise refused
    base, plus = inputs(row)
    problem = Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=canonical,
        entry_point=entry_point,
        setup=setup(entry_point, canonical),
        suites=named(base=base, plus=plus),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source_of(task_id), extra=row.extra())


def unsupported(task_id: str, entry_point: str) -> RefusedError | None:
    """Why the inputs of a problem can't be taken as they stand in the file; None where they can."""
    if task_id.startswith("Mbpp/"):
        message = (
            "base_input of MBPP+ holds lists where tuples and sets are meant, task by task. "
            "Import MBPP+ in the form with test_list and test (evalplus/mbppplus) instead."
        )
        return RefusedError("unsupported", "base_input", message)
    if entry_point in _ORACLES:
        message = (
            f"EvalPlus checks {entry_point} by a rule of its own. Import HumanEval+ in the form with test instead."
        )
        return RefusedError("unsupported", "entry_point", message)
    return None


def inputs(row: CodeRow) -> tuple[Tests, Tests]:
    """Tests of a row's ``base_input`` and ``plus_input``, within ``atol``.

    Raises:
        RefusedError: They are no lists of arguments.
    """
    atol = row.number("atol") or 0.0
    return _tests(row, "base_input", atol), _tests(row, "plus_input", atol)


def setup(entry_point: str, canonical: str) -> str:
    """Code that stands before the tests: the solution's function, the reference's, and the comparison."""
    return (
        f"{CANDIDATE} = {entry_point}\n{REFERENCE} = {{}}\nexec({canonical!r}, {REFERENCE})\n"
        f"{REFERENCE} = {REFERENCE}[{entry_point!r}]\n{DEFINITION}"
    )


def _tests(row: CodeRow, key: str, atol: float) -> Tests:
    found: list[Any] = row.value(key, list[list[Any]], "a list of lists of arguments") or []
    calls = (arguments(given, key) for given in found)
    return statements(f"{NAME}({CANDIDATE}({call}), {REFERENCE}({call}), {atol!r})" for call in calls)


# -- HumanEval, and HumanEval+ in its form: a prompt, what follows it, and a function ``check(candidate)``.


_EXTENDED: Final = re.compile(r"^    inputs = \[", re.MULTILINE)
"""How the check of HumanEval+ begins: with all inputs, its own and those added."""


def fits_humaneval(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "prompt", "entry_point", "canonical_solution", "test"} <= set(keys)


def read_humaneval(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row: its checks as ``base``, or, of HumanEval+, base and added ones together as ``plus``.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id, entry_point = row.identifier("task_id"), row.text("entry_point")
    prompt, test = row.text("prompt"), row.text("test")
    split = split_check(test, entry_point)
    whole = program(f"{test.rstrip()}\n\ncheck({entry_point})\n")
    tests = split.tests or whole
    extended = _EXTENDED.search(test) is not None
    suites = named(plus=tests, plus_whole=whole) if extended else named(base=tests, whole=whole)
    problem = Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=prompt + row.text("canonical_solution"),
        entry_point=entry_point,
        setup=split.setup,
        suites=suites,
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source_of(task_id), extra=row.extra())


# -- MBPP, its sanitized part, and MBPP+ in their form: assertions as texts, MBPP+ with a loop over inputs besides.


SOURCE = "code/MBPP"


def fits_mbpp(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "code", "test_list"} <= set(keys) and not {"text", "prompt"}.isdisjoint(keys)


def read_mbpp(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    code, base = row.text("code"), tests_from(row, "test_list")
    entry_point = called(code, [test.source for test in base])
    plus = row.maybe_text("test")
    split = split_module(plus, entry_point) if plus is not None else SplitSource()
    before = [row.maybe_text("test_setup_code") or "", *row.texts("test_imports")]
    whole = _joined([*before, *(test.source for test in base)])
    problem = Problem(
        task_id=row.identifier("task_id"),
        prompt=row.text("prompt", "text"),
        canonical=code,
        entry_point=entry_point,
        setup=_joined([*before, split.setup]),
        suites=named(
            base=base,
            plus=split.tests,
            challenge=tests_from(row, "challenge_test_list"),
            whole=program(whole),
        ),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=SOURCE, extra=row.extra())


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(part for part in parts if part.strip())


def called(code: str, tests: Sequence[str]) -> str | None:
    """The one function of a solution that its tests call; None where it can't be told."""
    tree = parsed(code)
    if tree is None:
        return None
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = (_names(test) & there for test in tests)
    shared = set.intersection(*names) if tests else set()
    return shared.pop() if len(shared) == 1 else None


def _names(test: str) -> set[str]:
    tree = parsed(test)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree is not None else set()
