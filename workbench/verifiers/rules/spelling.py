"""One plain spelling for short answers that hold a number: what LaTeX or Unicode draws, in few ASCII characters."""

from __future__ import annotations

import re

from workbench.verifiers.rules.danger import MAX_CHARACTERS, MAX_DIGITS, TooComplex

_FONT_MARK = "\x02"
_FONTS = "text textbf textit textrm textsf textnormal mathrm mathbf mathit mathsf mathtt mbox operatorname unit si rm"
_COMMANDS = dict.fromkeys(_FONTS.split(), _FONT_MARK) | {
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad", "thinspace", "enspace", "space"), " "),
    **dict.fromkeys(("!", "left", "right", "displaystyle"), ""),
    **dict.fromkeys(("times", "cdot", "ast"), "*"),
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"), r"\frac"),
    **dict.fromkeys(("ldots", "dots", "cdots", "dotsc"), "..."),
    **dict.fromkeys(("circ", "degree", "textdegree"), "°"),
    **dict.fromkeys(("approx", "simeq", "sim"), "≈"),
    **dict.fromkeys(("mu", "textmu", "micro"), "μ"),
    **dict.fromkeys(("euro", "texteuro"), "€"),
    **dict.fromkeys(("pounds", "textsterling"), "£"),
    "%": "%",
    "$": "$",
    "textdollar": "$",
    "textcent": "¢",
    "cent": "¢",
    "Omega": "Ω",
    "ohm": "Ω",
    "pi": "π",
    "prime": "′",
    "AA": "Å",
    "ell": "L",
    "celsius": "°C",
    "colon": ":",
}
_COMMAND = re.compile(r"\\([A-Za-z]+|.)|\{,\}", re.DOTALL)
_EXPONENT = re.compile(r"\^ ?\{ ?([-+]?[0-9]+|[°′]+) ?\}")
_RAISED_SIGN = re.compile(r"\^ ?([°′])")
_FONT_GROUP = re.compile(_FONT_MARK + r" ?\{([^{}]*)\}")
_LONG_RUN = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
_RAISED = re.compile("[⁻⁺]?[⁰¹²³⁴-⁹]+")
_LOWERED = re.compile("[₀-₉]+")
_VULGAR = re.compile("[¼½¾⅐-⅞]")

_RAISED_DIGITS = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
_LOWERED_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_FRACTIONS = dict(
    zip(
        "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞",
        [
            "1/4",
            "1/2",
            "3/4",
            "1/7",
            "1/9",
            "1/10",
            "1/3",
            "2/3",
            "1/5",
            "2/5",
            "3/5",
            "4/5",
            "1/6",
            "5/6",
            "1/8",
            "3/8",
            "5/8",
            "7/8",
        ],
        strict=True,
    )
)
_CHARACTERS = {
    **{0xFF01 + offset: chr(0x21 + offset) for offset in range(94)},
    **dict.fromkeys(map(ord, "−–‐‑‒"), "-"),
    **dict.fromkeys(map(ord, "×·⋅∙∗"), "*"),
    **dict.fromkeys(map(ord, "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"), "'"),
    ord("µ"): "μ",
    ord("Ω"): "Ω",
    ord("º"): "°",
    ord("℃"): "°C",
    ord("℉"): "°F",
    ord("。"): ".",
    ord("，"): ",",
    ord("\N{FRACTION SLASH}"): "/",
    ord("…"): "...",
    ord("″"): "''",
    ord("Å"): "Å",
    ord("\N{ZERO WIDTH SPACE}"): "",
}


def plain(text: str) -> str:
    r"""The answer as one line of plain characters.

    Fonts (``\text{}``, ``\mathrm{}``) become a space and their content, so a unit set in roman is never "attached" to
    its number; exponents lose their braces, ``×`` and ``\cdot`` become ``*``, ``^\circ`` becomes ``°``, spaces are
    single and one trailing full stop goes.

    Raises:
        TooComplex: the text is too long, or holds a run of digits nobody wrote by hand.
    """
    if len(text) > MAX_DIGITS:
        if len(text) > MAX_CHARACTERS:
            raise TooComplex(f"{len(text)} characters")
        if _LONG_RUN.search(text):
            raise TooComplex(f"more than {MAX_DIGITS} digits")
    if not text.isascii():
        text = _ascii(text)
    if "\\" in text or "{" in text:
        text = _COMMAND.sub(_command, text)
        text = _RAISED_SIGN.sub(r"\1", _EXPONENT.sub(_exponent, text))
        if _FONT_MARK in text:
            text = _FONT_GROUP.sub(r" \1", _FONT_GROUP.sub(r" \1", text)).replace(_FONT_MARK, " ")
    text = " ".join(text.replace("~", " ").split())
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def _ascii(text: str) -> str:
    text = text.translate(_CHARACTERS)
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_RAISED_DIGITS), text)
    text = _LOWERED.sub(lambda lowered: "_" + lowered[0].translate(_LOWERED_DIGITS), text)
    return _VULGAR.sub(lambda fraction: " " + _FRACTIONS[fraction[0]], text)


def _command(command: re.Match[str]) -> str:
    name = command[1]
    return "," if name is None else _COMMANDS.get(name, command[0])


def _exponent(exponent: re.Match[str]) -> str:
    inner = exponent[1]
    return inner if inner[0] in "°′" else "^" + inner
