"""Checks of a calculated answer: that it is solved, and agrees with its own rounding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from workbench.verifiers.rules.equations import constant_of
from workbench.verifiers.rules.evaluate import features
from workbench.verifiers.rules.expression import statements
from workbench.verifiers.rules.numbers import WrittenNumber, leading_numeral
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import Quantity, quantity
from workbench.verifiers.rules.records import Expression, Part
from workbench.verifiers.rules.spelling import APPROXIMATELY, TooComplex, plain, tidy
from workbench.verifiers.rules.structure import is_name, split_list
from workbench.verifiers.rules.units import split_unit, unit

_DATA = Lexicon("solving")
_RELATION = re.compile(r"\\(?:leqslant|geqslant|leq?|geq?|neq?|lt|gt|approx|simeq)(?![A-Za-z])|[=<>≤≥≠≈]+")
_MACRO = re.compile(r"\\(?:text\w*|mathrm|mbox)\s*\{[^{}]*\}|\\[A-Za-z]+")
_OPERATOR = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|angle|triangle|overline|vec|binom|det|max|min|Pr|operatorname)|∠|∫|[∑∏]"
)
_APPLICATION = re.compile(r"(?<![A-Za-z\\])([A-Za-z])'*\s*(?:\^\s*\{?-1\}?)?\s*\(([^()]*)\)")
_WORD = re.compile(r"(?<![A-Za-z])(?:(?:sqrt|cbrt|ln)(?![a-z])|(?=[A-Za-z]{0,20}[aeiouAEIOU])[A-Za-z][a-z]{2,})")
_LETTER = re.compile(r"[A-Za-z]")
_MATH = re.compile(r"\$\$?([^$]{1,200})\$\$?|\\[(\[](.{1,200}?)\\[)\]]", re.DOTALL)
_PLAIN_EQUATION = re.compile(r"[\w+*/^().\- ]{1,60}(?:=|<|>|≤|≥)[\w+*/^().\- ]{1,60}")
_APPROXIMATE = re.compile(r"^\s*(?:\\approx|≈|\\simeq|=|:)\s*")
_CONSTANT = re.compile(r"(?<![A-Za-z])[eij](?![A-Za-z])")
_PRODUCT = re.compile(r"\s*[a-z]{2,}\s*=")
_INDEX = re.compile(r"_\w+|\d+")
_CONSTANTS = frozenset({"i", "e", "π", "j"})
_READ = 1_500
_MAX_EQUATIONS = 12


def restates(reference: str, candidate: str, question: str) -> bool:
    """Return whether an answer is an unsolved equation, while the reference is solved: ``4x = 24`` for ``x = 6``.

    If the reference is an unsolved equation itself, the answer must not be an equation of the question. An equation of
    a line or another
    curve may have any form, unless the question states it.
    """
    ours, theirs = _APPROXIMATE.sub("", tidy(reference)), _APPROXIMATE.sub("", tidy(candidate)).replace("$", "")
    if not _RELATION.search(theirs) or theirs.startswith(("{", "\\{")):
        return False
    if not all(_is_solved(part) for part in split_list(ours)):
        given = [_compact(text) for text in _equations(question)]
        turned = ["".join(text.partition("=")[::-1]) for text in given]
        return _compact(theirs) != _compact(ours) and _compact(theirs) in given + turned
    solved = all(_is_solved(part) for part in split_list(theirs))
    if solved and _has_same_names(ours, theirs):
        return "|" in theirs and any(_compact(text) == _compact(theirs) for text in _equations(question))
    tail = question[-_READ:]
    return _DATA.solve.search(tail) is not None or not _DATA.curve.search(tail)


def has_open_unknown(reference: str, candidate: str, question: str) -> bool:
    """Return whether an answer contains an unknown, or a function of the question, that the reference lacks."""
    ours, theirs = tidy(reference), tidy(candidate)
    if not all(_is_solved(part) for part in split_list(_APPROXIMATE.sub("", ours))) or _PRODUCT.match(ours):
        return False
    ours, theirs = _value_without_unit(ours), _value_without_unit(theirs)
    for letter, argument in _APPLICATION.findall(theirs):
        if len(argument) < _LONG_ARGUMENT and _applies(letter, question) and not _applies(letter, ours):
            return True
    known, left = _unknowns(ours), _unknowns(theirs)
    return known is not None and left is not None and not known and bool(left)


_LONG_ARGUMENT = 30


def _value_without_unit(text: str) -> str:
    value = _value_side(text)
    measured = split_unit(value)
    return measured[0] if measured else value


def _applies(letter: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z\\]){letter}'*\s*(?:\\left)?\(", text) is not None


def _unknowns(text: str) -> set[str] | None:
    try:
        found = statements(text)
    except TooComplex:
        return None
    trees = [tree for statement in found or () for part in statement.parts for tree in part]
    return set(features(*trees).names) - _CONSTANTS if trees else None


def _is_solved(text: str) -> bool:
    parts = [part.strip(" &") for part in _RELATION.split(text)]
    if len(parts) < 2 or not all(parts):
        return len(parts) < 2
    for part in parts:
        others = [other for other in parts if other is not part]
        name = part if "=" in text else part.strip("|")
        if is_name(name) and not any(_mentions(other, name) for other in others):
            return True
    return not any(map(has_unknown, parts)) or ("=" in text and _is_described(parts[0]))


def _has_same_names(ours: str, theirs: str) -> bool:
    one, other = _names(ours), _names(theirs)
    if not one or not other or one == other or any("(" in name for name in one | other):
        return True
    return {_INDEX.sub("", name) for name in one} == {_INDEX.sub("", name) for name in other}


def _names(text: str) -> set[str]:
    found = set()
    for part in split_list(text):
        sides = [side.strip() for side in _RELATION.split(part)]
        found |= {_compact(side) for side in sides if len(sides) > 1 and is_name(side)}
    return found


def _value_side(text: str) -> str:
    head, sign, tail = text.rpartition("=")
    turned = sign and is_name(tail.strip()) and not is_name(head.strip())
    return head if turned else tail if sign else text


def _mentions(text: str, name: str) -> bool:
    name = _compact(name)
    if name[:1] == "(":
        return any(_mentions(text, letter) for letter in _LETTER.findall(name))
    name = name.partition("(")[0]
    if name.startswith("\\"):
        return name in text
    rest = _compact(_MACRO.sub(" ", text))
    return name in rest


def has_unknown(text: str) -> bool:
    """Return whether an expression has an unknown: a letter outside words, functions and names such as triangle ABC."""
    if _OPERATOR.search(text) or quantity(text) is not None:
        return False
    rest = _CONSTANT.sub(" ", _WORD.sub(" ", _APPLICATION.sub(" ", _APPLICATION.sub("", _MACRO.sub(" ", text)))))
    return _LETTER.search(rest) is not None


def _is_described(text: str) -> bool:
    named = _WORD.search(_MACRO.sub(" ", text)) or "\\text" in text or _OPERATOR.search(text)
    return named is not None or (_APPLICATION.search(text) is not None and not has_unknown(text))


def _equations(question: str) -> Iterator[str]:
    tail = question[-_READ:]
    found = [math[1] or math[2] for math in _MATH.finditer(tail)]
    rest = _MATH.sub(" ", tail)
    found += [_WORD.sub(" ", plain[0]).strip(" .") for plain in _PLAIN_EQUATION.finditer(rest)]
    texts = dict.fromkeys(part.strip() for text in found for part in split_list(tidy(text)))
    yield from [text for text in texts if _RELATION.search(text)][:_MAX_EQUATIONS]


def _compact(text: str) -> str:
    return re.sub(r"[\s{}]|\\[,;:! ]|\\left|\\right", "", text)


_INFINITE = re.compile(r"\\infty|∞|\binfinity\b")


def has_no_value(reference: str, answer: str) -> bool:
    r"""Return whether an answer, but not the reference, uses infinity or divides by zero: ``0 \cdot \infty``."""
    if _DATA.no_value.search(answer) and not _DATA.no_value.search(reference):
        return True
    return _INFINITE.search(answer) is not None and not _INFINITE.search(reference)


# -- Answers that contradict their own rounding: ``e^2 ≈ -7.389``.


_ABOUT = re.compile(rf"{APPROXIMATELY.pattern}|(?:\bor\s+)?\b(?:approximately|about|roughly)\b")
_NAME = re.compile(r"[\s${(]*\\?[^\W\d_](?:_\{?\w+\}?)?(?:\([^()]{0,20}\))?[\s$})]*")
"""A quantity whose value a chain gives: ``x``, ``\\theta``, ``f(2)``."""
_Member = tuple[Fraction | None, WrittenNumber | None]
_MARKS = " \t$*.,;"
_AROUND = " \t{}$*()[]\\.,;"
_PI = Fraction(3.141592653589793)
EQUALS = re.compile(r"(?<![<>!:=])=(?!=)")
_ENDS = re.compile(r"\n|[.;](?=\s|\Z)|\\[)\]]|,(?!\d)")


def rounded_wrongly(text: str, read: Callable[[str], Part[Any]]) -> bool:
    """Return whether a value is followed by a sign of rounding and a decimal that the value does not round to.

    Args:
        text: An answer with the text after it.
        read: Parses the value before the sign.
    """
    exact, *about = _ABOUT.split(text)
    for shown in about:
        value, number = _exact_value(read(_strip_marks(EQUALS.split(exact)[-1]))), _shown_number(shown)
        if value is not None and number is not None and not _is_rounding(value, number):
            return True
        exact = shown
    return False


def is_unsound_chain(text: str, read: Callable[[str], Part[Any]]) -> bool:
    """Return whether an answer joins values by signs of rounding although none rounds to the next: ``7 ≈ 18 ≈ 50``.

    Only numbers can be checked, so a chain of anything else is unsound too.
    """
    first, *others = APPROXIMATELY.split(text)
    if not others:
        return False
    members = others if not first.strip(_MARKS) or _NAME.fullmatch(first) else [first, *others]
    bare = [plain(_strip_marks(EQUALS.split(member)[-1])) for member in members]
    read_members = [(_exact_value(read(member)), _shown_number(member)) for member in bare]
    return any(not (_rounds_to(one, other) or _rounds_to(other, one)) for one, other in pairwise(read_members))


def _rounds_to(one: _Member, other: _Member) -> bool:
    (value, shown), number = one, other[1]
    if value is None or number is None:
        return False
    if value == number.value or number.step:
        return value == number.value or _is_rounding(value, number)
    # A whole number rounds one with decimals or an irrational one; of two whole numbers either may be the answer.
    unit = shown.step * 10**shown.places if shown else Fraction(1)
    return abs(value - number.value) * 2 <= unit


def _strip_marks(text: str) -> str:
    text = text.strip(_MARKS).rstrip(" ($")
    for opening, closing in ("{}", "()"):
        while text.endswith(closing) and text.count(closing) > text.count(opening):
            text = text[:-1].strip(_MARKS)
        while text.startswith(opening) and text.count(opening) > text.count(closing):
            text = text[1:].strip(_MARKS)
    return text


def _exact_value(part: Part[Any]) -> Fraction | None:
    found = part.value
    if isinstance(found, Quantity):
        value = found.number.value * (_PI if found.pi else 1)
        return value * found.unit.factor if found.unit else value
    if isinstance(found, Expression) and found.said is not None and found.unit is None:
        constant = constant_of(found.said)
        return None if constant is None else Fraction(constant)
    return None


def _shown_number(text: str) -> WrittenNumber | None:
    said = plain(_ENDS.split(text, maxsplit=1)[0].strip(_AROUND))
    found = leading_numeral(said)
    if found is None or not found[0].value:
        return None
    number, rest = found
    known = unit(rest.strip()) if rest.strip() else None
    if known is not None and not known.offset:
        return number.times(known.factor) if not known.pi else None
    return None if rest.strip() else number


def _is_rounding(value: Fraction, number: WrittenNumber) -> bool:
    step = number.step or Fraction(10) ** _count_trailing_zeros(number.value)
    off = value - number.value
    return abs(off) * 2 <= step * Fraction(1_000_001, 1_000_000) or (0 <= off * (1 if value > 0 else -1) < step)


def _count_trailing_zeros(value: Fraction) -> int:
    digits = str(abs(value.numerator // value.denominator))
    return len(digits) - len(digits.rstrip("0"))
