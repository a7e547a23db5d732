"""Whether two answers that were read say the same: one table of comparers, by the types of both.

Each comparer knows the types of its row only, and its refusal is final. It takes the reference's answer first or the
candidate's, as its row says, and gives the same either way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import gcd, isqrt
from typing import Any, NamedTuple

from workbench.verifiers.rules.calendar import Moment, same_moment
from workbench.verifiers.rules.chemistry import Chemical
from workbench.verifiers.rules.choices import contrasts, holds_label, names_another
from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.equations import constant_of, same_statements
from workbench.verifiers.rules.logic import Formula, same_formula
from workbench.verifiers.rules.nodes import Name, Node, Number, product
from workbench.verifiers.rules.numbers import is_printed
from workbench.verifiers.rules.quantities import Based, Quantity, Ratio, ratio, same_based, same_quantity, same_ratio
from workbench.verifiers.rules.reading import AnswerReader, region
from workbench.verifiers.rules.records import (
    Brackets,
    Builder,
    Chain,
    Choice,
    Code,
    Collection,
    Expression,
    Huge,
    Matrix,
    Part,
    Piece,
    Reaction,
    Region,
    Residue,
    State,
    Term,
    Text,
)
from workbench.verifiers.rules.sense import (
    PLACE,
    ROUGH,
    UNREADABLE,
    explained_by,
    opposed,
    sense_of_phrase,
    value_in,
    word_count,
    words,
)
from workbench.verifiers.rules.statements import Statement, statements
from workbench.verifiers.rules.states import completes
from workbench.verifiers.rules.strings import (
    contains,
    goes_on,
    leads,
    other_case,
    same_text,
    same_wording,
    same_words_of,
)
from workbench.verifiers.rules.structure import name_without_index
from workbench.verifiers.rules.tokens import NotUnderstood
from workbench.verifiers.rules.units import Unit

Symbolic = Callable[[str, str], bool | None]
"""Compares what the rules can't read; may raise `Unread` where no worker is at hand."""

