"""Answers with members: lists, sets, tuples, matrices, intervals and their unions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.equations import compared_as_expressions
from workbench.verifiers.rules.parameters import letter_of
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import (
    AnswerText,
    Collection,
    Doubt,
    Equality,
    Expression,
    IntervalPiece,
    MatrixValue,
    Part,
    Region,
    SetBuilder,
    Term,
    Text,
    Value,
    ValueType,
    all_of,
    decided,
    rejection,
)
from workbench.verifiers.rules.regions import HIGHEST, LOWEST, IntervalForm, intervals
from workbench.verifiers.rules.structure import (
    Shape,
    name_without_index,
    names_and_value,
    shape,
    unit_vectors,
    with_plain_axes,
)
from workbench.verifiers.rules.units import unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_SHAPE_BEHIND = re.compile(r"[^=(\[{,]{1,40}=\s*((?:\\\{|[{(\[]|\\begin).*)", re.DOTALL)
_RELATION = re.compile(r"[<>≤≥≠∖]|\\[lg](?:e|eq|eqslant|t)(?![A-Za-z])|∈|ℝ|\\mathbb|∪|\\infty|∞|\ball\s+real")
_MEASURED = re.compile(
    r"(.*(?:[)\]⟩}]|(?<![A-Za-z])[ijk]))(?:\s|\\[,;: ]|~)*"
    r"(?:\\(?:text|mathrm)\s*\{\s*|\()?([A-Za-zµΩ°][A-Za-zµΩ°/·^0-9²³⁻ -]{0,20}?)[)}]?",
    re.DOTALL,
)
"""A vector and the unit behind it: ``(3, 4) N``, ``3i + 4j (newtons)``."""
_AXES = frozenset("xyz")
_PAIR = re.compile(r"\([^()<>]*,[^()<>]*\)")
_POINT = re.compile(r"\A(?:[A-Z]\s?)?\(([^()|,;]{1,40})[|,;]([^()|,;]{1,40})\)\Z")
"""A point in common notations: ``P(1, 2)``, ``(1|2)``."""
_OR = re.compile(r"\bor\b|\boder\b|\bou\b|或|\\l?or(?![A-Za-z])|\\vee(?![A-Za-z])|∨|\\pm|±", re.IGNORECASE)
_AND = re.compile(r"\band\b|\bund\b|\bet\b|和", re.IGNORECASE)
_CASES = re.compile(
    r"\\begin\{(?:cases|aligned|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{(?:cases|aligned|array)\}", re.DOTALL
)
_DOMAIN = re.compile(r"[A-Za-z](?:_\w)?\s*∈\s*(?:\\mathbb\s*\{?\s*)?([A-Zℝℤℕℚℂ])\s*\}?")
_MAX_DEPTH = 3
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_UNEQUAL = re.compile(r"[<>≠]|!=")
_NUMERIC = re.compile(r"[\d=<>≤≥]|\\[a-z]")


def _read_region(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if not _RELATION.search(text) or (reader.question.points and _PAIR.fullmatch(text)):
        return None
    return region(text, reader, source.depth)


def region(text: str, reader: AnswerReader, depth: int = 0) -> Region | None:
    """Parse the intervals that a text may describe, even if it can be read in another way."""
    found = intervals(text.replace(";", ","))
    if found is None or ("∪" in text and _OR.search(text)):
        # The text offers several unions and means one of them.
        return None
    pieces = [_make_piece(one, reader, depth) for one in found[1]]
    return Region(tuple(pieces), found[0] or "")


def _make_piece(form: IntervalForm, reader: AnswerReader, depth: int) -> IntervalPiece:
    low = None if form.low == LOWEST else reader.part(form.low, depth + 1)
    high = None if form.high == HIGHEST else reader.part(form.high, depth + 1)
    return IntervalPiece(low, high, form.has_low, form.has_high)


def _read_collection(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if source.depth >= _MAX_DEPTH:
        return None
    if (cases := _CASES.fullmatch(text)) is not None and "&" not in cases[1]:
        text = ", ".join(part.strip() for part in re.split(r"\\\\|\n", cases[1]) if part.strip())
    if not source.depth and _POINT.match(text) and reader.question.points:
        text = _POINT.sub(r"(\1,\2)", text)
    if (behind := _SHAPE_BEHIND.fullmatch(text)) is not None:
        text = behind[1].rstrip(" .")
    plain_axes = with_plain_axes(text)
    is_vector = with_plain_axes(source.raw) != source.raw or (
        "i" in text and ("j" in text or "k" in text) and reader.question.vectors
    )
    text = plain_axes.rpartition("=")[2].strip() if is_vector else plain_axes
    found = _shape_of(text, is_vector)
    if found is None and (measured := _MEASURED.fullmatch(text)) and unit(measured[2]) is not None:
        found = _shape_of(measured[1], is_vector)
        if found is not None and found.kind in ("tuple", "matrix"):
            parts = tuple(f"{part}\\text{{ {measured[2]}}}" for part in found.parts)
            return _value_of_shape(found._replace(parts=parts), text, reader, source.depth)
        found = None
    return None if found is None else _value_of_shape(found, text, reader, source.depth)


def _shape_of(text: str, is_vector: bool) -> Shape | None:
    found = shape(text)
    return unit_vectors(text) if found is None and is_vector else found


def _value_of_shape(found: Shape, text: str, reader: AnswerReader, depth: int) -> Value | None:
    if found.kind == "interval":
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


def _compare_collections(one: Part[Collection], other: Part[Collection], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    kinds = {ours.kind, theirs.kind}
    question = with_.question
    if kinds == {"tuple"}:
        if ours.closed != theirs.closed and len(ours.parts) == 2 and not question.monotone:
            if not question.vectors:
                return Equality(False, "interval")
            if question.points and not question.of_vectors:
                raise Doubt("alike")
        return _compare_members(ours.parts, theirs.parts, "tuple", with_, ordered=True)
    if kinds == {"set", "tuple"}:
        return Equality(False, "set")
    if "tuple" in kinds:
        names = {part.name for part in (*ours.parts, *theirs.parts)} - {""}
        if (
            _lists_values_of_one_thing(ours)
            or _lists_values_of_one_thing(theirs)
            or (question.points and "and" in (ours.joined, theirs.joined) and not 1 < len(names & _AXES) == len(names))
        ):
            # Two solutions are not a pair.
            return None
        return _compare_members(
            _sorted_by_name(ours.parts), _sorted_by_name(theirs.parts), "tuple", with_, ordered=True
        )
    if (bare := _without_names(ours, theirs, with_.reader)) is not None:
        ours, theirs = bare
    rule = "set" if "set" in kinds else "list"
    alternative = rule == "list" and "or" in (ours.joined, theirs.joined) and ours.joined != theirs.joined
    texts = [part.text for part in (*ours.parts, *theirs.parts)]
    conditions = "and" in (ours.joined, theirs.joined) and _lists_several_things(ours)
    if alternative and (conditions or not any(map(_NUMERIC.search, texts)) or any(map(_UNEQUAL.search, texts))):
        # Of propositions and of conditions on several unknowns, "and" and "or" are not the same.
        return None
    if question.roots and _lists_several_things(ours) != _lists_several_things(theirs):
        return None
    several = question.several and not (_has_described_members(ours) and _has_described_members(theirs))
    # A list that has a value twice is no set of solutions: its places mean something.
    repeats = len({part.text for part in ours.parts}) < len(ours.parts)
    ordered = rule == "list" and (question.ordered or several or repeats or "then" in (ours.joined, theirs.joined))
    found = _compare_members(ours.parts, theirs.parts, rule, with_, ordered=ordered)
    has_words = any(isinstance(part.value, Text) for part in ours.parts)
    if found is not None and found.equal and rule == "list" and not question.text.strip() and has_words:
        # Only a question tells whether an order is asked for.
        in_order = _compare_members(ours.parts, theirs.parts, rule, with_, ordered=True)
        if in_order is None or not in_order.equal:
            raise Doubt("alike")
    return found


def _without_names(ours: Collection, theirs: Collection, reader: AnswerReader) -> tuple[Collection, Collection] | None:
    """Return two lists of values of one thing without its name, if only one of them has indices: ``x_1 = 2, x_2 = 3``
    and ``x = 2, x = 3``.
    """
    named = [[names_and_value(part.text) for part in found.parts] for found in (ours, theirs)]
    names = [sorted(one[0].strip() for one in found if one is not None) for found in named]
    if names[0] == names[1] or len({name_without_index(name) for name in names[0] + names[1]}) != 1:
        return None
    if [len(found) for found in names] != [len(found.parts) for found in (ours, theirs)]:
        return None
    values = [tuple(reader.part(one[1], 1) for one in found if one is not None) for found in named]
    return ours._replace(parts=values[0]), theirs._replace(parts=values[1])


def _lists_values_of_one_thing(found: Collection) -> bool:
    r"""Return whether a list gives several values of one thing: ``x = -2, x = 2``, "-2 or 2", ``\pm 2``."""
    if found.kind != "list":
        return False
    names = [part.name for part in found.parts if part.name]
    return len(names) > len(set(names)) or (found.joined == "or" and not names)


def _has_described_members(found: Collection) -> bool:
    """Return whether each member has its own noun or unit: "12 boys and 18 girls"."""
    measured = [part.value for part in found.parts if isinstance(part.value, Quantity)]
    nouns = {value.word or value.unit for value in measured} - {"", None}
    return len(nouns) == len(found.parts)


def _lists_several_things(found: Collection) -> bool:
    """Return whether a list's members are values of different things: ``x = 1, y = 3``."""
    return len({name_without_index(part.name) for part in found.parts if part.name}) > 1


