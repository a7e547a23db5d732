"""Evolutions by name and problem: where the tests of their suites come from, and what they have seen of a pool."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from workbench.coding.records.evolution import Evolved
from workbench.coding.store import evolutions
from workbench.coding.store.evolutions import EvolutionRow
from workbench.core.project import Project


class SuiteOrigin(NamedTuple):
    """A problem's tests in a suite of an evolution.

    Attributes:
        evolution: Its name.
        rounds: The round each test came with, in the suite's order; 0 for those it began with.
        outcomes: Letters of the solutions in its pool, by the completion's row id.
    """

    evolution: str
    rounds: tuple[int, ...]
    outcomes: dict[int, str]


class EvolutionName(NamedTuple):
    """An evolution; its name tells it from others of its data set."""

    dataset: str
    name: str


def evolution_names(project: Project) -> tuple[EvolutionName, ...]:
    """All evolutions, the oldest first."""
    return tuple(EvolutionName(row.dataset, row.name) for row in evolutions.every(project.database.reader()))


def problems_in(project: Project, wanted: EvolutionName) -> array[int]:
    """Row ids of the problems that an evolution has begun with, in the order of import."""
    reader = project.database.reader()
    rows = [row for row in evolutions.named(reader, wanted.name) if row.dataset == wanted.dataset]
    return array("q", sorted(question for row in rows for question in evolutions.reached(reader, row.id)))


def origin_of(project: Project, question: int, suite: str) -> SuiteOrigin | None:
    """Where a problem's tests of a suite come from; None where no evolution has made them."""
    reader = project.database.reader()
    for row in evolutions.every(reader):
        names = evolutions.suite_names(row.name, row.settings.rounds)
        found = evolutions.evolved(reader, row.id, [question]) if suite in names else []
        if found and found[0].final is not None:
            return _origin(row, found[0], min(names.index(suite) + 1, row.settings.rounds))
    return None


def _origin(row: EvolutionRow, one: Evolved, round: int) -> SuiteOrigin:
    assert one.final is not None
    kept = one.final.snapshots[round].kept
    steps = one.origins
    return SuiteOrigin(
        evolution=row.name,
        rounds=tuple(0 if (step := steps[place]) is None else step.round for place in kept),
        outcomes={
            item: "".join(letters[place] for place in kept)
            for item, letters in zip(one.pool.solutions, one.outcomes, strict=True)
        },
    )