REASONS = {
    "list": "list",
    "set": "set",
    "tuple": "list",
    "interval": "interval",
    "builder": "set",
    "matrix": "matrix",
    "number": "number",
    "quantity": "quantity",
    "percent": "quantity",
    "degrees": "quantity",
    "base": "number",
    "date": "date_time",
    "time": "date_time",
    "expression": "expression",
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
_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[^\s{}]")
_UNEVALUATED = re.compile(r"\\(?:int|iint|iiint|oint|sum|prod|lim|limsup|liminf)(?![A-Za-z])|[∫∑∏]|\blim\b")
_WHOLE = re.compile(r"[-−]?\d{1,3}(?:(?:,|\{,\}|\\,)?\d{3})*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_VALUE = re.compile(r"[\d\\^=]")
_FRACTION = re.compile(
    r"\\[dt]?frac\s*\{?\s*(\d{1,9})\s*\}?\s*\{?\s*(\d{1,9})\s*\}?|(?<![\d.])(\d{1,9})\s*[/:]\s*(\d{1,9})(?![\d.])"
)
_ROOT = re.compile(r"(?:\\sqrt\s*|√)(?:\{\s*(\d{1,9})\s*\}|(\d{1,9}))")
_ROOT_BELOW = re.compile(r"\\[dt]?frac\s*(?:\{[^{}]*\}|\d)\s*\{[^{}]*\\sqrt|/\s*\(?[^()]{0,6}(?:\\sqrt|√)")
_LARGEST_FACTOR = 1_000
_UNEQUAL = re.compile(r"[<>≠]|!=")
_MANTISSA = re.compile(r"\A[-−]?[1-9](?:\.\d+)?(?![\d.])")
_IS_FRACTION = re.compile(r"\\[dt]?frac|\d\s?/\s?\d|[½¼¾⅐-⅞]")
_NUMERIC = re.compile(r"[\d=<>≤≥]|\\[a-z]")
_DECIMALS = re.compile(r"\d+\.\d+")
_MUCH_LONGER, _MARGIN = 2, 3


class Unread(Exception):
    """Only sympy may be able to compare these two."""


class Doubt(Exception):
    """Two answers that may be equal, and why that is not sure: a reason code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Equality(NamedTuple):
    """How two answers compare.

    Attributes:
        equal: Whether they are equal.
        rule: Which rule said so, such as ``"number.rounding"``.
    """

    equal: bool
    rule: str

    @property
    def reason(self) -> str:
        """The reason code that goes with the rule."""
        family = self.rule.partition(".")[0]
        return _BY_NAME.get(self.rule) or ("text_equal" if family == "text" else REASONS[family])


DIFFERENT = Equality(False, "text.differs")


def undecided(reference: str, candidate: str) -> bool | None:
    """What stands in for sympy where it is not to be asked: it can't tell."""
    return None


class Comparison:
    """Compares answers to one question.

    Args:
        reader: Reads answers to it.
        symbolic: Asked about what the rules can't read.
        boxed: Whether the candidate's answer is all that its box holds, and no sentence.
        outermost: Whether it compares whole answers; within one, ``{a}`` is not ``a``.
    """

    def __init__(
        self, reader: AnswerReader, symbolic: Symbolic = undecided, *, boxed: bool = True, outermost: bool = True
    ) -> None:
        self.outermost = outermost
        self.turned = False
        self.reader = reader
        self.question = reader.question
        self.symbolic = symbolic
        self.boxed = boxed

    @property
    def within(self) -> Comparison:
        """The same for members of an answer."""
        if not self.outermost:
            return self
        return Comparison(self.reader, self.symbolic, boxed=self.boxed, outermost=False)

    def same(self, reference: Part[Any], candidate: Part[Any]) -> bool | None:
        """Whether two answers are equal; None when that can't be told."""
        found = self.compare(reference, candidate)
        return None if found is None else found.equal

    def compare(self, reference: Part[Any], candidate: Part[Any]) -> Equality | None:
        """Compare two answers and say by which rule; None when that can't be told.

        Raises:
            TooComplex: To compare them would take more work than a rule may spend.
            Doubt: They may be equal, but something speaks against it.
        """
        found: Equality | None
        if reference.given and candidate.given and reference.given != candidate.given:
            found = Equality(False, "expression")
        elif rule := same_text(reference.text, candidate.text):
            found = Equality(True, rule)
        else:
            found = self._by_table(reference, candidate)
        if found is not None and found.equal:
            self._check_sense(reference, candidate)
        return found

    def _by_table(self, reference: Part[Any], candidate: Part[Any]) -> Equality | None:
        one, other = type(reference.value), type(candidate.value)
        row = next((row for row in ((one, other), *_rows_of(one, other)) if row in COMPARERS), None)
        if row is None:
            return DIFFERENT
        self.turned = row[0] is not one
        return COMPARERS[row](*((candidate, reference) if self.turned else (reference, candidate)), self)

    def _check_sense(self, reference: Part[Any], candidate: Part[Any]) -> None:
        """Doubt an equal candidate that has a mark which neither the reference nor the question explains."""
        if opposed(candidate.sense, reference.sense):
            raise Doubt("alike")
        if left := self.unexplained(frozenset(mark for mark in candidate.sense if mark[0] not in "+-"), reference):
            raise Doubt("alike" if left == {PLACE} else "qualified")

    def unexplained(self, marks: frozenset[str], reference: Part[Any]) -> frozenset[str]:
        """The marks of a candidate that make it another answer than the reference's."""
        left = marks - reference.sense | marks & {UNREADABLE}
        if not left:
            return left
        if ROUGH in left and (not _WHOLE.fullmatch(reference.text) or self.question.asks_roughly):
            left -= {ROUGH}
        if PLACE in left and self.question.asks_place:
            left -= {PLACE}
        left -= (explained_by(reference.text) | self.question.explained) - {UNREADABLE}
        if unknown := {mark for mark in left if mark[0] == "?" and mark != UNREADABLE}:
            left -= unknown & explained_by(self.question.text)
        return left


def _rows_of(one: type, other: type) -> Iterator[tuple[type, type]]:
    """The rows two types may have besides their own, in the order they count."""
    yield other, one
    for known in _WITH_ANY:
        if known in (one, other):
            yield known, object


Comparer = Callable[[Part[Any], Part[Any], Comparison], Equality | None]


# -- Numbers and what stands behind them.


def _quantities(one: Part[Quantity], other: Part[Quantity], with_: Comparison) -> Equality | None:
    first, second = one.value, other.value
    question = with_.question
    if one.name and other.name and one.name != other.name:
        return _expressions(one, other, with_)
    if question.type == "D" and _DECIMALS.fullmatch(one.text) and _DECIMALS.fullmatch(other.text):
        # Of strings, 1.10 is not 1.1.
        return DIFFERENT
    found = same_quantity(first, second, question.asked)
    if found is None:
        if first.word or second.word:
            return Equality(False, "quantity.differs")
        if first.doubtful or second.doubtful:
            return None
        return _expressions(one, other, with_)
    equality = Equality(*found)
    if equality.equal and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equality.rule == "number.rounding" and question.exact:
        return Equality(False, "number.differs")
    if equality.equal:
        return _same_thing(one, other, first, second, equality, with_)
    return equality


def _same_thing(
    one: Part[Any], other: Part[Any], first: Quantity, second: Quantity, equality: Equality, with_: Comparison
) -> Equality:
    """Two equal amounts, unless they are of other things: cents for dollars, girls for boys, minutes for metres."""
    question = with_.question
    if equality.rule == "quantity.unit_dropped":
        only = first if second.is_number else second
        if only.unit is not None and not question.may_be_in(only.unit):
            return Equality(False, "quantity.differs")
        if only.name.startswith("per ") and "per" not in words(question.text):
            raise Doubt("alike")
        if only.unit is None and question.type in (None, "A") and question.counts_other(only.word):
            raise Doubt("alike")
    about = {first.name: second.name, second.name: first.name}
    either = first.unit and second.unit and first.unit != second.unit and "m" in about
    if either and about["m"][:3] == "min" and not question.of_time:
        raise Doubt("alike")
    return equality


def _based_numbers(one: Part[Based], other: Part[Based], with_: Comparison) -> Equality | None:
    return Equality(one.value.value == other.value.value, "base")


def _based_and_bare(one: Part[Based], other: Part[Any], with_: Comparison) -> Equality | None:
    same = same_based(one.value, other.text, with_.question.asked.base)
    return None if same is None else Equality(same, "base")


def _ratios(one: Part[Ratio], other: Part[Any], with_: Comparison) -> Equality | None:
    second = other.value if isinstance(other.value, Ratio) else ratio(other.text, in_words=True)
    if second is None:
        return DIFFERENT
    same = same_ratio(one.value, second)
    if same and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    return Equality(same, "number.ratio")


def _moments(one: Part[Moment], other: Part[Moment], with_: Comparison) -> Equality | None:
    found = same_moment(one.value, other.value)
    return None if found is None else Equality(*found)


def _not_a_moment(one: Part[Moment], other: Part[Any], with_: Comparison) -> Equality | None:
    return Equality(False, "date.other")


def _codes(one: Part[Code], other: Part[Any], with_: Comparison) -> Equality | None:
    return Equality(False, "number.code") if other.text.isdigit() else DIFFERENT


# -- What is to be worked out.


def _expressions(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    """Numbers, expressions, equations and inequalities, by their values."""
    scale = _scale_between(_unit_of(one), _unit_of(other), with_)
    if scale is None:
        return Equality(False, "quantity.differs")
    ours, theirs = _statements(one, Number(1)), _statements(other, scale)
    if ours is None or theirs is None:
        return _by_algebra(one, other, with_)
    equal = same_statements(ours, theirs)
    if equal is False and (_is_printed(one, theirs) or _is_printed(other, ours)):
        exact = with_.question.exact
        return Equality(not exact, "number.differs" if exact else "number.rounding")
    if equal and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equal is None:
        return _by_algebra(one, other, with_)
    if equal is not None and (measured := [unit for unit in (_unit_of(one), _unit_of(other)) if unit is not None]):
        return Equality(equal, "quantity.unit_dropped" if len(measured) == 1 else "quantity.convert")
    related = bool(ours[0].signs) and bool(theirs[0].signs)
    return Equality(equal, "equation" if related else "expression")


def _unit_of(part: Part[Any]) -> Unit | None:
    value = part.value
    if isinstance(value, Quantity):
        return value.unit if value.unit and value.unit.dropped else None
    return value.unit if isinstance(value, Expression) else None


def _scale_between(one: Unit | None, other: Unit | None, with_: Comparison) -> Node | None:
    """What the second value is multiplied by to be in the first one's unit; None where the units don't go together."""
    if one is None or other is None:
        only = one or other
        return None if only is not None and not with_.question.may_be_in(only) else Number(1)
    if one.dimensions != other.dimensions or ((one.offset or other.offset) and one != other):
        return None
    factor = other.factor / one.factor
    pi = [Name("π")] * (other.pi - one.pi) if other.pi > one.pi else []
    return product([Number(int(factor) if factor.denominator == 1 else factor), *pi])


def _statements(part: Part[Any], scale: Node) -> tuple[Statement, ...] | None:
    """What a part says, times a factor; None where it is not understood."""
    value = part.value
    if isinstance(value, Quantity) and not part.name and (value.is_number or (value.unit and value.unit.dropped)):
        number = value.number.value
        tree = product([Number(int(number) if number.denominator == 1 else number), *[Name("π")] * value.pi])
        return (Statement(((product([scale, tree]),),), (), False),)
    if isinstance(value, Expression):
        said = value.said
    else:
        try:
            said = statements(part.text)
        except NotUnderstood:
            return None
    if said is None or scale == Number(1):
        return said
    if any(statement.signs for statement in said):
        return None
    return tuple(
        statement._replace(parts=(tuple(product([scale, tree]) for tree in statement.parts[0]),)) for statement in said
    )


def _is_printed(part: Part[Any], theirs: tuple[Statement, ...]) -> bool:
    """Whether a part is the decimal that a program prints of the other's value."""
    if not isinstance(part.value, Quantity) or not part.value.number.step or len(part.text) <= 14:
        return False
    value = constant_of(theirs)
    return value is not None and is_printed(part.value.number, value)


def _in_form(ours: str, theirs: str, with_: Comparison) -> bool:
    """Whether two equal expressions both have, or both lack, the form the question asks for.

    A question to simplify is not answered by what is much longer, one to factor not by a sum.
    """
    form, asked = with_.question.form, with_.question.text
    if "scientific notation" in asked and _MANTISSA.search(ours) and not _MANTISSA.search(theirs):
        return False
    if "as a fraction" in asked and _IS_FRACTION.search(ours) and not _IS_FRACTION.search(theirs):
        return False
    if with_.question.reduced and _is_reduced(ours) != _is_reduced(theirs):
        return False
    if "denominator" in with_.question.text and _ROOT_BELOW.search(ours) is None and _ROOT_BELOW.search(theirs):
        return False
    if form == "simplif":
        shorter, longer = sorted(len(_TOKEN.findall(text)) for text in (ours, theirs))
        return longer <= _MUCH_LONGER * shorter + _MARGIN
    return form != "factor" or (
        _is_sum(ours) == _is_sum(theirs)
        and (theirs.count("(") >= ours.count("(") or "completely" not in with_.question.text)
    )


def _is_reduced(text: str) -> bool:
    """Whether no fraction, ratio or root of whole numbers in a text can be made simpler."""
    pairs = [(int(found[1] or found[3]), int(found[2] or found[4])) for found in _FRACTION.finditer(text)]
    roots = [int(found[1] or found[2]) for found in _ROOT.finditer(text)]
    return all(gcd(*pair) == 1 for pair in pairs) and not any(
        root % (factor * factor) == 0 for root in roots for factor in range(2, min(isqrt(root), _LARGEST_FACTOR) + 1)
    )


def _is_sum(text: str) -> bool:
    """Whether a plus or minus stands between terms outside all brackets."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and at and sign in "+-":
            return True
    return False


def _by_algebra(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    """What the rules' own parser can't read or decide."""
    if (_UNEVALUATED.search(one.text) is None) != (_UNEVALUATED.search(other.text) is None):
        return Equality(False, "expression.unevaluated")
    equal = with_.symbolic(one.text, other.text)
    return None if equal is None else Equality(equal, "symbolic")


def _residues(one: Part[Residue], other: Part[Residue], with_: Comparison) -> Equality | None:
    return Equality(one.value == other.value, "equation")


def _residue_and_number(one: Part[Residue], other: Part[Quantity], with_: Comparison) -> Equality | None:
    """A remainder is the number that what it is congruent to has; where all solutions are asked for, it is only one."""
    equal = other.value.is_number and other.value.number.value == one.value.remainder
    if equal and not with_.question.remainder:
        raise Doubt("semantic")
    return Equality(equal, "number.exact" if equal else "number.differs")


def _reactions(one: Part[Reaction], other: Part[Reaction], with_: Comparison) -> Equality | None:
    verdicts = [with_.same(a, b) for a, b in zip(one.value.sides, other.value.sides, strict=True)]
    return None if None in verdicts else Equality(all(verdicts), "equation.arrow")


def _chains(one: Part[Chain], other: Part[Any], with_: Comparison) -> Equality | None:
    """One of an exact and a rounded value that fits is enough."""
    ours = one.value.parts
    theirs = other.value.parts if isinstance(other.value, Chain) else (other,)
    if with_.turned and with_.question.asks_roughly and isinstance(other.value, Quantity) and other.value.number.step:
        # Where a rounding is asked for, the rounded value is the answer.
        ours = ours[-1:]
    verdicts = [with_.compare(mine, yours) for mine in ours for yours in theirs]
    return next((verdict for verdict in verdicts if verdict and verdict.equal), verdicts[0] if verdicts else None)


# -- Answers with members.


def _collections(one: Part[Collection], other: Part[Collection], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    kinds = {ours.kind, theirs.kind}
    question = with_.question
    if kinds == {"tuple"}:
        if ours.closed != theirs.closed and len(ours.parts) == 2:
            if not question.vectors:
                return Equality(False, "interval")
            if question.points and not question.of_vectors:
                raise Doubt("alike")
        return _members(ours.parts, theirs.parts, "tuple", with_, ordered=True)
    if kinds == {"set", "tuple"}:
        return Equality(False, "set")
    if "tuple" in kinds:
        if _gives_one(ours) or _gives_one(theirs) or (question.points and "and" in (ours.joined, theirs.joined)):
            # Two solutions are no pair.
            return None
        return _members(_by_name(ours.parts), _by_name(theirs.parts), "tuple", with_, ordered=True)
    rule = "set" if "set" in kinds else "list"
    alternative = rule == "list" and "or" in (ours.joined, theirs.joined) and ours.joined != theirs.joined
    texts = [part.text for part in (*ours.parts, *theirs.parts)]
    if alternative and (not any(map(_NUMERIC.search, texts)) or any(map(_UNEQUAL.search, texts))):
        # Of propositions, "and" and "or" are not the same.
        return None
    if question.roots and _of_several(ours) != _of_several(theirs):
        return None
    return _members(ours.parts, theirs.parts, rule, with_, ordered=rule == "list" and question.ordered)


def _gives_one(found: Collection) -> bool:
    """Whether a list gives several values of one thing: ``x = -2, x = 2``, "-2 or 2", ``\\pm 2``."""
    if found.kind != "list":
        return False
    names = [part.name for part in found.parts if part.name]
    return len(names) > len(set(names)) or (found.joined == "or" and not names)


def _of_several(found: Collection) -> bool:
    """Whether a list's members are values of different things: ``x = 1, y = 3``."""
    return len({name_without_index(part.name) for part in found.parts if part.name}) > 1


def _members(
    ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], rule: str, with_: Comparison, *, ordered: bool
) -> Equality | None:
    """Members one by one, by name where both name them, in order where order matters, else in any order."""
    if len(ours) != len(theirs):
        return Equality(False, rule)
    with_ = with_.within
    named = [bool(part.name) for part in ours], [bool(part.name) for part in theirs]
    if all(named[0]) and all(named[1]):
        equal = _by_names(ours, theirs, with_)
        return None if equal is None else Equality(equal, rule)
    if all(named[0]) or all(named[1]):
        whole = ours if all(named[0]) else theirs
        ordered = ordered or len({name_without_index(part.name) for part in whole}) > 1
    if ordered:
        equal = _all([with_.same(a, b) for a, b in zip(ours, theirs, strict=True)])
    else:
        equal = _matched(ours, theirs, with_.same)
    return None if equal is None else Equality(equal, rule)


def _by_names(ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], with_: Comparison) -> bool | None:
    """Values by name; where the names differ only by index (x_1, x_2 and x) the values in any order."""

    def bare(name: str) -> str:
        return name.replace("{", "").replace("}", "")

    if sorted(bare(part.name) for part in ours) == sorted(bare(part.name) for part in theirs):
        return _matched(ours, theirs, lambda a, b: bare(a.name) == bare(b.name) and with_.same(a, b))
    if len({name_without_index(part.name) for part in (*ours, *theirs)}) == 1:
        unnamed = [part._replace(name="") for part in theirs]
        return _matched([part._replace(name="") for part in ours], unnamed, with_.same)
    return False


def _by_name(parts: Sequence[Part[Any]]) -> Sequence[Part[Any]]:
    """The values in the order of their names, as in ``(x, y)``, where every member has a name of its own."""
    if not all(part.name for part in parts) or len({part.name for part in parts}) != len(parts):
        return parts
    return sorted(parts, key=lambda part: part.name)


def _matched(
    ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], same: Callable[[Part[Any], Part[Any]], bool | None]
) -> bool | None:
    """Whether members can be paired off, each with an equal one; None when an undecided pair stands in the way."""
    left = list(range(len(theirs)))
    unsure = False
    for at, mine in enumerate(ours):
        maybe = False
        for place in sorted(left, key=lambda place: place != at):
            equal = same(mine, theirs[place])
            if equal:
                left.remove(place)
                break
            maybe = maybe or equal is None
        else:
            if not maybe:
                return False
            unsure = True
    return None if unsure else True


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """True when all are, False when one is False, else None."""
    return False if False in verdicts else None if None in verdicts else True


