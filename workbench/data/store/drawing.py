"""Items drawn by chance, spread evenly over their questions."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.database.gathered import vector
from workbench.core.database.selection import IS_CHECK, check_names, compile_selection, items_for
from workbench.core.selection import Selection

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.int64]
    Places = npt.NDArray[np.integer[Any]]
    Hashed = npt.NDArray[np.uint64]
    Floats = npt.NDArray[np.float64]

SEED = 0
"""Of a draw, unless another is asked for."""

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = 2**64


class SamplingFrame(NamedTuple):
    """What is drawn from: row ids of completions, ascending, and of their questions."""

    item: Vector
    question: Vector

    def of(self, places: Places) -> SamplingFrame:
        """Some of it."""
        return SamplingFrame(self.item[places], self.question[places])


def frame(connection: sqlite3.Connection, selection: Selection, *, checks: bool = True) -> SamplingFrame:
    """All items that meet the conditions, whatever the limit.

    Args:
        checks: Whether checks are among them.

    Raises:
        UsageError: See `compile_selection` and `check_names`.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    where += "" if checks else f" AND NOT {IS_CHECK}"
    item, question = connection.execute(
        "SELECT group_concat(id), group_concat(question_id) FROM (SELECT c.id, c.question_id "
        f"FROM {items_for(where)} WHERE {where} ORDER BY c.id)",
        parameters,
    ).fetchone()
    return SamplingFrame(vector(item), vector(question))


def any_item(connection: sqlite3.Connection) -> bool:
    """Whether there is an item at all, excluded or not."""
    return connection.execute("SELECT 1 FROM completions LIMIT 1").fetchone() is not None


def chance(found: SamplingFrame, seed: int = SEED) -> Floats:
    """Each item's place between 0 and 1; those with the least are drawn first, however many are wanted.

    The items of a question stand at equal distances, in an order by chance and from a start by chance. So each item is
    equally likely to be among the first N, a question with k of n items has k N / n of them there, up or down to a
    whole number, and the first N of a seed are the first N of any longer draw. Source: systematic sampling with
    probability proportional to size, Madow, "On the theory of systematic sampling, II", Annals of Mathematical
    Statistics 20, 1949, question by question.
    """
    import numpy as np

    order = np.lexsort((_hashed(found.item, seed, 1), found.question))
    _, first, place, size = np.unique(found.question[order], return_index=True, return_inverse=True, return_counts=True)
    start = _hashed(found.question[order][first], seed, 2) / _WORD
    where = np.empty(len(order))
    where[order] = (np.arange(len(order)) - first[place] + start[place]) / size[place]
    return where


def in_order(found: SamplingFrame, seed: int = SEED) -> SamplingFrame:
    """All items in the order in which they are drawn."""
    import numpy as np

    return found.of(np.argsort(chance(found, seed), kind="stable"))


def drawn(found: SamplingFrame, most: int, seed: int = SEED) -> SamplingFrame:
    """The first ``most`` items by `chance`."""
    chosen = in_order(found, seed)
    return SamplingFrame(chosen.item[:most], chosen.question[:most])


def _hashed(values: Vector, seed: int, purpose: int) -> Hashed:
    """Numbers that look random but follow from value, seed and purpose: Steele, Lea and Flood's SplitMix64, 2014."""
    import numpy as np

    found = values.astype(np.uint64)
    for number in (purpose, seed % _WORD):
        found = found + np.uint64(_scrambled(number))
        found = (found ^ (found >> np.uint64(30))) * np.uint64(_FIRST)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(_SECOND)
        found = found ^ (found >> np.uint64(31))
    return found


def _scrambled(number: int) -> int:
    number = (number + _STEP) % _WORD
    number = (number ^ (number >> 30)) * _FIRST % _WORD
    number = (number ^ (number >> 27)) * _SECOND % _WORD
    return number ^ (number >> 31)
