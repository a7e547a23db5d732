"""Reads sources for reinforcement learning of code: CodeContests, Codeforces, SYNTHETIC-1 and -2, and exports of
evolutions.

The formats are described in the data sets' cards (deepmind/code_contests, open-r1/codeforces, PrimeIntellect) and in
EvolveCoder's released code, which builds its questions from them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

from workbench.core.code import CodeRecord, Problem, ProblemRecord, SolutionRecord
from workbench.data.formats.code.contests import candidate_setup, io_test, tests_of
from workbench.data.formats.code.row import CodeRow, Tests, json_in, nonempty_suites, tests_from
from workbench.data.formats.lines import RefusedError

# -- CodeContests: tests as two lists of texts, correct and incorrect solutions in several languages.


_PYTHON3: Final = 3
"""The number of Python 3 among CodeContests' languages; other solutions are in Python 2, C++ and Java."""
_PUBLIC: Final = "public_tests"
_TESTS: Final = (_PUBLIC, "private_tests", "generated_tests")


def code_contests(row: CodeRow) -> Iterable[CodeRecord]:
    """Return the problem in a row, and its solutions in Python 3: accepted ones first, the first of them the
    reference.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id = f"CodeContests/{row.identifier('name')}"
    right, wrong = _solutions(row, "solutions"), _solutions(row, "incorrect_solutions")
    found = {key: _pair_tests(row, key) for key in _TESTS}
    problem = Problem(
        task_id=task_id,
        prompt=row.text("description"),
        canonical=right[0] if right else "",
        seconds=_time_limit(row),
        suites=nonempty_suites(base=tuple(test for tests in found.values() for test in tests), public=found[_PUBLIC]),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source="code/CodeContests", extra=row.extra())
    for number, (code, gold) in enumerate([*((one, True) for one in right), *((one, False) for one in wrong)]):
        yield SolutionRecord(line=row.line, raw=row.raw, task_id=task_id, solution_id=str(number), code=code, gold=gold)


def _columns(row: CodeRow, key: str, *names: str) -> list[list[Any]]:
    value = row.value(key, Any, "lists by name") or {}
    if isinstance(value, list):
        value = {name: [one.get(name) if isinstance(one, dict) else None for one in value] for name in names}
    columns = [value.get(name, []) for name in names] if isinstance(value, dict) else []
    if not columns or not all(isinstance(one, list) and len(one) == len(columns[0]) for one in columns):
        raise RefusedError("wrong_type", key, f"{key} needs lists of equal length: {', '.join(names)}.")
    return columns


def _pair_tests(row: CodeRow, key: str) -> Tests:
    inputs, outputs = _columns(row, key, "input", "output")
    return tuple(io_test(*pair, key) for pair in zip(inputs, outputs, strict=True))


def _solutions(row: CodeRow, key: str) -> list[str]:
    languages, texts = _columns(row, key, "language", "solution")
    chosen = [text for language, text in zip(languages, texts, strict=True) if language in (_PYTHON3, "PYTHON3")]
    if not all(isinstance(text, str) for text in chosen):
        raise RefusedError("wrong_type", key, f"A solution in {key} is not text. Write it as text.")
    return list(dict.fromkeys(chosen))


def _time_limit(row: CodeRow) -> float | None:
    value = row.value("time_limit", Any, "an object of seconds and nanos")
    if isinstance(value, dict):
        parts = [value.get("seconds") or 0, value.get("nanos") or 0]
        value = parts[0] + parts[1] / 1e9 if all(isinstance(part, int | float) for part in parts) else None
    return float(value) if isinstance(value, int | float) and value > 0 else None


# -- Codeforces by Open-R1: the statement in parts; no solutions.


def codeforces(row: CodeRow) -> Problem:
    """Return the problem in a row; it has no tests if they need a checker, an interactor or files.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    by_text = row.maybe_text("input_mode") in (None, "stdio") and not any(
        (row.maybe_text(key) or "").strip() for key in ("generated_checker", "interaction_format")
    )
    examples, official = _official_tests(row, "examples"), _official_tests(row, "official_tests")
    return Problem(
        task_id=f"Codeforces/{row.identifier('id')}",
        prompt=_statement(row, examples),
        seconds=row.seconds("time_limit"),
        suites=nonempty_suites(base=official or examples, public=examples) if by_text else {},
    )


def _official_tests(row: CodeRow, key: str) -> Tests:
    found: list[dict[str, Any]] = row.value(key, list[dict[str, Any]], "a list of objects of input and output") or []
    return tuple(io_test(one.get("input"), one.get("output"), key) for one in found)


