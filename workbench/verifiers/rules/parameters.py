"""Answers with a whole-number parameter: residue classes, general solutions, odd numbers, roots by their index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.evaluate import COMPLEX, CONSTANTS, features, numeric_point, same_value
from workbench.verifiers.rules.expression import Statement, value_trees
from workbench.verifiers.rules.nodes import Node, Number, negative, product, quotient, substituted, total
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import (
    AnswerText,
    Collection,
    Doubt,
    Equality,
    Expression,
    Part,
    Value,
    ValueType,
    decided,
)
from workbench.verifiers.rules.structure import shape, split_list

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

# -- Conditions on the parameters at the end of an answer.

_DATA = Lexicon("parameters")
_LETTER = r"[A-Za-zα-ω](?:_\{?\w\}?)?"
_MAY_BE_CONDITION = re.compile("∈|arbitrary|any|some|integer|whole|real|constant|every")
_LETTERS_OF_SETS = {"ℤ": "Z", "ℝ": "R", "ℕ": "N", "ℚ": "Q", "ℂ": "C"}


def narrows(condition: str, *known: str) -> bool:
    """Return whether a condition on a parameter restricts its values, in words that none of the known texts
    contains."""
    return any(not any(found[0].lstrip("= ") in text for text in known) for found in _DATA.narrows.finditer(condition))


def letter_of(domain: str) -> str:
    return _LETTERS_OF_SETS.get(domain, domain)


def without_condition(text: str) -> tuple[str, str]:
    if not _MAY_BE_CONDITION.search(text) or (found := _DATA.condition.search(text)) is None:
        return text, ""
    domain = letter_of(found[1] or "")
    if not domain:
        domain = "Z" if "integer" in found[0] or "whole" in found[0] else "R" if "real" in found[0] else "?"
    return text[: found.start()], domain


# -- Arithmetic progressions.

_OF_THE_FORM = re.compile(r"(?:.{0,40}\s)?of\s+the\s+form\s+(.+)")
_WORDED = re.compile(r"\b(?:odd|even|multiples?|divisible|form|remainder)\b")
_SIGNED = re.compile(r"\b(?:positive|negative|natural|non-?\s?negative)\b")
_NEGATED = re.compile(r"\b(?:not|no|non|except|other|but)\b|n't\b")
_DOMAIN = re.compile(rf"{_LETTER}\s*∈\s*(?:\\mathbb\s*\{{?\s*|\\mathbf\s*\{{?\s*)?([ZℤNℕ])\s*\}}?")
_PARAMETERS = frozenset("jklmnrst")
_MAX_PERIOD = 4
_FAR = 7
_MAX_RESIDUES = 240
_MAX_RATIO = 1_000
_TOLERANCE = 1e-9


class Progression(NamedTuple):
    """All numbers ``start + k·step`` with whole numbers k."""

    start: Node
    step: Node


class Progressions(NamedTuple):
    """The union of several progressions.

    Attributes:
        members: The progressions.
        domain: The set of numbers of the parameter k, such as ``"Z"``.
    """

    members: tuple[Progression, ...]
    domain: str = "Z"


def _read_progressions(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if source.given in ("Z", "N"):
        found = _parse_list(text)
        return None if found is None else Progressions(found, source.given)
    if (built := _parse_builder(text, reader, source.depth) if text[-1:] == "}" else None) is not None:
        return built
    found = _parse_congruence(text) if "mod" in text else None
    if found is None and _WORDED.search(text):
        found = _parse_words(text, reader.question.text)
    return None if found is None else Progressions(found)


def _parse_list(text: str, names: frozenset[str] | None = None) -> tuple[Progression, ...] | None:
    """Parse a list of values, each with one parameter: ``x = kπ or x = ±π/3 + 2kπ``."""
    if (built := shape(text)) is not None and built.kind in ("set", "list"):
        parts: Sequence[str] = built.parts
    else:
        parts = split_list(text)
    named = {part.partition("=")[0].strip() for part in parts if "=" in part}
    found = [_parse_values(part, names) for part in parts] if len(named) < 2 else []
    known = [one for several in found if several is not None for one in several]
    return tuple(known) if known and None not in found else None


def _parse_values(text: str, names: frozenset[str] | None = None) -> list[Progression] | None:
    trees = value_trees(text)
    found = [] if trees is None else [_progressions_of_tree(tree, names) for tree in trees]
    known = [one for several in found if several is not None for one in several]
    return known if known and None not in found else None


def _parameter_of(tree: Node, names: frozenset[str] | None = None) -> str | None:
    found = features(tree).names - CONSTANTS
    return next(iter(found)) if len(found) == 1 and (names is None or found <= names) else None


def _progressions_of_tree(tree: Node, names: frozenset[str] | None = None) -> list[Progression] | None:
    """Return the progressions of an expression of one whole number: ``(-1)^n·π/6 + nπ`` has two."""
    name = _parameter_of(tree, names)
    if name is None:
        return None

    def at(index: int) -> Node:
        return substituted(tree, {name: Number(index)})

    for period in range(1, _MAX_PERIOD + 1):
        step = total([at(period), negative(at(0))])
        ends = [(start, turns) for start in range(period) for turns in (1, 2, _FAR)]
        if all(
            same_value(at(start + turns * period), total([at(start), product([Number(turns), step])]))
            for start, turns in ends
        ):
            return [Progression(at(start), step) for start in range(period)] if _numeric_value(step) else None
    return None


def _parse_congruence(text: str) -> tuple[Progression, ...] | None:
    """Parse ``x ≡ 1, 3 (mod 8)``, "x ≡ 1 (mod 4) or x ≡ 2 (mod 6)"; of a chain of congruent numbers the last one
    counts."""
    if text.count("mod") > 1:
        several = [_parse_congruence(part) if part.count("mod") == 1 else None for part in split_list(text)]
        return None if None in several else tuple(one for part in several if part is not None for one in part)
    found = _DATA.congruent.fullmatch(text)
    if found is None or not (modulus := int(found[2])):
        return None
    members = split_list(found[1].strip(" {}\\"))
    trees = [value_trees(member) for member in members]
    starts = [tree for several in trees if several is not None for tree in several]
    if not starts or None in trees or not all(isinstance(start, Number) for start in starts):
        return None
    return tuple(Progression(start, Number(modulus)) for start in starts)


def _parse_words(text: str, question: str) -> tuple[Progression, ...] | None:
    """Parse ``all odd integers``, ``odd multiples of π/2``, ``integers of the form 4k + 1``."""
    if _NEGATED.search(text) or (set(_SIGNED.findall(text)) - set(_SIGNED.findall(question))):
        return None
    if (form := _OF_THE_FORM.fullmatch(text)) is not None:
        return _parse_list(without_condition(form[1])[0])
    if (parity := _DATA.parity.fullmatch(text)) is not None:
        return (Progression(Number(int(parity[1] == "odd")), Number(2)),)
    multiples = _DATA.multiples.fullmatch(text)
    trees = value_trees(multiples[2] or multiples[3]) if multiples else None
    if multiples is None or trees is None or len(trees) != 1 or not _numeric_value(trees[0]):
        return None
    twice = product([Number(2), trees[0]])
    start = trees[0] if multiples[1] == "odd" else Number(0)
    return (Progression(start, twice if multiples[1] else trees[0]),)


def _parse_builder(text: str, reader: AnswerReader, depth: int) -> Progressions | None:
    """Parse ``{15m + 8 : m ∈ ℤ}`` and ``{n ∈ ℤ : n ≡ 2 (mod 5)}``."""
    found = shape(text)
    if found is None or found.kind != "builder":
        return None
    member, condition = found.parts
    if (domain := _DOMAIN.fullmatch(condition)) is not None:
        members = _parse_list(member)
        return None if members is None else Progressions(members, letter_of(domain[1]))
    inner = reader.part(condition, depth + 1).value
    return inner if isinstance(inner, Progressions) else None


def _numeric_value(node: Node) -> complex | None:
    if features(node).names - CONSTANTS:
        return None
    try:
        value = complex(COMPLEX.value(node, numeric_point(COMPLEX, frozenset(), 0)))
    except (ValueError, ArithmeticError, TypeError):
        return None
    return value if abs(value) < float("inf") else None


def _count_steps(node: Node, step: Node) -> Fraction | complex | None:
    ratio = quotient(node, step)
    return Fraction(ratio.value) if isinstance(ratio, Number) else _numeric_value(ratio)


def _as_fraction(value: Fraction | complex | None) -> Fraction | None:
    if value is None or isinstance(value, Fraction):
        return value
    near = Fraction(value.real).limit_denominator(_MAX_RATIO)
    return near if abs(value - complex(near)) < _TOLERANCE else None


def _residues(members: Sequence[Progression], unit: Node, period: Fraction) -> list[complex | Fraction] | None:
    found: list[complex | Fraction] = []
    for start, step in members:
        first, width = _count_steps(start, unit), _as_fraction(_count_steps(step, unit))
        if first is None or width is None or len(found) + period / abs(width) > _MAX_RESIDUES:
            return None
        found += [first + turn * width for turn in range(int(period / abs(width)))]
    return found


def _period(ours: Sequence[Progression], theirs: Sequence[Progression], unit: Node) -> Fraction | None:
    steps = [_as_fraction(_count_steps(member.step, unit)) for member in (*ours, *theirs)]
    if not all(steps):
        return None
    known = [abs(step) for step in steps if step is not None]
    return Fraction(lcm(*(step.numerator for step in known)), gcd(*(step.denominator for step in known)))


def _same_progressions(ours: Progressions, theirs: Progressions) -> bool | None:
    if ours.domain != theirs.domain:
        return False
    if ours.domain != "Z":
        return None
    unit = ours.members[0].step
    period = _period(ours.members, theirs.members, unit)
    if period is None:
        return False
    one, other = (_residues(found.members, unit, period) for found in (ours, theirs))
    if one is None or other is None:
        return None
    return _are_all_covered(one, other, period) and _are_all_covered(other, one, period)


def _are_all_covered(
    ours: Sequence[complex | Fraction], theirs: Sequence[complex | Fraction], period: Fraction
) -> bool:
    return all(any(_is_congruent(one, other, period) for other in theirs) for one in ours)


def _is_congruent(one: complex | Fraction, other: complex | Fraction, period: Fraction) -> bool:
    difference = one - other
    turns = round(difference.real / float(period))
    return abs(difference - turns * float(period)) < _TOLERANCE


def _compare_progressions(one: Part[Progressions], other: Part[Progressions], with_: Comparison) -> Equality | None:
    return decided(_same_progressions(one.value, other.value), "equation")


def _compare_progressions_and_list(one: Part[Progressions], other: Part[Any], with_: Comparison) -> Equality | None:
    members = None if other.given else _parse_list(other.text, _PARAMETERS)
    if members is None:
        return Equality(False, "equation")
    return decided(_same_progressions(one.value, Progressions(members, one.value.domain)), "equation")


def _compare_progressions_and_number(
    one: Part[Progressions], other: Part[Quantity], with_: Comparison
) -> Equality | None:
    members, number = one.value.members, other.value
    start = members[0].start if len(members) == 1 else None
    equal = number.is_number and isinstance(start, Number) and number.number.value == start.value
    if equal and not with_.question.remainder:
        raise Doubt("semantic")
    return Equality(equal, "number.exact" if equal else "number.differs")


PROGRESSIONS = ValueType(
    _read_progressions,
    {
        (Progressions, Progressions): _compare_progressions,
        (Progressions, Quantity): _compare_progressions_and_number,
        (Progressions, object): _compare_progressions_and_list,
    },
)

# -- Values by an index: ``2e^{i(2k+1)π/3}, k = 0, 1, 2``.

_MAX_INDICES = 24


def _indices(text: str) -> list[int] | None:
    parts = re.findall(r"-?\d+|\.\.\.|…|\\[cl]?dots", text)
    found: list[int] = []
    for at, part in enumerate(parts):
        if part[-1].isdecimal():
            found.append(int(part))
        elif not found or at + 2 != len(parts) or not 0 < int(parts[-1]) - found[-1] < _MAX_INDICES:
            return None
        else:
            found += range(found[-1] + 1, int(parts[-1]))
    return found if len(found) <= _MAX_INDICES else None


def _read_values_by_index(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = None if source.depth or "," not in source.text else _DATA.indexed.search(source.text)
    indices = _indices(found[2]) if found else None
    trees = value_trees(source.text[: found.start()]) if found else None
    if found is None or not indices or trees is None or any(_parameter_of(tree) != found[1] for tree in trees):
        return None
    values = [substituted(tree, {found[1]: Number(index)}) for tree in trees for index in indices]
    said = [Expression((Statement(((value,),), (), False),)) for value in values]
    return Collection("set", tuple(Part(f"{source.text} {one}", one) for one in said))


INDEXED = ValueType(_read_values_by_index, {}, of_a_word=False)
