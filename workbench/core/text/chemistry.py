"""Chemical formulas as mhchem's ``\\ce`` takes them: counts below, charges above, arrows as arrows."""

from __future__ import annotations

import re

from workbench.core.text.symbols import SUBSCRIPTS, SUPERSCRIPTS

_ARROWS = (("<=>>", "⇌"), ("<<=>", "⇌"), ("<=>", "⇌"), ("<-->", "⇄"), ("<->", "↔"), ("->", "→"), ("<-", "←"))
_COUNT = re.compile(r"(?<=[A-Za-z)\]])([0-9]+)(?![0-9.])")
_CHARGE = re.compile(r"\^(?:\{([0-9+\-−]+)\}|([0-9]*[+\-−]|[0-9]+))")
_BELOW = re.compile(r"_(?:\{([0-9+\-−a-z]+)\}|([0-9]+))")
_ION = re.compile(r"(?<=[A-Za-z0-9)\]])([+\-−])(?=[\s)\]},;.]|$)")


def formula_of(typed: str) -> str:
    """A formula or an equation of reaction as it is read; what is not understood stays as typed."""
    for mark, arrow in _ARROWS:
        typed = typed.replace(mark, f" {arrow} ")
    typed = _CHARGE.sub(lambda found: (found[1] or found[2]).translate(SUPERSCRIPTS), typed)
    typed = _ION.sub(lambda found: found[1].translate(SUPERSCRIPTS), typed)
    typed = _BELOW.sub(lambda found: _below(found[1] or found[2], found[0]), typed)
    return " ".join(_COUNT.sub(lambda found: found[1].translate(SUBSCRIPTS), typed).split())


def _below(text: str, typed: str) -> str:
    return text.translate(SUBSCRIPTS) if all(ord(character) in SUBSCRIPTS for character in text) else typed