def _compare_members(
    ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], rule: str, with_: Comparison, *, ordered: bool
) -> Equality | None:
    if len(ours) != len(theirs):
        return Equality(False, rule)
    with_ = with_.within
    named = [bool(part.name) for part in ours], [bool(part.name) for part in theirs]
    if all(named[0]) and all(named[1]):
        return decided(_compare_by_names(ours, theirs, with_), rule)
    if all(named[0]) or all(named[1]):
        whole = ours if all(named[0]) else theirs
        ordered = ordered or len({name_without_index(part.name) for part in whole}) > 1
    if ordered:
        return decided(all_of([with_.same(a, b) for a, b in zip(ours, theirs, strict=True)]), rule)
    return decided(_can_pair_off(ours, theirs, with_.same), rule)


def _compare_by_names(ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], with_: Comparison) -> bool | None:
    """Compare values by name; if all names differ only in their index (x_1, x_2, x), compare them in any order."""

    def bare(name: str) -> str:
        return name.replace("{", "").replace("}", "")

    if sorted(bare(part.name) for part in ours) == sorted(bare(part.name) for part in theirs):
        return _can_pair_off(ours, theirs, lambda a, b: bare(a.name) == bare(b.name) and with_.same(a, b))
    if len({name_without_index(part.name) for part in (*ours, *theirs)}) == 1:
        unnamed = [part._replace(name="") for part in theirs]
        return _can_pair_off([part._replace(name="") for part in ours], unnamed, with_.same)
    return False


