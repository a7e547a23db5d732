"""What is in a part of the data: counts of what has gold, and whether its questions are pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.verdict import GoldChoice
from workbench.measuring.columns import Columns
from workbench.measuring.pairing import unpaired_in_words
from workbench.measuring.records.paper import COUNTS, CountOf

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray

CountKey = tuple[CountOf, str | None]
"""What is counted, and the answer type or domain it is counted in."""


class GoldItems(Struct, frozen=True, kw_only=True, eq=False):
    """The items of a part that have gold.

    Attributes:
        rows: Their places among all items (int64).
        question: Row ids of their questions.
        gold: 1 correct, 0 incorrect.
        without_gold: How many items of the part have none.
    """

    rows: IntArray
    question: IntArray
    gold: IntArray
    without_gold: int

    @classmethod
    def of(
        cls, everything: Columns, gold: GoldChoice, kept: BoolArray | None = None, *, dataset: str | None = None
    ) -> GoldItems:
        """All items, those that are kept, or those of a data set."""
        import numpy as np

        truth = everything.gold(gold)
        members = np.ones(len(truth), dtype=bool) if kept is None else kept
        if dataset is not None:
            groups = everything.groups("dataset")
            members = members & (groups.code == (groups.names.index(dataset) if dataset in groups.names else -1))
        rows = np.flatnonzero(members & (truth >= 0))
        return cls(
            rows=rows,
            question=everything.question[rows],
            gold=truth[rows],
            without_gold=int(members.sum()) - len(rows),
        )


class PartCounts(Struct, frozen=True, kw_only=True):
    """A part in numbers.

    Attributes:
        counts: How many have gold; a type or domain without any is left out.
        without_gold: Completions that have none.
    """

    counts: dict[CountKey, int]
    without_gold: int

    @property
    def items(self) -> int:
        """All completions."""
        return self.counts[("completions", None)] + self.without_gold


def count_part(everything: Columns, part: GoldItems) -> PartCounts:
    """Count a part as the paper's table 1 does."""
    import numpy as np

    from workbench.statistics.intervals import distinct

    counts: dict[CountKey, int] = {
        ("questions", None): distinct(part.question),
        ("completions", None): len(part.rows),
        ("correct", None): int((part.gold == 1).sum()),
        ("wrong", None): int((part.gold == 0).sum()),
    }
    fields: tuple[CountOf, ...] = ("type", "domain")
    for field in fields:
        groups = everything.groups(field)
        found = np.bincount(groups.code[part.rows], minlength=len(groups.names)).tolist()
        counts |= {(field, name): number for name, number in zip(groups.names, found, strict=True) if number}
    return PartCounts(counts=counts, without_gold=part.without_gold)


def count_order(keys: Iterable[CountKey]) -> list[CountKey]:
    """Distinct keys in the order of the paper's table."""
    from workbench.statistics.accuracy import group_order

    return sorted(set(keys), key=lambda key: (COUNTS.index(key[0]), group_order(key[1] or "")))


def unpaired(part: GoldItems) -> str:
    """Why the questions of a part are no pairs of one correct and one incorrect completion; "" where all are."""
    import numpy as np

    from workbench.statistics.intervals import distinct
    from workbench.statistics.pairs import pair_up

    found = pair_up(np.zeros(len(part.rows)), part.gold, part.question)
    questions = distinct(part.question)
    if questions and len(found.row) == questions:
        return ""
    return (
        f"{len(found.row):,} of {questions:,} questions with gold have exactly one correct and one incorrect "
        f"completion ({unpaired_in_words(found.unpaired)})."
    )


def has_scores(everything: Columns, run: int | None, part: GoldItems) -> bool:
    """Whether a run has a score for any item of a part."""
    import numpy as np

    score = everything.score(run)
    return score is not None and bool(np.isfinite(score[part.rows]).any())
