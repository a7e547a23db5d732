"""Targets of evaluations: reference answers, of which there may be several."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final

_LONGEST: Final = 10_000
"""Characters of a text that is tried as Python's: its parser takes room in proportion."""


def several(targets: Iterable[str]) -> str:
    """Several reference answers, any of which is right, as one text."""
    return " or ".join(targets)


def targets_of(target: object) -> list[Any] | None:
    """The members of a target that is a list, or Python's text of one; None for any other target."""
    if isinstance(target, str) and target.startswith("[") and len(target) <= _LONGEST:
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return target if isinstance(target, list) else None
