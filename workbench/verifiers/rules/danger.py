"""Limits on computations, and the error of exceeding them."""

from __future__ import annotations

import re

MAX_CHARACTERS = 2_000
"""Characters of one final answer."""
MAX_DIGITS = 40
"""Digits in one run."""
MAX_EXPONENT = 999
"""Size of a written exponent."""
MAX_BITS = 4_096
"""Size of an exact integer a power may grow to."""


_LONG_RUN = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")


class TooComplex(Exception):
    """The text needs more work than a rule may spend on it."""


def refuse_long(text: str) -> None:
    """Reject text that is too long to be parsed as a number or expression.

    Raises:
        TooComplex: the text is too long, or holds a run of digits that nobody would write by hand.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooComplex(f"{len(text)} characters")
    if len(text) > MAX_DIGITS and _LONG_RUN.search(text):
        raise TooComplex(f"more than {MAX_DIGITS} digits")
