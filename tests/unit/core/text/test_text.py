"""A rendered text loses nothing that matters, maps each line to its source, and is inert."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.document import RenderedText
from workbench.core.text.markdown import render, render_raw

PROSE = st.text(alphabet="ab_\\*-#>+.|1 \n", max_size=80)
VISIBLE = r"$ $$ \[ \] \( \) ` ``` <think> </think> ** * | \boxed{ { } \begin{align} \end{align} a 1"
TOKENS = [
    *VISIBLE.split(),
    "\\",
    "```python\n",
    "\n",
    "\n\n",
    "# ",
    "- ",
    "> ",
    "|--|\n",
    " ",
    "\t",
]
ANYTHING = st.one_of(
    st.text(),
    st.text(alphabet=st.characters(codec=None, categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Nd"))),
    st.lists(st.sampled_from(TOKENS), max_size=30).map("".join),
)


def lines(rendered: RenderedText) -> list[str]:
    return [line.text for line in rendered.lines]


def styles(rendered: RenderedText) -> list[tuple[str, str]]:
    return [(span.text, span.style) for line in rendered.lines for span in line.spans]


def test_markdown_becomes_styles() -> None:
    assert styles(render("## Step *one*\nso **x** is *y*")) == [
        ("## ", "dim"),
        ("Step ", "heading"),
        ("one", "heading"),
        ("so ", ""),
        ("x", "bold"),
        (" is ", ""),
        ("y", "italic"),
    ]


def test_bold_may_hold_math() -> None:
    assert styles(render("**Answer: $x^2$.**")) == [("Answer: ", "bold"), ("x²", "math"), (".", "bold")]


@pytest.mark.parametrize(
    "text",
    ["2*3*4", "a ** b", "snake_case_name", "_x_", r"C:\new\table \_ \*", "2**3 = 8", "> ) ] }", "- 5", "&amp; <b>"],
)
def test_text_that_only_looks_like_markdown_is_kept(text: str) -> None:
    assert lines(render(text)) == [text]


def test_lists_quotes_and_rules_keep_their_marks() -> None:
    text = "* one\n  * two\n- three\n> said\n---\n- - -\n* * *"
    assert lines(render(text)) == text.split("\n")
    assert ("said", "quote") in styles(render("> said"))


def test_inline_code_keeps_its_backticks_and_is_never_emphasised() -> None:
    text = "add `] ) *x*` to **it**"
    assert styles(render(text)) == [("add ", ""), ("`] ) *x*`", "code"), (" to ", ""), ("it", "bold")]
    assert ("] )", "answer") in styles(render(text, answer_span=(5, 8)))


def test_money_is_no_math() -> None:
    text = "It costs $5 now and $10 later; $x$ dollars"
    assert [span.text for span in render(text).lines[0].spans if span.style == "math"] == ["x"]


def test_display_math_is_on_separate_lines() -> None:
    rendered = render("So\n\\[\n\\begin{aligned} x &= 1 \\\\ y &= 2 \\end{aligned}\n\\].\nend")
    assert lines(rendered) == ["So", "    x = 1", "    y = 2.", "end"]
    assert rendered.lines[1].source == rendered.lines[2].source == (3, 56)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\\[x = 1.\\]Then $y$,", ["    x = 1.", "Then y,"]),
        ("Let \\begin{align*} x &= 1 \\\\ y &= 2 \\end{align*} be", ["Let ", "    x = 1", "    y = 2", " be"]),
        ("So $$x = 1$$.", ["So ", "    x = 1."]),
        ("Find \\[ x + 1 \\] for all $x$.", ["Find x + 1 for all x."]),
    ],
)
def test_display_math_next_to_prose_is_separated_by_spaces(text: str, shown: list[str]) -> None:
    rendered = render(text)
    assert lines(rendered) == shown
    assert [line.source for line in rendered.lines] == sorted(line.source for line in rendered.lines)


def test_tables_are_aligned() -> None:
    assert lines(render("| a | long |\n|---|---|\n| $x^2$ | 1 |")) == ["a  │ long", "───┼─────", "x² │ 1   "]


def test_a_row_that_bars_make_longer_is_shown_as_typed() -> None:
    text = "| f(x) | at 3 |\n|---|---|\n| |x| | 3 |\n| **2** | *x* y |"
    assert lines(render(text)) == ["f(x) │ at 3 ", "─────┼──────", "| |x| | 3 |", "2    │ *x* y"]


@pytest.mark.parametrize("text", ["|x|\n|-|", "|x| = 1\n--|--|--\n|y|"])
def test_bars_that_make_no_table_are_shown_as_typed(text: str) -> None:
    assert lines(render(text)) == text.split("\n")


def test_rows_of_a_matrix_are_no_repeated_lines() -> None:
    text = "0 0 1\n0 0 0\n0 0 0\n0 0 0\n1 0 0"
    assert lines(render(text)) == text.split("\n")


def test_a_delimiter_that_is_opened_again_was_never_closed() -> None:
    text = r"P( |\(\hat{y} - p| < 1 ) for all p, so \(\hat{y}\) is far."
    assert lines(render(text)) == [r"P( |\(\hat{y} - p| < 1 ) for all p, so ŷ is far."]
    assert lines(render("a \\(x = 1\n\nNext * y.\n\n1\\) b"))[2] == "Next * y."


def test_fences_keep_their_text_and_get_colours() -> None:
    rendered = render("```python\ndef f(x):\n    return x**2  # $y$\n```\nafter")
    assert lines(rendered) == ["```python", "def f(x):", "    return x**2  # $y$", "```", "after"]
    assert {"code.keyword", "code.name", "code.comment", "code.number"} <= {style for _, style in styles(rendered)}
    assert rendered.marks["code"] == [1]


def test_an_unknown_language_and_an_open_fence_are_plain_code() -> None:
    assert styles(render("```nolang\n*x*")) == [("```nolang", "dim"), ("*x*", "code")]


def test_think_is_folded_and_unfolds() -> None:
    text = "<think>\none\ntwo\n</think>\n\nIt is \\boxed{2}."
    folded = render(text)
    assert lines(folded) == ["▸ <think> 4 lines folded", "", "It is ▌2▐."]
    assert folded.marks["think_end"] == [0]
    unfolded = render(text, fold_think=False)
    assert lines(unfolded) == ["<think>", "one", "two", "</think>", "", "It is ▌2▐."]
    assert unfolded.marks["think_end"] == [3]
    assert unfolded.lines[1].spans[0].style == "think"


def test_a_lone_closing_tag_folds_the_text_before_it() -> None:
    assert lines(render("one\ntwo\n</think>\nthree")) == ["▸ <think> 3 lines folded", "three"]


def test_a_block_that_is_never_closed_is_not_hidden() -> None:
    assert lines(render("<think>\nstill thinking")) == ["<think>", "still thinking"]


def test_the_answer_is_marked_by_style_and_sign() -> None:
    text = "first\nthe answer is 42, yes"
    at = text.index("42")
    for rendered in (render(text, answer_span=(at, at + 2)), render_raw(text, (at, at + 2))):
        assert lines(rendered)[1] == "▶ the answer is 42, yes"
        assert ("42", "answer") in styles(rendered)
        assert rendered.marks["answer"] == [1]


@pytest.mark.parametrize(
    "text", ["so $x = \\boxed{42}$.", "so \\boxed{42}.", "\\[\n\\boxed{42}\n\\]", "w\n" * 12 + "w 42"]
)
def test_an_answer_inside_a_formula_marks_the_formula(text: str) -> None:
    at = text.index("42")
    rendered = render(text, answer_span=(at, at + 2))
    assert any("42" in text for text, style in styles(rendered) if style == "answer")


def test_every_box_is_marked() -> None:
    text = "a $\\boxed{1}$\nb\n\\[ \\begin{aligned} x &= 2 \\\\ &\\boxed{2} \\end{aligned} \\]"
    assert render(text).marks["boxed"] == [0, 3]
    assert render_raw(text).marks["boxed"] == [0, 2]


def test_markup_and_control_characters_are_inert() -> None:
    text = "[bold]x[/] \x1b[31mred \x00\x07 \u202eright \u2028 \x9b \ud800\ta"
    shown = "[bold]x[/] ␛[31mred ␀␇ ⟨U+202E⟩right ⟨U+2028⟩ ⟨U+009B⟩ ⟨U+D800⟩    a"
    assert lines(render(text)) == lines(render_raw(text)) == [shown]


def test_raw_lines_are_the_text() -> None:
    text = "a **b** $x$\r\n\n  `c`\rlast"
    assert lines(render_raw(text)) == ["a **b** $x$", "", "  `c`", "last"]
    assert [text[slice(*line.source)] for line in render_raw(text).lines] == ["a **b** $x$", "", "  `c`", "last"]


@given(PROSE)
def test_prose_loses_no_backslash_underscore_or_digit(text: str) -> None:
    shown = render(text).text
    for character in "_\\1ab":
        assert shown.count(character) == text.count(character)


@given(ANYTHING, st.booleans(), st.integers(0, 40), st.integers(0, 40))
def test_any_text_renders_to_harmless_lines_with_valid_sources(text: str, fold: bool, start: int, end: int) -> None:
    for rendered in (render(text, fold_think=fold, answer_span=(start, end)), render_raw(text, (start, end))):
        sources = [line.source for line in rendered.lines]
        assert sources == sorted(sources)
        assert all(0 <= first <= last <= len(text) for first, last in sources)
        shown = rendered.text.replace("\n", "")
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u202e\u2066"]
        assert all(0 <= index < len(rendered.lines) for indices in rendered.marks.values() for index in indices)
        assert all("\n" not in span.text for line in rendered.lines for span in line.spans)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 20_000,
        "{" * 200_000,
        "\\[ " * 33_000 + "\\]",
        "$ " * 50_000,
        "`a " * 50_000,
        " ".join("`" * n for n in range(500, 0, -1)),
        "*a **b " * 30_000,
        "> " * 50_000,
        "```\n" * 20_000,
        "<think>" * 50_000,
        "a\n" * 50_000,
        "\n" * 50_000,
        "|" * 50_000 + "\n|--|\n",
        "- " * 50_000 + "x",
        "\\" * 100_000,
        "[" * 100_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    assert render(text, fold_think=False).lines
    assert render_raw(text).lines


@pytest.mark.real_data
def test_real_texts_lose_no_digit(real_rows: list[dict[str, Any]]) -> None:
    for row in real_rows:
        for field in ("question", "answer", "completion"):
            text = row[field]
            assert _digits(render(text, fold_think=False).text) == _digits(text)
            assert render_raw(text).text == text


def _digits(text: str) -> list[int]:
    return [unicodedata.digit(character) for character in text if character.isdigit()]
