"""VerifyBench's judge (arXiv 2505.15801): an analysis that ends in a line "Final Judgment: Yes" or "… No"."""

from __future__ import annotations

import re

from workbench.verifiers.judges.parsers.base import JUDGMENT, MARKUP, Reading, chosen, last_found, own_lines, said

_OPENING = r"""[ \t*_`"'“‘«(\[<{$]{0,8}(?:\\[a-z]{2,8}\{){0,2}[*_"']{0,3}"""
_AROUND = r"""[ \t"'“”‘’«»`*_()\[\]{}]{0,5}"""
_OR = rf"{_AROUND}(?:[/|]|\bor[ \t]){_AROUND}(?:\\[a-z]{{2,8}}\{{)?{_AROUND}(?i:yes|no)(?![^\W_])"
_NO_ECHO = rf"(?![^\W_]|-[^\W_])(?!{_OR})"
_ECHO = re.compile(rf"(?<![^\W_])(?i:yes|no){_OR}")
_LABELLED = re.compile(rf"{JUDGMENT}{_OPENING}(yes|no){_NO_ECHO}", re.IGNORECASE)
_ALONE = re.compile(rf"(?<![^\W_])(?<![/|-])(?<!\bor )(?<!\b[Nn]ot )(?<!\b[Nn]ot a )(Yes|No){_NO_ECHO}(?!/)")


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """The last "Yes" or "No" anywhere, in words too: "Note" says no."""
    yes, no = raw.rfind("Yes"), raw.rfind("No")
    return said(None if yes == no else yes > no)


def strict(raw: str, delimiter: str | None = None) -> Reading:
    """The last judgment line, or line of a Yes or No alone; else the last Yes or No that is a word of its own."""
    lines = own_lines(raw, delimiter)
    word = last_found(lines, _judgment) or last_found(lines, _word)
    return said(None if word is None else word.lower() == "yes")


def labelled(raw: str, delimiter: str | None = None) -> Reading:
    """The last judgment line, with its label."""
    word = last_found(own_lines(raw, delimiter), lambda line: chosen(_LABELLED, line))
    return said(None if word is None else word.lower() == "yes")


def _judgment(line: str) -> str | None:
    bare = line.strip(MARKUP)
    return bare if bare in ("Yes", "No") else chosen(_LABELLED, line)


def _word(line: str) -> str | None:
    words = _ALONE.findall(_ECHO.sub(" ", line))
    return words[-1] if words else None
