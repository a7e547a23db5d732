"""No view loses a character of mathematics: everything visible is shown, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.mathematics import FORMULAS, LATEX, canonical, first_lost, must_be_seen
from workbench.app.tui.kit.wrapping import prepare
from workbench.core.text.fragments import fragments
from workbench.core.text.markdown import render, render_raw
from workbench.core.text.math import render_math

FIELDS = ("question", "answer", "completion")


@example("cosθ*cosθ + sinθ*(-sinθ)")
@example("((4 +- -3) #*# -7) *- (2 ! -8)")
@example("x *y* z + (a) *b* 2")
@example("AF/FD *DG/GC* CE/EA")
@example("2 *(3 + 4)* 5")
@example("x **2 + y** 3")
@example("seven *(8 - 3)* three")
@given(FORMULAS)
def test_formulas_are_shown_as_typed(formula: str) -> None:
    assert render(formula).text == formula
    assert formula in render(f"So {formula} is *really* what **they** said.").text
    assert formula in render(f"- {formula}\n> {formula}\n# {formula}").text


@pytest.mark.parametrize(
    "text",
    [
        "C(n,1)*(-7), C(n,2)*(-7)^2",
        "(AF/FD)*(DG/GC)*(CE/EA)=1",
        "644 *1,005: 644*1,005",
        "* 5 + 3",
        "(a + b)\n* 5",
        "- 3 + 4",
        "+ 4 - 3",
        "1. 5",
        "# 3 #> 4",
        "> 5",
        "x = 3\n===",
        "x\n---",
        "- - -",
        "~~3~~ 4",
        "_a_ __b__",
        r"\*3\* \_a\_ \\ \#",
        "<x, y> <b> a<b>c <http://x.y>",
        "[1](2) [a, b](c) ![3]",
        "&lt; &amp;",
        "1  \n2",
        "f(*args, **kwargs) ** 2",
        "{1, 2} {x | x > 3}",
        "4 $ 5 $ 6",
        "(3 $ 4) + ($ 5) -$ 7",
        "3 #$ (4 -$ five) $+ 6",
        "4 $ (5 + 6) $ 7",
        "a|b|c",
        "||x| - |y||",
    ],
)
def test_possible_operators_are_shown_as_typed(text: str) -> None:
    assert render(text).text == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is *not* a *really* good one.", "It is not a really good one."),
        ("**Answer:** 42", "Answer: 42"),
        ("= **42**", "= 42"),
        ("**10** + **20** = **30**", "10 + 20 = 30"),
        ("**Step 1** (x) is *Condition 1*: it", "Step 1 (x) is Condition 1: it"),
        ("- **B** and **D** (*such*).", "- B and D (such)."),
        ("答案是**7**。", "答案是7。"),
        ("The answer is **(D)**.", "The answer is (D)."),
        ("***So*** it is", "So it is"),
        ("**Answer: $x^2$.**", "Answer: x²."),
        ("is **5** m/s", "is 5 m/s"),
        ("questioning’s **definition** (so)", "questioning’s definition (so)"),
    ],
)
def test_emphasis_of_words_is_a_style(text: str, shown: str) -> None:
    assert render(text).text == shown


@example(r"\cos*x + 2\pi*3", ("$", "$"))
@example(r"3 -& 4 &! 5", ("\\(", "\\)"))
@given(LATEX, st.sampled_from([("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("$$", "$$")]))
def test_formulas_in_latex_lose_nothing(formula: str, delimiters: tuple[str, str]) -> None:
    must_show = must_be_seen(formula)
    assert first_lost(must_show, canonical(render_math(formula))) == ""
    shown = render(f"So {delimiters[0]}{formula}{delimiters[1]} holds.").text
    assert first_lost(f"So{must_show}holds.", canonical(shown)) == ""


@pytest.mark.real_data
def test_real_rows_lose_nothing_at_any_width(real_rows: list[dict[str, Any]]) -> None:
    lost = []
    for row in real_rows:
        for field in FIELDS:
            text = row[field]
            rendered = render(text, fold_think=False)
            if place := first_lost(must_show(text), canonical(rendered.text)):
                lost.append((row["completion_id"], field, place))
            for view in (rendered, render_raw(text)):
                for width in (80, 120):
                    wrapped = prepare(view, width)
                    rows = "".join(wrapped.text(at)[start:end] for at, start, end in wrapped.rows)
                    whole = "".join(map(wrapped.text, range(len(wrapped.lines))))
                    assert rows.replace(" ", "") == whole.replace(" ", "")
    assert lost == []


@pytest.mark.real_data
def test_no_star_between_operands_is_lost_in_real_rows(real_rows: list[dict[str, Any]]) -> None:
    taken, wrong = 0, []
    for row in real_rows:
        for field in FIELDS:
            text = row[field]
            for line in render(text, fold_think=False).lines:
                source = text[slice(*line.source)]
                if "*" not in source or re.search(r"[$`|\\]|\n", source) or line.text == source:
                    continue
                runs = list(_taken(source, line.text))
                signs = [_between_operands(source, *run) for run in runs]
                taken += len(runs)
                if any(first and last for first, last in pairwise(signs)):
                    wrong.append((row["completion_id"], field, source[:60]))
    assert wrong == []
    assert taken > 1000


def must_show(text: str) -> str:
    """Return the part of a text that must be visible: meaningful math, and prose without stars and table lines."""
    parts, at = [], 0
    for fragment in fragments(text, 0, len(text)):
        parts.append(_prose(text[at : fragment.start]))
        parts.append(must_be_seen(fragment.body) if fragment.kind == "math" else canonical(fragment.body))
        at = fragment.end
    return "".join([*parts, _prose(text[at:])])


def _prose(text: str) -> str:
    lines = ("" if "|" in line and not line.strip(" \t|:-") else line for line in text.split("\n"))
    return canonical(re.sub(r"[*|\u200b-\u200d\ufe00-\ufe0f]", "", "\n".join(lines)))


def _taken(source: str, shown: str) -> Iterator[tuple[int, int]]:
    """The runs of stars of a line that are not shown."""
    at, start = 0, None
    for place, character in enumerate(source):
        if shown[at : at + 1] == character:
            at += 1
            if start is not None:
                yield start, place
            start = None
        else:
            assert character == "*", (source, shown)
            start = place if start is None else start
    if start is not None:
        yield start, len(source)


def _between_operands(source: str, start: int, end: int) -> bool:
    before, after = source[:start].rstrip(), source[end:].lstrip()
    left = re.search(r"(?:[\d)\]}|°′!]|(?<![^\W\d_])[^\W\d_])$", before)
    right = re.match(r"[\d(\[{|√]|[^\W\d_](?![^\W\d_])", after)
    return left is not None and right is not None
