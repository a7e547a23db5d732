"""The shape of an answer: lists, sets, tuples, intervals, matrices, split at their outermost level.

Values are not compared here; `members` does that, part by part.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Literal, NamedTuple

from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import has_change_word
from workbench.verifiers.rules.spelling import FUNCTIONS, is_balanced

Kind = Literal["list", "set", "tuple", "interval", "matrix", "builder"]

MAX_PARTS = 60
"""Maximum parts of an answer; a longer one is compared as text only."""

_OPEN, _CLOSE = "([{⟨", ")]}⟩"
_MATRIX = re.compile(
    r"\s*[\[(]?\s*\\begin\{(?:[pbB]?matrix|[pb]?smallmatrix|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{[^{}]*\}"
    r"\s*[\])]?\s*(\^\s*\{?\s*(?:T|\\top|t)\s*\}?)?\s*",
    re.DOTALL,
)
_WORD_SEPARATOR = re.compile(
    r",?\s+(?:and|or|und|et|ou|oder)\s+|\s*(?:以及|或者|和|或|与)\s*|\\(?:lor|vee|land|wedge)(?![A-Za-z])",
    re.IGNORECASE,
)
_COMMA = re.compile("[,;、]")
_SEPARATOR = re.compile(rf"{_WORD_SEPARATOR.pattern}|[,;、\n]", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:(?:,|\{,\})\d{3})+(?![\d,])")
_SCALED = re.compile(r"([^=]{1,60}?)\s*(?:\\cdot\s*)?([\[(]?\s*\\begin\{.*)", re.DOTALL)
_MULTIPLE = re.compile(
    r"([-+]?\s?(?:(?:\\[dt]?frac|\\sqrt|√|[\d{}/.]){0,20}))\s?(?:\\cdot|·|\*)?\s?((?:\(|⟨)[^()⟨⟩]*,[^()⟨⟩]*(?:\)|⟩))"
)
_TRANSPOSED = re.compile(r"(\(.*\)|\[.*\]|⟨.*⟩)\s*\^\s*\{?\s*(?:T|\\top|\\intercal|t)\s*\}?", re.DOTALL)
_OUTWARD = re.compile(r"([\[\](])([^\[\]()]*,[^\[\]()]*)([\[\])])")
_PLUS_MINUS = re.compile(r"\\pm(?![A-Za-z])\s?|±")
_THEN = re.compile(r"\s*(?:→|->|\\(?:to|rightarrow)(?![A-Za-z])|<|>)\s*")
_AND_THEN = re.compile(r",?\s+(?:and\s+)?(?:then|next|finally|lastly|followed\s+by)\s+", re.IGNORECASE)
_HYPHEN = re.compile(r"\s?[-–‐‑]\s?")
_HYPHENED = re.compile(r"\d{1,13}(?:[-–‐‑]\d{1,13})+")
_CONDITION = re.compile(r"[<>≤≥∈≠=]|\\[lg](?:e|t)q?(?![A-Za-z])|\\[lg]eqslant|\\equiv|\\text|[a-z]{3}")
_BEGINS_A_SHAPE = re.compile(r"\\begin|[(\[⟨{]|\\\{|[^=,]{1,40}\\begin")
_EXTREMES = ("minimum", "maximum")
_SAID = re.compile(r"([A-Za-z]{3,15})\s*(?::\s*|\s)(-?[\d\\].{0,60})")
_NAME = re.compile(
    r"(?:\\?(?:angle|triangle|overline|vec|hat|bar|Delta|mathbf|widehat)\s*\{?\s*)?\\?[A-Za-z][A-Za-z]{0,11}'{0,2}\}?"
    r"(?:_\{?[\w\\ ]{1,12}\}?|_\{?(?:1/2|\\frac\{?1\}?\{?2\}?)\}?)?"
    r"(?:\^\{?-1\}?)?(?:\([\w\\, +\-]{1,12}\))?|∠\s*[A-Z]{1,3}|\|?[A-Z]{2}\|?"
    r"|\(\s*[A-Za-z](?:_\w)?(?:\s*,\s*[A-Za-z](?:_\w)?){1,4}\s*\)"
)
"""A name before an equals sign: ``x``, ``x_1``, ``f(x)``, ``f^{-1}``, ``\\angle A``, ``(x, y)``."""
_REMAINDER = re.compile(r"(-?\d{1,40})\s*(?:[Rr]|[Rr]em\.?|remainder|Rest|reste|resto|остаток|余)\s*(\d{1,40})")
_OF_A_SET = re.compile(r"[A-Za-z]\s*∈\s*(\\?\{[^|:]*\})")
_INDEX = re.compile(r"[_\d{}']")
ROW_END = re.compile(r"\s*\\\\(?:\[[\w. ]{1,8}\])?\s*")


class Shape(NamedTuple):
    """A split answer.

    Attributes:
        kind: The kind of the shape.
        parts: The members as written; for a matrix, its cells row by row.
        width: Number of columns of a matrix; 0 for other kinds.
        closed: For an interval, whether its lower and upper ends belong to it.
    """

    kind: Kind
    parts: tuple[str, ...]
    width: int = 0
    closed: tuple[bool, bool] = (False, False)


def shape(text: str) -> Shape | None:
    """Split a tidy answer; None if it is one value.

    A name before an equals sign (``A = ...``, ``(x, y) = ...``) and "∈" before a finite set are omitted.
    """
    if (named := names_and_value(text)) and _BEGINS_A_SHAPE.match(named[1]):
        text = named[1]
    if (member := _OF_A_SET.fullmatch(text)) is not None:
        text = member[1]
    if (matrix := _parse_matrix(text)) is not None:
        return matrix
    if remainder := _REMAINDER.fullmatch(text):
        return Shape("tuple", (remainder[1], remainder[2]))
    if transposed := _TRANSPOSED.fullmatch(text):
        text = transposed[1]
    if (outward := _OUTWARD.fullmatch(text)) and (outward[1] == "]" or outward[3] == "["):
        return _parse_outward_interval(outward)
    inner = _inside_brackets(text)
    if inner is not None:
        return _shape_of_brackets(text, inner)
    if (multiple := _MULTIPLE.fullmatch(text)) is not None and (
        found := _shape_of_brackets(multiple[2], multiple[2][1:-1])
    ):
        return _multiply_parts(multiple[1], found)
    parts = split_list(text)
    return Shape("list", tuple(parts)) if 1 < len(parts) <= MAX_PARTS else None


def split_list(text: str) -> list[str]:
    r"""Return the members of a list without brackets around it: ``1, 2 and 3``; a single member if it is not a list.

    A comma of thousands separates nothing, nor does anything within brackets; ``\pm`` makes two members.
    """
    if "," in text:
        text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    if not any(sign in text for sign in ",;、\n") and "\\\\" not in text and not _WORD_SEPARATOR.search(text):
        return _split_plus_minus(text)
    separated = split_at_top_level(text, _SEPARATOR)
    parts = [piece.strip() for part in separated for piece in _split_plus_minus(part) if piece.strip()]
    return parts if len(parts) <= MAX_PARTS else [text]


def count_hyphenated(text: str) -> int:
    """Count the whole numbers that hyphens join, as in an order, a score or a code: 4 in ``3-1-4-2``; 0 without
    hyphens."""
    return len(_HYPHEN.findall(text)) + 1 if text[:1].isdigit() and _HYPHENED.fullmatch(text) else 0


def split_steps(text: str) -> list[str]:
    """Split a sequence at arrows, signs of order, hyphens or words such as "then"; a text without them is one
    member."""
    if _AND_THEN.search(text):
        return split_list(_AND_THEN.sub(", ", text))
    return (_HYPHEN if _HYPHENED.fullmatch(text) else _THEN).split(text)


def names_and_value(text: str) -> tuple[str, str] | None:
    """Split ``x = 5`` and ``minimum: 5`` into name and value; None if there is no single name before a sign."""
    head, sign, tail = text.partition("=")
    if (
        not sign
        and (said := _SAID.fullmatch(text))
        and not (has_change_word(said[1], _EXTREMES) or said[1] in FUNCTIONS)
    ):
        return said[1].lower(), said[2]
    head = head.strip()
    if not sign or not tail.strip() or "=" in tail or tail[0] in "<>" or head[-1:] in "<>!:≠":
        return None
    return (head, tail.strip()) if _NAME.fullmatch(head) else None


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def _parse_outward_interval(found: re.Match[str]) -> Shape:
    """Parse an interval with open ends as brackets turned outward: ``]1, 2[``."""
    low, _, high = found[2].partition(",")
    return Shape("interval", (low.strip(), high.strip()), closed=(found[1] == "[", found[3] == "]"))


def _parse_matrix(text: str) -> Shape | None:
    if "\\begin" in text:
        found = _MATRIX.fullmatch(text)
        if found is None:
            return _parse_scaled_matrix(text)
        if "\\begin" in found[1]:
            return None
        rows = [row for row in ROW_END.split(found[1].strip()) if row.strip()]
        return _matrix_of_rows(
            [[cell.strip() for cell in row.split("&")] for row in rows], transposed=found[2] is not None
        )
    inner = _inside_brackets(text)
    if inner is None or text[0] not in "[(":
        return None
    rows = split_at_top_level(inner)
    inners = [_inside_brackets(row) for row in rows]
    if text[0] == "[" and rows and all(row[:1] == "[" for row in rows) and None not in inners:
        return _matrix_of_rows([split_at_top_level(row or "") for row in inners])
    return None


def _parse_scaled_matrix(text: str) -> Shape | None:
    found = _SCALED.fullmatch(text)
    matrix = _parse_matrix(found[2]) if found and _MATRIX.fullmatch(found[2]) else None
    if found is None or matrix is None:
        return None
    return _multiply_parts(found[1], matrix)


def _multiply_parts(factor: str, found: Shape) -> Shape:
    factor = factor.strip() if factor.strip(" +-") else f"{factor.strip()}1"
    return found._replace(parts=tuple(f"({factor})({part})" for part in found.parts))


def _matrix_of_rows(rows: list[list[str]], transposed: bool = False) -> Shape | None:
    if not rows or len({len(row) for row in rows}) != 1 or len(rows) * len(rows[0]) > MAX_PARTS:
        return None
    if transposed:
        rows = [list(column) for column in zip(*rows, strict=True)]
    cells = tuple(cell for row in rows for cell in row)
    return Shape("matrix", cells, width=len(rows[0]))


def _inside_brackets(text: str) -> str | None:
    if text.startswith("\\{") and text.endswith("\\}"):
        inner = text[2:-2]
    elif text[:1] in _OPEN and text[-1:] in _CLOSE and len(text) > 1 and not text.endswith("\\}"):
        inner = text[1:-1]
    else:
        return None
    return inner if is_balanced(inner, _OPEN, _CLOSE) else None


def _shape_of_brackets(text: str, inner: str) -> Shape | None:
    opening, closing = text[0], text[-1]
    curly = opening in "\\{"
    if curly and closing == "}":
        for bar in ("|", ":"):
            head, found, condition = inner.partition(bar)
            if found and head.strip() and _CONDITION.search(condition):
                return Shape("builder", (head.strip(), condition.strip()))
        parts = [part.strip() for part in split_list(inner)] if inner.strip() else []
        return Shape("set", tuple(parts)) if len(parts) <= MAX_PARTS else None
    parts = split_at_top_level(inner)
    if len(parts) < 2 or len(parts) > MAX_PARTS:
        return None
    if (opening, closing) in (("(", "]"), ("[", ")")) and len(parts) == 2:
        return Shape("interval", tuple(parts), closed=(opening == "[", closing == "]"))
    if (opening, closing) == ("[", "]") and all(part[0] == part[-1] and part[0] in "\"'" for part in parts):
        return Shape("list", tuple(part[1:-1] for part in parts))
    if (opening, closing) == ("[", "]"):
        return Shape("tuple", tuple(parts), closed=(True, True))
    return Shape("tuple", tuple(parts)) if (opening, closing) in (("(", ")"), ("⟨", "⟩")) else None


def split_at_top_level(text: str, separator: re.Pattern[str] = _COMMA) -> list[str]:
    """Return the parts of a text between separators that are within no brackets; blank parts are left out."""
    level = [0]
    for sign in text:
        level.append(level[-1] + (sign in _OPEN) - (sign in _CLOSE))
    parts, start = [], 0
    for found in separator.finditer(text):
        if level[found.start()] == 0 and found.end() > found.start():
            parts.append(text[start : found.start()].strip())
            start = found.end()
    return [part for part in (*parts, text[start:].strip()) if part]


def _split_plus_minus(text: str) -> list[str]:
    if ("\\pm" in text or "±" in text) and len(_PLUS_MINUS.findall(text)) == 1:
        return [_PLUS_MINUS.sub("+", text).lstrip("+").strip(), _PLUS_MINUS.sub("-", text)]
    return [text]


_MAX_VECTOR_CHARACTERS = 200
"""Maximum characters of a vector: searching for unit vectors takes time quadratic in its length."""


_AXES_OR_DIGITS = re.compile(r"[\dijk=]")
_AXIS = re.compile(
    r"\\(?:math(?:bf|rm)|hat|widehat|vec|bm|boldsymbol)\s*\{?\s*(?:\\mathbf\s*\{?\s*)?\\?([ijk])(?:math)?\s*\}{0,2}"
    r"|([ijk])(?:\u0302|-hat|̂)|([îĵ])"
)


def with_plain_axes(text: str) -> str:
    r"""Return a text with unambiguous unit vectors, ``\mathbf{i}`` and ``ĵ``, as plain letters."""
    if len(_AXIS.findall(text)) < 2:
        return text
    return _AXIS.sub(lambda axis: axis[1] or axis[2] or {"î": "i"}.get(axis[3], "j"), text)


def unit_vectors(text: str) -> Shape | None:
    """Parse ``3i - 2j + k`` as the tuple of its components."""
    if len(text) > _MAX_VECTOR_CHARACTERS:
        return None
    head, equals, told = text.replace("−", "-").rpartition("=")
    text = told if equals and not _AXES_OR_DIGITS.search(head) else text
    terms = re.findall(r"([+-]?)\s*([^+\-]*?)\s*([ijk])\s*(?=[+-]|$)", text)
    found = {axis: f"{sign}{factor or '1'}" for sign, factor, axis in terms}
    if (
        len(found) < 2
        or len(found) != len(terms)
        or not re.fullmatch(r"[^ijk]*(?:i[^ijk]*)?(?:j[^ijk]*)?(?:k[^ijk]*)?", text)
    ):
        return None
    axes = "ijk" if "k" in found else "ij"
    return Shape("tuple", tuple(found.get(axis, "0") for axis in axes))


def name_without_index(name: str) -> str:
    """Return a name without its index: ``x`` of ``x_1``."""
    return _INDEX.sub("", name)


# -- The right answers a reference lists: "any two of: a, b, c", "a or b (either is accepted)", "a (also b)".


_LISTED = Lexicon("alternatives")
_JSON = re.compile(r"\[(\s*\"[^\[\]]+\"\s*)\]", re.DOTALL)
_BETWEEN = re.compile(r"\s*;\s*|\"\s*,\s*\"")
_OR = re.compile(r",?\s+or\s+|\s*[,;/]\s*")
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}


def alternatives_of(text: str) -> list[str]:
    """Return the answers that a reference lists as right, each by itself; empty if it lists no alternatives."""
    if (json := _JSON.fullmatch(text)) is not None:
        return _BETWEEN.split(json[1])
    if (counted := _LISTED.any_of.fullmatch(text)) is not None:
        count = counted["count"] or ""
        if not count:
            return _BETWEEN.split(counted["members"])
        members = split_list(counted["members"].rstrip(" ."))
        return [", ".join(some) for some in combinations(members, _COUNTS[count.lower()])]
    if (accepted := _LISTED.accepted.fullmatch(text)) is not None:
        return _OR.split(accepted[1])
    return [also[1], also[2]] if (also := _LISTED.also.fullmatch(text)) is not None else []
