"""The final answer is found in a fixed order, always tied to the stored text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.final_answer import FinalAnswer, boxed_spans, card, completion_answer, quirks, reference_answer

VISIBLE = r"\boxed{ { } \} </think> <think> #### ** * $ $$ \( \) \[ \] Answer: 1,2 x. : 答案是 `"
TOKENS = [
    *VISIBLE.split(),
    "\\",
    "\\fbox {",
    "\n",
    "Final answer\n",
    "the answer is",
    " ",
]
ANYTHING = st.one_of(
    st.text(),
    st.lists(st.sampled_from(TOKENS), max_size=25).map("".join),
)
LONG = "The reasoning goes on without any end or result. " * 6


@pytest.mark.parametrize(
    ("text", "how", "answer"),
    [
        (r"so \boxed{1} and then $\boxed{\frac{1}{2}}$.", "boxed", r"\boxed{1} and then $\boxed{\frac{1}{2}}"),
        ("\\boxed{1}\nso \\boxed{2}\ndone", "boxed", "2"),
        (r"x \fbox{ a } y", "boxed", "a"),
        (r"\boxed{\{1\}}", "boxed", r"\{1\}"),
        (r"\boxed{a \boxed{b}}", "boxed", r"a \boxed{b}"),
        (r"\boxed{5} and \boxed{unclosed", "boxed", "5"),
        ("I think \\boxed{3}</think>The answer is 4.", "cue", "4"),
        ("the answer is 3. Then the final answer is $x^2$.", "cue", "x^2"),
        ("**Final Answer:** (D) Named Entities", "cue", "(D) Named Entities"),
        ("**Answer: D**", "cue", "D"),
        ("**Final Answer**\n\nK", "cue", "K"),
        ("The correct answer is:\n\\[ 3 \\]\nbye", "math", "3"),
        ("Final answer: The completed sequence is:\n`( < > )`", "cue", "( < > )"),
        ("**Answers**: **B** and **D**.", "cue", "**B** and **D**"),
        ("The answer is 5!. Good", "cue", "5!"),
        ("ANSWER: 3.14", "cue", "3.14"),
        ("所以答案是 7。", "cue", "7"),
        (LONG + "\nSo it must be **tapi**.", "bold", "tapi"),
        (LONG + "\nSo $a = 1$ and $b = 2$ hold.", "math", "b = 2"),
        (LONG + "\n$$\nx = 3\n$$", "math", "x = 3"),
        ("Let me see.\nProbably Paris.", "last_line", "Probably Paris"),
        ("long thought\n</think>\n\nunknown", "whole", "unknown"),
        (LONG, "none", ""),
        ("thought\n</think>\n", "none", ""),
        ("", "none", ""),
        (r"\boxed{}" + LONG, "none", ""),
    ],
)
def test_completions(text: str, how: str, answer: str) -> None:
    found = completion_answer(text)
    assert (found.how, found.text) == (how, answer)
    assert text[found.start : found.end] == answer


@pytest.mark.parametrize(
    ("text", "subtype", "how", "answer"),
    [
        ("disproved", None, "whole", "disproved"),
        (LONG + r"\boxed{5\sqrt{3}}$.", None, "boxed", r"5\sqrt{3}"),
        (LONG + "= <<40+10=57>>57\n#### 57", "A1", "hashes", "57"),
        (LONG + "The answer is 12.\n" + LONG, "A1", "cue", "12"),
        (LONG + "so he pays 1,200.50 in all", "A3", "number", "1,200.50"),
        (LONG + r"so he pays \( x + 1 \) in all", "B1", "math", "x + 1"),
        (LONG, "D2", "none", ""),
        ("  ", None, "none", ""),
    ],
)
def test_references(text: str, subtype: str | None, how: str, answer: str) -> None:
    found = reference_answer(text, subtype)
    assert (found.how, found.text) == (how, answer)
    assert text[found.start : found.end] == answer


def test_quirks_of_a_completion() -> None:
    assert quirks("All is well.") == ()
    assert quirks("thought</think>It is \\boxed{1} or \\boxed{2}") == ("think_unopened", "several_boxed")
    assert quirks("the very same line\n" * 10 + "and then it sto") == ("repeated_line", "no_closing_punctuation")


def test_boxes_are_outermost_and_closed() -> None:
    text = r"\boxed{a \boxed{b}} \fbox{c} \boxed{d"
    assert [text[start:end] for start, end in boxed_spans(text)] == [r"a \boxed{b}", "c"]


def test_the_card_ties_the_answer_to_the_tail() -> None:
    completion = "x" * 5000 + "\nThe answer is **42**."
    seen = card("q" * 3000, "42", completion, "A1")
    assert len(seen.question) == 800
    assert len(seen.completion_tail) == 600
    assert seen.reference == FinalAnswer("42", 0, 2, "whole")
    assert seen.answer_in_tail is not None
    assert seen.completion_tail[slice(*seen.answer_in_tail)] == "42"
    assert seen.usable


def test_an_answer_before_the_tail_makes_no_usable_card() -> None:
    seen = card("q", "42", "\\boxed{42}" + " y" * 500)
    assert seen.completion.text == "42"
    assert seen.answer_in_tail is None
    assert not seen.usable


@given(ANYTHING, st.sampled_from([None, "A1", "B2"]))
def test_offsets_always_point_at_the_answer(text: str, subtype: str | None) -> None:
    for found in (completion_answer(text), reference_answer(text, subtype)):
        assert text[found.start : found.end] == found.text
        assert found.found == bool(found.text)
        assert found.text == found.text.strip(" \t\r\n")
    seen = card(text, text, text, subtype)
    if seen.answer_in_tail is not None:
        assert seen.completion_tail[slice(*seen.answer_in_tail)] == seen.completion.text


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 100_000,
        "{" * 1_000_000,
        "\\boxed{" + "{" * 300_000,
        "\\boxed{" * 50_000 + "1" + "}" * 50_000,
        "answer is " * 50_000,
        "answer " + " " * 200_000,
        "answer:" + "a:\n" * 50_000,
        "**" * 100_000,
        "$a" * 100_000,
        "####" * 50_000,
        "\n" * 200_000,
        "\\" * 200_000,
        "9," * 200_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    card(text, text, text, "A1")


@pytest.mark.real_data
def test_most_real_cards_are_usable(real_rows: list[dict[str, Any]]) -> None:
    cards = [card(row["question"], row["answer"], row["completion"], row["answer_type"][:2]) for row in real_rows]
    assert sum(seen.reference.how in ("boxed", "hashes", "whole", "cue") for seen in cards) >= 0.9 * len(cards)
    assert sum(seen.usable for seen in cards) >= 0.8 * len(cards)
    assert sum(seen.completion.found for seen in cards) >= 0.95 * len(cards)
