"""Tables of LaTeX macros: characters, words, accents and environments."""

from __future__ import annotations

import unicodedata
from functools import cache


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS = _names(
    "arccos arcsin arctan arccot arg argmax argmin cos cosh cot coth csc deg det dim erf exp gcd hom inf ker lcm lg "
    "lim ln log max min mod Pr rank sec sgn sin sinh sup tan tanh tr liminf limsup arcsinh arccosh arctanh bmod"
)
"""Macros that are words: a space separates them from adjacent letters."""

SPELLED = {"bmod": "mod", "liminf": "lim inf", "limsup": "lim sup"}
"""Texts of macros whose word is spelled differently from the macro."""

FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})
BOXES = frozenset({"boxed", "fbox", "framebox"})
TEXTS = _names(
    "text textbf textit textrm textsf texttt textup textnormal textsc textmd mbox hbox "
    "mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak mathnormal boldsymbol bm pmb bold "
    "mathop mathbin mathrel mathord mathopen mathclose ensuremath"
)
"""Macros that only change the font. Plain letters are shown, because monospace fonts lack letters of other styles."""

BLACKBOARD = frozenset({"mathbb", "Bbb", "mathbbm"})
DOUBLE_STRUCK = str.maketrans("CHNPQRZ", "ℂℍℕℙℚℝℤ")

ACCENTS = {
    "bar": "\u0304",
    "overline": "\u0305",
    "hat": "\u0302",
    "widehat": "\u0302",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "dot": "\u0307",
    "ddot": "\u0308",
    "dddot": "\u20db",
    "ddddot": "\u20dc",
    "check": "\u030c",
    "breve": "\u0306",
    "acute": "\u0301",
    "grave": "\u0300",
    "mathring": "\u030a",
    "vec": "\u20d7",
    "overrightarrow": "\u20d7",
    "overleftarrow": "\u20d6",
    "underline": "\u0332",
}
"""The combining characters of accents. If letter and accent have a precomposed character, it is shown, otherwise
``vec(m)``, because terminals in browsers draw combining characters over the next cell.
"""

LINES = frozenset({"overline", "bar"})
"""Accents that mark the repeating digits of a decimal fraction."""

RELATIONS = frozenset("≤≥≠≈≡∼≅≃∝→⇒⇔∈∉⊂⊆⊃⊇")
"""Signs that are surrounded by spaces even at the beginning of a row."""

DELIMITER_SIZES = frozenset(
    {"left", "right", "middle"}
    | {f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")}
)
INVISIBLE = _names("displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits hline noindent centering ! /")
SPACES = {",": " ", ";": " ", ":": " ", ">": " ", " ": " ", "\n": " ", "quad": "  ", "qquad": "    "} | dict.fromkeys(
    ("thinspace", "medspace", "thickspace", "enspace", "space", "nobreakspace"), " "
)

MATRICES = {
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "matrix": ("", ""),
    "array": ("", ""),
    "smallmatrix": ("", ""),
    "cases": ("{ ", " }"),
    "dcases": ("{ ", " }"),
    "rcases": ("{ ", " }"),
}
"""Environments written on one line: cells separated by commas, rows by semicolons."""

STACKS = frozenset(
    f"{name}{star}"
    for name in (
        "align",
        "aligned",
        "alignat",
        "alignedat",
        "equation",
        "gather",
        "gathered",
        "split",
        "multline",
        "eqnarray",
        "flalign",
    )
    for star in ("", "*")
)
"""Environments with one line for each row."""

WITH_COLUMNS = frozenset({"array", "alignat", "alignat*", "alignedat"})
"""Environments with an argument that only describes the layout of columns."""

SUPERSCRIPTS = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ",
)
SUBSCRIPTS = str.maketrans("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")
SCRIPT_CHARACTERS = "".join(map(chr, {*SUPERSCRIPTS.values(), *SUBSCRIPTS.values()})) + "°′'"
"""Characters that belong to the letter before them."""

# Of characters with the same meaning, those that fonts draw within one cell.
_OURS = {
    "ne": "≠",
    "implies": "⇒",
    "impliedby": "⇐",
    "iff": "⇔",
    "Longrightarrow": "⇒",
    "Longleftarrow": "⇐",
    "Longleftrightarrow": "⇔",
    "longmapsto": "↦",
    "ll": "<<",
    "gg": ">>",
    "nmid": "not|",
    "bigwedge": "∧",
    "bigvee": "∨",
    "vdots": "⁝",
    "ddots": "⋯",
    "gets": "←",
    "bot": "⊥",
    "triangle": "△",
    "blacksquare": "■",
    "colon": ":",
    "colonequals": "≔",
    "coloneqq": "≔",
    "degree": "°",
    "checkmark": "✓",
    "neg": "¬",
    "land": "∧",
    "lor": "∨",
    "Re": "Re",
    "Im": "Im",
    "models": "⊨",
    "prime": "′",
    "leqslant": "≤",
    "geqslant": "≥",
    "bigsqcup": "⨆",
    "biguplus": "⨄",
    "idotsint": "∫⋯∫",
    "oiint": "∯",
    "owns": "∋",
    "doublecap": "⋒",
    "lbrack": "[",
    "rbrack": "]",
    "lgroup": "(",
    "rgroup": ")",
    "|": "‖",
    "{": "{",
    "}": "}",
    "%": "%",
    "$": "$",
    "&": "&",
    "#": "#",
    "_": "_",
}
_NOT_SYMBOLS = _names("ref autoref cref Cref eqref cite citet citep today hspace vspace nolinebreak textcompwordmark -")


@cache
def symbols() -> dict[str, str]:
    """Return the characters of macros without arguments, by macro name: pylatexenc's tables with some additions."""
    from pylatexenc.latex2text import get_default_latex_context_db

    context = get_default_latex_context_db()
    table: dict[str, str] = {}
    for category in reversed(context.categories()):
        for spec in context.iter_macro_specs([category]):
            shown = spec.simplify_repl
            if isinstance(shown, str) and shown.strip() and "%" not in shown and all(map(_is_narrow, shown)):
                table[spec.macroname] = shown
    return {name: shown for name, shown in table.items() if name not in _NOT_SYMBOLS} | _OURS


def _is_narrow(character: str) -> bool:
    return (
        character < "\U00010000"
        and not unicodedata.combining(character)
        and unicodedata.east_asian_width(character) not in "WF"
    )
