"""A parsed answer: a value of a type, its name if it has one, and its qualifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from workbench.verifiers.rules.equality import Table
from workbench.verifiers.rules.statements import Statement
from workbench.verifiers.rules.units import Unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.reading import AnswerReader


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
    """

    read: Reader | None
    comparers: Table
    of_a_name: bool = False
