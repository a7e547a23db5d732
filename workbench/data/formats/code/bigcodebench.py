"""BigCodeBench: a prompt, what follows it, and a class of unit tests; most problems need packages to be installed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import Final

from workbench.core.code import Problem
from workbench.core.code_record import ProblemRecord
from workbench.core.code_tests.assertion import parsed
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.suites import Tests, named, program, source_of, statements

_CASES: Final = "TestCases"

_RUN_ONE: Final = """\
def run_case(name):
    import unittest
    result = unittest.TestResult()
    unittest.TestSuite([TestCases(name)]).run(result)
    for _, text in result.failures:
        raise AssertionError(text)
    for _, text in result.errors:
        raise RuntimeError(text)
"""

_RUN_ALL: Final = """\
import unittest
result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(TestCases).run(result)
assert not result.failures, result.failures[0][1]
assert result.wasSuccessful(), result.errors[0][1]
"""


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "complete_prompt", "canonical_solution", "test", "entry_point"} <= set(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row: each test method is a test of ``base``; all together are ``whole``.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id, prompt, test = row.identifier("task_id"), row.text("complete_prompt"), row.text("test").rstrip()
    code_prompt = row.maybe_text("code_prompt")
    whole = program(f"{test}\n\n{_RUN_ALL}")
    cases = _cases(test)
    problem = Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=(prompt if code_prompt is None else code_prompt) + row.text("canonical_solution"),
        entry_point=row.text("entry_point"),
        setup=f"{test}\n\n{_RUN_ONE}" if cases else "",
        suites=named(base=cases or whole, whole=whole),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source_of(task_id), extra=row.extra())


def _cases(test: str) -> Tests:
    """A test for each method of the class that is one; none where they can't be told."""
    tree = parsed(test)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree is not None else []
    if len(classes) != 1 or classes[0].name != _CASES:
        return ()
    names = [node.name for node in classes[0].body if isinstance(node, ast.FunctionDef)]
    return statements(f"run_case({name!r})" for name in sorted(set(names)) if name.startswith("test"))
