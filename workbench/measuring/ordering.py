"""The order in which the items of a batch are labelled: by chance, or those first that teach most.

It is stored with the slots and never shown to an annotator: what verifiers think of an item must not be guessed from
when it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.core.database import people
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.store import browsing, reading
from workbench.data.store.reading import SamplingFrame
from workbench.labelling.assigning import RANDOM, Ordering
from workbench.measuring.columns import Columns, columns
from workbench.runs.store import runs
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.statistics.records.report import BatchOrder, Sample

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import FloatArray, IntArray

    Array = npt.NDArray[Any]


def ordering_by(project: Project, order: BatchOrder) -> Ordering:
    """The order, ready to be given to `people.assign`; the verdicts are read when that asks for it."""
    if order == BatchOrder():
        return RANDOM
    return Ordering(str(order), _sample(order), partial(_ranked, project, order))


def _sample(order: BatchOrder) -> Sample:
    if order.name != "random":
        return "order"
    return "drawn" if order.per_subtype is None else "quota"


def _ranked(project: Project, order: BatchOrder, found: SamplingFrame, seed: int) -> IntArray:
    """The places of the items that are kept, the first first.

    Raises:
        UsageError: No chosen verifier has a complete run, or for ``uncertainty`` no scores with a known threshold.
    """
    from workbench.statistics.prediction_powered import by_priority, first_of_each

    known = columns(project)
    places = by_priority(_priority(project, known, found.item, order), reading.chance(found, seed))
    if order.per_subtype is not None:
        code = known.groups("subtype").code
        places = first_of_each(places, _of(found.item, known, code), order.per_subtype)
    return places[: order.limit]


def _priority(project: Project, known: Columns, items: IntArray, order: BatchOrder) -> FloatArray:
    import numpy as np

    from workbench.statistics.prediction_powered import disagreement, mean_known

    if order.name == "random" or not len(items):
        return np.zeros(len(items))
    reader = project.database.reader()
    numbers = _complete_runs(reader, order.verifiers)
    if order.name == "disagreement":
        if len(numbers) < 2:
            raise UsageError("One verifier can't disagree with itself.", "Name two, or use --order uncertainty.")
        return disagreement([_of(items, known, known.outcome(run)) for run in numbers])
    unsure = [one for run in numbers if (one := _uncertainty(reader, known, run, items)) is not None]
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


def _uncertainty(connection: people.Connection, known: Columns, run: int, items: IntArray) -> FloatArray | None:
    """How unsure a run is of each item; None where its scores have no threshold, or it has none."""
    from workbench.statistics.prediction_powered import uncertainty

    given = known.score(run)
    if given is None:
        return None
    score: FloatArray = _of(items, known, given)
    threshold = _threshold(connection, run, score)
    return None if threshold is None else uncertainty(_of(items, known, known.outcome(run)), score, threshold)


def _of(items: IntArray, known: Columns, values: Array) -> Array:
    """A column's values for some items, all of which have one."""
    import numpy as np

    return values[np.searchsorted(known.item, items)]


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
