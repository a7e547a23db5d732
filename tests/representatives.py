"""Matrices of cases: a few that cover each row and each column are in every run, the others in soak."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def representatives(cases: Iterable[Any], by: Callable[[Any], Iterable[object]] = tuple) -> list[Any]:
    """Cases for `pytest.mark.parametrize`; each feature of a case is in one that is not marked ``soak``.

    Args:
        by: A case's features, one a dimension. Cases that are tuples are in a matrix of as many dimensions.
    """
    rows = [(case, {(place, repr(one)) for place, one in enumerate(by(case))}) for case in cases]
    kept, seen = set[int](), set[tuple[int, str]]()
    # First along the diagonal: rows and columns share their cases.
    for only_new in (True, False):
        for number, (_, features) in enumerate(rows):
            if features - seen and not (only_new and features & seen):
                kept.add(number)
                seen |= features
    return [case if number in kept else _in_soak(case) for number, (case, _) in enumerate(rows)]


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for `pytest.mark.parametrize`: of each ``step`` the first, the others marked ``soak``."""
    return [case if number % step == 0 else _in_soak(case) for number, case in enumerate(cases)]


def _in_soak(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.soak)
