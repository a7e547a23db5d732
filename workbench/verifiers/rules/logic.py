"""Formulas of logic: connectives and quantifiers as signs or words, compared up to equivalences of notation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.records import AnswerText, Doubt, Equality, Part, Value, ValueType
from workbench.verifiers.rules.sense import has_denial
from workbench.verifiers.rules.spelling import tidy

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_DATA = Lexicon("logic")
_WRITTEN = tuple((re.compile(pattern, re.VERBOSE), sign) for pattern, sign in reversed(_DATA.table("connectives")))
_MARK = re.compile(
    r"\\(?:lnot|neg|land|wedge|lor|vee|oplus|veebar|forall|exists|nexists)(?![A-Za-z])|[∧∨¬⊕⊻∀∃∄]|\|\||&&"
)
_IMPLIES = re.compile(r"\s*[¬~]?\s*[p-s]\s*(?:→|⇒|->|=>|\\(?:to|rightarrow|Rightarrow|implies))\s*[¬~]?\s*[p-s]\s*")
_TILDE = re.compile(r"(?<![A-Za-z)}\]])~(?=\s*[A-Za-z(\[\\∀∃])")
"""A negation; elsewhere ``~`` is a blank of TeX."""
_GOES_ON = re.compile(
    r"[\s,]+(?!(?:not|and|or|implies|xor|if|iff|for|all|every|there|exists)\b)[A-Za-z]{2,}.*", re.DOTALL
)
_OVERLINE = re.compile(r"\\(?:overline|bar)\s*(?:\{([^{}]*)\}|([A-Za-z]))")
_PRIME = re.compile(r"([A-Za-z](?:_?\d)?|\([^()]*\))(?:['’]|\^\{?\\prime\}?)")
_BOOLEAN = re.compile(r"[A-Za-z01_(][A-Za-z01_()\s¬+*·∧∨⊕]*")
_SIGNS_OF_ALGEBRA = str.maketrans({"+": "∨", "*": "∧", "·": "∧"})
_ADJACENT = re.compile(r"(?<=[\w)])(?=[A-Za-z(¬])")
_RELATION = re.compile(r"\A(.+?)(?:>|(≥))(.+)\Z")
_IN_BRACKETS = re.compile(r"\((¬?[∀∃])([A-Za-z])\)")
_BLANK = re.compile(r"\s|\\[,;:! ]|[{}$]|\\(?:left|right)(?![A-Za-z])|\.\Z")
_TOKEN = re.compile(
    r"[∀∃][A-Za-z](?:_?[0-9])?|[¬∧∨⊕↔→()]|\[|\]|[,.:]"
    r"|\w+(?:[=<>≤≥≠∈∉]|\\(?:neq?|in|notin)(?![A-Za-z]))[^¬∧∨⊕↔→∀∃()\[\],.:]+"
    r"|[A-Za-z](?:_?[0-9])?'?(?:\((?:[^()]*)\))?"
)
_BINARY = (("↔",), ("→",), ("∨", "⊕"), ("∧",))
_LONGEST, _LONGEST_SENTENCE, _DEEPEST, _MOST_ATOMS = 200, 400, 24, 8


class Formula(NamedTuple):
    """A formula: its tree, and its text with the operands of "and" and "or" sorted."""

    tree: FormulaTree
    written: str


class FormulaTree(NamedTuple):
    """An atom (``sign`` is its text), or a connective or quantifier over other trees."""

    sign: str
    parts: tuple[FormulaTree, ...] = ()
    bound: str = ""


def formula(text: str, in_words: Callable[[], bool]) -> Formula | None:
    """Parse a tidy text as a formula of logic; None if it is not one.

    Args:
        text: An answer.
        in_words: Returns whether "p and q" and ``!p | q`` are formulas.
    """
    if len(text) > _LONGEST or text.isalnum():
        return None
    if not (_IMPLIES.fullmatch(text) or _MARK.search(text) or (_DATA.may_be_mark.search(text) and in_words())):
        return None
    if "|" in text.replace("||", "") and ("{" in text or not in_words()):
        return None
    for pattern, sign in _WRITTEN:
        text = pattern.sub(sign, text)
    text = _IN_BRACKETS.sub(r"\1\2", _BLANK.sub("", text))
    # Relations without a quantifier bound a variable.
    related = any(sign in text for sign in "<>≤≥=≠") and not any(sign in text for sign in "∀∃")
    return _parse_tree(text) if any(sign in text for sign in "¬∧∨⊕∀∃→") and not related else None


def _parse_tree(text: str) -> Formula | None:
    try:
        tree = _FormulaReader(text).read()
    except ValueError:
        return None
    return Formula(tree, _ordered_text(tree))


def parse_boolean(text: str) -> Formula | None:
    """Parse an expression of Boolean algebra as a formula: ``xy + x'z``."""
    previous = ""
    while previous != text and len(text) <= _LONGEST:
        previous, text = text, _PRIME.sub(r"¬\1", _OVERLINE.sub(r"¬(\1\2)", text))
    text = text.replace("\\cdot", "*").replace("\\oplus", "⊕")
    if not _BOOLEAN.fullmatch(text.replace("¬", "(")) or len(text) > _LONGEST:
        return None
    return _parse_tree(_ADJACENT.sub("∧", _BLANK.sub("", text.translate(_SIGNS_OF_ALGEBRA))))


