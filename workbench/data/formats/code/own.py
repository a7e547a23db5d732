"""Our own files of problems and of solutions (``schemas/code-problem-line`` and ``code-solution-line``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, get_args

from workbench.core.code import Problem, ProblemRecord, SolutionForm, SolutionRecord, TestLine, Writer
from workbench.data.formats.code.row import WANTED, CodeRow, Tests, listed, named, program, source_of, tests_from
from workbench.data.formats.lines import RefusedError

_FORMS: Final[dict[str, SolutionForm]] = {name: name for name in get_args(SolutionForm)}
_WRITERS: Final[dict[str, Writer]] = {name: name for name in get_args(Writer)}
_LONGEST_NAME: Final = 100


def holds_problems(keys: Collection[str]) -> bool:
    """Whether a file with these keys is one of problems."""
    return {"task_id", "prompt"} <= set(keys) and not {"tests", "plus_tests", "suites"}.isdisjoint(keys)


def holds_solutions(keys: Collection[str]) -> bool:
    """Whether a file with these keys is one of solutions."""
    return {"task_id", "solution_id", "code"} <= set(keys)


def problems(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id = row.identifier("task_id")
    suites = named(
        base=tests_from(row, "tests"),
        plus=tests_from(row, "plus_tests"),
        whole=program(row.maybe_text("whole_test")),
    )
    problem = Problem(
        task_id=task_id,
        prompt=row.text("prompt"),
        canonical=row.maybe_text("canonical_solution") or "",
        canonical_by=_writer(row),
        entry_point=row.maybe_text("entry_point"),
        setup=row.maybe_text("setup") or "",
        language=row.maybe_text("language") or "python",
        seconds=row.seconds("seconds"),
        suites=suites | _more_suites(row),
    )
    source = row.maybe_text("source") or source_of(task_id)
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source, extra=row.extra())


def solutions(row: CodeRow) -> Iterable[SolutionRecord]:
    """The solution in a row; ``excluded`` and what else is unknown stay with it as extra keys.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    form = row.maybe_text("form") or "program"
    if form not in _FORMS:
        raise RefusedError("wrong_type", "form", f"form is {form[:40]!r}. Write one of: {', '.join(_FORMS)}.")
    yield SolutionRecord(
        line=row.line,
        raw=row.raw,
        task_id=row.identifier("task_id"),
        solution_id=row.identifier("solution_id"),
        code=row.text("code"),
        form=_FORMS[form],
        gold=row.truth("recorded_pass", "passed"),
        model=row.maybe_text("model"),
        ground_truth=row.truth("ground_truth") or False,
        extra=row.extra(),
    )


def _writer(row: CodeRow) -> Writer:
    """Who wrote the reference solution; problems that earlier versions wrote anew only say how many tests they had."""
    said = row.maybe_text("canonical_solution_by")
    if said is None:
        return "model" if "proposed_tests" in row.cells else "human"
    if said not in _WRITERS:
        message = f"canonical_solution_by is {said[:40]!r}. Write one of: {', '.join(_WRITERS)}."
        raise RefusedError("wrong_type", "canonical_solution_by", message)
    return _WRITERS[said]


def _more_suites(row: CodeRow) -> dict[str, Tests]:
    """Suites of other names than those that have fields of their own."""
    suites: dict[str, list[TestLine]] = (
        row.value("suites", dict[str, list[TestLine]], f"an object: name to {WANTED}") or {}
    )
    for name in suites:
        if name in ("base", "plus", "whole") or not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
            message = f"{name[:40]!r} is no name for a further suite. Write 1 to {_LONGEST_NAME} printable characters."
            raise RefusedError("wrong_type", "suites", message)
    return named(**{name: listed("suites", tests) for name, tests in suites.items()})
