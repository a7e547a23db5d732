"""Sums, integrals, limits and equations that the rules can't decide, compared by sympy.

Only worker processes import this module: it loads sympy, and its running time is unbounded. The import also compares
one easy pair, so that a server which imports it once shares its tables with every worker it forks.
"""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import Any

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig
from sympy.concrete.expr_with_limits import ExprWithLimits

from workbench.verifiers.rules.spelling import FUNCTIONS, NotUnderstood, tokenize

_MACROS = {"\\" + name for name in FUNCTIONS.values()} | {
    *("\\frac", "\\sqrt", "\\binom", "\\choose", "\\lfloor", "\\rfloor", "\\lceil", "\\rceil", "\\partial"),
    *("\\int", "\\iint", "\\sum", "\\prod", "\\lim", "\\to", "\\rightarrow", "\\infty"),
}
_UNREAD = frozenset(",;:.°%±∓≈<>≤≥≠'?&#@~")
"""Signs that latex2sympy drops, misreads or makes a list of."""
_NORMAL = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none", equations=False
)
_CONVERSION = ConversionConfig(interpret_contains_as_eq=False, lowercase_symbols=False)
_POINTS = tuple(sympy.Rational(*point) for point in ((3, 7), (-2, 9), (7, 13)))
"""Within (-1, 1), where power series converge."""
_NATURAL_POINTS = (4, 7, 9)
_CONSTANTS = frozenset("CcKk")
_DIGITS = 25
_TWO_ARGUMENTS = 2
_EQUAL, _UNEQUAL = sympy.Float("1e-18"), sympy.Float("1e-6")

logging.getLogger("latex2sympy2_extended").setLevel(logging.CRITICAL)


def same_symbolic(first: str, second: str) -> bool | None:
    """Return whether two short expressions or equations are equal; None if sympy can't parse or decide them.

    The result is symmetric: the two are compared in a fixed order.

    Raises:
        MemoryError: The comparison needs more memory than available.
    """
    try:
        one, other = (_parse_tree(text) for text in sorted((first, second)))
        if one is None or other is None:
            return None
        return _is_same(one, other)
    except MemoryError:
        raise
    except Exception:  # sympy and the parser may raise any exception
        return None


def _parse_tree(text: str) -> Any:
    try:
        tokens = tokenize(text)
    except NotUnderstood:
        return None
    if any(token[0] == '"' or token in _UNREAD or (token[0] == "\\" and token not in _MACROS) for token in tokens):
        return None
    # sympy multiplies adjacent terms, also a mixed number's parts and groups of thousands; it reads \frac172 as 1/72.
    if any(
        (one.isdigit() and (next_one == "_" or next_one[0].isdigit()))
        or (one in ("\\frac", "\\binom") and next_one.isdigit() and len(next_one) > _TWO_ARGUMENTS)
        for one, next_one in pairwise(tokens)
    ):
        return None
    tree = latex2sympy(
        text.replace("$", ""), is_real="i" not in tokens, normalization_config=_NORMAL, conversion_config=_CONVERSION
    )
    return tree if isinstance(tree, (sympy.Expr, sympy.Eq)) else None


def _is_same(first: Any, second: Any) -> bool | None:
    equations = [isinstance(tree, sympy.Eq) for tree in (first, second)]
    if all(equations):
        return _same_equation(first, second)
    if any(equations):
        equation, value = (first, second) if equations[0] else (second, first)
        return _same_expression(equation.rhs, value) if _is_name(equation.lhs) else None
    return _same_expression(first, second)


def _is_name(tree: Any) -> bool:
    return isinstance(tree, (sympy.Symbol, sympy.core.function.AppliedUndef))


def _same_equation(first: Any, second: Any) -> bool | None:
    if first.lhs == second.lhs and _is_name(first.lhs):
        return _same_expression(first.rhs, second.rhs)
    one, other = (sympy.numer(sympy.together((tree.lhs - tree.rhs).doit())) for tree in (first, second))
    ratio = sympy.simplify(one / other)
    if ratio.is_number:
        return bool(ratio.is_finite and ratio.is_nonzero) or None
    same = _same_solutions(one, other)
    constants = any(name.name[0] in _CONSTANTS for name in one.free_symbols | other.free_symbols)
    return same or (None if constants else same)


def _same_solutions(first: Any, second: Any) -> bool | None:
    names = first.free_symbols & second.free_symbols
    if not names:
        return None
    name = max(names, key=str)
    ours, theirs = (sympy.solve(tree, name) for tree in (first, second))
    if not ours or not theirs:
        return None
    if len(ours) != len(theirs):
        return False
    answers = [[_same_expression(one, other) for other in theirs] for one in ours]
    if all(any(row) for row in answers):
        return True
    return None if any(None in row for row in answers) else False


def _same_expression(first: Any, second: Any) -> bool | None:
    if first == second or (_has_limits(first) and first.as_dummy() == second.as_dummy()):
        return True
    agree = _agree_at_points(first, second)
    if agree is not None:
        return agree
    one, other = first.doit(), second.doit()
    if (agree := _agree_at_points(one, other)) is not None:
        return agree
    return True if sympy.simplify(one - other) == 0 else None


def _has_limits(tree: Any) -> bool:
    return bool(tree.has(ExprWithLimits, sympy.Limit))


def _agree_at_points(first: Any, second: Any) -> bool | None:
    names = sorted(first.free_symbols | second.free_symbols, key=str)
    counted = _counting_symbols(first) | _counting_symbols(second)
    for start in range(len(_POINTS) if names else 1):
        point = {
            name: (_NATURAL_POINTS if name in counted else _POINTS)[(start + at) % len(_POINTS)] + at // len(_POINTS)
            for at, name in enumerate(names)
        }
        one, other = (sympy.N(tree.subs(point), _DIGITS) for tree in (first, second))
        if _has_limits(one) or _has_limits(other) or not (one.is_finite and other.is_finite):
            return None
        error = abs(one - other) / max(1, abs(one), abs(other))
        if error > _UNEQUAL:
            return False
        if error > _EQUAL:
            return None
    return True


def _counting_symbols(tree: Any) -> set[Any]:
    counts = [end for bound in tree.atoms(sympy.Sum, sympy.Product) for _, *ends in bound.limits for end in ends]
    counts += tree.atoms(sympy.factorial, sympy.binomial)
    counts += [power.exp for power in tree.atoms(sympy.Pow) if power.base.is_negative]
    return set().union(*(count.free_symbols for count in counts))


same_symbolic(r"\int_0^1 x^2 dx", r"\frac{1}{3}")