def _statement(row: CodeRow, examples: Tests) -> str:
    parts = [row.maybe_text("title"), row.text("description")]
    for head, key in (("Input", "input_format"), ("Output", "output_format"), ("Interaction", "interaction_format")):
        if text := row.maybe_text(key):
            parts.append(f"{head}\n{text}")
    parts += (f"Example\nInput\n{test.source.rstrip()}\nOutput\n{(test.expected or '').rstrip()}" for test in examples)
    if note := row.maybe_text("note"):
        parts.append(f"Note\n{note}")
    return "\n\n".join(part for part in parts if part)


# -- SYNTHETIC-1 and SYNTHETIC-2 (verifiable coding problems): a prompt, and the verification as an object in a
# text.


_INFO: Final = "verification_info"
_FENCED: Final = re.compile(r"\A```(?:python)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_MAX_BYTES: Final = 64 << 20


def synthetic(row: CodeRow) -> Problem:
    """Return the problem in a row; a problem that is not code is rejected.

    Raises:
        RefusedError: A field is missing, of another type, or its verification can't be read.
    """
    prompt = row.text("prompt")
    name = row.maybe_identifier("problem_id") or blake2b(prompt.encode(), digest_size=6).hexdigest()
    info = _verification_info(row)
    function, tests = tests_of(_in_apps_format(info), _INFO)
    solution = row.maybe_text("gold_standard_solution") or ""
    fenced = _FENCED.match(solution.strip())
    language = info.get("language")
    return Problem(
        task_id=f"SYNTHETIC/{name}",
        prompt=prompt,
        canonical=fenced[1] if fenced else solution,
        entry_point=function,
        setup=candidate_setup(function) if function else "",
        language=language.strip().lower() if isinstance(language, str) and language.strip() else "python",
        suites=nonempty_suites(base=tests),
    )


def _verification_info(row: CodeRow) -> dict[str, Any]:
    value = row.value(_INFO, Any, "an object")
    if isinstance(value, str):
        value = _parse_info(value)
    if isinstance(value, dict) and "ground_truth" in value:
        inner = value["ground_truth"]
        inner = _parse_info(inner) if isinstance(inner, str) and inner.lstrip().startswith("{") else inner
        value = {**value, **inner} if isinstance(inner, dict) else value
    if not isinstance(value, dict) or not {"test_cases", "inputs"} & value.keys():
        raise RefusedError("unsupported", _INFO, f"{_INFO} holds no tests: it is not a code problem. Leave it out.")
    return value


def _parse_info(text: str) -> Any:
    try:
        return json_in(_INFO, text)
    except RefusedError as error:
        try:
            # Only literals are parsed; no code is run.
            return ast.literal_eval(text) if len(text) <= _MAX_BYTES else None
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise error from None


def _in_apps_format(info: dict[str, Any]) -> dict[str, Any]:
    cases = info.get("test_cases")
    if cases is None:
        return info
    if not isinstance(cases, list) or not all(isinstance(one, dict) for one in cases):
        raise RefusedError("wrong_type", _INFO, f"test_cases in {_INFO} is not a list of objects.")
    functions = {one.get("fn_name") for one in cases if one.get("type") == "function_call"}
    if len(functions) > 1 or (functions and len({one.get("type") for one in cases}) > 1):
        raise RefusedError("unsupported", _INFO, f"test_cases in {_INFO} are of several kinds. Make a row of each.")
    found = {"inputs": [one.get("input") for one in cases], "outputs": [one.get("output") for one in cases]}
    return {**found, **({"fn_name": functions.pop()} if functions else {})}


# -- Exports of evolutions: problems with their final suites.


def evolved(row: CodeRow) -> Iterator[ProblemRecord]:
    """Return the problem in a row; its tests are in two suites, one with the evolution's name and ``base``.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    about: dict[str, Any] = row.value("extra_info", dict[str, Any], "an object") or {}
    suite, tests = about.get("suite"), tests_from(row, "tests")
    source = row.maybe_text("data_source")
    problem = Problem(
        task_id=row.identifier("task_id"),
        prompt=row.text("question"),
        entry_point=row.maybe_text("entry_point"),
        setup=row.maybe_text("setup") or "",
        suites=nonempty_suites(base=tests)
        | (
            {suite: tests} if isinstance(suite, str) and tests and suite.isprintable() and 0 < len(suite) <= 100 else {}
        ),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=source, extra=row.extra())
