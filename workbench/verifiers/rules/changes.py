"""Changes: "25% decrease", "It rose by 5 °C", "The pressure doubles", "one quarter of its original value"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.conclusions import sentences
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import Quantity, quantity, same_quantity
from workbench.verifiers.rules.records import Doubt, Equality, Part, Text, ValueType
from workbench.verifiers.rules.sense import DIGIT, has_change_word, has_denial, unknown_words, words
from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.units import Unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.question import TypedQuestion

_DATA = Lexicon("changes")
_MAX_CHARACTERS = 200
_VERBS = {"doubl": Fraction(2), "tripl": Fraction(3), "trebl": Fraction(3), "quadrupl": Fraction(4)}
_VERBS["halv"] = Fraction(1, 2)
_SHARES = {"twice": Fraction(2), "double": Fraction(2), "half": Fraction(1, 2)}
_BY = re.compile(r" ?(?P<way>overall |by |of |in total )?(?P<factor>an? factor of )?(?P<size>.+)")
_GIVEN = re.compile(r"\b(?:when|if|as|after|while)\b[^,?.]*", re.IGNORECASE)
"""A clause of the question that supposes a change."""
_DETERMINER = re.compile(r"(?<!\bof )\b(?:the|its|their)\b", re.IGNORECASE)
_FILLING = _DATA.words("filling")
_MAX_WORDS = 4


class ChangeValue(NamedTuple):
    """An increase or decrease, by a ratio or by an amount.

    Attributes:
        factor: The new value over the old one.
        amount: The new value less the old one.
    """

    factor: Fraction | None
    amount: Quantity | None = None


def change(text: str, question: TypedQuestion) -> ChangeValue | None:
    """Parse the change a text describes, if its question asks for one; None if it describes none or several."""
    if " " not in text or len(text) > _MAX_CHARACTERS or not question.asks_change:
        return None
    clause = _DATA.clause.split(plain(sentences(text)[-1]))[-1].strip(" .*")
    multiples, sides = list(_DATA.multiple.finditer(clause)), list(_DATA.side.finditer(clause))
    first = (multiples or sides)[:1]
    if len(multiples) > 1 or len(sides) > 1 or not first or has_denial(clause):
        return None
    subject = _DATA.side.sub(" ", clause[: first[0].start()])
    if has_change_word(subject) or _is_of_another_quantity(subject, question):
        return None
    return _change_by_multiple(first[0]) if multiples else _change_with_direction(first[0], clause)


def _is_of_another_quantity(subject: str, question: TypedQuestion) -> bool:
    asked = _GIVEN.sub("", sentences(question.text)[-1])
    nouns = unknown_words(asked, _FILLING)
    known = words(question.text) if "it" in words(asked) or not nouns else nouns
    named = words(_DETERMINER.split(subject)[-1])
    symbols = {word for word in named if len(word) == 1}.difference(
        "a", (noun[0] for noun in nouns if len(noun) > 3), known
    )
    return bool(symbols or unknown_words(" ".join(named), [*known, *_FILLING]))


def _change_by_multiple(found: re.Match[str]) -> ChangeValue | None:
    if found["verb"]:
        return ChangeValue(next(size for stem, size in _VERBS.items() if found["verb"].lower().startswith(stem)))
    if found["by"]:
        size = quantity(found["by"])
        if size is None or not size.is_number or size.number.value <= 0:
            return None
        return ChangeValue(size.number.value if found["sign"] == "multipli" else 1 / size.number.value)
    share = found["share"].lower()
    if share in _SHARES:
        return ChangeValue(_SHARES[share])
    size = quantity(share.removesuffix("of").removesuffix("times").strip())
    if size is None or not (size.is_number or _is_share(size)):
        return None
    return ChangeValue(_share_of(size))


def _is_share(size: Quantity) -> bool:
    return size.unit is not None and not size.unit.dimensions and not size.unit.pi


def _share_of(size: Quantity) -> Fraction:
    return size.number.value * (size.unit.factor if size.unit else 1)


def _change_with_direction(found: re.Match[str], clause: str) -> ChangeValue | None:
    sign = 1 if found["up"] else -1
    behind = _BY.fullmatch(clause[found.end() :])
    size = _leading_size(behind["size"]) if behind else None
    if size is None:
        before = clause[: found.start()].split()[-_MAX_WORDS:]
        sizes = (quantity(" ".join(before[at:])) for at in range(len(before)))
        size = next((size for size in sizes if size is not None), None)
    if size is None or size.number.value <= 0 or size.word:
        return None
    if behind and behind["factor"]:
        return ChangeValue(size.number.value**sign) if size.is_number else None
    if _is_share(size):
        return ChangeValue(1 + sign * _share_of(size))
    return ChangeValue(None, size._replace(number=size.number.times(Fraction(sign))))


def _leading_size(text: str) -> Quantity | None:
    parts = text.split()
    for end in range(min(len(parts), _MAX_WORDS), 0, -1):
        size = quantity(" ".join(parts[:end]).strip(",."))
        if size is not None and not size.word:
            behind = parts[end : end + 2]
            return None if has_change_word(" ".join(parts[end:])) or DIGIT.search(" ".join(behind)) else size
    return None


def _compare_changes(one: Part[ChangeValue], other: Part[ChangeValue], with_: Comparison) -> Equality | None:
    first, second = one.value, other.value
    if first.amount is not None and second.amount is not None:
        return _same_amount(first.amount, second.amount, with_)
    return Equality(first.factor is not None and first.factor == second.factor, "change")


def _same_amount(one: Quantity, other: Quantity, with_: Comparison) -> Equality:
    if one.unit and other.unit and one.unit.dimensions == other.unit.dimensions:
        one, other = _without_offset(one, one.unit), _without_offset(other, other.unit)
    found = same_quantity(one, other, with_.question.required)
    return Equality(found is not None and found[0], "change")


def _without_offset(amount: Quantity, its: Unit) -> Quantity:
    return amount._replace(unit=its._replace(offset=Fraction(0)))


def _compare_change_and_number(one: Part[ChangeValue], other: Part[Quantity], with_: Comparison) -> Equality | None:
    r"""Compare a change in words ("falls by 25%") with a number: ``-25\%``; without a sign its direction is unknown."""
    number = other.value
    is_equal = _is_changed_by(one.value, number, with_)
    turned = number._replace(number=number.number.times(Fraction(-1)))
    if plain(other.text)[:1] not in ("+", "-") and (is_equal or _is_changed_by(one.value, turned, with_)):
        raise Doubt("alike")
    return Equality(is_equal, "change")


def _is_changed_by(changed: ChangeValue, number: Quantity, with_: Comparison) -> bool:
    if changed.amount is not None:
        return _same_amount(changed.amount, number, with_).equal
    share = number.number.value / 100 if number.is_number and with_.question.required.percent else _share_of(number)
    return (number.is_number or _is_share(number)) and changed.factor == 1 + share


def _doubt_text(one: Part[ChangeValue], other: Part[Any], with_: Comparison) -> Equality | None:
    if isinstance(other.value, Text):
        raise Doubt("semantic")
    return None


CHANGE = ValueType(
    None,
    {
        (ChangeValue, ChangeValue): _compare_changes,
        (ChangeValue, Quantity): _compare_change_and_number,
        (ChangeValue, object): _doubt_text,
    },
)
"""Changes; they have no reader, since the question decides whether a text is one."""
