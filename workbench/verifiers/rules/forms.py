"""The required form of an answer: a product of primes, a mixed number, a sum of partial fractions.

A candidate's value alone does not answer such a question. Only a form that the reference has is required.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import gcd, isqrt
from typing import TYPE_CHECKING

from workbench.verifiers.rules.patterns import Lexicon

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison

_DATA = Lexicon("forms")
_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[^\s{}]")
_FRACTION = re.compile(
    r"\\[dt]?frac\s*\{?\s*(\d{1,9})\s*\}?\s*\{?\s*(\d{1,9})\s*\}?|(?<![\d.])(\d{1,9})\s*[/:]\s*(\d{1,9})(?![\d.])"
)
_ROOT = re.compile(r"(?:\\sqrt\s*|√)(?:\{\s*(\d{1,9})\s*\}|(\d{1,9}))")
_ROOT_BELOW = re.compile(r"\\[dt]?frac\s*(?:\{[^{}]*\}|\d)\s*\{[^{}]*\\sqrt|/\s*\(?[^()]{0,6}(?:\\sqrt|√)")
_MAX_FACTOR = 1_000
_MUCH_LONGER, _MARGIN = 2, 3
_TIMES = re.compile(r"\\cdot|\\times|[*·×]")
_POWER = re.compile(r"(\d{1,6})(?:\s?\^\s?\{?\s?\d{1,3}\s?\}?)?")
_QUOTIENT = re.compile(r"\\[dt]?frac|\d\s?/\s?\d|\)\s?/|/\s?\(|[½¼¾⅐-⅞]")
_MANTISSA = re.compile(
    r"[-−]?[1-9](?:[.,]\d+)?(?:[eE][-+−]?\d+|\s?(?:\\cdot|\\times|[*·×xX])\s?10(?:\s?\^.*|\s?\*\*.*|)|)(?:\s?[^\W\d].*|\s?\\.*|)"
)
_MULTIPLIED = re.compile(r"(?<![A-Za-z])[A-Za-z\d]\s?\((?=[^()]*[-+−])|\)\s?(?:[(\^\\·*]|[A-Za-z\d])")
_SQUARED = re.compile(r"\)\s?(?:\^\s?\{?\s?2|²)")
_RAISED = re.compile(r"\^|\*\*")
_CLOSED = re.compile(r"\)(?:\s?\^\s?\{?\s?(\d))?")
_COEFFICIENT = re.compile(r"\A[\s\d.]*")
_UNCANCELLED = re.compile(
    r"\\[dt]?frac\s?\{[^{}]*[a-z][^{}]*\}\s?\{[^{}]*[a-z][^{}]*[-+][^{}]*\}|/\s?\([^()]*[a-z][^()]*[-+]"
)
_UNREAL_POWER = re.compile(r"(?:e|\\exp)\s?(?:\^|\()")


def in_form(one: str, other: str, with_: Comparison) -> bool:
    """Return whether a candidate with an equal value has the form that the question requires, if the reference has
    it."""
    if with_.reader.leniency.form == "any":
        return True
    reference, candidate = (other, one) if with_.turned else (one, other)
    ours, theirs = (text.rpartition("=")[2].strip() for text in (reference, candidate))
    question = with_.question
    if any(asked.search(question.end) and has(ours) and not has(theirs) for asked, has in _FORMS):
        return False
    if question.reduced and _is_reduced(ours) != _is_reduced(theirs):
        return False
    if "denominator" in question.text and _ROOT_BELOW.search(ours) is None and _ROOT_BELOW.search(theirs):
        return False
    if question.form == "simplif":
        return _is_as_simple(ours, theirs)
    return question.form != "factor" or (
        is_sum(ours) == is_sum(theirs) and (is_sum(ours) or _count_factors(theirs) >= _count_factors(ours))
    )


def is_sum(text: str) -> bool:
    return len(_terms(text)) > 1


def _terms(text: str) -> list[str]:
    depth, begin, found = 0, 0, []
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and at and sign in "+-−" and text[at - 1] not in "^_*/":
            found.append(text[begin:at])
            begin = at + 1
    return [*found, text[begin:]]


def _is_reduced(text: str) -> bool:
    pairs = [(int(found[1] or found[3]), int(found[2] or found[4])) for found in _FRACTION.finditer(text)]
    roots = [int(found[1] or found[2]) for found in _ROOT.finditer(text)]
    return all(gcd(*pair) == 1 for pair in pairs) and not any(
        root % (factor * factor) == 0 for root in roots for factor in range(2, min(isqrt(root), _MAX_FACTOR) + 1)
    )


def _is_as_simple(ours: str, theirs: str) -> bool:
    shorter, longer = sorted(len(_TOKEN.findall(text)) for text in (ours, theirs))
    if longer > _MUCH_LONGER * shorter + _MARGIN or (_has_like_terms(theirs) and not _has_like_terms(ours)):
        return False
    return not _is_cancelled(ours) or _is_cancelled(theirs)


def _has_like_terms(text: str) -> bool:
    parts = [_COEFFICIENT.sub("", term).strip() for term in _terms(text.lstrip("-−"))]
    return len(parts) > len(set(parts))


def _is_cancelled(text: str) -> bool:
    return _UNCANCELLED.search(text) is None


def _count_factors(text: str) -> int:
    return sum(int(found[1] or 1) for found in _CLOSED.finditer(text))


def _is_of_primes(text: str) -> bool:
    powers = [_POWER.fullmatch(piece.strip(" ()")) for piece in _TIMES.split(text)]
    return (len(powers) > 1 or "^" in text) and all(found is not None and _is_prime(int(found[1])) for found in powers)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, isqrt(number) + 1))


def _is_fraction(text: str) -> bool:
    return _QUOTIENT.search(text) is not None


def _is_mixed(text: str) -> bool:
    return _DATA.mixed.match(text) is not None


def _is_exponential(text: str) -> bool:
    return _UNREAL_POWER.search(text) is not None or "cis" in text or "\\cos" in text or "∠" in text


_TESTS: dict[str, Callable[[str], bool]] = {
    "primes": _is_of_primes,
    "partial_fractions": is_sum,
    "expanded": lambda text: not _MULTIPLIED.search(text),
    "completed_square": lambda text: bool(_SQUARED.search(text)),
    "mixed_number": _is_mixed,
    "improper_fraction": lambda text: _is_fraction(text) and not _is_mixed(text),
    "fraction": _is_fraction,
    "decimal": lambda text: not _is_fraction(text),
    "scientific": lambda text: bool(_MANTISSA.fullmatch(text)),
    "single_term": lambda text: not is_sum(text),
    "power": lambda text: bool(_RAISED.search(text)) and not _TIMES.search(text) and not is_sum(text),
    "exponential": _is_exponential,
    "cartesian": lambda text: not _is_exponential(text),
}
_FORMS = tuple((getattr(_DATA, name), has_form) for name, has_form in _TESTS.items())
"""Patterns of a question that names a form -> a test of the text after the last equals sign."""
