"""Rendered math reads like the formula and keeps every digit; unknown parts stay as typed."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.core.text.fragments import fragments
from workbench.core.text.math import MAX_DEPTH, MAX_LENGTH, render_math

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
        (r"e^{n\ln\sin(x)}", "e^(n ln sin(x))"),
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
        (r"\boxed{\frac{1}{2}}", "▌1/2▐"),
        (r"\binom{10}{3}", "binom(10, 3)"),
        (r"5 \pmod{7}", "5 (mod 7)"),
        (r"a \bmod b", "a mod b"),
        (r"y\gcd(a,b)", "y gcd(a,b)"),
        (r"2\sin^2\theta", "2 sin² θ"),
        (r"\mathbf{v}\in\mathbb{R}", "v∈ℝ"),
        (r"x\ne 0 \implies x^2>0", "x≠0 ⇒ x²>0"),
        (r"n\not\equiv 0", "n≢ 0"),
        (r"0.\overline{3}", "0.(3 repeating)"),
        (r"0.1\overline{6}x", "0.1(6 repeating)x"),
        (r"9\overline{3}", "9 overline(3)"),
        (r"\vec m\cdot\vec n", "vec(m)·vec(n)"),
        (r"2\bar z w", "2 bar(z) w"),
        (r"\bar{X}_n", "bar(X)ₙ"),
        (r"\hat{y} + \dot{x}", "ŷ + ẋ"),
        (r"\hat{p}(1-\hat{p})", "hat(p)(1-hat(p))"),
        (r"a \not= b \not\perp c", "a ≠ b not ⊥ c"),
        (r"\ge 3 \sqrt[3]{2}", "≥ 3 (³√2)"),
        (r"\frac{1}{x^2}", "1/x²"),
        (r"\mathbb{N}^*", "ℕ^*"),
        (r"2\pi*r + \cos*x", "2π*r + cos*x"),
        (r"(4 ~ 5) ~ (-3)", "(4 ~ 5) ~ (-3)"),
        (r"5~\text{cm},~x = 1", "5 cm, x = 1"),
        (r"(3 -& 4) &! 5", "(3 -& 4) &! 5"),
        (r"S = {1, 2, 3}", "S = {1, 2, 3}"),
        (r"2{,}000", "2,000"),
        (r"x{a+b \over c}", "x((a+b)/c)"),
        (r"\mathrm{H_2O}", "H₂O"),
        (r"\ce{2H2O + SO4^2- -> Fe^{3+} + H3O+}", "2H₂O + SO₄²⁻ → Fe³⁺ + H₃O⁺"),
        (r"\ce{CuSO4*5H2O <=> ^{14}_{6}C}", "CuSO₄*5H₂O ⇌ ¹⁴₆C"),
        (r"\boxed{[0, 1)}", "▌[0, 1)▐"),
        (r"\overline{AB}", "overline(AB)"),
        (r"\{1,2\}", "{1,2}"),
        (r"\$5 = 50\%", "$5 = 50%"),
        (r"\left.\frac{1}{2}\right|_0^1", "(1/2)|₀¹"),
    ],
)
def test_formulas_keep_their_meaning(latex: str, shown: str) -> None:
    assert render_math(latex) == shown


def test_a_display_array_is_a_grid() -> None:
    array = r"\begin{array}{cc} 1 & \square \\ 22 & \blacksquare \end{array}"
    assert render_math(array, display=True) == "1   □\n22  ■"
    assert render_math(array) == "1, □; 22, ■"
    assert render_math(rf"A = ({array})", display=True) == "A = (1, □; 22, ■)"


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
