"""The readers of `reading`, one a type: each says what a text is, or None where it is none of its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from workbench.verifiers.rules.calendar import is_clock, moment
from workbench.verifiers.rules.chemistry import chemical, is_sure
from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.logic import formula
from workbench.verifiers.rules.piecewise import pieces
from workbench.verifiers.rules.quantities import Quantity, marked, quantity, ratio
from workbench.verifiers.rules.records import (
    Alternatives,
    Collection,
    DigitCode,
    Expression,
    IntervalPiece,
    MatrixValue,
    Piecewise,
    Reaction,
    Region,
    ResidueClass,
    SetBuilder,
    Term,
    Value,
)
from workbench.verifiers.rules.regions import HIGHEST, LOWEST, IntervalForm, intervals, merged
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.statements import Statement, statements
from workbench.verifiers.rules.states import term
from workbench.verifiers.rules.structure import Shape, shape, unit_vectors
from workbench.verifiers.rules.tokens import NotUnderstood
from workbench.verifiers.rules.units import split

if TYPE_CHECKING:
    from workbench.verifiers.rules.reading import AnswerReader

_APPROXIMATELY = re.compile(r"\s*(?:\\approx|≈|\\simeq|≃|\\doteq)\s*")
_LEADING_ZERO = re.compile(r"0\d+")
_UNEVALUATED = re.compile(r"\\(?:int|iint|iiint|oint|sum|prod|lim|limsup|liminf)(?![A-Za-z])|[∫∑∏]|\blim\b")
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}\s+[^\W\d_]{2}")
_A_WORD = re.compile(r"[A-Za-z][A-Za-z' -]*[A-Za-z]")
_LONG_WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:arc)?(?:sinh?|cosh?|tanh?|sqrt)(?![A-Za-z]))[A-Za-z]{4,}")
_OPERATOR = re.compile(r"[\\^_+*/=()!-]")
_SHAPE_BEHIND = re.compile(r"[^=(\[{,]{1,40}=\s*((?:\\\{|[{(\[]|\\begin).*)", re.DOTALL)
_ARROW = re.compile(r"\\(?:[lL]ong)?rightarrow(?![A-Za-z])|\\to(?![A-Za-z])|\\rightleftharpoons|→|⟶|⇌|->")
_ZERO_MEMBER = re.compile(r"-?\d{1,3},0\d?|-?0,0\d*(?:\s?[A-Za-z]{1,3})?|0\d+,\d+")
_RELATION = re.compile(r"[<>≤≥≠∖]|\\[lg](?:e|eq|eqslant|t)(?![A-Za-z])|∈|ℝ|\\mathbb|∪|\\infty|∞")
_PAIR = re.compile(r"\([^()<>]*,[^()<>]*\)")
_POINT = re.compile(r"\A(?:[A-Z]\s?)?\(([^()|,;]{1,40})[|,;]([^()|,;]{1,40})\)\Z")
"""A point as some write it: ``P(1, 2)``, ``(1|2)``."""
_OR = re.compile(r"\bor\b|\boder\b|\bou\b|或|\\l?or(?![A-Za-z])|\\vee(?![A-Za-z])|∨|\\pm|±", re.IGNORECASE)
_AND = re.compile(r"\band\b|\bund\b|\bet\b|和", re.IGNORECASE)
_RESIDUE = re.compile(
    r"(?:([A-Za-z]\w?|.{0,40}?)\s*(?:\\equiv|≡)\s*)?(-?\d{1,12})\s*[(,]?\s*(?:\\[pb]?mod|mod)\s*\{?\s*(\d{1,12})\s*\}?\s*\)?"
)
_CASES = re.compile(
    r"\\begin\{(?:cases|aligned|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{(?:cases|aligned|array)\}", re.DOTALL
)
_DOMAIN = re.compile(r"[A-Za-z](?:_\w)?\s*∈\s*(?:\\mathbb\s*\{?\s*)?([A-Zℝℤℕℚℂ])\s*\}?")
_DEEPEST, _MOST_CHAINED, _MOST_KEPT = 3, 4, 512


class AnswerText(NamedTuple):
    """A text to read.

    Attributes:
        raw: As written, without math delimiters.
        text: Tidy.
        depth: How many lists, sets and the like it stands in.
    """

    raw: str
    text: str
    depth: int


Reader = Callable[["AnswerText", "AnswerReader"], Value | None]


def _term(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = term(source.text)
    return None if found is None else Term(found)


def _chain(source: AnswerText, reader: AnswerReader) -> Value | None:
    """``a ≈ b`` gives an exact and a rounded value."""
    if not ("\\approx" in source.text or "≈" in source.text or "\\simeq" in source.text):
        return None
    pieces = [piece for piece in _APPROXIMATELY.split(source.text) if piece.strip()]
    if len(pieces) > _MOST_CHAINED:
        raise TooComplex("a long chain of roundings")
    parts = [reader.typed(piece, source.depth) for piece in pieces]
    known = tuple(part for part in parts if part is not None)
    return Alternatives(known) if len(known) == len(parts) else None


def _moment(source: AnswerText, reader: AnswerReader) -> Value | None:
    if ":" in source.text and (reader.question.asked.ratio or not (is_clock(source.text) or "-" in source.text)):
        return None
    return moment(source.text)


def _formula(source: AnswerText, reader: AnswerReader) -> Value | None:
    return formula(source.text, lambda: reader.question.logic)


def _residue(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = _RESIDUE.fullmatch(source.text) if "mod" in source.text else None
    if found is None or int(found[3]) == 0:
        return None
    return ResidueClass(int(found[2]) % int(found[3]), int(found[3]))


def _chemical(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = chemical(source.raw)
    return found if found is not None and (is_sure(found) or reader.question.chemistry) else None


def _code(source: AnswerText, reader: AnswerReader) -> Value | None:
    return DigitCode(source.text) if reader.question.codes and _LEADING_ZERO.fullmatch(source.text) else None


def _decimal_comma(source: AnswerText, reader: AnswerReader) -> Value | None:
    """``3,05`` as a decimal: no list has 05 in it."""
    text = source.text.replace("{,}", ",")
    if source.depth or "," not in text or not _ZERO_MEMBER.fullmatch(text):
        return None
    return quantity(text.replace(",", "."))


def _piecewise(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = pieces(source.text) if not source.depth and ("case" in source.text or " " in source.text) else None
    if found is None:
        return None
    parts = [(reader.part(value, 1), reader.part(place, 1) if place else None) for value, place in found]
    known = all(place is None or isinstance(place.value, (Region, Expression)) for _, place in parts)
    values = all(isinstance(value.value, (Quantity, Expression, Term)) for value, _ in parts)
    return Piecewise(tuple(parts)) if known and values else None


def _region(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if not _RELATION.search(text) or (reader.question.points and _PAIR.fullmatch(text)):
        return None
    return region(text, reader, source.depth)


def region(text: str, reader: AnswerReader, depth: int = 0) -> Region | None:
    """The intervals a text describes, whether or not it might be read otherwise."""
    found = intervals(text)
    if found is None:
        return None
    pieces = [_piece(one, reader, depth) for one in merged(found[1])]
    return Region(tuple(pieces), found[0] or "")


def _piece(form: IntervalForm, reader: AnswerReader, depth: int) -> IntervalPiece:
    low = None if form.low == LOWEST else reader.part(form.low, depth + 1)
    high = None if form.high == HIGHEST else reader.part(form.high, depth + 1)
    return IntervalPiece(low, high, form.has_low, form.has_high)


def _collection(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if source.depth >= _DEEPEST:
        return None
    if (cases := _CASES.fullmatch(text)) is not None and "&" not in cases[1]:
        text = ", ".join(part.strip() for part in re.split(r"\\\\|\n", cases[1]) if part.strip())
    if not source.depth and _POINT.match(text) and reader.question.points:
        text = _POINT.sub(r"(\1,\2)", text)
    if (behind := _SHAPE_BEHIND.fullmatch(text)) is not None:
        text = behind[1].rstrip(" .")
    found = shape(text)
    if found is None and (found := unit_vectors(text)) is not None and not reader.question.vectors:
        found = None
    return None if found is None else _of_shape(found, text, reader, source.depth)


def _of_shape(found: Shape, text: str, reader: AnswerReader, depth: int) -> Value | None:
    if found.kind in ("interval", "union"):
        return region(text, reader, depth)
    if found.kind == "builder":
        member, condition = found.parts
        domain = _DOMAIN.fullmatch(condition)
        return SetBuilder(
            reader.part(member, depth + 1), "".join(condition.split()), letter_of(domain[1]) if domain else ""
        )
    parts = tuple(reader.part(part, depth + 1) for part in found.parts)
    if found.kind == "matrix":
        return MatrixValue(parts, found.width)
    joined = "or" if _OR.search(text) else "and" if _AND.search(text) else ""
    kind = found.kind if found.kind in ("set", "tuple") else "list"
    return Collection(kind, parts, found.closed, joined)


def _ratio(source: AnswerText, reader: AnswerReader) -> Value | None:
    return ratio(source.raw)


def _based(source: AnswerText, reader: AnswerReader) -> Value | None:
    return marked(source.raw)


def _quantity(source: AnswerText, reader: AnswerReader) -> Value | None:
    return quantity(source.raw)


def _expression(source: AnswerText, reader: AnswerReader) -> Value | None:
    """Something to work out: not the letters of a word, nor the numbers of a string."""
    text, question = source.text, reader.question
    if question.type == "D" and "\\" not in text:
        return None
    if question.type not in ("A", "B") and (_A_WORD.fullmatch(text) or _LONG_WORD.search(text)):
        return None
    head, _, result = text.rpartition("=")
    if result.strip() and result.count("{") == result.count("}") and _UNEVALUATED.search(head):
        text = result.strip()
    if len(sides := _ARROW.split(text)) == 2 and all(side.strip() for side in sides):
        one, other = (reader.part(side.strip(), source.depth + 1) for side in sides)
        return Reaction((one, other))
    measured = split(source.raw)
    if measured is not None and measured[1].dropped:
        text = tidy(measured[0])
        return _said(text, measured[1])
    return _said(text)


def _said(text: str, its: object = None) -> Expression | None:
    said: tuple[Statement, ...] | None
    try:
        said = statements(text)
    except NotUnderstood:
        said = None
    if said is None and (_WORDS.search(text) or not _OPERATOR.search(text)):
        return None
    return Expression(said, its)  # type: ignore[arg-type]


READERS: tuple[Reader, ...] = (
    _term,
    _chain,
    _residue,
    _formula,
    _chemical,
    _code,
    _decimal_comma,
    _moment,
    _based,
    _quantity,
    _piecewise,
    _region,
    _collection,
    _ratio,
    _expression,
)
OF_A_NAME = frozenset({_term, _chain, _code, _decimal_comma, _moment, _ratio, _based, _quantity})
"""The readers asked once more of what stands behind a name and an equals sign."""


_LETTERS_OF_SETS = {"ℤ": "Z", "ℝ": "R", "ℕ": "N", "ℚ": "Q", "ℂ": "C"}


def letter_of(domain: str) -> str:
    """The letter of a set of numbers: Z for ℤ."""
    return _LETTERS_OF_SETS.get(domain, domain)