def _sorted_by_name(parts: Sequence[Part[Any]]) -> Sequence[Part[Any]]:
    if not all(part.name for part in parts) or len({part.name for part in parts}) != len(parts):
        return parts
    return sorted(parts, key=lambda part: part.name)


def _can_pair_off(
    ours: Sequence[Part[Any]], theirs: Sequence[Part[Any]], same: Callable[[Part[Any], Part[Any]], bool | None]
) -> bool | None:
    """Return whether each member can be paired with an equal one of the other list; None if an undecided pair prevents
    it.

    Raises:
        Doubt: Only a doubt prevents it.
    """
    left = list(range(len(theirs)))
    unsure = False
    doubted: Doubt | None = None
    for at, mine in enumerate(ours):
        maybe = False
        for place in sorted(left, key=lambda place: place != at):
            try:
                equal = same(mine, theirs[place])
            except Doubt as doubt:
                equal, doubted = None, doubt
            if equal:
                left.remove(place)
                break
            maybe = maybe or equal is None
        else:
            if not maybe:
                return False
            unsure = True
    if unsure and doubted is not None:
        raise doubted
    return None if unsure else True


def _compare_matrices(one: Part[MatrixValue], other: Part[MatrixValue], with_: Comparison) -> Equality | None:
    if one.value.width != other.value.width:
        return Equality(False, "matrix")
    return _compare_members(one.value.parts, other.value.parts, "matrix", with_, ordered=True)


