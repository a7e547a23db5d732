"""Limits on computations, and the error of exceeding them."""

from __future__ import annotations

import re

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
