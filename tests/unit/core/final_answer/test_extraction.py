"""The final answer is found in a fixed order, always tied to the stored text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers import ANYTHING
from workbench.core.final_answer import boxed_spans, completion_answer, reference_answer

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
        ("<think>It is \\boxed{3}, I guess", "none", ""),
        ("\ufeff <Thinking>The answer is 3.", "none", ""),
        ("[THINK]3? [/THINK][THINK]\\boxed{4}", "none", ""),
        ("So. <think>It is \\boxed{3}, I guess", "none", ""),
        ("<|begin_of_thought|>The answer is 3.", "none", ""),
        ("<|begin_of_thought|>3?<|end_of_thought|>The answer is 4.", "cue", "4"),
        ("<scratchpad >The answer is 3.", "none", ""),
        ("so $\\boxed 7$.", "boxed", "7"),
        ("so $\\boxed\\frac12$", "boxed", "\\frac12"),
        ("\\framebox{7}", "boxed", "7"),
        ("so $\\boxed 7 + 1$", "math", "\\boxed 7 + 1"),
        ("so $\\boxed 1,234$", "math", "\\boxed 1,234"),
        ("<thinking>3?</thinking>The answer is 4/5.", "cue", "4/5"),
        ("[THINK]\\boxed{3}[/THINK] 4", "whole", "4"),
        ("<seed:think>\\boxed{3}</seed:think> 4", "whole", "4"),
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


def test_boxes_are_outermost_and_closed() -> None:
    text = r"\boxed{a \boxed{b}} \fbox{c} \boxed{d"
    assert [text[start:end] for start, end in boxed_spans(text)] == [r"a \boxed{b}", "c"]


@given(ANYTHING, st.sampled_from([None, "A1", "B2"]))
def test_offsets_always_point_at_the_answer(text: str, subtype: str | None) -> None:
    for found in (completion_answer(text), reference_answer(text, subtype)):
        assert text[found.start : found.end] == found.text
        assert found.found == bool(found.text)
        assert found.text == found.text.strip(" \t\r\n")
