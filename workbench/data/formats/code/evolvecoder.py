"""EvolveCoder-22K as released: an id, a question and evolved assertions; there is no reference solution."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from workbench.core.code import Problem
from workbench.core.code_record import ProblemRecord
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.suites import named, tests_from

SOURCE = "code/EvolveCoder"


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"id", "question", "tests"} <= set(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    problem = Problem(
        task_id=row.identifier("id"),
        prompt=row.text("question"),
        suites=named(base=tests_from(row, "tests")),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=SOURCE, extra=row.extra())
