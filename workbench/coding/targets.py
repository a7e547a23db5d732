"""Which data set of code problems is meant, and which of its problems something can be written for."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from msgspec import Struct

from workbench.core.code import BASE
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.store import problem_list


class Dataset(NamedTuple):
    """A data set by row id and name."""

    id: int
    name: str


class Targets(Struct, frozen=True, kw_only=True):
    """Which problems are meant.

    Attributes:
        dataset: Of which data set; None for the only one there is.
        tasks: Their ids; none for all.
        limit: The first so many at most.
    """

    dataset: str | None = None
    tasks: tuple[str, ...] = ()
    limit: int | None = None


EVERY_PROBLEM: Final = Targets()
"""All problems of the only data set there is."""


def code_dataset(project: Project, wanted: str | None) -> Dataset:
    """The data set of that name, or the only one that holds code problems.

    Raises:
        UsageError: It is not clear which one is meant, or there is none.
    """
    found = [Dataset(*row) for row in problem_list.datasets(project.database.reader())]
    if not found:
        raise UsageError("There are no code problems here.", "workbench import DB problems.jsonl solutions.jsonl")
    names = ", ".join(one.name for one in found)
    if wanted is None and len(found) > 1:
        raise UsageError(f"Several data sets hold code problems: {names}.", "Say which: --dataset NAME")
    for one in found:
        if wanted in (None, one.name):
            return one
    raise UsageError(f"No data set {wanted!r} holds code problems.", f"There are: {names}.")


def problems_for(
    project: Project, dataset: Dataset, targets: Targets, *, needs_calls: bool
) -> tuple[list[int], dict[str, int]]:
    """Row ids of the problems that are meant, in the order of import, and how many others were left out, by code.

    Args:
        needs_calls: Only problems whose solutions can be called by a test, and not those of standard input.

    Raises:
        UsageError: There is no problem of one of the ids.
    """
    found = problem_list.tasks(project.database.reader(), dataset.id, BASE)
    known = {one.task_id for one in found}
    for task in targets.tasks:
        if task not in known:
            raise UsageError(f"{dataset.name!r} has no problem {task!r}.")
    meant = [one for one in found if not targets.tasks or one.task_id in targets.tasks]
    skipped: Counter[str] = Counter()
    chosen = []
    for one in meant:
        if one.language != "python":
            skipped["language"] += 1
        elif needs_calls and one.stdio:
            skipped["stdio"] += 1
        else:
            chosen.append(one.question)
    return chosen[: targets.limit], dict(skipped)
