"""What the rules refuse to compute, and the limits that say so."""

from __future__ import annotations

MAX_CHARACTERS = 2_000
"""Characters of one final answer."""
MAX_DIGITS = 40
"""Digits in one run."""
MAX_EXPONENT = 999
"""Size of a written exponent."""
MAX_BITS = 4_096
"""Size of an exact integer a power may grow to."""


class TooComplex(Exception):
    """The text asks for more work than a rule may spend on it."""
