"""Results of comparing two answers: equal or not and by which rule, or a doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.records import Part

Symbolic = Callable[[str, str], bool | None]
"""Compares answers that the rules can't parse; may raise `NeedsAlgebra` if no worker is available."""

REASONS = {
    "list": "list",
    "set": "set",
    "tuple": "list",
    "interval": "interval",
    "matrix": "matrix",
    "number": "number",
    "quantity": "quantity",
    "change": "quantity",
    "percent": "quantity",
    "degrees": "quantity",
    "base": "number",
    "date": "date_time",
    "time": "date_time",
    "expression": "expression",
    "piecewise": "expression",
    "equation": "equation",
    "symbolic": "symbolic",
    "state": "state",
    "brackets": "brackets",
    "chemical": "expression",
}
"""The reason code of a rule, by the first part of its name."""
_BY_NAME = {
    "text.differs": "text_differs",
    "choice.letter": "letter",
    "choice.text": "option_text",
    "choice.none": "letter",
}


Comparer = Callable[["Part[Any]", "Part[Any]", "Comparison"], "Equality | None"]
"""Compares two answers of its types, in the order of its row; returns None if undecided."""

Table = dict[tuple[type, type], Comparer]


class NeedsAlgebra(Exception):
    """Only sympy may be able to compare the two answers."""


class Doubt(Exception):
    """The two answers may be equal; the argument is the reason for doubt as a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Equality(NamedTuple):
    """The result of comparing two answers.

    Attributes:
        equal: Whether they are equal.
        rule: The deciding rule, such as ``"number.rounding"``.
    """

    equal: bool
    rule: str

    @property
    def reason(self) -> str:
        family = self.rule.partition(".")[0]
        return _BY_NAME.get(self.rule) or ("text_equal" if family == "text" else REASONS[family])


DIFFERENT = Equality(False, "text.differs")


def decided(equal: bool | None, rule: str) -> Equality | None:
    return None if equal is None else Equality(equal, rule)


def by_value(rule: str) -> Comparer:
    """Return a comparer of values that are equal only if their records are."""
    return lambda one, other, with_: Equality(one.value == other.value, rule)


def rejection(rule: str) -> Comparer:
    """Return a comparer that finds all values of its types different."""
    return lambda one, other, with_: Equality(False, rule)


def any_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return True if one is True, None if one is undecided, else False."""
    known = set(verdicts)
    return True if True in known else None if None in known else False


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one is False, None if one is undecided, else True."""
    known = set(verdicts)
    return False if False in known else None if None in known else True


def undecided(reference: str, candidate: str) -> bool | None:
    """Return None: a substitute for sympy where sympy must not be used."""
    return None


class ComparedAnswer(NamedTuple):
    """An answer in a comparison, as a cache key: everything that the result depends on besides the question.

    Attributes:
        sentence: The answer's line.
        how: How the answer was found.
        symbolic: Compares answers that the rules can't parse.
    """

    reference: str
    answer: str
    sentence: str
    how: str
    symbolic: Symbolic
