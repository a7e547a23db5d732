"""EvalPlus' own files: inputs without the values expected, which the reference solution gives.

The reference is never run here. Each test calls it beside the solution, in the sandbox, and compares; passes of such
tests are forgeable and marked so, as those of any test that is more than one call of the solution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from workbench.core.code import Problem
from workbench.core.code_record import ProblemRecord
from workbench.data.formats.code.literals import arguments
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.splitting import CANDIDATE
from workbench.data.formats.code.suites import Tests, named, source_of, statements
from workbench.data.formats.code.tolerance import DEFINITION, NAME
from workbench.data.formats.explain import RefusedError

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
