"""The columns every figure is counted from: items' properties as integers, and one dense vector a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.model.report import NO_REASON
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice, Outcome
from workbench.services.project import Project
from workbench.store import columns as stored
from workbench.store import figures
from workbench.store.selection import check_names, chosen_ids

if TYPE_CHECKING:
    from workbench.analysis.arrays import BoolArray, FloatArray, IntArray


class Groups(Struct, frozen=True, kw_only=True, eq=False):
    """Items by one property.

    Attributes:
        code: Each item's position in ``names``.
        names: What the positions stand for; some may have no item.
    """

    code: IntArray
    names: tuple[str, ...]


class Columns:
    """All visible items, in order of row id, and what verifiers said of them.

    Attributes:
        item: Row ids of the completions (int64).
        question: Row ids of their questions, the clusters of every interval (int64).
        characters: Lengths of the completions in characters, -1 where unknown (int32).
    """

    def __init__(self, project: Project) -> None:
        import numpy as np

        self._reader = project.database.reader()
        rows = stored.item_rows(self._reader, *stored.EVERY_ROW)
        self.item: IntArray = np.asarray(rows.item, dtype=np.int64)
        self.question: IntArray = np.asarray(rows.question, dtype=np.int64)
        self.characters: IntArray = np.asarray(rows.characters, dtype=np.int32)
        self._rows = rows

    def gold(self, choice: GoldChoice) -> IntArray:
        """1 correct, 0 incorrect, -1 none (int8)."""
        import numpy as np

        found = {"final": self._rows.final, "people": self._rows.people, "imported": self._rows.imported}
        return np.asarray(found[choice], dtype=np.int8)

    def groups(self, field: str) -> Groups:
        """Items by ``type``, ``subtype``, ``domain``, ``source``, ``model`` or ``dataset``."""
        import numpy as np

        return Groups(code=np.asarray(self._rows.codes[field], dtype=np.int32), names=tuple(self._rows.names[field]))

    def outcome(self, run: int | None) -> IntArray:
        """A run's `Outcome` of each item, -1 where it has none (int8); "incorrect" throughout for no run."""
        import numpy as np

        from workbench.analysis.arrays import align

        if run is None:
            return np.full(len(self.item), Outcome.INCORRECT, dtype=np.int8)
        return align(self.item, *figures.outcomes(self._reader, run), missing=np.int8(-1))

    def score(self, run: int | None) -> FloatArray | None:
        """A run's scores, NaN where it gave none (float64); None for a run without any."""
        import numpy as np

        from workbench.analysis.arrays import align

        scored, scores = ((), ()) if run is None else figures.scores(self._reader, run)
        return align(self.item, scored, scores, missing=np.float64(np.nan)) if len(scored) else None

    def reasons(self, run: int | None) -> Groups:
        """Items by the reason of a run's verdict; those without a verdict under `NO_REASON` too."""
        import numpy as np

        from workbench.analysis.arrays import align

        if run is None:
            return Groups(code=np.zeros(len(self.item), dtype=np.int32), names=(NO_REASON,))
        judged, place, names = figures.reasons(self._reader, run)
        names = [NO_REASON, *names]
        found = align(self.item, judged, np.asarray(place, dtype=np.int32) + 1, missing=np.int32(0))
        return Groups(code=found, names=tuple(names))

    def chosen(self, selection: Selection) -> BoolArray | None:
        """Which items a selection names; None for all of them.

        Raises:
            UsageError: The selection names something unknown.
        """
        import numpy as np

        if not selection.conditions and selection.limit is None:
            return None
        wanted = chosen_ids(self._reader, check_names(self._reader, selection))
        return np.isin(self.item, np.asarray(wanted, dtype=np.int64), assume_unique=True)


def columns(project: Project) -> Columns:
    """The columns as the database stands now."""
    return Columns(project)