def _with_logic_signs(text: str) -> str:
    return _TILDE.sub("¬", text).replace("\\mid", "∣")


def concluded_formula(text: str) -> Formula | None:
    """Parse the formula that a sentence leads to or consists of."""
    text = _with_logic_signs(text[-_LONGEST_SENTENCE:]).rstrip(" .")
    for begin in (0, *(lead.end() for lead in reversed(list(_DATA.leads.finditer(text))))):
        found = formula(tidy(_GOES_ON.sub("", text[begin:])), lambda: True)
        if found is not None:
            return None if has_denial(text[:begin], ("negation", "contrary")) else found
    return None


def same_formula(one: Formula, other: Formula, by_form: bool) -> bool | None:
    """Return whether two formulas are the same; None if they are only equivalent and the question asks for a form.

    Args:
        one: A formula.
        other: Another formula.
        by_form: Whether the task may be just to transform one formula into the other.
    """
    if one.written == other.written:
        return True
    same = _ordered_text(_normal_form(one.tree)) == _ordered_text(_normal_form(other.tree)) or _has_same_truth_table(
        one.tree, other.tree
    )
    return (None if by_form else True) if same else False if _is_decidable(one.tree, other.tree) else None


class _FormulaReader:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ValueError(text)
            self._tokens.append(found[0])
            at = found.end()
        self._tokens.append("")
        self._at = 0

    def read(self) -> FormulaTree:
        tree = self._parse_level(0, 0)
        if self._tokens[self._at]:
            raise ValueError
        return tree

    def _parse_level(self, level: int, depth: int) -> FormulaTree:
        if depth > _DEEPEST:
            raise ValueError
        if level == len(_BINARY):
            return self._parse_unary(depth + 1)
        parts, signs = [self._parse_level(level + 1, depth)], []
        while self._tokens[self._at] in _BINARY[level] and self._tokens[self._at]:
            signs.append(self._tokens[self._at])
            self._at += 1
            parts.append(self._parse_level(level + 1, depth))
        if not signs:
            return parts[0]
        if signs[0] == "→":
            tree = parts.pop()
            while parts:
                tree = FormulaTree("→", (parts.pop(), tree))
            return tree
        if len(set(signs)) > 1:
            raise ValueError
        return FormulaTree(signs[0], tuple(parts))

    def _parse_unary(self, depth: int) -> FormulaTree:
        token = self._tokens[self._at]
        self._at += 1
        if depth > _DEEPEST or not token:
            raise ValueError
        if token == "¬":
            return FormulaTree("¬", (self._parse_unary(depth + 1),))
        if token[0] in "∀∃":
            while self._tokens[self._at] in (",", ".", ":"):
                self._at += 1
            return FormulaTree(token[0], (self._parse_unary(depth + 1),), token[1:])
        if token in ("(", "["):
            tree = self._parse_level(0, depth + 1)
            if self._tokens[self._at] != {"(": ")", "[": "]"}[token]:
                raise ValueError
            self._at += 1
            return tree
        if not token[0].isalnum():
            raise ValueError
        return FormulaTree(_RELATION.sub(lambda found: f"{found[3]}{'≤' if found[2] else '<'}{found[1]}", token))


