"""Normalisation of answers that differ only in typing.

There are two forms, for two kinds of parsers: `tidy` keeps LaTeX, so that an answer can still be split or parsed;
`plain` is one line of few signs, for numbers and the units around them. Two more are for texts compared as texts:
`canonical_text`, which other verifiers use, too, and `strings.spelled`, which also removes signs that don't matter in
words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.verifiers.rules.danger import refuse_long
from workbench.verifiers.rules.patterns import Lexicon

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
_ENDS = " \t\r\n.。"
_CLOSING = {"'": "'", '"': '"', "“": "”", "„": "“”", "‘": "’", "’": "’", "`": "`'", "*": "*"}
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
    if text.startswith("**") and text.endswith("**"):
        text = text.replace("**", "")
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2].strip()
    if "\\" in text:
        if (wrapped := _WRAPPED.fullmatch(text)) and is_balanced(wrapped[1]):
            text = wrapped[1].strip()
        text = _SIZES.sub("", text)
        text = _FONT.sub(r"\1", text)
        text = _SPACING.sub(" ", text)
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


def unquoted(text: str) -> str:
    """Return the text without quotation marks, asterisks and full stops around it.

    A mark at the end alone may be a prime, inches, an adjoint or Kleene's star; a stray mark is removed only from
    words.
    """
    text = text.strip(_ENDS)
    while len(text) > 1 and text[-1] in _CLOSING.get(text[0], ""):
        text = text[1:-1].strip(_ENDS)
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
    text = _DECIMAL_COMMA.sub(lambda found: f"{found[1].replace('.', '')}.{found[2]}", text)
    return _DOTTED.sub(lambda found: found[0].replace(".", ""), text) if len(_DOTTED.findall(text)) else text
