"""Matrices of cases: ``@pytest.mark.few`` keeps a few of them in every run; the others are in soak.

Without a number it keeps what covers each value of each parameter, ``few(5)`` keeps every fifth case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as ``soak`` what others of the same test stand for, before pytest selects by marks."""
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
    """A case's values, by parameter."""
    assert isinstance(case, pytest.Function)
    return frozenset((name, repr(value)) for name, value in case.callspec.params.items())


def covering(matrix: Iterable[frozenset[tuple[str, str]]]) -> set[int]:
    """Places of a few cases that have each feature; those along the diagonal, which share none, come first."""
    cases = list(matrix)
    kept, seen = set[int](), set[tuple[str, str]]()
    for only_new in (True, False):
        for number, case in enumerate(cases):
            if case - seen and not (only_new and case & seen):
                kept.add(number)
                seen |= case
    return kept
