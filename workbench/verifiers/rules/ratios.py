"""Ratios: ``3:4``, ``1:2:3``, and "3 to 4" where the other side has a colon (else it may be a range)."""

from __future__ import annotations

import re
from fractions import Fraction

from workbench.verifiers.rules.numbers import MAX_NUMBER, both, exact
from workbench.verifiers.rules.spelling import plain

_BETWEEN = re.compile(r" ?: ?| to ")
_MAX_TERMS = 6


def same_ratio(a: str, b: str) -> bool | None:
    """Whether two texts are the same ratio, one of them with a colon; ``3:4`` is also the number 3/4.

    Raises:
        TooComplex: digits or exponents beyond what the rules compute.
    """
    if not (_written(a) or _written(b)):
        return None
    if (ratios := both(_terms, a, b)) is None:
        return None
    first, second = ratios
    if max(len(first), len(second)) == 2:
        first, second = _as_pair(first), _as_pair(second)
    if len(first) != len(second):
        return False
    return all(x * second[-1] == y * first[-1] for x, y in zip(first, second, strict=True))


def _written(text: str) -> bool:
    return ":" in text or "\\colon" in text or "：" in text


def _terms(text: str) -> list[Fraction] | None:
    """The terms of a ratio, the last one not zero; a plain number is one term."""
    if len(text) > MAX_NUMBER:
        return None
    terms = [exact(term) for term in _BETWEEN.split(plain(text), maxsplit=_MAX_TERMS)]
    values = [term.value for term in terms if term is not None]
    return values if len(values) == len(terms) and (len(values) == 1 or values[-1]) else None


def _as_pair(terms: list[Fraction]) -> list[Fraction]:
    return terms if len(terms) == 2 else [terms[0], Fraction(1)]
