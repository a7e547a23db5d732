"""Samples as HumanEval's and EvalPlus' commands take them: a task and what a model wrote for it, in order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

from workbench.core.code import CodeRecord, Problem, ProblemRecord, SolutionForm, SolutionRecord
from workbench.data.formats.code import evalplus
from workbench.data.formats.code.row import CodeRow, Tests, missing, named, source_of, tests_from
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError

_FORMS: dict[str, SolutionForm] = {"solution": "program", "completion": "continuation", "response": "reply"}


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is one of samples: one that has references holds items."""
    return "task_id" in keys and not _FORMS.keys().isdisjoint(keys) and set(FIELDS["reference"]).isdisjoint(keys)


def numbering() -> Callable[[CodeRow], Iterable[SolutionRecord]]:
    """A function that reads the rows of one file; samples without an id are numbered from 0 within their task."""
    seen: Counter[str] = Counter()

    def read(row: CodeRow) -> Iterable[SolutionRecord]:
        task_id = row.identifier("task_id")
        number = row.maybe_identifier("solution_id", "sample_id") or str(seen[task_id])
        seen[task_id] += 1
        row.leave("_identifier")
        text, form = _text(row)
        yield SolutionRecord(
            line=row.line,
            raw=row.raw,
            task_id=task_id,
            solution_id=number,
            code=text,
            form=form,
            gold=row.truth("passed", "recorded_pass"),
            model=row.maybe_text("model", "model_name"),
            extra=row.extra(),
        )

    return read


def _text(row: CodeRow) -> tuple[str, SolutionForm]:
    for key, form in _FORMS.items():
        text = row.maybe_text(key)
        if text is not None:
            return text, form
    raise missing(*_FORMS)


# -- EvolveCoder-22K as released: an id, a question and evolved assertions; there is no reference solution.


SOURCE = "code/EvolveCoder"


def fits_evolvecoder(keys: Collection[str]) -> bool:
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


# -- Scoring Verifiers' released sets (HE-R, HE-R+, MBPP-R, MBPP-R+): problems with ranked solutions.


_KEY = "all_solutions"


def fits_scoring(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"task_id", _KEY} <= set(keys)


def read_scoring(row: CodeRow) -> Iterable[CodeRecord]:
    """The problem in a row and its solutions; a score of 1 is a recorded pass.

    The ground truth is the solution that is marked so, as in our own sets, else the one of rank 1.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    problem = _problem(row)
    solutions = row.value(_KEY, list[dict[str, Any]], "a list of objects") or []
    records = [_solution(row, problem.task_id, number, solution) for number, solution in enumerate(solutions)]
    if sum(record.ground_truth for record in records) > 1:
        raise RefusedError("wrong_type", _KEY, f"{problem.task_id[:80]!r} has two solutions of rank 1. Keep one.")
    source = source_of(problem.task_id) or evalplus.SOURCE
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source, extra=row.extra())
    yield from records


def _problem(row: CodeRow) -> Problem:
    task_id, prompt = row.identifier("task_id"), row.text("prompt", "text")
    continued, code = row.maybe_text("canonical_solution"), row.maybe_text("code")
    canonical = prompt + continued if continued is not None else code or ""
    entry_point = row.maybe_text("entry_point")
    tests = tests_from(row, "test_list")
    if tests:
        setup, suites = row.maybe_text("test_setup_code") or "", named(base=tests)
        entry_point = entry_point or evalplus.called(canonical, [test.source for test in tests])
    else:
        setup, suites = _inputs(row, task_id, entry_point, canonical)
    return Problem(
        task_id=task_id, prompt=prompt, canonical=canonical, entry_point=entry_point, setup=setup, suites=suites
    )


def _inputs(row: CodeRow, task_id: str, entry_point: str | None, canonical: str) -> tuple[str, dict[str, Tests]]:
    """Setup and suites of a row with EvalPlus' inputs; none where they mean what isn't in the file."""
    if entry_point is None or evalplus.unsupported(task_id, entry_point) is not None:
        return "", {}
    base, plus = evalplus.inputs(row)
    suites = named(base=base, plus=plus)
    return evalplus.setup(entry_point, canonical) if suites else "", suites


def _solution(row: CodeRow, task_id: str, number: int, solution: dict[str, Any]) -> SolutionRecord:
    inner, rank, score = (solution.get(name) for name in ("solution", "rank", "average_test_score"))
    if isinstance(inner, dict):
        inner = inner.get("canonical_solution", inner.get("code"))
    if not isinstance(inner, str):
        message = f"Solution {number} of {task_id[:80]!r} holds no text. Write its code under solution."
        raise RefusedError("missing_field", _KEY, message)
    marked = solution.get("ground_truth")
    first = marked if isinstance(marked, bool) else rank == 1
    # As generated, the ground truth goes on where the prompt ends; as released, the prompt stands before it.
    continued = first and "base_input" in row.cells and not inner.startswith(row.text("prompt", "text"))
    rest = {name: value for name, value in solution.items() if name != "solution"}
    return SolutionRecord(
        line=row.line,
        raw=row.raw,
        task_id=task_id,
        solution_id=str(solution.get("id", number)),
        code=inner,
        form="continuation" if continued else "program",
        gold=score == 1 if isinstance(score, int | float) else None,
        ground_truth=first,
        extra=json.dumps(rest, ensure_ascii=False) if rest else None,
    )
