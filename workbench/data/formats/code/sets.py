"""Reads workbench's own files of code, samples of solutions, EvolveCoder, Scoring Verifiers and HumanEval-X."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, Final, get_args

from workbench.core.code import CodeRecord, Problem, ProblemRecord, SolutionForm, SolutionRecord, TestLine, Writer
from workbench.data.formats.code import evalplus
from workbench.data.formats.code.row import (
    WANTED,
    CodeRow,
    Tests,
    convert_tests,
    missing_field_error,
    nonempty_suites,
    program_suite,
    source_of,
    tests_from,
)
from workbench.data.formats.lines import RefusedError

# -- workbench's own files of problems and of solutions (``schemas/code-problem-line`` and ``code-solution-line``).


_FORMS: Final[dict[str, SolutionForm]] = {name: name for name in get_args(SolutionForm)}
_WRITERS: Final[dict[str, Writer]] = {name: name for name in get_args(Writer)}
_MAX_NAME: Final = 100


def problems(row: CodeRow) -> Iterable[ProblemRecord]:
    """Return the problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id = row.identifier("task_id")
    suites = nonempty_suites(
        base=tests_from(row, "tests"),
        plus=tests_from(row, "plus_tests"),
        whole=program_suite(row.maybe_text("whole_test")),
    )
    problem = Problem(
        task_id=task_id,
        prompt=row.text("prompt"),
        canonical=row.maybe_text("canonical_solution") or "",
        canonical_by=_canonical_author(row),
        entry_point=row.maybe_text("entry_point"),
        setup=row.maybe_text("setup") or "",
        language=row.maybe_text("language") or "python",
        seconds=row.seconds("seconds"),
        suites=suites | _more_suites(row),
    )
    source = row.maybe_text("source") or source_of(task_id)
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source, extra=row.extra())


def solutions(row: CodeRow) -> Iterable[SolutionRecord]:
    """Return the solution in a row; ``excluded`` and unknown keys are stored as its extra keys.

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
        gold=row.truth_value("recorded_pass", "passed"),
        model=row.maybe_text("model"),
        ground_truth=row.truth_value("ground_truth") or False,
        extra=row.extra(),
    )


def _canonical_author(row: CodeRow) -> Writer:
    author = row.maybe_text("canonical_solution_by")
    if author is None:
        return "model" if "proposed_tests" in row.cells else "human"
    if author not in _WRITERS:
        message = f"canonical_solution_by is {author[:40]!r}. Write one of: {', '.join(_WRITERS)}."
        raise RefusedError("wrong_type", "canonical_solution_by", message)
    return _WRITERS[author]


def _more_suites(row: CodeRow, of_ours: Collection[str] = ()) -> dict[str, Tests]:
    suites: dict[str, list[TestLine]] = (
        row.value("suites", dict[str, list[TestLine]], f"an object: name to {WANTED}") or {}
    )
    for name in suites:
        if (
            name in {"base", "plus", "whole"}.difference(of_ours)
            or not name.isprintable()
            or not 0 < len(name) <= _MAX_NAME
        ):
            message = f"{name[:40]!r} is not a valid suite name. Write 1 to {_MAX_NAME} printable characters."
            raise RefusedError("wrong_type", "suites", message)
    return nonempty_suites(**{name: convert_tests("suites", tests) for name, tests in suites.items()})


# -- Samples in the format of HumanEval's and EvalPlus' commands: a task and a model's completion of it, in order.


SAMPLE_FORMS: dict[str, SolutionForm] = {"solution": "program", "completion": "continuation", "response": "reply"}


def begin_samples(_path: Path) -> Callable[[CodeRow], Iterable[SolutionRecord]]:
    """Return a reader for the rows of one file; samples without an id are numbered from 0 within their task."""
    seen: Counter[str] = Counter()

    def read(row: CodeRow) -> Iterable[SolutionRecord]:
        task_id = row.identifier("task_id")
        number = row.maybe_identifier("solution_id", "sample_id") or str(seen[task_id])
        seen[task_id] += 1
        row.mark_read("_identifier")
        text, form = _solution_text(row)
        yield SolutionRecord(
            line=row.line,
            raw=row.raw,
            task_id=task_id,
            solution_id=number,
            code=text,
            form=form,
            gold=row.truth_value("passed", "recorded_pass"),
            model=row.maybe_text("model", "model_name"),
            extra=row.extra(),
        )

    return read


def _solution_text(row: CodeRow) -> tuple[str, SolutionForm]:
    for key, form in SAMPLE_FORMS.items():
        text = row.maybe_text(key)
        if text is not None:
            return text, form
    raise missing_field_error(*SAMPLE_FORMS)


# -- EvolveCoder-22K as released: an id, a question and evolved assertions; there is no reference solution.


def read(row: CodeRow) -> Problem:
    """Return the problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    return Problem(
        task_id=row.identifier("id"), prompt=row.text("question"), suites=nonempty_suites(base=tests_from(row, "tests"))
    )