def _matrices(one: Part[Matrix], other: Part[Matrix], with_: Comparison) -> Equality | None:
    if one.value.width != other.value.width:
        return Equality(False, "matrix")
    return _members(one.value.parts, other.value.parts, "matrix", with_, ordered=True)


def _matrix_and_tuple(one: Part[Matrix], other: Part[Collection], with_: Comparison) -> Equality | None:
    """One row or column equals the tuple of its cells."""
    matrix, members = one.value, other.value
    if members.kind != "tuple" or matrix.width not in (1, len(matrix.parts)):
        return Equality(False, "matrix")
    return _members(matrix.parts, members.parts, "matrix", with_, ordered=True)


def _builders(one: Part[Builder], other: Part[Builder], with_: Comparison) -> Equality | None:
    """Set-builders with the same condition on equal members; else only their meaning could tell."""
    ours, theirs = one.value, other.value
    if ours.condition != theirs.condition and not (ours.domain and theirs.domain):
        return None
    if ours.domain != theirs.domain:
        return Equality(False, "builder")
    same = with_.same(ours.member, theirs.member)
    return None if same is None else Equality(same, "builder")


def _builder_and_expression(one: Part[Builder], other: Part[Expression], with_: Comparison) -> Equality | None:
    """``{kπ | k ∈ ℤ}`` is what ``x = kπ, k ∈ ℤ`` says."""
    if not one.value.domain or one.value.domain != other.given:
        return Equality(False, "builder")
    same = with_.same(one.value.member, other)
    return None if same is None else Equality(same, "builder")


