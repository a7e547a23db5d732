"""The line around a final answer: correct, short and harmless for any offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.excerpt import excerpt
from workbench.core.text.inert import inert


def test_only_the_line_of_the_answer_is_shown() -> None:
    assert excerpt("first\nso 8 it is\nlast", (9, 10)) == ("so ", "8", " it is")
    assert excerpt("8", (0, 1)) == ("", "8", "")


def test_long_lines_and_answers_are_cut() -> None:
    text = "a" * 300 + "7" * 300 + "b" * 300
    assert excerpt(text, (300, 600)) == ("…" + "a" * 60, "7" * 200 + "…", "b" * 60 + "…")


def test_an_answer_of_several_lines_keeps_its_line_ends_as_pictures() -> None:
    assert excerpt("x = {1\n2} y\nz", (4, 9)) == ("x = ", "{1␊2}", " y")


@given(st.text(), st.integers(), st.integers())
def test_no_span_breaks_it(text: str, start: int, end: int) -> None:
    found = excerpt(text, (start, end))
    assert (found is None) == (not 0 <= start <= end <= len(text))
    if found is not None:
        assert all(inert(part) == part for part in found)
