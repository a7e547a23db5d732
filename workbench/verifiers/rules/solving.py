"""Check that an answer is solved: for the unknown, and without repeating an equation or function of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.equations import same_expression
from workbench.verifiers.rules.evaluate import features
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import quantity
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.statements import statements
from workbench.verifiers.rules.structure import is_name, split_list
from workbench.verifiers.rules.units import split_unit

_DATA = Lexicon("solving")
_RELATION = re.compile(r"\\(?:leqslant|geqslant|leq?|geq?|neq?|lt|gt|approx|simeq)(?![A-Za-z])|[=<>≤≥≠≈]+")
_MACRO = re.compile(r"\\(?:text\w*|mathrm|mbox)\s*\{[^{}]*\}|\\[A-Za-z]+")
_OPERATOR = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|angle|triangle|overline|vec|binom|det|max|min|Pr|operatorname)|∠|∫|[∑∏]"
)
_APPLICATION = re.compile(r"(?<![A-Za-z\\])([A-Za-z])'*\s*(?:\^\s*\{?-1\}?)?\s*\(([^()]*)\)")
_WORD = re.compile(r"(?<![A-Za-z])(?=[A-Za-z]{0,20}[aeiouAEIOU])[A-Za-z][a-z]{2,}")
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
    if _DATA.solve.search(tail) or not _DATA.curve.search(tail):
        return True
    return any(_is_equivalent(text, theirs) for text in _equations(question))


def has_open_unknown(reference: str, candidate: str, question: str) -> bool:
    """Return whether an answer contains an unknown, or a function of the question, that the reference lacks."""
    ours, theirs = tidy(reference), tidy(candidate)
    if not all(_is_solved(part) for part in split_list(_APPROXIMATE.sub("", ours))) or _PRODUCT.match(ours):
        return False
    ours, theirs = _value_without_unit(ours), _value_without_unit(theirs)
    for letter, argument in _APPLICATION.findall(theirs):
        if len(argument) < _LONG_ARGUMENT and _applies(letter, question) and not _applies(letter, ours):
            return True
    if not _LETTER.search(_MACRO.sub(" ", theirs)):
        return False
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
    rest = _CONSTANT.sub(" ", _WORD.sub(" ", _APPLICATION.sub(" ", _MACRO.sub(" ", text))))
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


def _is_equivalent(text: str, answer: str) -> bool:
    try:
        return _compact(text) == _compact(answer) or same_expression(text, answer) is True
    except TooComplex:
        return False


def _compact(text: str) -> str:
    return re.sub(r"[\s{}]|\\[,;:! ]|\\left|\\right", "", text)


_INFINITE = re.compile(r"\\infty|∞|\binfinity\b")


def has_no_value(reference: str, answer: str) -> bool:
    r"""Return whether an answer, but not the reference, uses infinity or divides by zero: ``0 \cdot \infty``."""
    if _DATA.no_value.search(answer) and not _DATA.no_value.search(reference):
        return True
    return _INFINITE.search(answer) is not None and not _INFINITE.search(reference)
