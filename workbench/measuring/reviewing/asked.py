"""What a queue is asked for, and what it finds: the frame that all queues share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.project import Project
from workbench.core.verdict import GoldChoice
from workbench.measuring.columns import Columns
from workbench.measuring.judged import VerifierRun
from workbench.measuring.records.review import GoldWord, Vote
from workbench.measuring.store.reviews import Gold

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray
    from workbench.statistics.votes import Ranking


class QueueQuery(Struct, frozen=True, kw_only=True, eq=False):
    """Which items and verifiers a queue is made of.

    Attributes:
        judges: The verifiers, each with its run.
        votes: For each verifier each item's outcome, -1 for none.
        gold: Which gold is meant.
        truth: 1 correct, 0 incorrect, -1 none.
        k: Verifiers in the minority of a split; None for half of them, rounded down.
        kept: Which items are meant; None for all.
        chose: Those of the verifiers that helped to choose these items.
    """

    project: Project
    columns: Columns
    judges: tuple[VerifierRun, ...]
    votes: tuple[IntArray, ...]
    gold: GoldChoice
    truth: IntArray
    k: int | None
    kept: BoolArray | None
    chose: Sequence[str] = ()


class QueueItem(Struct, frozen=True, kw_only=True):
    """An item of a page, as a queue needs it to say why it is there.

    Attributes:
        place: Its position in the columns.
        gold: Its gold under the choice asked for.
        said: Its final gold and whose word that is.
    """

    id: int
    place: int
    score: float
    gold: GoldWord
    said: Gold
    votes: tuple[Vote, ...]


class QueueContents(Struct, frozen=True, kw_only=True, eq=False):
    """What a queue has found.

    Attributes:
        text: What is counted, in plain words.
        why: Says of the items of a page why they are there.
    """

    ranking: Ranking
    text: str
    why: Callable[[Sequence[QueueItem]], list[str]]
