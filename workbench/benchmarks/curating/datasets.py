"""Excludes whole data sets, includes them again, and renames them. Nothing is deleted."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from workbench.benchmarks.curating.pool import decide
from workbench.core.database.selection import dataset_names
from workbench.core.errors import UsageError, nearest
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store import datasets as store
from workbench.data.store.importing import discard_dead_imports
from workbench.labelling import coordinating
from workbench.measuring.store.curation import CurationDecision

_MAX_REASON: Final = 500


class DatasetChanged(Struct, frozen=True, kw_only=True):
    """The result of a change of a data set.

    Attributes:
        dataset: The data set's name after the change.
        items: Number of items excluded or included; items excluded before for another reason don't count.
        questions: Number of questions excluded or included.
    """

    dataset: str
    items: int = 0
    questions: int = 0


def take_out(project: Project, name: str, *, reason: str, by: str) -> DatasetChanged:
    """Exclude a data set. Its items are no longer in any table and its questions no longer in any list; the reason is
    stored with each.

    If the process is killed, the same call completes the work.

    Args:
        by: The person who decides it.

    Raises:
        UsageError: The data set does not exist, the reason is missing, or a run is in progress on the data set.
        StoreError: An import is running.
    """
    text = " ".join(reason.split())
    if not text or len(text) > _MAX_REASON:
        raise UsageError("Excluding a data set requires a reason.", f"Write why, in at most {_MAX_REASON} characters.")
    dataset = _require_idle(project, name)
    with project.database.reading() as reader:
        items, questions = store.included_items(reader, dataset), store.questions(reader, dataset, out=False)
    coordinating.exclude(project, items, reason="other", note=f"{store.NOTE}{text}", by=by)
    decide(project, [CurationDecision(question=one, reason=store.TAKEN_OUT, note=text) for one in questions], by)
    return DatasetChanged(dataset=name, items=len(items), questions=len(questions))


def take_in_again(project: Project, name: str, *, by: str) -> DatasetChanged:
    """Undo `take_out`; items that were excluded for another reason stay excluded. Arguments and errors are those of
    `take_out`.
    """
    dataset = _require_idle(project, name)
    with project.database.reading() as reader:
        items, questions = store.excluded_items(reader, dataset), store.questions(reader, dataset, out=True)
    if not items and not questions:
        raise UsageError(f"The data set {name!r} is not excluded.")
    coordinating.lift(project, items, by=by)
    decide(project, [CurationDecision(question=one, reason=None) for one in questions], by)
    return DatasetChanged(dataset=name, items=len(items), questions=len(questions))


def rename(project: Project, name: str, to: str) -> DatasetChanged:
    """Rename a data set, so that another one can have its name.

    Raises:
        UsageError: The data set does not exist, the new name is invalid or in use, a run on the data set is in progress
            or can be resumed, or annotators have its items in bundles, which refer to the name.
        StoreError: An import is running.
    """
    store.require_name(to)
    dataset = _require_idle(project, name)
    with project.database.write("full") as connection:
        if away := store.in_bundles(connection, dataset):
            raise UsageError(
                f"{away:,} of its items are in bundles, whose labels name the data set.",
                "Merge the bundles first, or exclude the data set and import the new one under another name.",
            )
        if paused := [use.run for use in store.active_runs(connection) if name in _selected_datasets(_selection(use))]:
            raise UsageError(
                f"Run {paused[0]} is paused and may continue under the name {name!r}.", "Let it finish, or cancel it."
            )
        if not store.rename(connection, dataset, to):
            raise UsageError(f"A data set {to!r} already exists.", "Choose another name.")
    return DatasetChanged(dataset=to)


def _require_idle(project: Project, name: str) -> int:
    discard_dead_imports(project.database)
    reader = project.database.reader()
    dataset = store.dataset_row_id(reader, name)
    if dataset is None:
        raise UsageError(f"There is no data set {name!r}.", nearest(name, dataset_names(reader), "Data sets"))
    for use in store.active_runs(reader):
        if use.state != "paused" and _selected_datasets(_selection(use)) <= {name}:
            raise UsageError(
                f"Run {use.run} is working on the data set.", "Wait until the run has finished, or pause or cancel it."
            )
    return dataset


def _selection(use: store.Use) -> Selection:
    return msgspec.json.decode(use.selection, type=Selection)


def _selected_datasets(selection: Selection) -> set[str]:
    return {one.value for one in selection.conditions if one.field == "dataset" and one.operator == "="}
