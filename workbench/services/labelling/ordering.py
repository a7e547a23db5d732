"""The order in which the items of a batch are labelled: by chance, or those first that teach most.

It is stored with the slots and never shown to an annotator: what verifiers think of an item must not be guessed from
when it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.annotation.ordering import RANDOM, Ordering, random_position
from workbench.errors import UsageError
from workbench.model.ordering import Order
from workbench.model.selection import Selection
from workbench.model.study import JUDGES_NOTHING
from workbench.services.project import Project
from workbench.store import browsing, figures, people, runs
from workbench.store.batches import Chosen

if TYPE_CHECKING:
    from workbench.analysis.arrays import FloatArray, IntArray


def ordering_by(project: Project, order: Order) -> Ordering:
    """The order, ready to be given to `people.assign`; the verdicts are read when that asks for it."""
    if order == Order():
        return RANDOM
    return Ordering(str(order), partial(_positions, project, order))


def _positions(project: Project, order: Order, items: Sequence[Chosen]) -> list[int | None]:
    """The rank of each item that is kept.

    Raises:
        UsageError: No chosen verifier has a complete run, or for ``uncertainty`` no scores with a known threshold.
    """
    from workbench.analysis.ordering import by_priority, first_of_each

    reader = project.database.reader()
    numbers = _array([item.completion for item in items])
    places = by_priority(_priority(reader, numbers, order), _array([random_position(item.key) for item in items]))
    if order.per_subtype is not None:
        places = first_of_each(places, _subtypes(reader, numbers), order.per_subtype)
    ranks: list[int | None] = [None] * len(items)
    for rank, place in enumerate(places[: order.limit].tolist()):
        ranks[place] = rank
    return ranks


def _priority(connection: people.Connection, items: IntArray, order: Order) -> FloatArray:
    import numpy as np

    from workbench.analysis.ordering import disagreement, mean_known

    if order.name == "random" or not len(items):
        return np.zeros(len(items))
    numbers = _complete_runs(connection, order.verifiers)
    if order.name == "disagreement":
        if len(numbers) < 2:
            raise UsageError("One verifier can't disagree with itself.", "Name two, or use --order uncertainty.")
        return disagreement([_outcomes(connection, run, items) for run in numbers])
    unsure = [one for run in numbers if (one := _uncertainty(connection, run, items)) is not None]
    if not unsure:
        raise UsageError(
            "None of these verifiers gives scores with a threshold.",
            "A voting judge, a similarity metric and a reward model with a threshold do; or use --order disagreement.",
        )
    return mean_known(unsure)


def _complete_runs(connection: people.Connection, verifiers: Sequence[str]) -> list[int]:
    complete = browsing.newest_runs(connection, without=JUDGES_NOTHING)
    unknown = set(verifiers) - set(complete.values())
    if unknown or not complete:
        known = ", ".join(sorted(complete.values())) or "none yet"
        raise UsageError(
            f"No complete run of {', '.join(sorted(unknown)) or 'any verifier'}.",
            f"Complete: {known}. Start one: workbench verify DB NAME",
        )
    return [number for number, name in complete.items() if not verifiers or name in verifiers]


def _outcomes(connection: people.Connection, run: int, items: IntArray) -> IntArray:
    import numpy as np

    from workbench.analysis.arrays import align

    return align(items, *figures.outcomes(connection, run), missing=np.int8(-1))


def _uncertainty(connection: people.Connection, run: int, items: IntArray) -> FloatArray | None:
    """How unsure a run is of each item; None where its scores have no threshold, or it has none."""
    import numpy as np

    from workbench.analysis.arrays import align
    from workbench.analysis.ordering import uncertainty

    score = align(items, *figures.scores(connection, run), missing=np.float64(np.nan))
    threshold = _threshold(connection, run, score)
    return None if threshold is None else uncertainty(_outcomes(connection, run, items), score, threshold)


def _threshold(connection: people.Connection, run: int, score: FloatArray) -> float | None:
    """The verifier's own threshold; for shares (the votes of a judge, a probability) one half."""
    import numpy as np

    row = runs.get(connection, run)
    own = None if row is None else row.verifier.config.get("threshold")
    if isinstance(own, int | float):
        return float(own)
    known = score[np.isfinite(score)]
    shares = bool(len(known)) and known.min() >= 0 and known.max() <= 1
    return 0.5 if shares else None


def _subtypes(connection: people.Connection, items: IntArray) -> IntArray:
    """Each item's answer subtype as a number; those without one are a subtype of their own."""
    import numpy as np

    from workbench.analysis.arrays import align

    columns = figures.gold_columns(connection, Selection(), "subtype", "final")
    return align(items, columns.item, columns.group, missing=np.int64(0))


def _array(values: Sequence[int]) -> IntArray:
    import numpy as np

    return np.asarray(values, dtype=np.int64)
