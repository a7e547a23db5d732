"""Records of `rules`: parsed answers, results of comparing them, and the options of strictness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Meta

from workbench.core.options import Options
from workbench.verifiers.rules.expression import Statement
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.units import Unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.quantities import Quantity
    from workbench.verifiers.rules.reading import AnswerReader

Symbolic = Callable[[str, str], bool | None]
"""Compares answers that the rules can't parse; may raise `NeedsAlgebra` if no worker is available."""

_DATA = Lexicon("reasons")
REASONS: dict[str, str] = _DATA.table("families")
"""The reason code of a rule, by the first part of its name."""
_BY_NAME: dict[str, str] = _DATA.table("rules")


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


# -- A parsed answer: a value of a type, its name if it has one, and its qualifiers.


class Expression(NamedTuple):
    """An expression to compute, an equation or an inequality.

    Attributes:
        said: The statements; None if only computer algebra may parse the expression.
        unit: The known unit after it, which is removed from ``said``.
        measured: The text before that unit.
    """

    said: tuple[Statement, ...] | None
    unit: Unit | None = None
    measured: str = ""


class IntervalPiece(NamedTuple):
    """One interval: its ends, None for an infinite one, and whether they belong to it."""

    low: Part[Value] | None
    high: Part[Value] | None
    has_low: bool = False
    has_high: bool = False


class Region(NamedTuple):
    """A set of real numbers as intervals, and the variable it bounds if it names one."""

    pieces: tuple[IntervalPiece, ...]
    name: str = ""


class Collection(NamedTuple):
    """An answer with members.

    Attributes:
        kind: How the members are combined.
        parts: The members.
        closed: For a tuple, whether square brackets are on its left and right, as for an interval.
        joined: ``"or"`` or ``"and"`` if a word joins the members, ``"then"`` if arrows do.
    """

    kind: Literal["list", "set", "tuple"]
    parts: tuple[Part[Value], ...]
    closed: tuple[bool, bool] = (False, False)
    joined: str = ""


class SetBuilder(NamedTuple):
    """A set given by a condition on its members.

    Attributes:
        member: A member, with its parameter.
        condition: The condition on the parameter.
        domain: The parameter's set of numbers, such as ``"Z"``, if that is the whole condition.
    """

    member: Part[Value]
    condition: str
    domain: str = ""


class MatrixValue(NamedTuple):
    """Cells row by row."""

    parts: tuple[Part[Value], ...]
    width: int


class Alternatives(NamedTuple):
    """An exact value and approximations of it: an answer need match only one of them."""

    parts: tuple[Part[Value], ...]


class ChosenOptions(NamedTuple):
    """Options by their labels.

    Attributes:
        labels: The labels; empty for an answer that chooses none.
        by_letter: Whether the answer names letters instead of texts.
    """

    labels: frozenset[str]
    by_letter: bool


class State(NamedTuple):
    """A state of a closed vocabulary."""

    state: str
    states: tuple[str, ...]


class Term(NamedTuple):
    """A value without digits: infinity, the empty set, undefined."""

    term: str


class Brackets(NamedTuple):
    """The closing brackets of the question's sequence, without the sequence itself."""

    closing: str


class DigitCode(NamedTuple):
    """Digits that are not a number: a password, a PIN."""

    digits: str


class Text(NamedTuple):
    """A name, a phrase, or any value without another type."""

    prose: bool


class Huge(NamedTuple):
    """A text that takes too much work to parse."""


Value: TypeAlias = tuple[Any, ...]
"""The content of an answer: a record of its type, such as `Text`."""


Known = TypeVar("Known", covariant=True)


class Part(NamedTuple, Generic[Known]):
    """An answer, or a member of one.

    Attributes:
        text: The answer, normalised by `spelling.tidy`.
        value: The value of the answer.
        name: The name that is given the value: the ``x`` of ``x = 5``.
        given: The statement about its parameters: the domain of ``k`` in ``kπ, k ∈ ℤ``.
        sense: Qualifiers: words and signs next to the value that make another answer of it.
    """

    text: str
    value: Known
    name: str = ""
    given: str = ""
    sense: frozenset[str] = frozenset()


class AnswerText(NamedTuple):
    """A text to parse.

    Attributes:
        raw: The text as written, without math delimiters.
        text: The text, normalised by `spelling.tidy`.
        depth: The number of lists, sets and similar around it.
        given: The statement about its parameters after it: the domain of ``k`` in ``kπ, k ∈ ℤ``.
        whole: The text including that statement.
    """

    raw: str
    text: str
    depth: int
    given: str = ""
    whole: str = ""


Reader = Callable[[AnswerText, "AnswerReader"], Value | None]
"""Parses a text; returns None if it isn't of the type."""


class ValueType(NamedTuple):
    """A type of answers: its parser and its comparers.

    Attributes:
        read: The parser; None for a type that only the question or a sentence determines.
        comparers: The type's rows in the table of comparers.
        of_a_name: Whether the text after a name and an equals sign may be of this type as well: ``x = 5``.
        of_a_word: Whether a single word of ASCII letters may be of this type.
    """

    read: Reader | None
    comparers: Table
    of_a_name: bool = False
    of_a_word: bool = True


# -- Strictness of `rules`: the user's options.


class Leniency(Options, frozen=True, kw_only=True):
    """The options of `rules`; defaults are omitted from a configuration."""

    tolerance: Annotated[float, Meta(ge=0, le=1, description="relative tolerance of numbers, such as 0.01")] = 0.0
    units: Annotated[
        Literal["optional", "required"], Meta(description="whether an answer must have the reference's unit")
    ] = "optional"
    form: Annotated[
        Literal["asked", "any"],
        Meta(description="form of a correct answer: asked (as the question asks for it) or any"),
    ] = "asked"

    def near(self, reference: Quantity, candidate: Quantity) -> Quantity:
        if not self.tolerance or reference.pi != candidate.pi or _offset(reference) != _offset(candidate):
            return candidate
        wanted, scale = reference.number.value * _factor(reference, candidate), _factor(candidate, reference)
        found = candidate.number.value * scale
        if wanted == found or abs(found - wanted) > abs(wanted) * Fraction(self.tolerance):
            return candidate
        return candidate._replace(number=candidate.number._replace(value=wanted / scale))


AS_IT_IS: Final = Leniency()
"""The default options."""


def _factor(side: Quantity, other: Quantity) -> Fraction:
    return Fraction(side.unit.factor) if side.unit and other.unit else Fraction(1)


def _offset(side: Quantity) -> object:
    return side.unit if side.unit and side.unit.offset else None
