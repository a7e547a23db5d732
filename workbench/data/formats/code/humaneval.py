"""HumanEval, and HumanEval+ in its form: a prompt, what follows it, and a function ``check(candidate)``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from workbench.core.code import Problem
from workbench.core.code_record import ProblemRecord
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.splitting import split_check
from workbench.data.formats.code.suites import named, program, source_of

_EXTENDED: Final = re.compile(r"^    inputs = \[", re.MULTILINE)
"""How the check of HumanEval+ begins: with all inputs, its own and those added."""


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", "prompt", "entry_point", "canonical_solution", "test"} <= set(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
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
