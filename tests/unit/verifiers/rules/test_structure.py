"""Taking answers apart."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.verifiers.rules.regions import IntervalForm, intervals
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.structure import names_and_value, shape


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        ("1, 2 and 3", "list", ("1", "2", "3")),
        ("x = 2 or x = -2", "list", ("x = 2", "x = -2")),
        (r"1 \pm \sqrt{2}", "list", (r"1 +\sqrt{2}", r"1 -\sqrt{2}")),
        ("(1,2),(3,4)", "list", ("(1,2)", "(3,4)")),
        ("1,200 and 3,400", "list", ("1200", "3400")),
        ("f(1),f(2)", "list", ("f(1)", "f(2)")),
        (r"\left(1,\frac{1}{2}\right)", "tuple", ("1", r"\frac{1}{2}")),
        (r"\langle 1, 2 \rangle", "tuple", ("1", "2")),
        (r"\{1,2\}", "set", ("1", "2")),
        (r"\left\{1, 2\right\}", "set", ("1", "2")),
        ("{}", "set", ()),
        (r"\{x \mid x>2\}", "builder", ("x", "x>2")),
        ("[1,2)", "interval", ("1", "2")),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "matrix", ("1", "2", "3", "4")),
        (r"\begin{bmatrix} 1 \\[2pt] 2 \end{bmatrix}", "matrix", ("1", "2")),
        ("[[1,2],[3,4]]", "matrix", ("1", "2", "3", "4")),
    ],
)
def test_shapes(text: str, kind: str, parts: tuple[str, ...]) -> None:
    found = shape(tidy(text))
    assert found is not None
    assert (found.kind, found.parts) == (kind, parts)


@pytest.mark.parametrize(
    "text", ["", "1", "1,000", "1,234,567.5", "x + y", "(x+1)(x+2)", "f(1)", "5 km", "(1,2", "the sand"]
)
def test_single_values_have_no_shape(text: str) -> None:
    assert shape(tidy(text)) is None


def test_a_transposed_row_is_a_column() -> None:
    row, column = shape(r"\begin{pmatrix} 1 & 2 \end{pmatrix}^T"), shape(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}")
    assert row == column


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 5", ("x", "5")),
        ("f(x)=2x", ("f(x)", "2x")),
        ("x_{1}=2", ("x_{1}", "2")),
        (r"\angle A = 30^\circ", (r"\angle A", r"30^\circ")),
        ("a+2z=101", None),
        ("x = y = 2", None),
        ("x >= 2", None),
        ("5", None),
        ("= 5", None),
    ],
)
def test_names_before_an_equals_sign(text: str, expected: tuple[str, str] | None) -> None:
    assert names_and_value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 2", [IntervalForm("2", "∞", False, False)]),
        ("2 < x", [IntervalForm("2", "∞", False, False)]),
        (r"x \ge 2", [IntervalForm("2", "∞", True, False)]),
        (r"1 < x \leq 2", [IntervalForm("1", "2", False, True)]),
        (r"2 \geq x > 1", [IntervalForm("1", "2", False, True)]),
        (r"x ∈ (1, 2]", [IntervalForm("1", "2", False, True)]),
        (r"(-\infty, 3)", [IntervalForm("-∞", "3", False, False)]),
        (r"\{x|x>2\}", [IntervalForm("2", "∞", False, False)]),
        ("x < 1 or x > 2", [IntervalForm("-∞", "1", False, False), IntervalForm("2", "∞", False, False)]),
        (r"\mathbb{R}", [IntervalForm("-∞", "∞", False, False)]),
    ],
)
def test_sets_of_reals_in_one_form(text: str, expected: list[IntervalForm]) -> None:
    found = intervals(tidy(text))
    assert found is not None
    assert found[1] == expected


@given(st.text(alphabet="0123456789,;()[]{}\\ xabc=<>∪|&^_+-$.pm\n", max_size=60))
@example("=a∪0")
def test_any_text_is_taken(text: str) -> None:
    bare = tidy(text)
    shape(bare)
    intervals(bare)
    names_and_value(bare)
