"""Properties of a question's text for the comparers, each computed on first use and cached."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property

from workbench.verifiers.rules.choices import options
from workbench.verifiers.rules.conclusions import sentences
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import RequiredForm, required_form
from workbench.verifiers.rules.sense import stem, unknown_words, words
from workbench.verifiers.rules.spelling import plain, tidy
from workbench.verifiers.rules.units import Unit, leading_unit, unit

_DATA = Lexicon("question")
_MEASURES = tuple((re.compile(words, re.IGNORECASE), power) for words, power in _DATA.table("measures"))
"""Words for measures of lengths, and the power of metre each has."""
_LONGEST_UNIT = 60
_MAX_POWER = 4
_MAX_UNITS = 20
_HOW_MANY = re.compile(r"\bhow\s+many\s+([A-Za-z]{3,20})\b", re.IGNORECASE)
_OPERATOR = re.compile(r"[+*/^!-]|\\(?:frac|sqrt|times|cdot|sin|cos|tan|log|ln|int|sum|lim|binom)")
_A_DECIMAL_COMMA = re.compile(r"(?<![\w,;({\[.])\d+(?:,|\{,\})\d+(?![\w,;)}\].])")
_EURO_PRICE = re.compile(r"\d,\d\d\s?(?:€|EUR\b|[Ee]uros?\b)")
_ITEM = re.compile(
    r"(?:^|[\s(])([1-9]\d?|[A-Ja-j])[.)]\s+(\S.{0,80}?)(?=\s{2}|\n|[,;]?\s+\(?(?:[1-9]|[A-Ja-j])[.)]\s|\Z)"
)
_RESTATED = 3
_TAIL = 1_500


class TypedQuestion:
    """A question and its answer subtype.

    Attributes:
        text: The question as stored.
        subtype: Its subtype's code, or None.
    """

    def __init__(self, text: str, subtype: str | None = None) -> None:
        self.text = text
        self.subtype = subtype

    def __getattr__(self, name: str) -> bool:
        """Return whether the end of the question matches the pattern of a name in ``data/question.toml``."""
        if (pattern := name.removeprefix("_")) not in _DATA.table("patterns"):
            raise AttributeError(name)
        found = self.__dict__[name] = _DATA.holds(pattern, self.end)
        return found

    @cached_property
    def end(self) -> str:
        """Return the end of the question in lower case, which states the task."""
        return self.text[-_TAIL:].lower()

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(words(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem, self.words))

    @cached_property
    def sentence(self) -> str:
        """Return the last sentence with a question mark, or the last one."""
        found = sentences(self.text)
        return next((sentence for sentence in reversed(found) if "?" in sentence), found[-1])

    @property
    def type(self) -> str | None:
        return self.subtype[:1] if self.subtype else None

    @cached_property
    def options(self) -> dict[str, str]:
        return options(self.text, numbered=self.type == "C")

    @cached_property
    def required(self) -> RequiredForm:
        """Return the required form: a percentage, degrees, another base, a ratio."""
        return required_form(self.text)

    @cached_property
    def _powers_of_length(self) -> frozenset[int]:
        return frozenset(power for measure, power in _MEASURES if measure.search(self.text[-_TAIL:]))

    def may_be_in(self, its_unit: Unit) -> bool:
        """Return whether an answer without a unit may be meant in this unit.

        It may not if the question measures the same dimension only in other units (if it mentions dollars, 84 are not
        84 cents), or asks for another measure (an area is no volume, newtons are no joules).
        """
        if asked := self.requested_units(its_unit):
            return its_unit in asked
        powers = dict(its_unit.dimensions)
        if self._requested_units or max(map(abs, powers.values()), default=0) > _MAX_POWER:
            return False
        if powers.keys() == {"m"} and self._powers_of_length and powers["m"] not in self._powers_of_length:
            return False
        named = [known for known in self._units if powers.keys() == dict(known.dimensions).keys()]
        return not named or any(_factor_to_dimension(known, powers) == its_unit.factor for known in named)

    def measures_in(self, its_unit: Unit) -> bool:
        return any(known.dimensions == its_unit.dimensions for known in (*self._units, *self._requested_units))

    def requested_units(self, like: Unit) -> list[Unit]:
        """Return the units of the same dimension that the question asks for: metres if it ends "in metres"."""
        return [known for known in self._requested_units if known.dimensions == like.dimensions]

    @cached_property
    def _requested_units(self) -> list[Unit]:
        tail = self.text[-_TAIL:]
        ends = [found.end() for found in _DATA.asked_unit.finditer(tail)][-_MAX_UNITS:]
        names = (leading_unit(plain(tail[end : end + _LONGEST_UNIT].replace("$", "").strip("({"))) for end in ends)
        known = (unit(name) for name in names if name and not (len(name) == 1 and name.isupper()))
        return list(dict.fromkeys(found for found in known if found is not None and found.dimensions))

    @cached_property
    def given_units(self) -> list[Unit]:
        """Return the units after its numbers."""
        names = (name for _, name, _ in _DATA.measured.findall(self.text[-_TAIL:]) if name)
        return [known for name in names if (known := unit(name)) is not None]

    @cached_property
    def decimal_commas(self) -> bool:
        """Return whether it is in a language that writes 3,5 for three and a half, and asks for one number."""
        tail = self.text[-_TAIL:]
        if self.type not in (None, "A") or not _DATA.decimal_commas.search(tail):
            return False
        return self.subtype != "A8" or _A_DECIMAL_COMMA.search(tail) is not None

    def may_have_decimal_comma(self, answer: str) -> bool:
        return self.decimal_commas or _EURO_PRICE.search(answer) is not None

    @cached_property
    def _units(self) -> list[Unit]:
        names = dict.fromkeys(name for found in _DATA.measured.findall(self.text[-_TAIL:]) for name in found if name)
        known = (unit(name) or unit(name.lower()) for name in list(names)[:_MAX_UNITS])
        return [found for found in known if found is not None and found.dimensions]

    @cached_property
    def imaginary(self) -> bool:
        """Return whether its answer is a complex number, so that ``j`` is the imaginary unit as well as ``i``."""
        return self.subtype == "A5" or self._imaginary

    @property
    def by_form(self) -> bool:
        """Return whether it asks for a formula of logic in a certain form, so that an equivalent formula is no
        answer."""
        return self._by_form and not self._any_form

    @cached_property
    def codes(self) -> bool:
        """Return whether its answer is a string even if it has digits only, as a password is."""
        return self._code if self.type is None else self.type == "D"

    @cached_property
    def gap(self) -> tuple[str, str] | None:
        """Return the text before and after the gap it asks to fill."""
        before, gap, behind = self.text[-_TAIL:].partition("__")
        return (before, behind.lstrip("_")) if gap and "__" not in behind.lstrip("_") else None

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Return the nouns it asks for: the "river" of "Which river ...", "What is the river that ..."."""
        return frozenset(word for found in _DATA.asked.findall(self.text[-_TAIL:].lower()) for word in found if word)

    @cached_property
    def items(self) -> dict[str, str]:
        """Return the items to be matched, by label: ``1. goose``, ``c. cygnet``."""
        return {found[1]: found[2].strip(" .,;") for found in _ITEM.finditer(self.text[-_TAIL:])}

    @cached_property
    def counted(self) -> str | None:
        found = _HOW_MANY.findall(self.text[-_TAIL:]) if "many" in self.end else None
        return found[-1] if found else None

    def restated_by(self, answer: str, reference: str) -> bool:
        said = "".join(tidy(answer).split())
        if self.options or len(said) < _RESTATED or not _OPERATOR.search(said):
            return False
        asked = "".join(tidy(self.text[-_TAIL:]).split())
        return said in asked and "".join(tidy(reference).split()) not in asked

    @cached_property
    def form(self) -> str | None:
        """Return the form it asks an expression to be brought to: ``"simplif"`` or ``"factor"``."""
        found = _DATA.form.search(self.text[-_TAIL:])
        return found[1].lower() if found else None

    @cached_property
    def explained(self) -> frozenset[str]:
        """Return words that don't change an answer: those after "how many" ("more minutes"), else words of counting."""
        tail = self.text[-_TAIL:].lower()
        if asked := _DATA.counted.findall(tail):
            return frozenset(words(asked[-1]))
        return frozenset(_DATA.counts.findall(tail))

    def asks_for(self, noun: str) -> bool:
        """Return whether it asks for the number of these things."""
        return set(map(stem, self.explained)).issuperset(map(stem, noun.split()))

    def counts_other(self, noun: str) -> bool:
        """Return whether a noun after a number is not what "how many ..." counts."""
        asked = _DATA.counted.findall(self.text[-_TAIL:])
        if not asked or not noun.isascii():
            return False
        stems = {stem(word) for word in words(asked[-1])}
        if any(stem(word) in stems for word in words(noun)):
            return False
        # Ways to choose "a committee" are counted in committees, too.
        named = {stem(word) for word in words(re.sub(r"\ban?\s\w+", "", self.text[-_TAIL:]))}
        return any(stem(word) in named for word in unknown_words(noun, ()))

    @property
    def points(self) -> bool:
        """Return whether ``(1, 2)`` is a point here, not an interval."""
        return self._points and not self._intervals

    @cached_property
    def vectors(self) -> bool:
        """Return whether ``[1, 2]`` is a vector or a point here, not an interval."""
        return self.subtype == "B5" or (self._vectors and not self._intervals)


def _factor_to_dimension(known: Unit, powers: dict[str, int]) -> Fraction | None:
    own = dict(known.dimensions)
    if own == powers:
        return known.factor
    [name, *others] = powers
    power, left = divmod(powers[name], own[name])
    return None if others or left else known.factor**power