def _ordered_text(tree: FormulaTree, bound: tuple[str, ...] = ()) -> str:
    if not tree.parts:
        text = tree.sign
        for place, name in enumerate(bound):
            text = re.sub(rf"(?<![A-Za-z]){name}(?![A-Za-z])", f"#{place}", text)
        return text
    if tree.bound:
        return f"{tree.sign}{_ordered_text(tree.parts[0], (*bound, tree.bound))}"
    parts = [_ordered_text(part, bound) for part in tree.parts]
    if tree.sign == "¬":
        return f"¬{parts[0]}"
    return f"({tree.sign.join(parts if tree.sign == '→' else sorted(parts))})"


def _normal_form(tree: FormulaTree, negated: bool = False) -> FormulaTree:
    if tree.sign == "¬":
        return _normal_form(tree.parts[0], not negated)
    if not tree.parts:
        return FormulaTree("¬", (tree,)) if negated else tree
    if tree.sign == "→":
        one, other = tree.parts
        return _normal_form(FormulaTree("∨", (FormulaTree("¬", (one,)), other)), negated)
    if tree.sign in "⊕↔":
        tree = FormulaTree(tree.sign, tuple(_normal_form(part) for part in tree.parts))
        return FormulaTree("¬", (tree,)) if negated else tree
    sign = {"∧": "∨", "∨": "∧", "∀": "∃", "∃": "∀"}[tree.sign] if negated else tree.sign
    parts = [_normal_form(part, negated) for part in tree.parts]
    if tree.bound:
        return FormulaTree(sign, tuple(parts), tree.bound)
    joined = [inner for part in parts for inner in (part.parts if part.sign == sign else (part,))]
    return FormulaTree(sign, tuple(dict.fromkeys(joined)))


def _atoms(tree: FormulaTree) -> set[str] | None:
    if not tree.parts:
        return {tree.sign}
    found: set[str] = set()
    for part in tree.parts:
        inner = None if tree.bound else _atoms(part)
        if inner is None:
            return None
        found |= inner
    return found


def _is_decidable(*trees: FormulaTree) -> bool:
    return all((atoms := _atoms(tree)) is not None and len(atoms) <= _MOST_ATOMS for tree in trees)


def _has_same_truth_table(one: FormulaTree, other: FormulaTree) -> bool:
    if not _is_decidable(one, other):
        return False
    atoms = sorted((_atoms(one) or set()) | (_atoms(other) or set()))
    if len(atoms) > _MOST_ATOMS:
        return False
    rows = ({atom: bool(row >> place & 1) for place, atom in enumerate(atoms)} for row in range(2 ** len(atoms)))
    return all(_is_true(one, row) == _is_true(other, row) for row in rows)


def _is_true(tree: FormulaTree, row: dict[str, bool]) -> bool:
    if not tree.parts:
        return row[tree.sign]
    values = [_is_true(part, row) for part in tree.parts]
    match tree.sign:
        case "¬":
            return not values[0]
        case "∧":
            return all(values)
        case "∨":
            return any(values)
        case "→":
            return not values[0] or values[1]
        case "⊕":
            return sum(values) % 2 == 1
    return all(value == values[0] for value in values)


def _read_formula(source: AnswerText, reader: AnswerReader) -> Value | None:
    if reader.question.boolean and (found := parse_boolean(source.text)) is not None:
        return found
    text = tidy(_with_logic_signs(source.raw)) if "~" in source.raw or "\\mid" in source.raw else source.text
    return formula(text, lambda: reader.question.logic)


def _compare_formulas(one: Part[Formula], other: Part[Formula], with_: Comparison) -> Equality | None:
    same = same_formula(one.value, other.value, with_.question.by_form)
    if same is None:
        raise Doubt("semantic")
    return Equality(same, "expression.logic")


FORMULA = ValueType(_read_formula, {(Formula, Formula): _compare_formulas})
