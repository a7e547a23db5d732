"""A verifier's scores beside gold, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.errors import UsageError
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice
from workbench.services.measuring.accuracy import complete_run, outcome_column
from workbench.services.project import Project
from workbench.store import figures
from workbench.store.selection import check_names

if TYPE_CHECKING:
    from workbench.analysis.arrays import FloatArray, IntArray


class Scored(Struct, frozen=True, kw_only=True, eq=False):
    """One value an item of a selection, in order of row id.

    Attributes:
        run: The run whose verdicts they are.
        item: Row ids.
        outcome: The run's outcomes, -1 for none.
        score: Its scores, NaN for none.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Positions in ``names``.
    """

    verifier: str
    run: int
    item: IntArray
    question: IntArray
    outcome: IntArray
    score: FloatArray
    gold: IntArray
    group: IntArray
    names: list[str]


def scored(project: Project, verifier: str, selection: Selection, gold: GoldChoice, by: str | None = None) -> Scored:
    """The scores of a verifier's newest complete run.

    Raises:
        UsageError: There is no such run, or none of its verdicts has a score.
    """
    import numpy as np

    from workbench.analysis.arrays import align

    reader = project.database.reader()
    run = complete_run(project, verifier)
    keys, scores = ([], []) if run is None else figures.scores(reader, run)
    if run is None or not len(keys):
        raise UsageError(f"{verifier} gives no scores.", "A reward model or a similarity metric does.")
    columns = figures.gold_columns(reader, check_names(reader, selection), by, gold)
    items = np.asarray(columns.item, dtype=np.int64)
    return Scored(
        verifier=verifier,
        run=run,
        item=items,
        question=np.asarray(columns.question, dtype=np.int64),
        outcome=outcome_column(project, columns, run),
        score=align(items, keys, scores, missing=np.float64(np.nan)),
        gold=np.asarray(columns.gold, dtype=np.int8),
        group=np.asarray(columns.group, dtype=np.int32),
        names=columns.names,
    )
