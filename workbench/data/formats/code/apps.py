"""APPS and TACO: a question, tests and accepted solutions, the last two as JSON in texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Any, Final

from workbench.core.code import Problem
from workbench.core.code_record import CodeRecord, ProblemRecord, SolutionRecord
from workbench.data.formats.code import contests
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.suites import Tests, named
from workbench.data.formats.explain import RefusedError

_SECONDS: Final = re.compile(r"\s*(\d{1,4}(?:\.\d{1,6})?)\s*(?:s|sec|second)")


def fits_apps(keys: Collection[str]) -> bool:
    """Whether a file with these keys is APPS."""
    return {"problem_id", "question", "solutions", "input_output"} <= set(keys)


def fits_taco(keys: Collection[str]) -> bool:
    """Whether a file with these keys is TACO, whose rows have no id."""
    return {"question", "solutions", "input_output"} <= set(keys)


def apps(row: CodeRow) -> Iterable[CodeRecord]:
    """The problem in a row of APPS, and the solutions that were accepted.

    Raises:
        RefusedError: A field is missing, of another type, or its JSON can't be read.
    """
    return _records(row, f"APPS/{row.identifier('problem_id')}", "code/APPS")


def taco(row: CodeRow) -> Iterable[CodeRecord]:
    """The problem in a row of TACO, named by a hash of its question, and the solutions that were accepted.

    Raises:
        RefusedError: A field is missing, of another type, or its JSON can't be read.
    """
    name = blake2b(row.text("question").encode(), digest_size=6).hexdigest()
    return _records(row, f"TACO/{name}", "code/TACO")


def _records(row: CodeRow, task_id: str, source: str) -> Iterable[CodeRecord]:
    solutions = row.document("solutions") or []
    if not isinstance(solutions, list) or not all(isinstance(text, str) for text in solutions):
        raise RefusedError("wrong_type", "solutions", "solutions is no list of texts. Write it as one, as JSON.")
    function, tests = _tests(row.document("input_output"))
    problem = Problem(
        task_id=task_id,
        prompt=contests.prompt(row.text("question"), row.maybe_text("starter_code")),
        canonical=solutions[0] if solutions else "",
        entry_point=function,
        setup=contests.setup(function) if function else "",
        seconds=_seconds(row.maybe_text("time_limit")),
        suites=named(base=tests),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source, extra=row.extra())
    for number, text in enumerate(solutions):
        yield SolutionRecord(line=row.line, raw=row.raw, task_id=task_id, solution_id=str(number), code=text, gold=True)


def _tests(document: Any) -> tuple[str | None, Tests]:
    """The function that tests call, None where they read and write; and the tests."""
    key = "input_output"
    if document is None:
        return None, ()
    if not isinstance(document, dict):
        raise RefusedError("wrong_type", key, f"{key} is no object. Write one with inputs and outputs.")
    inputs, outputs, function = (document.get(name) for name in ("inputs", "outputs", "fn_name"))
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise RefusedError("wrong_type", key, f"{key} needs as many outputs as inputs. Write two lists.")
    if function is None:
        return None, tuple(contests.exchange(*pair, key) for pair in zip(inputs, outputs, strict=True))
    if not isinstance(function, str) or not function.isidentifier():
        raise RefusedError("wrong_type", key, f"fn_name in {key} is no name of a function.")
    if not all(isinstance(given, list) for given in inputs):
        raise RefusedError("wrong_type", key, f"An input in {key} is no list of arguments.")
    # As released, each output of a function is wrapped in a list of one.
    wrapped = all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs)
    values = [wanted[0] for wanted in outputs] if wrapped else outputs
    return function, tuple(contests.call(*pair, key) for pair in zip(inputs, values, strict=True))


def _seconds(limit: str | None) -> float | None:
    found = _SECONDS.match(limit or "")
    return float(found[1]) or None if found else None