def _member_alone(one: Part[Collection], other: Part[Any], with_: Comparison) -> Equality | None:
    """A set of one is its member; a number such as 1,234 may have been meant as a list."""
    parts = one.value.parts
    if (
        with_.outermost
        and one.value.kind == "set"
        and len(parts) == 1
        and not isinstance(parts[0].value, (Collection, Term))
    ):
        same = with_.same(parts[0], other)
        return None if same is None else Equality(same, "set")
    if one.value.kind == "list" and _THOUSANDS.fullmatch(other.text):
        digits = [with_.reader.part(piece, 1) for piece in other.text.split(",")]
        return _members(parts, digits, "list", with_, ordered=False)
    return Equality(False, one.value.kind)


def _regions(one: Part[Region], other: Part[Region], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    if ours.name and theirs.name and ours.name != theirs.name:
        return Equality(False, "interval")
    if len(ours.pieces) != len(theirs.pieces):
        return Equality(False, "interval")
    left = list(theirs.pieces)
    verdicts: list[bool | None] = []
    for piece in ours.pieces:
        found = [(_same_piece(piece, their, with_), at) for at, their in enumerate(left)]
        fits = next((at for same, at in found if same), None)
        if fits is None:
            verdicts.append(None if any(same is None for same, _ in found) else False)
        else:
            left.pop(fits)
    equal = _all(verdicts)
    return None if equal is None else Equality(equal, "interval")


def _same_piece(one: Piece, other: Piece, with_: Comparison) -> bool | None:
    if (one.has_low, one.has_high) != (other.has_low, other.has_high):
        return False
    return _all([_same_end(one.low, other.low, with_), _same_end(one.high, other.high, with_)])


def _same_end(one: Part[Any] | None, other: Part[Any] | None, with_: Comparison) -> bool | None:
    return one is other if one is None or other is None else with_.same(one, other)


def _region_and_pair(one: Part[Region], other: Part[Collection], with_: Comparison) -> Equality | None:
    """A pair in brackets is the interval between its members, where the question asks for no points."""
    if with_.question.points and other.value.kind == "tuple":
        raise Doubt("alike")
    found = region(other.text, with_.reader) if len(other.value.parts) == 2 else None
    return Equality(False, "interval") if found is None else _regions(one, Part(other.text, found), with_)


def _region_and_term(one: Part[Region], other: Part[Term], with_: Comparison) -> Equality | None:
    found = region(other.text, with_.reader)
    return Equality(False, "interval") if found is None else _regions(one, Part(other.text, found), with_)


def _region_alone(one: Part[Region], other: Part[Any], with_: Comparison) -> Equality | None:
    return Equality(False, "interval")


# -- Answers that are words or signs.


def _terms(one: Part[Term], other: Part[Term], with_: Comparison) -> Equality | None:
    return Equality(one.value.term == other.value.term, "state.term")


def _formulas(one: Part[Formula], other: Part[Formula], with_: Comparison) -> Equality | None:
    same = same_formula(one.value, other.value, with_.question.by_form)
    if same is None:
        raise Doubt("semantic")
    return Equality(same, "expression.logic")


def _chemicals(one: Part[Chemical], other: Part[Chemical], with_: Comparison) -> Equality | None:
    return Equality(one.value == other.value, "chemical")


def _choices(one: Part[Choice], other: Part[Choice], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    if ours.by_letter and theirs.by_letter:
        return Equality(ours.labels == theirs.labels, "choice.letter")
    if not ours.labels or not theirs.labels:
        labels = ours.labels | theirs.labels
        if with_.question.options and contrasts(other.text) and holds_label(other.text, labels):
            raise Doubt("semantic")
        return Equality(False, "choice.none")
    if not theirs.by_letter:
        left_open = ours.labels < theirs.labels and contrasts(other.text)
        if left_open or (
            ours.labels == theirs.labels and names_another(other.text, ours.labels, with_.question.options)
        ):
            # Which of the letters that a sentence names it chooses, only its meaning tells.
            raise Doubt("semantic")
    return Equality(ours.labels == theirs.labels, "choice.text")


def _not_a_choice(one: Part[Choice], other: Part[Any], with_: Comparison) -> Equality | None:
    """A letter for an option that the other gives by its text."""
    if (chosen := with_.reader.chosen(other.text)) is not None:
        return _choices(one, Part(other.text, chosen), with_)
    return Equality(False, "choice.none") if with_.question.options else DIFFERENT


def _states(one: Part[State], other: Part[State], with_: Comparison) -> Equality | None:
    rule = "state." + "-".join(one.value.states).replace(" ", "_")
    return Equality(one.value.state == other.value.state, rule)


def _not_a_state(one: Part[State], other: Part[Any], with_: Comparison) -> Equality | None:
    raise Doubt("witness_in_box" if with_.boxed else "semantic")


def _brackets(one: Part[Brackets], other: Part[Brackets], with_: Comparison) -> Equality | None:
    return Equality(one.value == other.value, "brackets.closing")


def _texts(one: Part[Text], other: Part[Any], with_: Comparison) -> Equality | None:
    """A text and anything else: only its meaning decides of a sentence."""
    question = with_.question
    if rule := same_words_of(one.text, other.text, question):
        if other_case(one.text, other.text, question):
            raise Doubt("alike")
        return Equality(True, rule)
    reference, candidate = (other, one) if with_.turned else (one, other)
    if not with_.boxed and _contained(reference.text, candidate.text, with_):
        if goes_on(reference.text, candidate.text, question) or other_case(reference.text, candidate.text, question):
            raise Doubt("alike")
        return Equality(True, "text.contained")
    short, phrase = sorted((one, other), key=lambda part: len(part.text))
    value = value_in(phrase.text) if with_.boxed and word_count(phrase.text) else None
    if value and value != phrase.text and same_wording(short.text, value):
        if with_.unexplained(sense_of_phrase(phrase.text, value), short):
            raise Doubt("qualified")
        return Equality(True, "text.contained")
    texts = [part.value for part in (one, other) if isinstance(part.value, Text)]
    if any(text.prose for text in texts) or (question.subtype == "D2" and len(texts) == 2):
        raise Doubt("semantic")
    return DIFFERENT


def _contained(reference: str, answer: str, with_: Comparison) -> bool:
    if word_count(reference) and leads(answer, reference):
        return True
    if with_.question.type not in (None, "D") or _VALUE.search(reference):
        return False
    return contains(answer, reference) or completes(with_.question.text, answer, reference)


def _huge(one: Part[Huge], other: Part[Any], with_: Comparison) -> Equality | None:
    raise TooComplex("an answer that takes too much work to read")


COMPARERS: dict[tuple[type, type], Comparer] = {
    (Quantity, Quantity): _quantities,
    (Quantity, Expression): _expressions,
    (Expression, Expression): _expressions,
    (Based, Based): _based_numbers,
    (Based, Quantity): _based_and_bare,
    (Based, Expression): _based_and_bare,
    (Based, Text): _based_and_bare,
    (Ratio, Ratio): _ratios,
    (Ratio, Quantity): _ratios,
    (Ratio, Text): _ratios,
    (Moment, Moment): _moments,
    (Residue, Residue): _residues,
    (Residue, Quantity): _residue_and_number,
    (Reaction, Reaction): _reactions,
    (Collection, Collection): _collections,
    (Matrix, Matrix): _matrices,
    (Matrix, Collection): _matrix_and_tuple,
    (Builder, Builder): _builders,
    (Builder, Expression): _builder_and_expression,
    (Region, Region): _regions,
    (Region, Collection): _region_and_pair,
    (Region, Term): _region_and_term,
    (Region, Expression): _expressions,
    (Term, Term): _terms,
    (Formula, Formula): _formulas,
    (Chemical, Chemical): _chemicals,
    (Choice, Choice): _choices,
    (State, State): _states,
    (Brackets, Brackets): _brackets,
    (Huge, object): _huge,
    (Chain, object): _chains,
    (State, object): _not_a_state,
    (Choice, object): _not_a_choice,
    (Text, object): _texts,
    (Moment, object): _not_a_moment,
    (Code, object): _codes,
    (Region, object): _region_alone,
    (Collection, object): _member_alone,
}
"""The comparer of two types, for either order; ``object`` stands for any other type, the first such row counts."""

_WITH_ANY = tuple(one for one, other in COMPARERS if other is object)
