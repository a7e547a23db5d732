r"""Chemical formulas and reactions: ``\text{H}_2\text{SO}_4``, ``Fe³⁺``, ``2H2 + O2 -> 2H2O``.

Upper case distinguishes elements; typesetting and the order within a side are ignored, and so are states such as
``(aq)`` that only one of two answers gives.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.records import AnswerText, Doubt, Equality, Part, Value, ValueType

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_DATA = Lexicon("chemistry")
_KNOWN = _DATA.words("elements")
_TYPESET = re.compile(r"\\(?:text|mathrm|ce|mathsf|mbox|rm|left|right)(?![A-Za-z])|\\[,;:! ]|[\s{}$_`*]")
_SIGNS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋−–", "0123456789+-0123456789+---") | {0xBD: "1/2"}
_RAISED = re.compile("[⁰¹²³⁴-⁹⁺⁻]+")
_DOT = re.compile(r"\\cdot(?![A-Za-z])|[•∙⋅]")
_STATE = re.compile(r"\((?:aq|s|l|g)\)\Z|[↑↓]\Z|\\(?:uparrow|downarrow)\Z")
_STATE_GIVEN = re.compile(r"\((aq|s|l|g)\)")
_PLUS = re.compile(r"\s+\+\s+|(?<=[A-Za-z0-9})\]$])\s*\+\s*(?=[\d\\$]*\s*(?:\\(?:text|mathrm)\{)?[A-Z(\[])")
_MAY_BE = re.compile(r"[A-Z](?:[^a-z]|[a-z](?![a-z])|\Z)")
"""The beginning of an element's symbol that is not a word."""
_APART = re.compile(r"[A-Za-z]\s+\d")
_SYMBOL = re.compile(r"[A-Z][a-z]?|e")
_MAX_CHARACTERS = 200


class Chemical(NamedTuple):
    """The sides of a reaction, or a single substance.

    A side is its amounts by substance, scaled so that the first amount is 1."""

    sides: tuple[tuple[tuple[str, Fraction], ...], ...]


def chemical(text: str) -> Chemical | None:
    """Parse a text that is a formula or reaction as a whole, by its symbols; else return None."""
    if len(text) > _MAX_CHARACTERS or text.islower() or not _MAY_BE.search(text):
        return None
    sides = [_parse_side(side) for side in _DATA.arrow.split(_DOT.sub("·", text.replace("\\,", "")))]
    found = tuple(side for side in sides if side is not None)
    if len(found) != len(sides) or len(found) > 2 or (len(found) == 1 and len(found[0]) > 1):
        return None
    first = found[0][0][1]
    return Chemical(tuple(tuple((substance, amount / first) for substance, amount in side) for side in found))


def is_sure(found: Chemical) -> bool:
    """Return whether a text must be chemistry, whatever the question: a reaction, a charge, indices on several
    elements."""
    [(substance, _), *_] = found.sides[0]
    several = len(set(_SYMBOL.findall(substance))) > 1 and any(sign.isdigit() for sign in substance)
    return len(found.sides) > 1 or "^" in substance or several


def _parse_side(text: str) -> tuple[tuple[str, Fraction], ...] | None:
    text = _RAISED.sub(lambda run: "^" + run[0].translate(_SIGNS), text.strip(" $.")).translate(_SIGNS)
    amounts: dict[str, Fraction] = {}
    for term in _PLUS.split(text):
        found = None if _APART.search(term.strip()) else _parse_substance(_STATE.sub("", _TYPESET.sub("", term)))
        if found is None:
            return None
        amounts[found[0]] = amounts.get(found[0], Fraction(0)) + found[1]
    return tuple(sorted(amounts.items()))


def _parse_substance(text: str) -> tuple[str, Fraction] | None:
    found = _DATA.term.fullmatch(text)
    if found is None or not _KNOWN.issuperset(_SYMBOL.findall(found["formula"])):
        return None
    amount = Fraction(int(found["above"] or 1), int(found["below"] or 1))
    formula, sign, size = found["formula"], found["sign"], found["size"] or found["behind"] or ""
    if found["plain"]:
        sign, digits = found["plain"], len(formula) - len(formula.rstrip("0123456789"))
        # "Fe3+" has the charge 3, "NH4+" one, "SO42-" two.
        if digits and (digits > 1 or len(_SYMBOL.findall(formula)) == 1):
            formula, size = formula[:-1], formula[-1]
    charge = f"^{size if size != '1' else ''}{sign}" if sign else ""
    return (formula + charge, amount) if amount else None


def _read_chemical(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = chemical(source.raw)
    return found if found is not None and (is_sure(found) or reader.question.chemistry) else None


def _compare_chemicals(one: Part[Chemical], other: Part[Chemical], with_: Comparison) -> Equality | None:
    ours, theirs = (Counter(_STATE_GIVEN.findall(part.text)) for part in (one, other))
    equal = one.value == other.value
    if equal and not (ours <= theirs or theirs <= ours):
        raise Doubt("alike")
    return Equality(equal, "chemical")


CHEMICAL = ValueType(_read_chemical, {(Chemical, Chemical): _compare_chemicals})
