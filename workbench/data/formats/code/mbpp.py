"""MBPP, its sanitized part, and MBPP+ in their form: assertions as texts, MBPP+ with a loop over inputs besides."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from workbench.core.code import Problem
from workbench.core.code_record import ProblemRecord
from workbench.core.code_tests.assertion import parsed
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.splitting import SplitSource, split_module
from workbench.data.formats.code.suites import named, program, tests_from

SOURCE = "code/MBPP"


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "code", "test_list"} <= set(keys) and not {"text", "prompt"}.isdisjoint(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
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
