"""What the comparers ask of a question's text, each looked up once and only when needed."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property

from workbench.verifiers.rules.options import options
from workbench.verifiers.rules.quantities import WantedForm, asked
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.units import Unit, unit

_ORDERED = re.compile(
    r"\b(?:in\s+(?:the\s+)?(?:\w+\s+)?order|respectively|ordered\s+(?:pair|triple|tuple|list)|sort(?:ed)?\b|ascending|descending|"
    r"increasing\s+order|decreasing\s+order|from\s+(?:smallest|largest|least|greatest|left|first)|sequence|next\s+(?:\w+\s+)?terms?|"
    r"first\s+\w+\s+terms)",
    re.IGNORECASE,
)
_INTERVALS = re.compile(
    r"\b(?:interval|domain|range|inequalit|solution\s+set|values?\s+of|increasing|decreasing|monoton)", re.IGNORECASE
)
_VECTORS = re.compile(r"\b(?:vectors?|coordinates?|points?|matri(?:x|ces)|components?|ordered\s+pair)\b", re.IGNORECASE)
_ROOTS = re.compile(r"\b(?:roots?|zeros?|zeroes)\s+(?:of|for)\b", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:coordinates?|points?|ordered\s+pair|meet|intersect\w*|vertex|vertices)\b", re.IGNORECASE)
_FORM = re.compile(
    r"\b(simplif|factor)(?:y|ied|ize|ise|ization|ed|s)?\b(?!\s+of\b|\s+(?:pairs?|group)\b)", re.IGNORECASE
)
_MEASURED = re.compile(
    r"\bhow\s+many\s+((?:square\s+|cubic\s+)?[A-Za-z]{2,15})\b"
    r"|\d[\s$~]{0,3}(?:\\[ ,;:!])?(?:\\(?:text|mathrm)\{\s*)?([A-Za-z]{1,12})(?![A-Za-z(])|([$€£])\d",
    re.IGNORECASE,
)
"""A unit, or what may be one: behind "how many", behind a number, a currency sign before one."""
_MOST_UNITS = 20
_IMAGINARY = re.compile(r"\b(?:imaginary\s+unit|complex\s+(?:number|form|impedance))", re.IGNORECASE)
_EXACT = re.compile(
    r"\b(?:(?:common|simplified|irreducible|reduced)\s+fraction|as\s+a\s+(?:simplified\s+)?fraction|lowest\s+terms"
    r"|exact(?:ly)?\s+(?:value|answer|form)|simplest\s+(?:radical\s+)?form)",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?:code|password|passcode|pin|digits?|string|serial|number\s+plate|zip)\b", re.IGNORECASE)
_MAY_BE_CODE = ("code", "password", "pin", "digit", "string", "serial", "plate", "zip")
_HOW_MANY = re.compile(r"\bhow\s+many\s+([A-Za-z]{3,20})\b", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"\b(?:give|find|construct|provide|state|name|write\s+down|exhibit)\s+(?:an|one|any)\s+(?:explicit\s+)?(?:counter-?)?example",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"[+*/^!-]|\\(?:frac|sqrt|times|cdot|sin|cos|tan|log|ln|int|sum|lim|binom)")
_DECIMAL_COMMAS = re.compile(
    r"[¿¡ßàâãçèêëíîïñòôõùúûœąćęłńśźżčďěřšťůžăâîșțа-яё]|\b(?:wie\s?viel\w*|berechne|bestimme|welche[rns]?|ist|wieviel|quanto|quanti|calcola|qual"
    r"|combien|calculer?|quel(?:le)?s?|hoeveel|bereken|hvor|hur|cuánto|calcula|ile|oblicz)\b",
    re.IGNORECASE,
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

    @property
    def type(self) -> str | None:
        """The answer type's letter, or None."""
        return self.subtype[:1] if self.subtype else None

    @cached_property
    def options(self) -> dict[str, str]:
        """The options by letter; empty when it has none."""
        return options(self.text, numbered=self.type == "C")

    @cached_property
    def asked(self) -> WantedForm:
        """Whether it asks for a percentage, for degrees, in another base."""
        return asked(self.text)

    @cached_property
    def ordered(self) -> bool:
        """Whether the members of a list have an order."""
        return _ORDERED.search(self.text[-_TAIL:]) is not None

    def may_be_in(self, its_unit: Unit) -> bool:
        """Whether an answer without a unit may be in this one.

        Not so where the question measures the same thing, but only in other units: where it speaks of dollars, 84
        are not 84 cents.
        """
        powers = dict(its_unit.dimensions)
        named = [known for known in self._units if powers.keys() == dict(known.dimensions).keys()]
        return not named or any(_scale(known, powers) == its_unit.factor for known in named)

    @cached_property
    def decimal_commas(self) -> bool:
        """Whether it is in a language that writes 3,5 for three and a half, and asks for one number."""
        if self.subtype == "A8" or (self.type not in (None, "A")):
            return False
        return _DECIMAL_COMMAS.search(self.text[-_TAIL:]) is not None

    @cached_property
    def _units(self) -> list[Unit]:
        """The units it names behind numbers and in "how many"."""
        names = dict.fromkeys(name for found in _MEASURED.findall(self.text[-_TAIL:]) for name in found if name)
        known = (unit(name) or unit(name.lower()) for name in list(names)[:_MOST_UNITS])
        return [found for found in known if found is not None and found.dimensions]

    @cached_property
    def imaginary(self) -> bool:
        """Whether its answer is a complex number, so that ``j`` is the imaginary unit as well as ``i``."""
        named = "omplex" in self.text or "imaginary" in self.text
        return self.subtype == "A5" or (named and _IMAGINARY.search(self.text[-_TAIL:]) is not None)

    @property
    def exact(self) -> bool:
        """Whether it asks for a fraction or an exact value, so that no rounding answers it."""
        return _EXACT.search(self.text[-_TAIL:]) is not None

    @cached_property
    def codes(self) -> bool:
        """Whether its answer is a string even where it has digits only, as a password is."""
        if self.type is not None:
            return self.type == "D"
        tail = self.text[-_TAIL:].lower()
        return any(word in tail for word in _MAY_BE_CODE) and _CODE.search(tail) is not None

    @property
    def counted(self) -> str | None:
        """What "how many ..." asks to count."""
        found = _HOW_MANY.findall(self.text[-_TAIL:])
        return found[-1] if found else None

    @cached_property
    def open(self) -> bool:
        """Whether it asks for any example, so that another answer than the reference may be right."""
        return "example" in self.text and _EXAMPLE.search(self.text[-_TAIL:]) is not None

    def restated_by(self, answer: str, reference: str) -> bool:
        """Whether an answer only repeats an expression of the question instead of working it out."""
        said = "".join(tidy(answer).split())
        if self.options or len(said) < _RESTATED or not _OPERATOR.search(said):
            return False
        asked = "".join(tidy(self.text[-_TAIL:]).split())
        return said in asked and "".join(tidy(reference).split()) not in asked

    @cached_property
    def form(self) -> str | None:
        """The form it asks an expression to be brought to: ``"simplif"`` or ``"factor"``."""
        found = _FORM.search(self.text[-_TAIL:])
        return found[1].lower() if found else None

    @property
    def roots(self) -> bool:
        """Whether it asks for the roots of one function, so that its answers are values of one thing."""
        return _ROOTS.search(self.text[-_TAIL:]) is not None

    @property
    def points(self) -> bool:
        """Whether ``(1, 2)`` is a point here and no interval."""
        tail = self.text[-_TAIL:]
        return _POINTS.search(tail) is not None and _INTERVALS.search(tail) is None

    @cached_property
    def vectors(self) -> bool:
        """Whether ``[1, 2]`` is a vector or a point here and no interval."""
        tail = self.text[-_TAIL:]
        return self.subtype == "B5" or (_VECTORS.search(tail) is not None and _INTERVALS.search(tail) is None)


def _scale(known: Unit, powers: dict[str, int]) -> Fraction | None:
    """The factor of a unit raised to other powers of its dimension: what centimetres make of an area."""
    own = dict(known.dimensions)
    if own == powers:
        return known.factor
    [name, *others] = powers
    power, left = divmod(powers[name], own[name])
    return None if others or left else known.factor**power
