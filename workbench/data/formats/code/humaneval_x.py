"""Reads HumanEval-X as released: the same problems in several languages, with one file per language; each test is a
program.

Tests in languages other than Python need an external runner of the language; LLM judges need none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from workbench.core.code import Problem, ProblemRecord
from workbench.data.formats.code.row import CodeRow, nonempty_suites, program_suite
from workbench.data.formats.lines import RefusedError

SOURCE: Final = "code/HumanEval-X"
LANGUAGES: Final = {
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


def read(row: CodeRow) -> Iterable[ProblemRecord]:
    """Return the problem in a row: the suite ``base`` has its test program, ``public`` that of the prompt's examples.

    Raises:
        RefusedError: A field is missing or of another type, or the language in the id is unknown.
    """
    task_id = row.identifier("task_id")
    language = LANGUAGES.get(task_id.partition("/")[0])
    if language is None:
        message = f"task_id is {task_id[:40]!r}. Begin it with one of: {', '.join(LANGUAGES)}."
        raise RefusedError("wrong_type", "task_id", message)
    prompt, declaration = row.text("prompt"), row.text("declaration")
    before = prompt if language == "python" else declaration
    problem = Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=before + row.text("canonical_solution"),
        entry_point=_function_name(declaration, language),
        language=language,
        suites=nonempty_suites(
            base=program_suite(_test(row.text("test"), language)),
            public=program_suite(_test(row.maybe_text("example_test") or "", language)),
        ),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=SOURCE, extra=row.extra())


def _test(source: str, language: str) -> str:
    return f"{_STRICT}{source}" if language == "javascript" and source.strip() else source


def _function_name(declaration: str, language: str) -> str | None:
    pattern = _FUNCTION.get(language)
    found = pattern.findall(declaration) if pattern is not None else _CALLED.findall(declaration)
    return found[-1] if found else None
