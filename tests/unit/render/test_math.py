"""Math reads like the formula, keeps every digit, and what is not understood stays as typed."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.render.fragments import fragments
from workbench.render.math import MAX_DEPTH, MAX_LENGTH, render_math

STRUCTURES = r"\frac \sqrt \binom \boxed \text \alpha \sin \gcd \not \pmod \overline \foo \mathbb \left( \right. \, \\"
ENVIRONMENTS = r"\begin{pmatrix} \end{pmatrix} \begin{cases} \end{cases} \begin{array} \end{array} &"
CHARACTERS = "{ } [ ] ^ _ 1 23 x + - / ( ) , ² ٣ ~ '"
TOKENS = st.sampled_from([*STRUCTURES.split(), *ENVIRONMENTS.split(), *CHARACTERS.split(), " ", "\n"])


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\frac{-b\pm\sqrt{b^2-4ac}}{2a}", "(-b±√(b²-4ac))/(2a)"),
        (r"\frac{1}{2}", "1/2"),
        (r"k\pi \text{ for integer } k", "kπ for integer k"),
        (r"5\text{ cm}", "5 cm"),
        (r"\text{ cm}", "cm"),
        (r"\frac12x", "(1/2)x"),
        (r"x\frac{1}{2}", "x(1/2)"),
        (r"2\frac{1}{3}", "2 1/3"),
        (r"a/\frac{b}{c}", "a/(b/c)"),
        (r"\frac{\frac{1}{2}}{3}", "(1/2)/3"),
        (r"\frac{a}{b}^2", "(a/b)²"),
        (r"\frac{dy}{dx}", "dy/dx"),
        (r"\log\frac{a}{b}", "log(a/b)"),
        (r"\sqrt{2}x", "(√2)x"),
        (r"\sqrt{x+1}", "√(x+1)"),
        (r"\sqrt[3]{2}", "³√2"),
        (r"a^{2b}", "a²ᵇ"),
        (r"x_1^2", "x₁²"),
        (r"10^{-3}", "10⁻³"),
        (r"e^{i\pi}", "e^(iπ)"),
        (r"2^{2^3}", "2^(2³)"),
        (r"90^\circ", "90°"),
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "(a, b; c, d)"),
        (r"\begin{pmatrix} 1 & 2 \\[2pt] 3 & 4 \end{pmatrix}", "(1, 2; 3, 4)"),
        (r"\begin{aligned} x &= 1 \\*[-0.5 em] y &= 2 \end{aligned}", "x = 1\ny = 2"),
        (r"\begin{cases} 1 \\[6pt] [2, 3] \\[ 1ex ] \end{cases}", "{ 1; [2, 3] }"),
        (r"x \\ [2]", "x\n[2]"),
        (r"\left[\begin{array}{cc}1&2\\3&4\end{array}\right]", "[1, 2; 3, 4]"),
        (r"\begin{cases} x & x>0 \\ 0 & \text{otherwise}\end{cases}", "{ x, x>0; 0, otherwise }"),
        (r"\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}", "x = 1\ny = 2"),
        (r"\boxed{\frac{1}{2}}", "⟦1/2⟧"),
        (r"\binom{10}{3}", "binom(10, 3)"),
        (r"5 \pmod{7}", "5 (mod 7)"),
        (r"a \bmod b", "a mod b"),
        (r"y\gcd(a,b)", "y gcd(a,b)"),
        (r"2\sin^2\theta", "2 sin² θ"),
        (r"\mathbf{v}\in\mathbb{R}", "v∈ℝ"),
        (r"x\ne 0 \implies x^2>0", "x≠0 ⟹ x²>0"),
        (r"n\not\equiv 0", "n≢ 0"),
        (r"0.\overline{3}", "0.3̅"),
        (r"\overline{AB}", "overline(AB)"),
        (r"\{1,2\}", "{1,2}"),
        (r"\$5 = 50\%", "$5 = 50%"),
        (r"\left.\frac{1}{2}\right|_0^1", "(1/2)|₀¹"),
    ],
)
def test_formulas_keep_their_meaning(latex: str, shown: str) -> None:
    assert render_math(latex) == shown


def test_unknown_macros_stay_visible_with_their_arguments() -> None:
    assert render_math(r"\foo{a}{b^2} + \unknownmacro x") == r"\foo{a}{b²} + \unknownmacro x"


@pytest.mark.parametrize("latex", ["}a", r"\frac{1}{", "x^", r"\begin{tikzpicture}1\end{tikzpicture}", r"\end{x}", "{"])
def test_malformed_fragments_stay_as_typed(latex: str) -> None:
    assert render_math(latex) == latex


@pytest.mark.parametrize(
    "latex",
    [
        "{" * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1),
        r"\frac{" * 2000 + "}" * 2000,
        r"\vec" * 5000 + "x",
        "x^" * 5000,
        "9" * (MAX_LENGTH + 1),
        r"\sqrt[" * 3000,
    ],
)
def test_too_deep_and_too_long_fragments_stay_as_typed(latex: str) -> None:
    assert render_math(latex) == latex


@example(r"^\left0")
@given(st.one_of(st.text(), st.lists(TOKENS, max_size=30).map("".join)))
def test_no_text_raises_or_loses_a_digit(latex: str) -> None:
    assert _digits(render_math(latex)) == _digits(latex)


@pytest.mark.real_data
def test_no_real_formula_loses_a_digit(real_rows: list[dict[str, Any]]) -> None:
    bodies = [
        fragment.body
        for row in real_rows
        for field in ("question", "answer", "completion")
        for fragment in fragments(row[field], 0, len(row[field]))
        if fragment.kind == "math"
    ]
    assert len(bodies) > 4000
    assert [body for body in bodies if _digits(render_math(body)) != _digits(body)] == []
    as_typed = sum(render_math(body) == body for body in bodies if "\\frac" in body)
    assert as_typed < len(bodies) / 200


def _digits(text: str) -> list[int]:
    return [unicodedata.digit(character) for character in text if character.isdigit()]
