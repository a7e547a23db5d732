"""A pass matrix: next to each solution's name one coloured letter per test, one or two cells wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, NamedTuple, cast

from msgspec import structs
from rich.cells import cell_len

from workbench.app.tui.kit.columns import TableColumn
from workbench.app.tui.kit.matrix_table import NAME, Matrix, MatrixRow
from workbench.core.code import OUTCOMES
from workbench.core.text.figures import GLYPHS, NONE, shade
from workbench.tables.document import Cell, Tone

FORGEABLE: Final = "~"
"""Marks tests that are judged inside the sandbox."""

_ROUNDS: Final = "0123456789+"
"""Characters for the rounds of an evolution, by round; later ones share the last."""

_WIDE_CELLS: Final = 2  # cells a test, where all tests have room for them
_MIN_NAME: Final = 8  # cells to which names are shortened if all tests are then visible


class PassTest(NamedTuple):
    """One test as a column.

    Attributes:
        position: The test's index in the suite, from 0; the cursor stays on it when columns change.
        rate: Share of solutions that pass the test; None if it was not run.
        forgeable: Whether the test is judged inside the sandbox, where a solution could forge a pass.
        round: The round of an evolution that added it.
    """

    position: int
    rate: float | None
    forgeable: bool = False
    round: int | None = None


def grid_row(solution: int, lead: Sequence[Cell], letters: str) -> MatrixRow:
    """Return the row of a solution, or of a cluster of equal ones.

    Args:
        solution: The row id of the (first) solution; the cursor stays on it when rows change.
        lead: Cells left of the letters, its name first.
        letters: One letter per test: its outcome.
    """
    # A blank sets the last cell apart from the letters, whose tones only a grid has.
    spaced = (structs.replace(cell, text=f"{cell.text} ") for cell in lead[1:])
    return MatrixRow(str(solution), (lead[0], *spaced, *(Cell(letter, cast("Tone", letter)) for letter in letters)))


class PassGrid(Matrix):
    """Solutions × tests; above the tests are their numbers, written vertically, and their pass rates.

    Attributes:
        tests: The tests, in the order of their columns.
    """

    GAP = 0
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"virtual-table--{letter}" for letter in OUTCOMES}
    DEFAULT_CSS = """
    PassGrid {
        overflow-y: scroll;
        & > .virtual-table--p { background: $success-muted; color: $text-success; }
        & > .virtual-table--f { background: $error-muted; color: $text-error; text-style: bold; }
        & > .virtual-table--e { background: $warning-muted; color: $text-warning; text-style: bold; }
        & > .virtual-table--t { background: $accent-muted; color: $text-accent; text-style: bold; }
        & > .virtual-table--s { background: $secondary-muted; color: $text-secondary; text-style: bold italic; }
        & > .virtual-table--x { background: $error; color: $background; text-style: bold; }
        & > .virtual-table--n, & > .virtual-table--b { color: $text-muted; }
    }
    """
    tests: Sequence[PassTest] = ()

    def put_tests(self, heads: Sequence[str], tests: Sequence[PassTest], rows: Sequence[MatrixRow]) -> None:
        """Show solutions and tests; the cursor stays on its solution and test.

        Args:
            heads: Titles of the cells left of the letters.
        """
        self.tests = tests
        titles = [heads[0], *(f"{head} " for head in heads[1:])]
        names, *widths = (
            max(cell_len(title), *(cell_len(row.cells[place].text) for row in rows), 1)
            for place, title in enumerate(titles)
        )
        taken = names + sum(widths) + 2
        pitch = _WIDE_CELLS if taken + _WIDE_CELLS * len(tests) <= self.scrollable_size.width else 1
        digits = len(str(len(tests)))
        further = dict(_further_lines(tests))
        below = (*[""] * (digits - 1), *further)
        layout = [TableColumn(NAME, heads[0], min(names, _MIN_NAME), names, below=below)]
        layout += [TableColumn(title.strip(), title, 0, 0, "right") for title in titles[1:]]
        for place, test in enumerate(tests):
            first, *lines = [*str(test.position + 1).rjust(digits)]
            lines += [signs[place] for signs in further.values()]
            layout.append(TableColumn(str(test.position), first, pitch, pitch, "right", below=tuple(lines)))
        self.put(layout, rows)
        if self.column_key is None or not self.column_key.isdecimal():
            self.column = min(len(heads), len(self.columns))

    @property
    def solution(self) -> int | None:
        """Return the row id of the solution under the cursor; None without rows."""
        return None if self.row_key is None else int(self.row_key)

    @property
    def test(self) -> int | None:
        """Return the position of the test under the cursor; that of the first one left of the tests."""
        key = self.column_key or ""
        return int(key) if key.isdecimal() else self.tests[0].position if self.tests else None


def _further_lines(tests: Sequence[PassTest]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below the numbers: their names, and a sign per test."""
    if len({test.forgeable for test in tests}) == 2:
        yield "forgeable", [FORGEABLE if test.forgeable else " " for test in tests]
    if any(test.round is not None for test in tests):
        rounds = ("?" if test.round is None else _ROUNDS[min(test.round, len(_ROUNDS) - 1)] for test in tests)
        yield "round", [*rounds]
    yield "pass rate", [NONE if test.rate is None else GLYPHS[shade(test.rate, 0, 1)] for test in tests]
