"""What an answer is once it is read: a value of a type, its name if it has one, and what words beside it do to it."""

from __future__ import annotations

from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from workbench.verifiers.rules.calendar import Moment
from workbench.verifiers.rules.chemistry import Chemical
from workbench.verifiers.rules.logic import Formula
from workbench.verifiers.rules.quantities import Based, Quantity, Ratio
from workbench.verifiers.rules.statements import Statement
from workbench.verifiers.rules.units import Unit


class Expression(NamedTuple):
    """Something to work out, an equation or an inequality.

    Attributes:
        said: What it says; None where only computer algebra may read it.
        unit: The known unit behind it, which ``said`` is free of.
    """

    said: tuple[Statement, ...] | None
    unit: Unit | None = None


class Reaction(NamedTuple):
    """What stands on both sides of an arrow, as sums."""

    sides: tuple[Part[Value], Part[Value]]


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
        kind: How they stand together.
        parts: The members.
        closed: Of a tuple, whether square brackets stand left and right, as round an interval.
        joined: ``"or"`` or ``"and"`` where a word of a list says so, ``"then"`` where arrows lead from one to the next.
    """

    kind: Literal["list", "set", "tuple"]
    parts: tuple[Part[Value], ...]
    closed: tuple[bool, bool] = (False, False)
    joined: str = ""


class Piecewise(NamedTuple):
    """A function in pieces: each value and where it holds, None for any other place."""

    pieces: tuple[tuple[Part[Value], Part[Value] | None], ...]


class SetBuilder(NamedTuple):
    """A set given by a condition on its members.

    Attributes:
        member: A member, with its parameter.
        condition: What holds of the parameter.
        domain: The letter of the set of numbers the parameter is any of, if that is all.
    """

    member: Part[Value]
    condition: str
    domain: str = ""


class MatrixValue(NamedTuple):
    """Cells row by row."""

    parts: tuple[Part[Value], ...]
    width: int


class ResidueClass(NamedTuple):
    """A class of residues: ``x ≡ 3 (mod 7)``."""

    remainder: int
    modulus: int


class Alternatives(NamedTuple):
    """An exact value and what it is about: one that fits is enough."""

    parts: tuple[Part[Value], ...]


class ChosenOptions(NamedTuple):
    """Options by their labels.

    Attributes:
        labels: The labels; empty for an answer that chooses none.
        by_letter: Whether it names them, rather than give their texts.
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
    """What closes the question's sequence of brackets, the sequence itself left out."""

    closing: str


class DigitCode(NamedTuple):
    """Digits that are no number: a password, a PIN."""

    digits: str


class Text(NamedTuple):
    """A name, a phrase, anything of no other type."""

    prose: bool


class Huge(NamedTuple):
    """What takes too much work to read."""


Value: TypeAlias = (
    Quantity
    | Based
    | Ratio
    | Moment
    | Expression
    | Reaction
    | Region
    | Collection
    | Piecewise
    | SetBuilder
    | MatrixValue
    | ResidueClass
    | Alternatives
    | ChosenOptions
    | State
    | Term
    | Formula
    | Chemical
    | Brackets
    | DigitCode
    | Text
    | Huge
)


Known = TypeVar("Known", covariant=True)


class Part(NamedTuple, Generic[Known]):
    """An answer, or a member of one.

    Attributes:
        text: The answer, tidy.
        value: What it is.
        name: What it is said to be the value of: the ``x`` of ``x = 5``.
        given: What it says of its parameters: the domain of ``k`` in ``kπ, k ∈ ℤ``.
        sense: Words and signs beside the value that make another answer of it.
    """

    text: str
    value: Known
    name: str = ""
    given: str = ""
    sense: frozenset[str] = frozenset()
