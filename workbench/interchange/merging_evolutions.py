"""Merges evolutions of tests: imports steps of other machines on the same problems.

A problem's steps are accepted if its texts, its initial tests and its pool of solutions are the same here, and if they
continue the steps here. The order of solutions in every vector is kept.
"""

from __future__ import annotations

from msgspec import structs

from workbench.coding.evolution import evolving
from workbench.coding.records.evolution import PoolStep
from workbench.coding.store import evolutions
from workbench.coding.store.evolutions import EvolutionRow
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.store.reading import dataset_id
from workbench.interchange.records import MergedEvolution, MergedRuns
from workbench.interchange.store import foreign
from workbench.interchange.store.foreign import Connection, ForeignEvolution, ForeignProblem, MalformedRow
from workbench.labelling.store import foreign as places
from workbench.runs.lease import claim_runner


def merge_evolutions(project: Project, theirs: Connection, report: MergedRuns) -> None:
    """Merge the steps of another database's evolutions, each problem in a separate transaction.

    Raises:
        RunError: A run is active here.
        MalformedRow: The settings of an evolution can't be read.
    """
    found = foreign.evolutions(theirs)
    if not found:
        return
    # A process that evolves tests in this database claims to be its runner, too.
    with claim_runner(project.database):
        for one in found:
            report.evolutions.append(_merge(project, theirs, one, report))


def _merge(project: Project, theirs: Connection, other: ForeignEvolution, report: MergedRuns) -> MergedEvolution:
    merged = MergedEvolution(name=other.name, dataset=other.dataset)
    try:
        with project.database.write() as connection:
            row = evolutions.bind(connection, dataset_id(connection, other.dataset), other.name, other.settings)
    except UsageError as error:
        merged.refused = str(error)
        return merged
    for one in foreign.evolved_problems(theirs, other.id):
        if not isinstance(one, ForeignProblem):
            merged.left_out += 1
            report.add_left_out(other.name, *one)
            continue
        try:
            _merge_problem(project, theirs, row, one, merged)
        except _DifferentStepsError as error:
            merged.conflicting += 1
            report.add_left_out(other.name, one.name, str(error))
        except MalformedRow as error:
            merged.left_out += 1
            report.add_left_out(other.name, one.name, str(error))
    merged.begun = len(evolutions.step_counts(project.database.reader(), row.id))
    merged.unbegun = evolving.count_not_begun(project, row)
    return merged


class _DifferentStepsError(Exception):
    """The problem has different steps here."""


def _merge_problem(
    project: Project, theirs: Connection, row: EvolutionRow, one: ForeignProblem, merged: MergedEvolution
) -> None:
    with project.database.write() as connection:
        question = places.find(connection, one.name)
        if question is None:
            raise MalformedRow("no such problem is here")
        if places.texts(connection, "type", question) != places.texts(theirs, "type", one.id):
            raise MalformedRow("the problem has other texts here")
        pool, *rest = one.steps
        if not isinstance(pool, PoolStep):
            raise MalformedRow("its steps are not those of an evolution")
        found = []
        for their_id, name in zip(pool.solutions, foreign.solution_names(theirs, pool.solutions), strict=True):
            item = places.find(connection, name)
            if item is None:
                raise MalformedRow("its pool has solutions that are not here")
            if places.texts(connection, "correctness", item) != places.texts(theirs, "correctness", their_id):
                raise MalformedRow("its pool has solutions with other texts here")
            suites = [row.settings.suite]
            if foreign.execution_inputs(connection, item, suites) != foreign.execution_inputs(theirs, their_id, suites):
                raise MalformedRow(f"its problem has other tests here (suite {row.settings.suite})")
            found.append(item)
        if sorted(found) != evolutions.pool(connection, question):
            raise MalformedRow("its pool has other solutions here")
        steps = [structs.replace(pool, solutions=tuple(found)), *rest]
        here = evolutions.steps_of(connection, row.id, question)
        common = min(len(here), len(steps))
        if here[:common] != steps[:common]:
            raise _DifferentStepsError("it has other steps here, which stay")
        for position, step in enumerate(steps[common:], common):
            evolving.write_step(connection, row, question, position, step)
    merged.unchanged += common
    merged.taken += len(steps) - common
