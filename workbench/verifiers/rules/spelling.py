"""Forms of an answer for its parsers, which differ only in typing, and the limits of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.verifiers.rules.patterns import Lexicon

MAX_CHARACTERS = 2_000
"""Maximum characters of a final answer."""
MAX_DIGITS = 40
"""Maximum digits in one run."""
MAX_EXPONENT = 999
"""Maximum size of a written exponent."""
MAX_BITS = 4_096
"""Maximum bits of an exact integer that a power may grow to."""


_LONG_RUN = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")


class TooComplex(Exception):
    """The text needs more work than a rule may spend on it."""


def refuse_long(text: str) -> None:
    """Reject text that is too long to be parsed as a number or expression.

    Raises:
        TooComplex: The text is too long, or has a run of digits that is too long to be written by hand.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooComplex(f"{len(text)} characters")
    if len(text) > MAX_DIGITS and _LONG_RUN.search(text):
        raise TooComplex(f"more than {MAX_DIGITS} digits")


# -- Normalisation of answers that differ only in typing.


_DATA = Lexicon("spelling")
_NAMED: dict[str, str] = _DATA.table("named")
_FONT_MARK = "\x02"
_COMMANDS = {name: sign for sign, names in _DATA.table("commands").items() for name in names}
_COMMAND = re.compile(r"\\([A-Za-z]+|.)|\{,\}", re.DOTALL)
APPROXIMATELY = re.compile(
    r"\s*(?:[≈≃≅≒≊≂]|\\(?:approx(?:eq)?|thickapprox|simeq|eqsim|cong|doteq|fallingdotseq)(?![A-Za-z]))\s*"
)
"""A sign between a value and a rounding of it, in every spelling."""
_EXPONENT = re.compile(r"\^ ?\{ ?([-+]?[0-9]+|[°′]+) ?\}")
_RAISED_SIGN = re.compile(r"\^ ?([°′])")
_FONT_GROUP = re.compile(_FONT_MARK + r" ?\{([^{}]*)\}")
_RAISED = re.compile("[⁻⁺]?[⁰¹²³⁴-⁹]+|ⁿ")
_LOWERED = re.compile("[₀-₉ₐₑᵢⱼₖₘₙₚₜₓ]+")
_VULGAR = re.compile("[¼½¾⅐-⅞]")

_RAISED_DIGITS = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ", "-+0123456789n")
_LOWERED_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₐₑᵢⱼₖₘₙₚₜₓ", "0123456789aeijkmnptx")
_VULGAR_WORDS = "1/4 1/2 3/4 1/7 1/9 1/10 1/3 2/3 1/5 2/5 3/5 4/5 1/6 5/6 1/8 3/8 5/8 7/8"
_FRACTIONS = dict(zip("¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", _VULGAR_WORDS.split(), strict=True))
_CHARACTERS = {0xFF01 + offset: chr(0x21 + offset) for offset in range(94)} | {
    ord(spelling): sign for sign, spellings in _DATA.table("characters").items() for spelling in spellings
}
_SPACING = re.compile(r"(?<!\\)\\[,;:! ]|\\q?quad(?![A-Za-z])|~")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")
_SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|dstyle)(?![A-Za-z])\s?\.?")
_FONT = re.compile(r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf)|mbox)\s*\{((?:[^{}\\]|\\[^A-Za-z])*)\}")
_WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf)|mbox)\s*\{(.*)\}", re.DOTALL)
_GROWTH = re.compile(r"(?:\\mathcal\{O\}|O|\\?(?:Theta|Omega)|Θ|Ω)\s?\(")
_ANY_LOG, _POWER_OF_LOG = (
    re.compile(r"\\?l(?:o?g|n)(?![a-z])(?:_\{?\d+\}?)?"),
    re.compile(r"\^\s*\{[^{}]*l(?:og|n|g)\b"),
)
_ENDS = " \t\r\n.。।"
_CLOSING = {"'": "'", '"': '"', "“": "”", "„": "“”", "‘": "’", "’": "’", "«": "»", "`": "`'", "*": "*"}
"""Marks around an answer, each with those that end it."""
_STRAY = '"“”`'
LETTERS = re.compile(r"[^\W\d_]{3}")
_BOLD = re.compile(r"(?<![\w)\]])\*\*([^*\n]{1,80})\*\*(?!\w)")
_UNEQUAL = re.compile(r"\\ne(?![A-Za-z])")
_MEMBER = re.compile(r"\\in(?![A-Za-z])")


@lru_cache(maxsize=512)
def tidy(text: str) -> str:
    r"""Return the text without math delimiters, ``\left``, fonts and spacing macros, and with brackets as signs."""
    text = text.strip().strip("$").strip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2].strip()
    if "\\" in text:
        if (wrapped := _WRAPPED.fullmatch(text)) and is_balanced(wrapped[1]):
            text = wrapped[1].strip()
        text = _SIZES.sub("", text)
        # Blanks first: without its braces "or" would join the macro in ``\quad\text{or}``.
        text = _FONT.sub(r"\1", _SPACING.sub(" ", text))
        for name, sign in _NAMED.items():
            text = text.replace(name, sign)
        text = _UNEQUAL.sub("≠", _MEMBER.sub("∈", text))
    if "**" in text:
        text = _BOLD.sub(r"\1", text)
    if not text.isascii():
        text = _LOWERED.sub(lambda found: f"_{_in_braces(found[0].translate(_LOWERED_DIGITS))}", text)
        text = _RAISED.sub(lambda found: f"^{_in_braces(found[0].translate(_RAISED_DIGITS))}", text)
    text = _BLANKS.sub(" ", text.replace("，", ",").replace("；", ";").replace("{:}", ":")).strip()
    # Single blanks also limit the work: a pattern may try every position of a long run again and again.
    return _LINE_ENDS.sub("\n", text) if "\n" in text else text


