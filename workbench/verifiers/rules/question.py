"""Properties of a question's text for the comparers, each computed on first use and cached."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property

from workbench.verifiers.rules.options import options
from workbench.verifiers.rules.prefilter import PrefilteredPattern
from workbench.verifiers.rules.quantities import RequiredForm, required_form
from workbench.verifiers.rules.sense import stem, unknown_words, words
from workbench.verifiers.rules.spelling import plain, tidy
from workbench.verifiers.rules.units import Unit, leading_unit, unit

_MEASURES = (
    (re.compile(r"\barea\b", re.IGNORECASE), 2),
    (re.compile(r"\b(?:volume|capacity)\b", re.IGNORECASE), 3),
    (
        re.compile(r"\b(?:length|distance|perimeter|circumference|radius|diameter|height|width|long|far|tall)\b", re.I),
        1,
    ),
)
"""Words for measures of lengths, and the power of metre each has."""
_INTERVALS = PrefilteredPattern(
    r"\b(?:interval|domain|range|inequalit|solution\s+set|values?\s+of|increasing|decreasing|monoton)", re.IGNORECASE
)
_VECTORS = PrefilteredPattern(
    r"\b(?:vectors?|coordinates?|points?|matri(?:x|ces)|components?|cross\s+product|ordered\s+pair)\b|\\mathbf|\\vec",
    re.IGNORECASE,
)
_POINTS = PrefilteredPattern(
    r"\b(?:coordinates?|points?|ordered\s+pair|meet|intersect\w*|vertex|vertices)\b", re.IGNORECASE
)
_FORM = PrefilteredPattern(
    r"\b(simplif|factor)(?:y|ied|ize|ise|ization|ed|s)?\b(?!\s+of\b|\s+(?:pairs?|group)\b)", re.IGNORECASE
)
_MEASURED = re.compile(
    r"\bhow\s+many\s+((?:square\s+|cubic\s+)?[A-Za-z]{2,15})\b"
    r"|\d[\s$~]{0,3}(?:\\[ ,;:!])?(?:\\(?:text|mathrm)\{\s*)?([A-Za-z]{1,12})(?![A-Za-z(])|([$€£])\d",
    re.IGNORECASE,
)
"""A possible unit: after "how many", after a number, or a currency sign before one."""
_ASKED_UNIT = re.compile(r"\b(?:in|into|to|how\s+many)\s+(?:units\s+of\s+)?(?=[$\\({]{0,2}[^\W\d_]|°)", re.IGNORECASE)
_LONGEST_UNIT = 60
_MAX_POWER = 4
_MAX_UNITS = 20
_IMAGINARY = PrefilteredPattern(r"\b(?:imaginary\s+unit|complex\s+(?:number|form|impedance))", re.IGNORECASE)
_CODE = PrefilteredPattern(
    r"\b(?:code|password|passcode|pin|digits?|string|serial|number\s+plate|zip)\b", re.IGNORECASE
)
_MAY_BE_CODE = ("code", "password", "pin", "digit", "string", "serial", "plate", "zip")
_HOW_MANY = re.compile(r"\bhow\s+many\s+([A-Za-z]{3,20})\b", re.IGNORECASE)
_EXAMPLE = PrefilteredPattern(
    r"\b(?:give|find|construct|provide|state|name|write\s+down|exhibit)\s+(?:an|one|any)\s+(?:explicit\s+)?(?:counter-?)?example",
    re.IGNORECASE,
)
_OPERATOR = PrefilteredPattern(r"[+*/^!-]|\\(?:frac|sqrt|times|cdot|sin|cos|tan|log|ln|int|sum|lim|binom)")
_DECIMAL_COMMAS = re.compile(
    r"[¿¡ßàâãçèêëíîïñòôõùúûœąćęłńśźżčďěřšťůžăâîșțа-яё]|\b(?:wie\s?viel\w*|berechne|bestimme|welche[rns]?|ist|wieviel|quanto|quanti|calcola|qual"
    r"|combien|calculer?|quel(?:le)?s?|hoeveel|bereken|hvor|hur|cuánto|calcula|ile|oblicz)\b",
    re.IGNORECASE,
)
_A_DECIMAL_COMMA = re.compile(r"(?<![\w,;({\[.])\d+(?:,|\{,\})\d+(?![\w,;)}\].])")
_COUNTED = re.compile(
    r"\bhow\s+many\s+(.{2,60}?)(?=[?.,;]|\s(?:are|is|were|was|does|do|did|can|could|will|would|has|have|had|in|on|at|for|that|which|who|must|should|there)\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_COUNTS_WORDS = "pair pairs times digit digits percent square half third dozen dozens score couple factor"
_COUNTS = re.compile(rf"\b(?:{'|'.join(_COUNTS_WORDS.split())})\b")
_ASKED = re.compile(
    r"\b(?:which|what|name\s+(?:an?|the|one|any))\s+(?!is\b|are\b)(\w+)(?:\s+(\w+)(?=\s+(?:is|are|was|do|does|did|that|of|in)\b))?"
)
_ITEM = re.compile(
    r"(?:^|[\s(])([1-9]\d?|[A-Ja-j])[.)]\s+(\S.{0,80}?)(?=\s{2}|\n|[,;]?\s+\(?(?:[1-9]|[A-Ja-j])[.)]\s|\Z)"
)
_RESTATED = 3
_TAIL = 1_500


class _PatternProperty:
    """A cached property: whether the end of a question matches a pattern."""

    def __init__(self, pattern: str) -> None:
        # Lower case is searched several times as fast as either case.
        self._pattern = PrefilteredPattern(pattern)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, question: TypedQuestion, owner: type | None = None) -> bool:
        found = question.__dict__[self._name] = self._pattern.search(question.end) is not None
        return found


class TypedQuestion:
    """A question and its answer subtype.

    Attributes:
        text: The question as stored.
        subtype: Its subtype's code, or None.
    """

    ordered = _PatternProperty(
        r"\b(?:in\s+(?:the\s+)?(?:\w+\s+)?order(?!\s+to\b)|order\s+(?:them|the|these)|ordene?|ordne|respectively|ordered\s+(?:pair|triple|tuple|list)\b|sort(?:ed)?\b|\brank\b|arrange|traversal|ascending|descending|"
        r"increasing\s+order|decreasing\s+order|from\s+(?:the\s+)?(?:\w+est|least|left|first|top|bottom)|(?:starting|beginning)\s+(?:at|from|with)|sequence|next\s+(?:\w+\s+)?terms?|"
        r"first\s+\w+\s+terms|(?:\w+est|most|least|high|low)(?:\s+\w+)?\s+(?:first|last)\b)"
    )
    """Whether the order of a list's members matters."""
    several = _PatternProperty(
        r"\b(?:find|determine|calculate|compute|give|state|what\s+(?:is|are))\s+(?:both\s+)?(?:the|its)\s+(?:\w+\s+){1,2}and\s+(?:the\s+|its\s+)?\w+"
        r"|\bthe\s+(\w+)\s+of\s[^.?]{3,40}\sand\s+the\s+\1\s+of\b|\bhow\s+m(?:any|uch)\b[^.?]{1,60}\band\s+how\s+m(?:any|uch)\b"
    )
    """Whether the question asks for several things in sequence, so that the order of their values matters."""
    arranges = _PatternProperty(
        r"\b(?:arrange|sort|rank|ordene?|ordena|ordne|sortiere|range[rz]|classe[rz]|order\s+(?:them|the|these|from|by|of)"
        r"|in(?:to)?\s+(?:\w+\s+){0,2}order(?!\s+(?:to|that)\b))\b"
    )
    """Whether it asks to put things in an order."""
    of_pairs = _PatternProperty(
        r"\b(?:scores?|range|(?:tele)?phone|code|combination|pages?|chapters?|matche?s?|games?|record|odds|configuration)\b"
    )
    """Whether it may ask for two numbers that a hyphen joins, as those of a score."""
    rising = _PatternProperty(
        r"ascending|increasing\s+order|\b(?:low|least|small|weak|slow|short|light|cold|young|few|cheap|near|close|menor|klein|petit)\w*"
        r"\s+(?:\w+\s+){0,2}?(?:to|first|a|au|bis|zum)\b"
    )
    """Whether it asks for an order from the least to the most."""
    falling = _PatternProperty(
        r"descending|decreasing\s+order|\b(?:high|great|large|big|strong|fast|long|heav|hot|old|most|mayor|größ|grand)\w*"
        r"\s+(?:\w+\s+){0,2}?(?:to|first|a|au|bis|zum)\b"
    )
    """Whether it asks for an order from the most to the least."""
    roots = _PatternProperty(r"\b(?:roots?|zeros?|zeroes)\s+(?:of|for)\b")
    """Whether it asks for the roots of one function, so that its answers are values of one thing."""
    exact = _PatternProperty(
        r"\b(?:(?:common|simplified|irreducible|reduced)\s+fraction|as\s+a\s+(?:simplified\s+)?fraction|lowest\s+terms"
        r"|exact(?:ly)?\s+(?:value|answer|form)|simplest\s+(?:radical\s+)?form)"
    )
    """Whether the question asks for a fraction or an exact value, so that a rounding is no answer."""
    asks_roughly = _PatternProperty(
        r"approx|\babout\s+how|estimat|\bround|nearest|roughly|decimal|significant|≈|\\approx|[约約估]|近似|ungefähr|environ|\bclos(?:e|est)\b"
    )
    """Whether the question asks for a rounded number or an estimate."""
    rounds_to = _PatternProperty(
        r"(?:decimal|significant)\s+(?:places?|figures?|digits?)|nearest\s+(?:tenth|hundredth|thousandth|cent|penny)"
    )
    """Whether the question states the required number of digits."""
    asks_place = _PatternProperty(
        r"\b(?:which|what|whose)\s+(?:\w+\s+){0,2}?(?:days?|date|places?|positions?|ranks?|terms?|floors?|rows?|columns?|centur(?:y|ies)|years?"
        r"|grades?|percentiles?|steps?|rounds?|levels?|storeys?|power|digits?|attempts?)\b|\d(?:st|nd|rd|th)\b|\bordinal\b|第|\bwhen\b"
    )
    """Whether the question asks for a place in an order, so that "24th" equals 24."""
    reduced = _PatternProperty(r"lowest\s+terms|simplest\s+form|simplif|irreducible|reduced")
    """Whether it asks for simplest terms, so that 9/12 is no answer for 3/4."""
    asks_change = _PatternProperty(
        r"\bchang(?:e[sd]?|ing)\b|what\s+happens|\bpercent(?:age)?\s+(?:increase|decrease|gain|loss|profit)|\bby\s+what\s+(?:factor|per)"
        r"|\bincrease\s+or\s+(?:a\s+)?decrease|\bprofit\s+or\s+loss"
    )
    """Whether it asks how something changes, so that a decrease by 25% is -25%."""
    of_units = _PatternProperty(r"\bunits?\b(?!\s+(?:digit|circle|vector|sphere|square|disk|matrix|cost|price))")
    """Whether it may ask for a unit."""
    asks_who = _PatternProperty(
        r"\b(?:who(?:se|m)?|(?:which|what|name\s+(?:of\s+)?the)\s+(?:\w+\s+){0,2}?(?:mathematician|physicist|author|scientist|composer|painter|poet|writer"
        r"|person|artist|president|philosopher|chemist|inventor|explorer|emperor|king|queen|actor|actress|director|player))\b|谁|哪位|\b(?:quién|quien|qui|wer|wen|chi|quem)\b"
    )
    """Whether it asks for a person, who may be named by the family name."""
    directions = _PatternProperty(r"\b(?:which|what)\s+(?:\w+\s+)?direction")
    """Whether it asks for a direction of the compass, so that W is west."""
    strands = _PatternProperty(r"\b5\s?['′’]\s*(?:to|→|->|-|–)\s*3\s?['′’]")
    """Whether it asks for a strand of nucleotides from its 5' end."""
    of_words = _PatternProperty(r"\b(?:spell|hyphen|plural|singular|compound\s+word|one\s+word|two\s+words)")
    """Whether it is about how words are written."""
    of_bits = _PatternProperty(r"\b\d+[-\s]bit\s|two['’]s\s+complement")
    """Whether the question asks for the bits of a number, all of which count."""
    of_code = _PatternProperty(
        r"\b(?:python|java(?:script)?|sql|regex|bash|shell|linux|unix|git|vim|html|css|c\+\+|print(?:s|ed)?\s*\(|console\.log|case-sensitive|def\s+\w+\()"
    )
    """Whether the question asks for code or the output of code: there upper and lower case differ."""
    of_output = _PatternProperty(r"\b(?:prints?|printed|outputs?|displays?|returns?|evaluates?)\b")
    """Whether the question asks for the output of a program, so that yes is not Yes."""
    of_print = _PatternProperty(
        r"\b(?:program|code|script|snippet|statement|python|java(?:script)?)\b[^?]*\b(?:print|output|display)(?:s|ed)?\b"
        r"|\b(?:print|output|display)(?:s|ed)?\b[^?]*\b(?:program|code|script|snippet|statement|python|java(?:script)?)\b"
    )
    """Whether the question asks for what a program prints: 3.0 differs from 3, and [1] from (1)."""
    of_interval = _PatternProperty(r"\binterval\b")
    """Whether it asks for an interval, which may be given by its middle."""
    monotone = _PatternProperty(r"\b(?:increas|decreas|monoton|concav|convex|confidence)")
    """Whether the question asks where a function rises or falls, so that the ends of an interval don't matter."""
    of_time = _PatternProperty(
        r"\b(?:minutes?|hours?|seconds?|time|how\s+long\s+(?:do|did|will|would|ha[sv]|must|can)|when)\b"
    )
    """Whether it asks for a time, so that ``8 m`` may be minutes."""
    chemistry = _PatternProperty(
        r"chemi|molecul|\bcompounds?\b|\belements?\b|\bions?\b|\bformula of|\breact(?!angle)|\bbalance"
        r"|\bacids?\b|oxid|\bsalts?\b|\bgas(?:es)?\b|\batoms?\b"
        r"|化学|离子|分子"
    )
    """Whether the question is about substances, so that ``CO`` is a substance."""
    of_vectors = _PatternProperty(r"\bvectors?\b|\bmatri|\bcomponents?\b")
    """Whether it is about vectors, which square brackets may hold as well."""
    logic = _PatternProperty(
        r"\blogic|proposition|\\(?:land|lor|lnot|wedge|vee|neg|forall|exists)\b|[∧∨¬∀∃]|truth\s+table|de\s?morgan|symboli[sz]e|boolean"
        r"|normal\s+form"
    )
    """Whether it is about logic, so that "p and q" is a formula."""
    symbols = _PatternProperty(
        r"\b(?:formulae?|symbols?|element|compound|molecule|ions?|abbreviat\w+|acronym|initials|code|notation)\b"
    )
    """Whether the question asks for a symbol: there upper and lower case differ."""
    boolean = _PatternProperty(
        r"\bboolean\s+(?:algebra|expression|function)|logic\s+(?:gate|circuit)|karnaugh|sum\s+of\s+products"
    )
    """Whether it is about Boolean algebra, so that ``xy + x'z`` is a formula of logic."""
    _any_form = _PatternProperty(r"\bany\b[^.]{0,40}\bequivalent|\bequivalent\s+\w+s?\s+(?:is|are|counts?)\b")
    _by_form = _PatternProperty(
        r"negat|simplif|de\s?morgan|normal\s+form|\b[cd]nf\b|equivalent|contrapositive|converse|inverse|without|using\s+only|rewrite|express|eliminat"
    )
    remainder = _PatternProperty(r"remainder|divided\s+by|last\s+digit|\bmod")
    """Whether it asks for a remainder, one number of a class of residues."""
    matrices = _PatternProperty(r"matri(?:x|ces)|invertible|operators?\b")
    """Whether the question's letters stand for matrices or operators."""

    def __init__(self, text: str, subtype: str | None = None) -> None:
        self.text = text
        self.subtype = subtype

    @cached_property
    def end(self) -> str:
        """Return the end of the question in lower case, which states the task."""
        return self.text[-_TAIL:].lower()

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
        ends = [found.end() for found in _ASKED_UNIT.finditer(tail)][-_MAX_UNITS:]
        names = (leading_unit(plain(tail[end : end + _LONGEST_UNIT].replace("$", "").strip("({"))) for end in ends)
        known = (unit(name) for name in names if name and not (len(name) == 1 and name.isupper()))
        return list(dict.fromkeys(found for found in known if found is not None and found.dimensions))

    @cached_property
    def decimal_commas(self) -> bool:
        """Return whether it is in a language that writes 3,5 for three and a half, and asks for one number."""
        tail = self.text[-_TAIL:]
        if self.type not in (None, "A") or not _DECIMAL_COMMAS.search(tail):
            return False
        return self.subtype != "A8" or _A_DECIMAL_COMMA.search(tail) is not None

    @cached_property
    def _units(self) -> list[Unit]:
        names = dict.fromkeys(name for found in _MEASURED.findall(self.text[-_TAIL:]) for name in found if name)
        known = (unit(name) or unit(name.lower()) for name in list(names)[:_MAX_UNITS])
        return [found for found in known if found is not None and found.dimensions]

    @cached_property
    def imaginary(self) -> bool:
        """Return whether its answer is a complex number, so that ``j`` is the imaginary unit as well as ``i``."""
        named = "omplex" in self.text or "imaginary" in self.text
        return self.subtype == "A5" or (named and _IMAGINARY.search(self.text[-_TAIL:]) is not None)

    @property
    def by_form(self) -> bool:
        """Return whether it asks for a formula of logic in a certain form, so that an equivalent formula is no
        answer."""
        return self._by_form and not self._any_form

    @cached_property
    def codes(self) -> bool:
        """Return whether its answer is a string even if it has digits only, as a password is."""
        if self.type is not None:
            return self.type == "D"
        tail = self.text[-_TAIL:].lower()
        return any(word in tail for word in _MAY_BE_CODE) and _CODE.search(tail) is not None

    @cached_property
    def gap(self) -> tuple[str, str] | None:
        """Return the text before and after the gap it asks to fill."""
        before, gap, behind = self.text[-_TAIL:].partition("__")
        return (before, behind.lstrip("_")) if gap and "__" not in behind.lstrip("_") else None

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Return the nouns it asks for: the "river" of "Which river ...", "What is the river that ..."."""
        return frozenset(word for found in _ASKED.findall(self.text[-_TAIL:].lower()) for word in found if word)

    @cached_property
    def items(self) -> dict[str, str]:
        """Return the items to be matched, by label: ``1. goose``, ``c. cygnet``."""
        return {found[1]: found[2].strip(" .,;") for found in _ITEM.finditer(self.text[-_TAIL:])}

    @cached_property
    def counted(self) -> str | None:
        found = _HOW_MANY.findall(self.text[-_TAIL:]) if "many" in self.end else None
        return found[-1] if found else None

    @cached_property
    def open(self) -> bool:
        """Return whether it asks for any example, so that another answer than the reference may be right."""
        return "example" in self.text and _EXAMPLE.search(self.text[-_TAIL:]) is not None

    def restated_by(self, answer: str, reference: str) -> bool:
        said = "".join(tidy(answer).split())
        if self.options or len(said) < _RESTATED or not _OPERATOR.search(said):
            return False
        asked = "".join(tidy(self.text[-_TAIL:]).split())
        return said in asked and "".join(tidy(reference).split()) not in asked

    @cached_property
    def form(self) -> str | None:
        """Return the form it asks an expression to be brought to: ``"simplif"`` or ``"factor"``."""
        found = _FORM.search(self.text[-_TAIL:])
        return found[1].lower() if found else None

    @cached_property
    def explained(self) -> frozenset[str]:
        """Return words that don't change an answer: those after "how many" ("more minutes"), else words of counting."""
        tail = self.text[-_TAIL:].lower()
        if "how many" in tail and (asked := _COUNTED.findall(tail)):
            return frozenset(words(asked[-1]))
        return frozenset(_COUNTS.findall(tail))

    def counts_other(self, noun: str) -> bool:
        """Return whether a noun after a number is not what "how many ..." counts."""
        asked = _COUNTED.findall(self.text[-_TAIL:])
        if not asked or not noun.isascii():
            return False
        stems = {stem(word) for word in words(asked[-1])}
        if any(stem(word) in stems for word in words(noun)):
            return False
        named = {stem(word) for word in words(self.text[-_TAIL:])}
        return any(stem(word) in named for word in unknown_words(noun, ()))

    @property
    def points(self) -> bool:
        """Return whether ``(1, 2)`` is a point here, not an interval."""
        tail = self.text[-_TAIL:]
        return _POINTS.search(tail) is not None and _INTERVALS.search(tail) is None

    @cached_property
    def vectors(self) -> bool:
        """Return whether ``[1, 2]`` is a vector or a point here, not an interval."""
        tail = self.text[-_TAIL:]
        return self.subtype == "B5" or (_VECTORS.search(tail) is not None and _INTERVALS.search(tail) is None)


def _factor_to_dimension(known: Unit, powers: dict[str, int]) -> Fraction | None:
    own = dict(known.dimensions)
    if own == powers:
        return known.factor
    [name, *others] = powers
    power, left = divmod(powers[name], own[name])
    return None if others or left else known.factor**power
