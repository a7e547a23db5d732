"""Ratings for tests: written as tables, or drawn from a model of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import IntArray

KRIPPENDORFF = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Krippendorff's example: four people, twelve items, five values; a point is a missing one."""

FLEISS = """
0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1 /
7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7
"""
"""Fleiss' example: how many of fourteen people put each of ten items in each of five categories."""


def by_person(rows: Sequence[str], categories: int) -> Ratings:
    """Ratings from a line a person, values from 1."""
    cells = [
        (item, person, int(value) - 1)
        for person, row in enumerate(rows)
        for item, value in enumerate(row.split())
        if value != "."
    ]
    return of_cells(cells, len(rows[0].split()), len(rows), categories)


def by_counts(table: str) -> Ratings:
    """Ratings from how often each category was chosen on each item."""
    rows = [[int(number) for number in row.split()] for row in table.split("/")]
    cells = []
    for item, row in enumerate(rows):
        said = [category for category, often in enumerate(row) for _ in range(often)]
        cells += [(item, person, category) for person, category in enumerate(said)]
    return of_cells(cells, len(rows), max(sum(row) for row in rows), len(rows[0]))


def of_two(table: Sequence[Sequence[int]]) -> Ratings:
    """Two people's ratings: how often the first said the row and the second the column."""
    cells, item = [], 0
    for first, row in enumerate(table):
        for second, often in enumerate(row):
            for _ in range(often):
                cells += [(item, 0, first), (item, 1, second)]
                item += 1
    return of_cells(cells, item, 2, len(table))


def of_cells(cells: Sequence[tuple[int, int, int]], items: int, people: int, categories: int) -> Ratings:
    """Ratings from (item, person, category)."""
    columns = np.array(cells, dtype=np.int64).reshape(-1, 3)
    return Ratings(
        item=columns[:, 0],
        annotator=columns[:, 1],
        value=columns[:, 2],
        items=items,
        annotators=people,
        categories=categories,
    )


def of_grid(grid: Mapping[tuple[int, int], int], items: int, people: int, categories: int) -> Ratings:
    """Ratings from (item, person) -> category."""
    return of_cells([(item, person, value) for (item, person), value in grid.items()], items, people, categories)


@st.composite
def grids(draw: st.DrawFn, items: int = 8, people: int = 5, categories: int = 4) -> Ratings:
    """Any ratings of a few people, with gaps; at least one rating."""
    places = st.tuples(st.integers(0, items - 1), st.integers(0, people - 1))
    grid = draw(st.dictionaries(places, st.integers(0, categories - 1), min_size=1, max_size=items * people))
    return of_grid(grid, items, people, categories)


def drawn(truth: IntArray, accuracy: Sequence[float], labels: int, categories: int, seed: int) -> Ratings:
    """Ratings of people who are right with their own chance, else any other category alike.

    Args:
        truth: Each item's category.
        accuracy: Each person's chance to be right.
        labels: People an item has, drawn anew for each.
    """
    generator = np.random.default_rng(seed)
    cells = []
    for item, true in enumerate(truth.tolist()):
        for person in generator.permutation(len(accuracy))[:labels].tolist():
            right = generator.random() < accuracy[person]
            wrong = (true + 1 + int(generator.integers(categories - 1))) % categories
            cells.append((item, person, true if right else wrong))
    return of_cells(cells, len(truth), len(accuracy), categories)
