"""Judges whose verdicts chose what belongs to a data set: noted, so that every table marks them."""

from __future__ import annotations

from workbench.errors import UsageError
from workbench.services.measuring.model_names import model_of, plain_name
from workbench.services.project import Project
from workbench.store import runs, selection_judges
from workbench.store.exporting import dataset_id

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
        own = {plain_name(name) for name in (verifier.name, model_of(verifier)) if name}
        found[verifier.name] = [dataset for dataset, names in known.items() if own & names]
    return {name: datasets for name, datasets in found.items() if datasets}


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