# -- Scoring Verifiers' released sets (HE-R, HE-R+, MBPP-R, MBPP-R+): problems with ranked solutions.


_KEY = "all_solutions"


def read_scoring(row: CodeRow) -> Iterable[CodeRecord]:
    """Return the problem in a row and its solutions; a recorded score of 1 means that the solution passed all tests.

    The ground truth is the solution flagged as such, as in workbench's own sets; otherwise the one of rank 1.

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
    tests, own = tests_from(row, "test_list"), _more_suites(row, of_ours=("base", "plus"))
    if own or "whole_test" in row.cells:
        setup = row.maybe_text("setup") or ""
        suites = own | nonempty_suites(whole=program_suite(row.maybe_text("whole_test")))
    elif tests:
        setup, suites = row.maybe_text("test_setup_code") or "", nonempty_suites(base=tests)
        entry_point = entry_point or evalplus.called_function(canonical, [test.source for test in tests])
    else:
        setup, suites = _input_tests(row, task_id, entry_point, canonical)
    return Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=canonical,
        entry_point=entry_point,
        setup=setup,
        language=row.maybe_text("language") or "python",
        seconds=row.seconds("seconds"),
        suites=suites,
    )


def _input_tests(row: CodeRow, task_id: str, entry_point: str | None, canonical: str) -> tuple[str, dict[str, Tests]]:
    if entry_point is None or evalplus.unsupported(entry_point) is not None:
        return "", {}
    try:
        base, plus = evalplus.input_tests(row, task_id, entry_point)
    except RefusedError as error:
        if error.code != "unsupported":
            raise
        return "", {}
    suites = nonempty_suites(base=base, plus=plus)
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
    # As generated, the ground truth continues the prompt; as released, it includes the prompt.
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


# -- HumanEval-X as released: the same problems in several languages, one file each; each test is a program. Tests
# in languages other than Python need an external runner of the language; LLM judges need none.


_LANGUAGES: Final = {
    "Python": "python",
    "CPP": "cpp",
    "Java": "java",
    "JavaScript": "javascript",
    "Go": "go",
    "Rust": "rust",
}
"""Languages by the prefix of the released ids."""
_FUNCTION: Final = {
    "python": re.compile(r"^def (\w+)\s*\(", re.MULTILINE),
    "javascript": re.compile(r"^(?:const|let|var|function)\s+(\w+)", re.MULTILINE),
    "go": re.compile(r"^func (\w+)\s*\(", re.MULTILINE),
    "rust": re.compile(r"^\s*(?:pub )?fn (\w+)\s*[<(]", re.MULTILINE),
}
_CALLED: Final = re.compile(r"(\w+)\s*\([^()]*\)[^()]*\{?\s*\Z")
_STRICT: Final = """\
console.assert = function (holds, ...said) { if (!holds) { throw new Error(said.join(" ") || "assertion failed"); } };
"""
"""Makes a failed console.assert raise instead of only printing a line."""


def read_humaneval_x(row: CodeRow) -> Problem:
    """Return the problem in a row: the suite ``base`` has its test program, ``public`` that of the prompt's examples.

    Raises:
        RefusedError: A field is missing or of another type, or the language in the id is unknown.
    """
    task_id = row.identifier("task_id")
    language = _LANGUAGES.get(task_id.partition("/")[0])
    if language is None:
        message = f"task_id is {task_id[:40]!r}. Begin it with one of: {', '.join(_LANGUAGES)}."
        raise RefusedError("wrong_type", "task_id", message)
    prompt, declaration = row.text("prompt"), row.text("declaration")
    before = prompt if language == "python" else declaration
    return Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=before + row.text("canonical_solution"),
        entry_point=_function_name(declaration, language),
        language=language,
        suites=nonempty_suites(
            base=program_suite(_with_strict_asserts(row.text("test"), language)),
            public=program_suite(_with_strict_asserts(row.maybe_text("example_test") or "", language)),
        ),
    )


def _with_strict_asserts(source: str, language: str) -> str:
    return f"{_STRICT}{source}" if language == "javascript" and source.strip() else source


def _function_name(declaration: str, language: str) -> str | None:
    pattern = _FUNCTION.get(language)
    found = pattern.findall(declaration) if pattern is not None else _CALLED.findall(declaration)
    return found[-1] if found else None
