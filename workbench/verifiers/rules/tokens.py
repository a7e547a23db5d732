"""Cut a short LaTeX or plain-text math string into tokens with one spelling each.

A token is a string: a number (``12``, ``.5``), one letter, a Greek letter as a character, a sign, a macro with its
backslash (``\\frac``, ``\\sin``), or a name of several letters behind a double quote (``"max``).
"""

from __future__ import annotations

import re

from workbench.verifiers.rules.danger import refuse_long
from workbench.verifiers.rules.patterns import Lexicon


class NotUnderstood(Exception):
    """The text isn't an expression that this package can parse."""


_DATA = Lexicon("tokens")
FUNCTIONS = {name: name for name in (*_DATA.listed("trigonometric"), *_DATA.listed("other"))}
"""Name of a function as written (with a backslash or bare) -> its name here."""
FUNCTIONS |= {prefix + name: "a" + name for name in _DATA.listed("inverse") for prefix in ("arc", "ar", "a")}
FUNCTIONS |= {"tg": "tan", "ctg": "cot", "cosec": "csc", "arctg": "atan"}

_SAME = {spelling: sign for sign, spellings in _DATA.table("spellings").items() for spelling in spellings.split()}
_SAME |= {"\\" + name: letter for name, letter in zip(_DATA.listed("greek_names"), _DATA.table("greek"), strict=True)}
_SAME |= {"\\" + spelled: "\\" + name for spelled, name in FUNCTIONS.items()}
_SAME |= dict.fromkeys(["\\ ", *_DATA.listed("spacing"), *_DATA.listed("sizes")], "")

_TOKEN = re.compile(
    r"""\s+
    | (?P<number> [0-9]{1,3}(?:(?:,\\!|\{,\}|\\,|,)[0-9]{3})+(?![0-9])(?:\.[0-9]+)?
                | (?:[0-9]*\.[0-9]+|1)[eE][-+]?[0-9]{1,3}(?![0-9A-Za-z]) | [0-9]+[eE]\+?[0-9]{1,3}(?![0-9A-Za-z])
                | [0-9]+(?:\.[0-9]+)? | \.[0-9]+ )
    | \\(?P<font> text(?:bf|it|rm|normal)? | math(?:rm|it|bf|sf|cal) | boldsymbol | mbox | operatorname\*? )
      \s*\{(?P<content>[^{}]*)\}
    | \\[dt]?frac\{(?:d|\\mathrm\{d\}|\\partial\ ?)\ ?(?P<of>[A-Za-z])\}
                 \{(?:d|\\mathrm\{d\}|\\partial\ ?)\ ?(?P<by>[A-Za-z])\}
    | (?P<operator> \\[dt]?frac\{(?:d|\\mathrm\{d\})(?:\^\{?[0-9]\}?[A-Za-z]?)?\} )
    | (?<![A-Za-z])d(?P<plain_of>[A-Za-z])/d(?P<plain_by>[A-Za-z])(?![A-Za-z])
    | (?P<sign> \\(?:[A-Za-z]+|.) | \*\* | <= | >= | == | != | := | [^A-Za-z0-9\s\\] )
    | (?P<words> [A-Za-z]+(?:\ +[A-Za-z]+)* )
    """,
    re.VERBOSE | re.DOTALL,
)
_NO_PRODUCT = _DATA.words("short_words")
_NAMES = {"pi": "π", "const": '"const', "constant": '"const'}
_UNIT_OF_ONE = frozenset({"rad", "radian", "radians"})
_MAX_PRODUCT_LETTERS = 3
_GLUED = re.compile("(arcsin|arccos|arctan|sinh?|cosh?|tanh?|cot|ln|log|lg|exp)([a-zA-Z])")


def tokenize(text: str) -> list[str]:
    """Cut the text into tokens.

    Raises:
        NotUnderstood: The text contains words, or characters that no expression has.
        TooComplex: The text is too long or has a very long run of digits.
    """
    refuse_long(text)
    tokens: list[str] = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "sign":
            if token := _SAME.get(found[0], found[0]):
                tokens.append(token)
        elif kind == "number":
            tokens += _number_tokens(found[0], "(" in text or "[" in text)
        elif kind == "words":
            tokens += _word_tokens(found[0])
        elif kind == "content":
            tokens += _font_tokens(found["content"].strip())
        elif kind == "by":
            tokens.append(f'"d{found["of"]}/d{found["by"]}')
        elif kind == "plain_by":
            tokens.append(f'"d{found["plain_of"]}/d{found["plain_by"]}')
        elif kind:
            raise NotUnderstood(found[0])
    if tokens and tokens[-1] == ".":
        tokens.pop()
    return tokens


def _number_tokens(text: str, bracketed: bool) -> list[str]:
    if text.isdecimal():
        return [text]
    bare = re.sub(r"\{,\}|\\,|,\\!", "", text)
    if bracketed and "," in bare:
        return re.findall(r",|[0-9.]+", bare)
    return [bare.replace(",", "")]


def _word_tokens(text: str) -> list[str]:
    if len(text) == 1:
        return [text]
    tokens: list[str] = []
    before = 0
    for word in text.split():
        factors = 0
        if word in FUNCTIONS:
            tokens.append("\\" + FUNCTIONS[word])
        elif word in _UNIT_OF_ONE:
            continue
        elif word in _NAMES:
            tokens.append(_NAMES[word])
        elif glued := _GLUED.fullmatch(word):
            tokens += ["\\" + FUNCTIONS[glued[1]], glued[2]]
        else:
            factors = len(word)
            if factors > _MAX_PRODUCT_LETTERS or (before and before + factors > _MAX_PRODUCT_LETTERS):
                raise NotUnderstood(text)
            if word.lower() in _NO_PRODUCT:
                raise NotUnderstood(word)
            tokens += word
        before = factors
    return tokens


def _font_tokens(content: str) -> list[str]:
    if not content or content in _UNIT_OF_ONE:
        return []
    if len(content) == 1:
        return [content]
    if content in FUNCTIONS:
        return ["\\" + FUNCTIONS[content]]
    if not (content.isascii() and content.isalpha()) or content.lower() in _NO_PRODUCT:
        raise NotUnderstood(content)
    return ['"' + content]
