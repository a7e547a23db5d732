"""Select representatives of test matrices: ``@pytest.mark.few`` keeps a few cases in every run, the others run in soak.

Without a number it keeps cases that cover each value of each parameter; ``few(5)`` keeps every fifth case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that representatives cover as ``soak``, before pytest selects by marks."""
    tests = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("soak"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("few")
        assert marker is not None
        kept = set(range(0, len(cases), *marker.args)) if marker.args else covering(map(features, cases))
        for number, case in enumerate(cases):
            if number not in kept:
                case.add_marker("soak")


def features(case: pytest.Item) -> frozenset[tuple[str, str]]:
    """Return a case's parameter values."""
    assert isinstance(case, pytest.Function)
    return frozenset((name, repr(value)) for name, value in case.callspec.params.items())


def covering(matrix: Iterable[frozenset[tuple[str, str]]]) -> set[int]:
    """Return the indices of a few cases that cover all features, preferring cases that share none (the diagonal)."""
    cases = list(matrix)
    kept, seen = set[int](), set[tuple[str, str]]()
    for only_new in (True, False):
        for number, case in enumerate(cases):
            if case - seen and not (only_new and case & seen):
                kept.add(number)
                seen |= case
    return kept
