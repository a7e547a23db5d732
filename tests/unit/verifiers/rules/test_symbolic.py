"""What sympy is asked: sums, integrals, limits and equations the rules can't decide."""

from __future__ import annotations

import pytest

from workbench.verifiers.rules import symbolic
from workbench.verifiers.rules.symbolic import same_symbolic

CASES = [
    (r"\int_0^1 x^2 dx", "1/3", True),
    (r"\int_0^x e^{-t^2}dt", r"\int_0^x e^{-s^2}ds", True),
    (r"\int_0^x e^{-t^2}dt", r"\int_0^x e^{-2t^2}dt", False),
    (r"\sum_{k=1}^n k", r"\frac{n(n+1)}{2}", True),
    (r"\sum_{k=1}^n k", r"\frac{n(n-1)}{2}", False),
    (r"\sum_{k=1}^{n} \frac{1}{k^2}", r"\sum_{j=1}^{n} \frac{1}{j^2}", True),
    (r"\sum_{n=0}^\infty \frac{x^n}{n!}", "e^x", True),
    (r"\prod_{k=1}^n k", "n!", True),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1", True),
    ("y=1/x", "xy=1", True),
    (r"\ln y=x", "y=e^x", True),
    (r"x=e^{2}", r"\ln x=2", True),
    ("x^2=4", "x=2", False),
    ("A", "a", False),
    ("y=x+C", "x-y=C", None),
    ("10_2", "10", None),
    (r"\{1,2\}", "(1,2)", None),
    ("1<x<2", "(1,2)", None),
    (r"30^\circ", "30", None),
    (r"9\%", "9", None),
    (r"5\text{ cm}", r"5\text{ m}", None),
    ("white", "black", None),
    ("2024-01-05, x", "2024-05-01, x", None),
    ("x+", "x", None),
    ("", "x", None),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("first", "second", "equal"), CASES)
def test_sympy_decides_only_expressions_and_equations(first: str, second: str, equal: bool | None) -> None:
    assert same_symbolic(first, second) is equal
    assert same_symbolic(second, first) is equal


def test_running_out_of_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(symbolic, "latex2sympy", full)
    with pytest.raises(MemoryError):
        same_symbolic(r"\int_0^1 x dx", "1/2")
