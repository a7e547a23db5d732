"""Mathematics as people type it, and the parts of a text that every view must show; independent of the renderer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from hypothesis import strategies as st

SIGNS = {
    "cdot": "·", "times": "×", "div": "÷", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠",
    "ne": "≠", "lt": "<", "gt": ">", "approx": "≈", "equiv": "≡", "in": "∈", "notin": "∉", "subset": "⊂", "cup": "∪",
    "cap": "∩", "to": "→", "infty": "∞", "sqrt": "√", "sum": "∑", "int": "∫", "alpha": "α", "theta": "θ", "pi": "π",
    "mid": "|", "lfloor": "⌊", "rfloor": "⌋", "{": "{", "}": "}", "#": "#", "$": "$", "%": "%", "&": "&", "_": "_",
    "sin": "sin", "cos": "cos", "ln": "ln", "log": "log", "gcd": "gcd", "implies": "⇒", "parallel": "∥", "square": "□",
}  # fmt: skip
"""Macro -> the text that must be shown for it."""

_LAYOUT = re.compile(
    r"\\begin\{(?:array|alignat\*?|alignedat)\}\s*\{[^}]*\}|\\(?:begin|end)\{[^}]*\}|\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])\s*\.?"
    r"|\\\\(?:\*?\s*\[[-\d.]+\s*(?:pt|em|ex|mm)\])?|\\not(?![A-Za-z])\s*(?:\\[A-Za-z]+|\S)|\^\s*\{?\\(?:circ|prime)\}?"
)
_INDEX = re.compile(r"\\sqrt\s*\[([^\]]*)\]")
_MACRO = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
_GROUPING = re.compile(r"[{}\s^_]|(?<!\s)~|~(?!\s)")


def must_be_seen(latex: str) -> str:
    """Return the digits, letters, operators, brackets and relations of a formula, in order."""
    plain = _LAYOUT.sub(" ", latex.replace("&", " ") if "\\begin" in latex else latex)
    plain = _INDEX.sub(r" \1 ", plain)
    parts, at = [], 0
    for match in _MACRO.finditer(plain):
        parts += [_GROUPING.sub("", plain[at : match.start()]), SIGNS.get(match[1], "")]
        at = match.end()
    return canonical("".join([*parts, _GROUPING.sub("", plain[at:])]))


def canonical(text: str) -> str:
    """Remove blanks and replace super- and subscripts, double-struck letters and primes by plain characters."""
    plain = unicodedata.normalize("NFKC", "".join(text.split())) if not text.isascii() else "".join(text.split())
    return plain.replace("′", "'").replace("−", "-")


def first_lost(required: str, shown: str) -> str:
    """Return the required text around the first character that is not shown in order; "" if all of it is shown."""
    at = 0
    for place, character in enumerate(required):
        at = shown.find(character, at) + 1
        if not at:
            return required[max(place - 20, 0) : place + 10]
    return ""


def _joined(parts: Iterable[str]) -> str:
    return "".join(parts)


_NUMBER = st.integers(-12, 120).map(str)
_NAME = st.sampled_from(
    ["a", "b", "x", "y", "AB", "CE", "θ", "π", "cosθ", "sin x", "seven", "three", "n!", "√2", "x²", "|x|"]
)
_SPACE = st.sampled_from(["", "", " "])
_TIMES = st.sampled_from(
    ["*", "*", "*", "**", "+", "-", "/", "^", "=", "<", ">", "#", "-*", "#*#", "*!", "&", "~", "@", "_"]
)


def _bracketed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.sampled_from(["()", "[]", "{}"])
    product = st.lists(st.tuples(inner, _SPACE, _TIMES, _SPACE).map(_joined), min_size=1, max_size=3)
    return st.tuples(pairs, product, inner).map(lambda made: f"{made[0][0]}{''.join(made[1])}{made[2]}{made[0][1]}")


OPERANDS = st.recursive(_NUMBER | _NAME, _bracketed, max_leaves=6)
FORMULAS = st.tuples(
    st.lists(st.tuples(OPERANDS, _SPACE, _TIMES, _SPACE).map(_joined), min_size=1, max_size=6), OPERANDS
).map(lambda made: "".join(made[0]) + made[1])
"""Formulas typed without LaTeX, all of whose characters matter."""

_ATOM = st.sampled_from(["2", "17", "x", "y", r"\alpha", r"\pi", "0.5", "AB", "|x|", r"\infty"])
_BETWEEN = st.sampled_from(
    ["+", "-", "*", "=", " < ", ",", " ~ ", " & ", "!", " # ", r"\%", r" \cdot ", r"\le ", r" \in "]
)


def _structures(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        two.map(lambda pair: f"{pair[0]}^{{{pair[1]}}}"),
        two.map(lambda pair: f"{pair[0]}_{{{pair[1]}}}"),
        two.map(lambda pair: rf"\sqrt[{pair[0].replace(']', '').replace('[', '')}]{{{pair[1]}}}"),
        two.map(lambda pair: rf"\left({pair[0]}, {pair[1]}\right]"),
        two.map(lambda pair: rf"\begin{{pmatrix}} {pair[0]} & {pair[1]} \\ 1 & 0 \end{{pmatrix}}"),
        inner.map(lambda one: rf"\sqrt{{{one}}}"),
        inner.map(lambda one: rf"\overline{{{one}}}"),
        inner.map(lambda one: rf"\vec{{{one}}}"),
        inner.map(lambda one: rf"\boxed{{{one}}}"),
        inner.map(lambda one: rf"\sin {one}"),
        st.tuples(inner, _BETWEEN, inner).map(_joined),
    )


LATEX = st.recursive(_ATOM, _structures, max_leaves=10)
"""Formulas in LaTeX."""
