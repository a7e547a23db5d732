"""Expressions, equations and inequalities are equal exactly when they mean the same, and nothing makes them hang."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.unit.verifiers.rules.hostile import BOMBS
from workbench import judge
from workbench.core.verdict import Outcome
from workbench.verifiers.rules.equations import same_expression
from workbench.verifiers.rules.expression import statements
from workbench.verifiers.rules.spelling import FUNCTIONS, TooComplex

EQUAL = {
    "numbers": [
        ("1.5", r"\frac{3}{2}"),
        ("1,000", "1000"),
        ("1{,}000", "10^3"),
        (r"12,\!345", "12345"),
        (".5", "1/2"),
        ("1.5e-5", r"1.5 \times 10^{-5}"),
        ("3e8", r"3\cdot 10^8"),
        (r"50\%", "0.5"),
        ("2^{10}", "1024"),
        ("2^{-2}", "0.25"),
        ("2**3", "8"),
        ("4^{1/2}", "2"),
        (r"1\frac12", r"\frac{3}{2}"),
        (r"-2\frac{1}{3}", "-7/3"),
        (r"\frac{2^{2024}}{2^{2023}}", "2"),
        ("7 ÷ 2", "3.5"),
        ("3 × 4", "12"),
        ("−5", "-5"),
    ],
    "fractions": [
        (r"\frac12x", "0.5x"),
        (r"\frac1{2}", r"\dfrac{1}{2}"),
        (r"\tfrac{x}{2}", "x/2"),
        (r"\cfrac{1}{1+\cfrac{1}{x}}", r"\frac{x}{x+1}"),
        ("{1 \\over 2}", "1/2"),
        ("1/2x", r"\frac{x}{2}"),
        ("1/2x", r"\frac{1}{2x}"),
        ("-(x-1)/(1-x)", "1"),
        (r"\frac{1}{2} 2^x", "2^{x-1}"),
    ],
    "roots": [
        (r"\frac{1}{\sqrt3}", r"\frac{\sqrt{3}}{3}"),
        (r"\sqrt{8}", r"2\sqrt2"),
        (r"\sqrt[3]{27}", "3"),
        (r"\sqrt[3]{-8}", "-2"),
        (r"\sqrt[3]{x}", "x^{1/3}"),
        (r"\sqrt{5+2\sqrt{6}}", r"\sqrt2+\sqrt3"),
        (r"\sqrt{53}\cdot\sqrt{53}", "53"),
        ("√2", r"\sqrt{2}"),
        ("sqrt(2)/2", r"\frac{1}{\sqrt{2}}"),
        (r"\sqrt{x^2}", "|x|"),
        (r"\sqrt{-4}", "2i"),
        (r"\frac{\sqrt{6}-\sqrt{2}}{4}", r"\sin 15^\circ"),
    ],
    "polynomials": [
        ("x^2-1", "(x-1)(x+1)"),
        ("2xy", "2yx"),
        ("3(x+1)", "3x+3"),
        ("xy^2", "x*y*y"),
        ("s*(s - 1)**2/4", r"\frac{s(s-1)^2}{4}"),
        (r"x_1+x_{2}", "x_2+x_1"),
        ("a_{ij}b", "ba_{ij}"),
        (r"\left(a+b\right)^{2}", "a^2+2ab+b^2"),
        ("[x+1]y", "xy+y"),
        ("x+y-y", "x"),
        (r"\frac{x^2-1}{x-1}", "x+1"),
        (r"(x+1)^{100}\cdot(x+1)", "(x+1)^{101}"),
        (r"\alpha\beta", r"\beta \cdot \alpha"),
        (r"2\mathbf{x}\,y", "2yx"),
    ],
    "constants": [
        ("2π", r"2\pi"),
        ("2pi", r"2\pi"),
        (r"e^{i\pi}", "-1"),
        ("i^2", "-1"),
        ("(1+i)^2", "2i"),
        (r"\frac{1}{i}", "-i"),
        ("e^{2x}", "(e^x)^2"),
        (r"\exp(x)", "e^x"),
        (r"\infty", "∞"),
    ],
    "trigonometry": [
        (r"\sin^2 x+\cos^2 x", "1"),
        (r"\sin 2x", r"2\sin x\cos x"),
        (r"\sin 3x", r"\sin x (2 \cos (2x) + 1)"),
        (r"\sin^{-1}x", r"\arcsin x"),
        (r"\tan x", r"\frac{\sin x}{\cos x}"),
        (r"\cos\frac{\pi}{3}", r"\frac{1}{2}"),
        (r"\sin(x)^2", r"\sin^2(x)"),
        (r"\sec x", r"1/\cos x"),
        ("sin(2x)", r"\sin{2x}"),
        ("cosx", r"\cos x"),
        (r"\operatorname{arctan}(x)", r"\tan^{-1} x"),
        (r"30^\circ", r"\frac{\pi}{6}"),
        ("30°", r"30^{\circ}"),
        (r"180^\circ", r"\pi\text{ radians}"),
        (r"\cosh^2 x-\sinh^2 x", "1"),
        (r"\sin 2\pi x", r"\sin(2 \pi x)"),
    ],
    "logarithms": [
        (r"\log_2 8", "3"),
        (r"\ln x^2", r"\ln(x^2)"),
        (r"\ln\frac{a}{b}+\ln b", r"\ln a"),
        (r"\log 100", "2"),
        (r"\log x", r"\ln x"),
        (r"\lg x", r"\log_{10} x"),
        (r"\log_2 x", r"\frac{\ln x}{\ln 2}"),
        (r"e^{\ln 5}", "5"),
    ],
    "combinatorics": [
        ("5!", "120"),
        ("n!", "n(n-1)!"),
        (r"\binom{5}{2}", "10"),
        (r"{5\choose 2}", "C(5,2)"),
        (r"\dbinom{n}{2}", r"\frac{n(n-1)}{2}"),
        ("C_{10}^{3}", "120"),
        ("C_1^2+C_2^2", "C_2^2+C_1^2"),
        (r"\lfloor 2.7\rfloor", "2"),
        (r"\lceil x\rceil", "⌈x⌉"),
        (r"\max(2,3)", "3"),
        ("(-1)^{n+1}", "-(-1)^n"),
        ("(-1)^n", r"\cos(n\pi)"),
    ],
    "functions": [
        ("f(x+1)", "f(1+x)"),
        ("2f(x)+g(x,y)", "g(x,y)+f(x)+f(x)"),
        ("f'(x)", "f^{\\prime}(x)"),
        ("f^{-1}(2x)", "f^{-1}(x+x)"),
        ("y''+y", "y+y''"),
        (r"\frac{dy}{dx}", r"\frac{\mathrm{d}y}{\mathrm{d}x}"),
        (r"\text{erf}(2x)", r"\operatorname{erf}(x+x)"),
    ],
    "equations": [
        ("y=2x+1", "2x-y+1=0"),
        ("y=2x+1", "2y=4x+2"),
        ("x=5", "5"),
        ("5=x", "x=5"),
        ("x=2y", "y=x/2"),
        ("f(x)=x^2", "x^2"),
        ("y=x^2", "f(x)=x^2"),
        ("S=2+3=5", "5"),
        ("2+3=5", "5"),
        (r"P(A)=\frac12", "1/2"),
        ("y(x)=2x", "y=x+x"),
        ("AB=5", "5"),
        ("a_n=2n+1", "1+2n"),
        (r"f_{Z_{\alpha}}(t)=2t", "t+t"),
        (r"\frac{dy}{dx}=2x", "2x"),
        (r"A=25\pi\approx78.5", r"25\pi"),
        (r"A=25\pi\approx78.5", "A=78.5"),
        (r"x=\pm 2", r"\pm2"),
        (r"2\pm\sqrt3", r"2\mp\sqrt{3}"),
        ("x^2+y^2=1", "1-x^2=y^2"),
        (r"\ln y=x", r"2\ln y=2x"),
        (r"\lim_{n\to 0} a = 3", "3"),
    ],
    "inequalities": [
        ("x>2", "2<x"),
        (r"x \geq 2", "2 ≤ x"),
        ("2x>4", "x>2"),
        ("-2x<-4", "x>2"),
        ("1<x<2", "2>x>1"),
        ("2<2x<4", "1<x<2"),
        (r"x \neq 1", "1 ≠ x"),
    ],
    "constants of integration": [
        (r"\frac{x^2}{2}+C", r"\frac{x^2}{2}+c"),
        (r"\frac{x^2}{2}+C", r"K+\frac{x^2}{2}"),
        (r"\frac{x^2}{2}+C", r"\frac{x^2+1}{2}+C"),
        (r"\ln|x|+C", r"\ln|2x|+C"),
        (r"x^2+C", r"x^2+\text{const}"),
        ("C_1e^x", "C_2e^x"),
        ("Ce^{-2x}", "Ae^{-2x}"),
        ("C_1e^x+C_2e^{-x}", "C_2e^x+C_1e^{-x}"),
        ("C_1e^x+C_2e^{-x}", "Ae^{-x}+Be^x"),
        (r"C_1\cos x-C_2\sin x", r"C_1\cos x+C_2\sin x"),
        ("(C_1+C_2x)e^{2x}", "(C_1x+C_2)e^{2x}"),
        (r"y=\frac{x^2}{2}+C", r"\frac{x^2}{2}+C"),
        (r"\frac{\pi}{4}+k\pi", r"\frac{\pi}{4}+n\pi"),
    ],
}

UNEQUAL = [
    ("2+2\\sqrt{3}", "2+\\frac{4\\sqrt{3}}{3}"),
    (r"\sqrt{2}+10^{-16}", r"\sqrt{2}"),
    (r"\sqrt{2}+10^{-60}", r"\sqrt{2}"),
    (r"\sin x+10^{-20}", r"\sin x"),
    (r"e^{\pi\sqrt{163}}", "262537412640768744"),
    (r"\sqrt{x^2}", "x"),
    ("|x|", "x"),
    ("x", "X"),
    ("A", "a"),
    ("x+1", "y+1"),
    ("x_1", "x_2"),
    ("x'", "x"),
    ("f(x)", "f(x+1)"),
    ("f(x)", "g(x)"),
    ("0.3333", "1/3"),
    ("9", r"9\%"),
    (r"30^\circ", "30"),
    ("i", "-i"),
    (r"\infty", r"-\infty"),
    ("y^2=8(x+2)", "y^2=8x"),
    ("x=5", "y=5"),
    ("x=5", "6"),
    ("a+2z=101", "101"),
    ("x^2=4", "2"),
    ("x>2", r"x\ge 2"),
    ("x>2", "x<2"),
    ("x>2", "2"),
    ("-2x>-4", "x>2"),
    ("1<x<2", r"1<x\le2"),
    (r"x=\pm2", "x=2"),
    (r"\frac{x^2}{2}+C", r"\frac{x^2}{2}"),
    (r"\frac{x^2}{2}+C", r"\frac{x^3}{2}+C"),
    ("ax^2+bx+c", "ax^2+bx+c+1"),
    ("mc^2", "2mc^2"),
    (r"\frac12CV^2", "CV^2"),
    (r"\frac{C_1}{C_2}x", r"\frac{C_2}{C_1}x"),
    (r"\frac{C}{2}", r"\frac{A}{2}"),
    (r"k\pi", r"2k\pi"),
    ("(-1)^n", "(-1)^{n+1}"),
    ("2^{1/2}", "2^{1/3}"),
    ("C(5,2)", "C(5,1)"),
    ("e^{2x}", "e^{x^2}"),
]

NOT_UNDERSTOOD = [
    "",
    "x+",
    "(x",
    "x)",
    "1 2",
    "x, y",
    "(1,2)",
    r"\{1,2\}",
    "white",
    "no",
    "to be or not",
    "5 or 6",
    "1010_2",
    "a.b",
    r"\text{same day}",
    r"\int_0^1 x\,dx",
    r"\sum_{k=1}^n k",
    r"\lim_{x\to 0} x",
    r"\begin{pmatrix}1\\2\end{pmatrix}",
    r"\frac{d}{dx}x^2",
    r"\unknown{x}",
    r"n \mod 5",
    "٤٥",
]

TOO_COMPLEX = [
    "9^{9^{9^9}}",
    "9^9^9^9",
    "9**9**9**9",
    "2^{4^{8^{16^{32}}}}",
    "3^{200000000}",
    "3^{-200000000}",
    "x^{10^{20}}",
    "(10^7)!",
    "((99)!)!",
    "100!!!",
    "n!!",
    "1000!",
    r"\binom{99999}{3}",
    "9" * 41,
    "1+" * 1000 + "1",
    "{" * 1999,
    "(" * 20_000,
    "(" * 400 + "1" + ")" * 400,
    "-" * 20_000 + "1",
    r"\frac{1}{1+" * 200,
    r"\sqrt" * 300 + "2",
    "x^" * 100 + "x",
    r"\sin" * 300 + " x",
    r"5\%" + r"\%" * 100,
    "5" + r"^\circ!" * 50,
]

CASES = [(first, second, True) for pairs in EQUAL.values() for first, second in pairs]
CASES += [(first, second, False) for first, second in UNEQUAL]


@pytest.mark.parametrize(("first", "second", "equal"), CASES)
def test_expressions_are_equal_exactly_when_they_mean_the_same(first: str, second: str, equal: bool) -> None:
    assert same_expression(first, second) is equal
    assert same_expression(second, first) is equal


def test_every_expression_equals_itself() -> None:
    for first, second, _ in CASES:
        assert same_expression(first, first)
        assert same_expression(second, f" {second} ")


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_what_is_no_expression_is_left_to_others(text: str) -> None:
    assert statements(text) is None
    assert same_expression(text, "x+1") is None
    assert same_expression("x+1", text) is None


@pytest.mark.parametrize("text", TOO_COMPLEX)
def test_what_would_take_long_is_refused(text: str) -> None:
    with pytest.raises(TooComplex):
        same_expression(text, "5")
    with pytest.raises(TooComplex):
        same_expression("5", text)


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_no_bomb_is_equal_to_five(text: str) -> None:
    with contextlib.suppress(TooComplex):
        assert not same_expression(text, "5")


def test_domains_that_differ_leave_what_is_defined_on_both() -> None:
    assert same_expression(r"\ln x^2", r"2\ln x")
    assert same_expression(r"\sqrt{x-10}+\sqrt{10-x}", "0") is None
    assert same_expression(r"\frac{1}{0}", "1") is None


def test_what_is_infinite_everywhere_is_equal_to_nothing_else() -> None:
    infinite = r"\ln|\ln|x/x||"
    assert same_expression(infinite, f"{infinite}+1") is not True
    assert same_expression(infinite, "x") is not True


def test_unknown_words_are_no_reason_to_say_unequal() -> None:
    assert same_expression(r"5\text{cm}", "5") is None
    assert same_expression(r"5\text{cm}", r"6\text{cm}") is False


def test_letters_alone_may_be_a_word() -> None:
    assert same_expression("on", "no") is None
    assert same_expression("listen", "silent") is None
    assert same_expression("x y", "y x")


def _calls(action: Callable[[], object]) -> int:
    """How many of our functions the action calls; what a collection of garbage calls in between is not counted."""
    count = 0

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call" and str(frame.f_globals.get("__name__")).startswith("workbench.")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        (r"2+2\sqrt{7}", r"2+\frac{4\sqrt{7}}{3}", 400),
        ("x^2-9", "(x-3)(x+3)", 300),
        ("y^2 = 9(x + 2)", "y^2 = 9x", 400),
        (r"34\pi", r"35\pi", 200),
    ],
)
def test_a_usual_pair_takes_few_steps(first: str, second: str, most: int) -> None:
    assert _calls(lambda: same_expression(first, second)) <= most


@pytest.mark.few(8)
@pytest.mark.parametrize("function", sorted(set(FUNCTIONS.values())))
@pytest.mark.parametrize(
    "arguments", ["", "()", " 5", "(5)", "{5}", "(2, 5)", "(5, x, 2)", "_2 5", "^2 5", " x", "|5|"]
)
def test_a_function_with_any_arguments_is_read_or_left(function: str, arguments: str) -> None:
    text = rf"\{function}{arguments}"

    found = judge("5", rf"\boxed{{{text}}}", rf"What is ${text}$?")

    assert found.outcome is not Outcome.ERROR, found.detail


def test_the_largest_of_one_number_is_that_number() -> None:
    assert same_expression(r"\max(5)", "5")
    assert same_expression(r"\min x", "x")


@pytest.mark.parametrize("piece", ["+x", "x", "-", r"\cdot x", "(x)", r"\frac{x}{y}", r"\sin x", "/2", "^2x", "|x|"])
def test_reading_takes_time_in_proportion_to_length(piece: str) -> None:
    def read(times: int) -> Callable[[], object]:
        return lambda: same_expression("x" + piece * times + "y", "5")

    assert _calls(read(80)) <= 2.2 * _calls(read(40)) + 200


def test_an_equation_without_one_side_says_nothing() -> None:
    assert same_expression("0", "=A") is not True
