"""Judges whose verdicts chose what belongs to a data set: noted, so that every table marks them."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Selection
from workbench.core.sets import SetName
from workbench.data.store.exporting import dataset_id
from workbench.measuring.columns import Columns
from workbench.measuring.model_names import model_of, plain_name
from workbench.measuring.store import selection_judges
from workbench.runs.store import runs

_LONGEST_NAME = 200


def judges(project: Project) -> dict[str, list[str]]:
    """Data set -> names of its judges."""
    found: dict[str, list[str]] = {}
    for judge in selection_judges.every(project.database.reader()):
        found.setdefault(judge.dataset, []).append(judge.name)
    return found


def chosen_with(project: Project) -> dict[str, list[str]]:
    """Verifier -> the data sets that it, or the model behind it, helped to choose; only those that did."""
    known = {dataset: set(map(plain_name, names)) for dataset, names in judges(project).items()}
    found = {}
    for verifier in runs.verifiers(project.database.reader()) if known else ():
        own = _names(verifier)
        found[verifier.name] = [dataset for dataset, names in known.items() if own & names]
    return {name: datasets for name, datasets in found.items() if datasets}


def among(project: Project, verifiers: Iterable[str], selection: Selection | None, known: Columns) -> list[str]:
    """Those of some verifiers that helped, or whose model helped, to choose the items of a selection, in their order.

    Raises:
        UsageError: The selection names something unknown.
    """
    kept = known.chosen(selection or Selection())
    chose = choosers(project, selection or Selection(), known.datasets(slice(None) if kept is None else kept))
    return [name for name in dict.fromkeys(verifiers) if name in chose]


def choosers(project: Project, selection: Selection, datasets: set[str]) -> set[str]:
    """Verifiers that helped, or whose model helped, to choose the sets a selection names or what is in data sets.

    Raises:
        UsageError: There is no such set.
    """
    chosen = {name for name, its in chosen_with(project).items() if not datasets.isdisjoint(its)}
    return chosen | of_sets(project, selection)


def of_sets(project: Project, selection: Selection) -> set[str]:
    """Verifiers that helped, or whose model helped, to choose the sets a selection names.

    Raises:
        UsageError: There is no such set.
    """
    reader = project.database.reader()
    named = [SetName.parse(one.value) for one in selection.conditions if one.field == "set" and one.operator == "="]
    numbers = {run for name in named for run in sets.require(reader, name).runs}
    if not numbers:
        return set()
    chose = {name for run in runs.every(reader) if run.id in numbers for name in _names(run.verifier)}
    return {verifier.name for verifier in runs.verifiers(reader) if chose & _names(verifier)}


def _names(verifier: ConfiguredVerifier) -> set[str]:
    """Its own name and that of its model, made plain."""
    return {plain_name(name) for name in (verifier.name, model_of(verifier)) if name}


def note(project: Project, dataset: str, names: tuple[str, ...]) -> int:
    """Note judges by the name of the verifier or of its model; returns how many were new.

    Raises:
        UsageError: There is no such data set, or a name is empty or too long.
    """
    for name in names:
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise UsageError("A judge needs a name of 1 to 200 characters.", "Name its verifier or its model.")
    with project.database.write() as connection:
        return selection_judges.add(connection, dataset_id(connection, dataset), names)


def forget(project: Project, dataset: str, names: tuple[str, ...]) -> int:
    """Forget judges; returns how many were noted.

    Raises:
        UsageError: There is no such data set.
    """
    with project.database.write() as connection:
        return selection_judges.remove(connection, dataset_id(connection, dataset), names)
