"""Code as lines: every character is shown, and none is interpreted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.code import code_lines
from workbench.core.text.document import Span
from workbench.core.text.inert import inert


def text(lines: list[tuple[Span, ...]]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


@given(st.text(alphabet="def x(): \t\n\x1b\u202e'#[/]é漢", max_size=60))
def test_lines_are_those_of_the_code_and_harmless(code: str) -> None:
    assert text(code_lines(code, "python")) == [inert(line) for line in code.split("\n")]


def test_tabs_are_expanded_and_crlf_is_a_line_end() -> None:
    assert text(code_lines("if x:\r\n\ty = '\x1b[31m'\r", "python")) == ["if x:", "    y = '␛[31m'␍"]


def test_python_is_highlighted() -> None:
    (line,) = code_lines("return 1", "python")
    assert [(span.text, span.style) for span in line if span.text.strip()] == [
        ("return", "code.keyword"),
        ("1", "code.number"),
    ]
