"""VerifyBench's judge (arXiv 2505.15801): an analysis that ends in a line "Final Judgment: Yes" or "… No"."""

from __future__ import annotations

import re
from functools import partial

from workbench.verifiers.judges.parsers.base import (
    JUDGMENT,
    MARKUP,
    Reading,
    by_lines,
    reading_of,
    single_match,
)

_OPENING = r"""[ \t*_`"'“‘«(\[<{$]{0,8}(?:\\[a-z]{2,8}\{){0,2}[*_"']{0,3}"""
_AROUND = r"""[ \t"'“”‘’«»`*_()\[\]{}]{0,5}"""
_OR = (
    rf"{_AROUND}(?:[/|&]|,?[ \t]*\b(?:or|and|nor|but)[ \t]|,(?=[ \t]*no[ \t.!*_]*$))"
    rf"{_AROUND}(?:\\[a-z]{{2,8}}\{{)?{_AROUND}(?i:yes|no)(?![^\W_])"
)
_NO_ECHO = rf"(?![^\W_]|-[^\W_])(?!{_OR})"
_ECHO = re.compile(rf"(?<![^\W_])(?i:yes|no){_OR}")
_LABELLED = re.compile(rf"{JUDGMENT}{_OPENING}(yes|no){_NO_ECHO}", re.IGNORECASE)
_ALONE = re.compile(rf"(?<![^\W_])(?<![/|-])(?<!\bor )(?<!\b[Nn]ot )(?<!\b[Nn]ot a )(Yes|No){_NO_ECHO}(?!/)")


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Parse the last "Yes" or "No" anywhere, within words, too: "Note" counts as No."""
    yes, no = raw.rfind("Yes"), raw.rfind("No")
    return reading_of(None if yes == no else yes > no)


def _word_of_line(line: str) -> str | None:
    bare = line.strip(MARKUP)
    return bare.lower() if bare in ("Yes", "No") else single_match(_LABELLED, line)


strict = by_lines(_word_of_line, lambda line: single_match(_ALONE, _ECHO.sub(" ", line)))
"""Read the last line that is a judgment or only Yes or No; else the last Yes or No that begins a statement."""
labelled = by_lines(partial(single_match, _LABELLED))
"""Read the last line with a judgment after the label "Final Judgment:"."""
