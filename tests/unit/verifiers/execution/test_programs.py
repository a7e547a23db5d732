"""Extracting a program from the text of a solution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.coding import ADD
from workbench.core.code import SolutionForm
from workbench.verifiers.execution import interpreter
from workbench.verifiers.execution.interpreter import EXTRACTORS, code_of, form_of, program_of

CODE = "def add(a, b):\n    return a + b\n"


def fence(code: str, name: str = "python") -> str:
    return f"```{name}\n{code.rstrip()}\n```\n"


def test_a_continuation_is_appended_to_the_prompt() -> None:
    found = code_of(ADD, "    return a + b\n", "continuation")
    assert found.source == "def add(a, b):\n    return a + b\n"
    assert found.first_line == -1


@pytest.mark.parametrize(
    ("text", "source", "line"),
    [
        (f"Here it is.\n\n{fence(CODE)}Done.", CODE, 3),
        (f"<think>\n{fence('x = 1')}</think>\nSo:\n{fence(CODE)}", CODE, 7),
        (f"{fence(CODE)}Use it:\n{fence('print(add(1, 2))')}", CODE, 1),
        (f"{fence('first = 1')}{fence('last = 2')}", "last = 2", 4),
        (f"{fence('ls', 'bash')}{fence('x = 1', 'py')}{fence('y', 'text')}", "x = 1", 4),
        (f"cut off\n```python\n{CODE}", CODE, 2),
        (f"````python\n'''\n```\n'''\n{CODE}````", f"'''\n```\n'''\n{CODE}", 1),
        ("1. So:\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n", CODE, 2),
        (f"<think>hm</think>{CODE}", CODE, 0),
        (f"<think>\nhm</think>\n{CODE}", f"\n{CODE}", 1),
        ("~~~\nx\n~~~", "x\n", 1),
    ],
)
def test_code_of_a_reply(text: str, source: str, line: int) -> None:
    found = code_of(ADD, text, "reply")
    assert (found.source.rstrip("\n"), found.first_line) == (source.rstrip("\n"), line)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (f"Sure, here you are:\n\n{CODE}\nIt adds them, doesn't it?", CODE),
        (f"no </think>{CODE}</think>", CODE),
        (f"a b c\n{fence(CODE)}", CODE),
        ("nothing that parses, is there", "nothing that parses, is there"),
    ],
)
def test_the_longest_range_of_lines_that_parses(text: str, source: str) -> None:
    found = code_of(ADD, text, "reply", "lines")
    assert found.source.strip("\n") == source.strip("\n")
    assert text.split("\n")[found.first_line].endswith(found.source.split("\n")[0])


def test_the_search_for_lines_that_parse_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(["(", *["x = 1"] * 5])
    assert code_of(ADD, text, "reply", "lines").first_line == 1
    monkeypatch.setattr(interpreter, "_MAX_PARSES", 6)
    assert code_of(ADD, text, "reply", "lines").source == text


@pytest.mark.parametrize(
    ("text", "language", "form"),
    [
        (CODE, "python", "program"),
        ("x = '''\n```python\n```\n'''", "python", "program"),
        (f"Here:\n{fence(CODE)}", "python", "reply"),
        ("<think></think> def", "python", "reply"),
        ("def add(a, b) return", "python", "program"),
        ("let x = 1", "javascript", "program"),
        (fence("let x = 1", "js"), "javascript", "reply"),
    ],
)
def test_the_kind_of_a_text_is_detected(text: str, language: str, form: SolutionForm) -> None:
    assert form_of(text, language) == form


def test_the_time_limit_comes_from_the_option_or_the_problem() -> None:
    limited = structs.replace(ADD, seconds=7.0)
    assert program_of(ADD, "base", CODE, "program").seconds == 3.0
    assert program_of(limited, "base", CODE, "program").seconds == 7.0
    assert program_of(limited, "base", CODE, "program", seconds=1.0).seconds == 1.0


def test_a_program_has_the_tests_of_its_suite() -> None:
    program = program_of(ADD, "plus", f"So:\n{fence(CODE)}", None)
    assert (program.source, program.setup, program.tests) == (CODE, "candidate = add", ADD.suites["plus"])
    assert program_of(ADD, "none", CODE, "program").tests == ()


@pytest.mark.parametrize("extractor", sorted(EXTRACTORS))
@given(text=st.text(alphabet="`~pyx=()\n \t</think>1", max_size=80))
def test_extracted_code_is_part_of_any_text(extractor: str, text: str) -> None:
    found = code_of(ADD, text, "reply", extractor)
    lines = text.split("\n")[found.first_line :]
    for line, stored in zip(found.source.split("\n"), lines, strict=False):
        assert stored.endswith(line) or line.strip() in stored
