"""Read rows with a solution and its tests, as data sets for training have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from workbench.core.code import Problem
from workbench.core.columns import FieldError, completion_text
from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats.documents import Row
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.reading import FilePlan, build_rows, plan_rows
from workbench.verifiers.execution.given import COLUMNS, problem_of, tests_columns

_FIELDS: Final = ("completion", "reference")
_CACHED_PROBLEMS: Final = 64
"""Number of cached problems, one batch of rows: rows of one problem are mostly adjacent."""


def plan_solutions(path: Path, columns: Mapping[str, str]) -> FilePlan:
    """Decide how to read a file of solutions; its tests replace the reference.

    Raises:
        FormatError: The file can't be read, or has no column of completions, or of tests.
        UsageError: ``columns`` names a missing column, or a field that solutions don't have.
    """
    for field in columns.keys() - {*_FIELDS}:
        raise UsageError(f"{field!r} is not a field of solutions.", f"Their fields: {', '.join(_FIELDS)} (the tests).")
    plan, keys = plan_rows(path, columns)
    if plan.format not in ("jsonl", "parquet"):
        return plan
    for field, what, known in (("completion", "completion", FIELDS["completion"]), ("reference", "tests", COLUMNS)):
        if field in plan.columns:
            continue
        # A file without rows, as some writers leave, holds no solutions.
        column = next((column for column in known if column in keys or not keys), None)
        if column is None:
            raise FormatError(f"{path}: no column holds the {what}.", f"Name it: {opt.map:{field}=COLUMN}")
        plan.columns[field] = column
    return plan


def solutions_of_rows(plan: FilePlan, rows: Iterable[Row]) -> Iterator[ItemRecord | Refusal]:
    def build(line: int, document: bytes, raw: bytes) -> ItemRecord | Refusal:
        try:
            return _solution_record(plan, line, _decode_row(document), raw)
        except RefusedError as error:
            return make_refusal(line, raw, error)

    return build_rows(plan, rows, build)


@lru_cache(_CACHED_PROBLEMS)
def problem_from_tests(reference: str) -> Problem:
    """Return the problem that a row's tests define; errors as for `problem_of`."""
    return problem_of(reference).problem


def _decode_row(document: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(document, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise explain_document(document) from None


def _solution_record(plan: FilePlan, line: int, row: dict[str, Any], raw: bytes) -> ItemRecord:
    column = plan.columns["completion"]
    if row.get(column) is None:
        raise RefusedError("missing_field", column, f"There is no completion in {column}. Add it, or drop the row.")
    try:
        completion = completion_text(column, row[column])
    except FieldError as error:
        raise RefusedError("wrong_type", error.field, f"{error.message} Fix the row.") from error
    reference = _tests_text(plan.columns["reference"], row)
    return ItemRecord(
        line=line, raw=raw, question_key="", completion_key="", question="", reference=reference, completion=completion
    )


def _tests_text(column: str, row: dict[str, Any]) -> str:
    try:
        (found,) = tests_columns({name: [value] for name, value in row.items()}, column, 1)
        if found is None:
            raise RefusedError("missing_field", column, f"There are no tests in {column}. Add them, or drop the row.")
        problem_from_tests(found)
    except FieldError as error:
        code = "wrong_type" if column in row else "missing_field"
        raise RefusedError(code, column, f"{error.message.replace('[0]', '', 1)} Fix the row.") from error
    except UsageError as error:
        raise RefusedError("wrong_type", column, " ".join(filter(None, [error.message, error.hint]))) from error
    return found
