"""How a pass matrix is laid out: the best solutions first, equal ones together, easy tests before hard ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from workbench.core.code import BROKEN, NOT_RUN, PASS


class Cluster(NamedTuple):
    """Solutions with the same letter for every test.

    Attributes:
        members: Their places in the input, ascending.
        outcomes: Their letters, in the suite's order; "" where they have not been run.
    """

    members: tuple[int, ...]
    outcomes: str


class Arrangement(NamedTuple):
    """Rows and columns in order.

    Attributes:
        columns: Positions of the tests.
        clusters: The rows: best score first, then alike beside alike; what has not been run stands last.
        rates: Share of solutions that pass each test, by position; None where it was run on none, or is broken.
    """

    columns: tuple[int, ...]
    clusters: tuple[Cluster, ...]
    rates: tuple[float | None, ...]


def arranged(outcomes: Sequence[str], tests: int, *, by_rate: bool = True) -> Arrangement:
    """Lay solutions out against tests.

    Args:
        outcomes: A solution's letters each, in the suite's order; tests beyond its end count as not run.
        tests: How many tests there are.
        by_rate: Columns by falling pass rate, ties in the suite's order; else all in the suite's order.
    """
    rates = tuple(_rate([one[test] for one in outcomes if test < len(one)]) for test in range(tests))
    columns = tuple(sorted(range(tests), key=lambda test: -_known(rates[test]))) if by_rate else tuple(range(tests))

    def place(row: int) -> tuple[object, ...]:
        letters = outcomes[row]
        row_letters = [letters[test] if test < len(letters) else NOT_RUN for test in columns]
        return not letters, -letters.count(PASS), [(letter != PASS, letter) for letter in row_letters], letters, row

    order = sorted(range(len(outcomes)), key=place)
    clusters = tuple(
        Cluster(tuple(members), letters) for letters, members in groupby(order, key=lambda row: outcomes[row])
    )
    return Arrangement(columns, clusters, rates)


def _rate(letters: Sequence[str]) -> float | None:
    run = [letter for letter in letters if letter not in (NOT_RUN, BROKEN)]
    return run.count(PASS) / len(run) if run else None


def _known(rate: float | None) -> float:
    """A pass rate to sort by; a test that was run on none is the hardest."""
    return -1.0 if rate is None else rate


def telling(first: str, second: str) -> list[int]:
    """Positions of the tests that one of two solutions passes and the other does not; both must have been run on it."""
    return [
        test
        for test, pair in enumerate(zip(first, second, strict=False))
        if {NOT_RUN, BROKEN}.isdisjoint(pair) and (pair[0] == PASS) != (pair[1] == PASS)
    ]
