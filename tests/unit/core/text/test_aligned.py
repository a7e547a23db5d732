"""Aligned terminal columns, whatever the script of a name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.core.text.figures import aligned, width

SCRIPTS = st.text(st.sampled_from("aZ9 é漢字かな한글Привет‌नमस्ते"), min_size=1, max_size=12).map(str.strip)


@given(st.lists(SCRIPTS, min_size=1, max_size=5))
def test_numbers_are_right_aligned_whatever_the_script_of_names(names: list[str]) -> None:
    lines = aligned([(name, f"{10**place:,}") for place, name in enumerate(names)]).split("\n")
    assert len({width(line) for line in lines}) == 1


def test_wide_names_take_their_terminal_width() -> None:
    assert aligned([("模型", "1"), ("abc", "22")]) == "模型   1\nabc   22"
    assert [width(text) for text in ("模型", "naïve", "nai\u0308ve", "a\u200db")] == [4, 5, 5, 2]
    assert width("模型abc") == cell_len("模型abc")