def _compare_matrix_and_tuple(one: Part[MatrixValue], other: Part[Collection], with_: Comparison) -> Equality | None:
    matrix, members = one.value, other.value
    if members.kind != "tuple" or matrix.width not in (1, len(matrix.parts)):
        return Equality(False, "matrix")
    return _compare_members(matrix.parts, members.parts, "matrix", with_, ordered=True)


def _compare_set_and_member(one: Part[Collection], other: Part[Any], with_: Comparison) -> Equality | None:
    """Compare a set of one member with that member; a number such as 1,234 may have been meant as a list."""
    parts = one.value.parts
    if (
        with_.outermost
        and one.value.kind == "set"
        and len(parts) == 1
        and not isinstance(parts[0].value, (Collection, Term))
    ):
        return decided(with_.same(parts[0], other), "set")
    if one.value.kind == "list" and one.text == other.text.replace(".", ","):
        raise Doubt("alike")  # a decimal comma, or two numbers
    if one.value.kind == "list" and _THOUSANDS.fullmatch(other.text):
        digits = [with_.reader.part(piece, 1) for piece in other.text.split(",")]
        return _compare_members(parts, digits, "list", with_, ordered=False)
    return Equality(False, one.value.kind)


def _compare_regions(one: Part[Region], other: Part[Region], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    if not _same_variable(ours.name, theirs.name):
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
    return decided(all_of(verdicts), "interval")


def _same_variable(one: str, other: str) -> bool:
    # A capital letter is the name of the set.
    named = not (one and other) or one.isupper() or other.isupper()
    return one == other or named or ("y" in (one, other) and "(" in one + other)


def _same_piece(one: IntervalPiece, other: IntervalPiece, with_: Comparison) -> bool | None:
    ends = (one.has_low, one.has_high) == (other.has_low, other.has_high)
    if not ends and not with_.question.monotone:
        return False
    return all_of([_same_end(one.low, other.low, with_), _same_end(one.high, other.high, with_)])


def _same_end(one: Part[Any] | None, other: Part[Any] | None, with_: Comparison) -> bool | None:
    return one is other if one is None or other is None else with_.same(one, other)


def _compare_region_and_other(one: Part[Region], other: Part[Any], with_: Comparison) -> Equality | None:
    is_pair = isinstance(other.value, Collection)
    if is_pair and with_.question.points and other.value.kind == "tuple":
        raise Doubt("alike")
    found = None if is_pair and len(other.value.parts) != 2 else region(other.text, with_.reader)
    return Equality(False, "interval") if found is None else _compare_regions(one, Part(other.text, found), with_)


REGION = ValueType(
    _read_region,
    {
        (Region, Region): _compare_regions,
        (Region, Collection): _compare_region_and_other,
        (Region, Term): _compare_region_and_other,
        (Region, Expression): compared_as_expressions,
        (Region, object): rejection("interval"),
    },
    of_a_word=False,
)
COLLECTION = ValueType(
    _read_collection,
    {
        (Collection, Collection): _compare_collections,
        (MatrixValue, MatrixValue): _compare_matrices,
        (MatrixValue, Collection): _compare_matrix_and_tuple,
        (Collection, object): _compare_set_and_member,
    },
    of_a_word=False,
)
"""Lists, sets and tuples; the reader of this type also returns matrices and set-builders."""