_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+)(?:,|\{,\})(\d+)(?![\d,]|\.\d)")
_DOTTED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3})+(?![\d,]|\.\d)")


def _in_braces(script: str) -> str:
    return script if len(script) == 1 else f"{{{script}}}"


def with_any_base(text: str) -> str:
    r"""Return an order of growth with plain logarithms, whose base doesn't count: ``O(\log n)`` for ``O(\log_2 n)``."""
    if not _GROWTH.match(text) or _POWER_OF_LOG.search(text):
        return text
    return _ANY_LOG.sub(r"\\log ", text.replace("\\mathcal{O}", "O"))


def unquoted(text: str) -> str:
    """Return the text without quotation marks, asterisks and full stops around it.

    A mark at the end alone may be a prime, inches, an adjoint or Kleene's star; a stray mark is removed only from
    words.
    """
    text = text.strip(_ENDS)
    while len(text) > 1 and text[-1] in _CLOSING.get(text[0], ""):
        text = text[1:-1].strip(_ENDS).removesuffix(" !")
    return text.strip(_STRAY + _ENDS).removeprefix("**").removesuffix("**") if LETTERS.search(text) else text


def is_balanced(text: str, opening: str = "{", closing: str = "}") -> bool:
    depth = 0
    for sign in text:
        depth += (sign in opening) - (sign in closing)
        if depth < 0:
            return False
    return depth == 0


@lru_cache(maxsize=512)
def plain(text: str) -> str:
    r"""Return the answer as one line of plain characters.

    Fonts (``\text{}``, ``\mathrm{}``) become a space and their content, so a unit set in roman is never "attached" to
    its number; exponents lose their braces, ``×`` and ``\cdot`` become ``*``, ``^\circ`` becomes ``°``, spaces are
    single and one trailing full stop is removed.

    Raises:
        TooComplex: The text is too long, or has a run of digits that is too long to be written by hand.
    """
    refuse_long(text)
    if not text.isascii():
        text = _to_ascii(text)
    if "\\" in text or "{" in text:
        text = _COMMAND.sub(_replace_command, text)
        text = _RAISED_SIGN.sub(r"\1", _EXPONENT.sub(_replace_exponent, text))
        if _FONT_MARK in text:
            text = _FONT_GROUP.sub(r" \1", _FONT_GROUP.sub(r" \1", text)).replace(_FONT_MARK, " ")
    text = " ".join(text.replace("~", " ").split())
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def _to_ascii(text: str) -> str:
    text = text.translate(_CHARACTERS)
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_RAISED_DIGITS), text)
    text = _LOWERED.sub(lambda lowered: "_" + lowered[0].translate(_LOWERED_DIGITS), text)
    return _VULGAR.sub(lambda fraction: " " + _FRACTIONS[fraction[0]], text)


def _replace_command(command: re.Match[str]) -> str:
    name = command[1]
    return "," if name is None else _COMMANDS.get(name, command[0])


def _replace_exponent(exponent: re.Match[str]) -> str:
    inner = exponent[1]
    return inner if inner[0] in "°′" else "^" + inner


def with_decimal_points(text: str) -> str:
    """Return a text with decimal commas and dotted thousands as ``1234.5``: ``1.234,5``."""
    text = _DOTTED.sub(lambda found: found[0].replace(".", ""), text)
    return _DECIMAL_COMMA.sub(lambda found: f"{found[1].replace('.', '')}.{found[2]}", text)


# -- Cut a short LaTeX or plain-text math string into tokens with one spelling each.


class NotUnderstood(Exception):
    """The text isn't an expression that this package can parse."""


_TOKENS = Lexicon("tokens")
FUNCTIONS = {name: name for name in (*_TOKENS.listed("trigonometric"), *_TOKENS.listed("other"))}
"""Name of a function as written (with a backslash or bare) -> its name here."""
FUNCTIONS |= {prefix + name: "a" + name for name in _TOKENS.listed("inverse") for prefix in ("arc", "ar", "a")}
FUNCTIONS |= {"tg": "tan", "ctg": "cot", "cosec": "csc", "arctg": "atan"}

_SAME = {spelling: sign for sign, spellings in _TOKENS.table("spellings").items() for spelling in spellings.split()}
_SAME |= {
    "\\" + name: letter for name, letter in zip(_TOKENS.listed("greek_names"), _TOKENS.table("greek"), strict=True)
}
_SAME |= {"\\" + spelled: "\\" + name for spelled, name in FUNCTIONS.items()}
_SAME |= dict.fromkeys(["\\ ", *_TOKENS.listed("spacing"), *_TOKENS.listed("sizes")], "")

_NO_PRODUCT = _TOKENS.words("short_words")
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
    for found in _TOKENS.token.finditer(text):
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
            tokens += _derivative_tokens(found["of"], found["by"])
        elif kind == "plain_by":
            tokens += _derivative_tokens(found["plain_of"], found["plain_by"])
        elif kind:
            raise NotUnderstood(found[0])
    if tokens and tokens[-1] == ".":
        tokens.pop()
    return tokens


def _derivative_tokens(of: str, by: str) -> list[str]:
    return [of, "'"] if of == "y" and by == "x" else [f'"d{of}/d{by}']


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
