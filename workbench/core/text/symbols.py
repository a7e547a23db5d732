"""Tables of LaTeX macros: characters, words, accents and environments."""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _names(key: str) -> frozenset[str]:
    return frozenset(_TABLES[key].split())


WORDS = _names("words")
"""Macros that are words: a space separates them from adjacent letters."""

SPELLED: dict[str, str] = _TABLES["spelled"]
"""Texts of macros whose word is spelled differently from the macro."""

FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})
BOXES = frozenset({"boxed", "fbox", "framebox"})
TEXTS = _names("texts")
"""Macros that only change the font. Plain letters are shown, because monospace fonts lack letters of other styles."""

BLACKBOARD = frozenset({"mathbb", "Bbb", "mathbbm"})
DOUBLE_STRUCK = str.maketrans("CHNPQRZ", "ℂℍℕℙℚℝℤ")

ACCENTS: dict[str, str] = _TABLES["accents"]
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
INVISIBLE = _names("invisible")
SPACES: dict[str, str] = _TABLES["spaces"]

MATRICES: dict[str, tuple[str, str]] = {name: (left, right) for name, (left, right) in _TABLES["matrices"].items()}
"""Environments written on one line: cells separated by commas, rows by semicolons."""

STACKS = frozenset(f"{name}{star}" for name in _names("stacks") for star in ("", "*"))
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
_OURS: dict[str, str] = _TABLES["symbols"]
_NOT_SYMBOLS = _names("not_symbols")


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
