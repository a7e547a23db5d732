"""The query and the results of review queues, and sentences on verdicts and gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.project import Project
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import listed
from workbench.core.verdict import GoldChoice, OutcomeWord
from workbench.measuring.columns import Columns
from workbench.measuring.judged import VerifierRun
from workbench.measuring.records.review import GoldWord, RunVote
from workbench.measuring.store.reviews import Gold

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, IntArray
    from workbench.statistics.disagreement import Ranking


class QueueQuery(Struct, frozen=True, kw_only=True, eq=False):
    """A query for a review queue: its items and verifiers.

    Attributes:
        judges: The verifiers, each with its run.
        votes: For each verifier, the outcome of each item, -1 for none.
        gold: The choice of gold.
        truth: The gold of each item: 1 correct, 0 incorrect, -1 none.
        k: Number of verifiers in the minority of a split; None for half of them, rounded down.
        kept: A mask of the selected items; None for all.
        chose: Verifiers among ``judges`` that helped to choose these items.
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
    """An item of a page, with the data that its queue needs to explain why it is listed.

    Attributes:
        place: The item's position in the columns.
        gold: The item's gold under the requested choice of gold.
        said: The item's final gold with its origin.
    """

    id: int
    place: int
    score: float
    gold: GoldWord
    said: Gold
    votes: tuple[RunVote, ...]


class QueueContents(Struct, frozen=True, kw_only=True, eq=False):
    """The computed contents of a queue.

    Attributes:
        text: Description of what is counted.
        why: Explains why an item is listed.
    """

    ranking: Ranking
    text: str
    why: Callable[[QueueItem], str]


# -- Descriptions of verdicts and gold.


_SAYING: tuple[tuple[OutcomeWord, str, str], ...] = (
    ("correct", "says correct", "say correct"),
    ("incorrect", "says incorrect", "say incorrect"),
    ("abstain", "abstains", "abstain"),
    ("error", "failed", "failed"),
)


def who_says(votes: Sequence[RunVote], *words: OutcomeWord) -> str:
    """Describe verdicts, such as ``rules and exact say correct, math-verify abstains``. Only the verdicts in ``words``
    are described, if any are given."""
    parts = []
    for word, one, several in _SAYING:
        names = [vote.verifier for vote in votes if vote.verdict == word and (not words or word in words)]
        if names:
            parts.append(f"{listed(names)} {one if len(names) == 1 else several}")
    return ", ".join(parts)


def gold_says(case: QueueItem) -> str:
    """Describe an item's gold, such as ``gold says incorrect (agreed by 2 people)``."""
    return "there is no gold" if case.gold == "none" else f"gold says {case.gold}{_gold_source_text(case)}"


def _gold_source_text(case: QueueItem) -> str:
    source, people = case.said.source, case.said.people
    if case.said.word != case.gold:
        return ""
    words = {
        "agreed": f"agreed by {people} {'person' if people == 1 else 'people'}",
        "adjudicated": "adjudicated by a third person",
        "imported": "imported",
    }
    return f" ({words[source]})" if source in words else ""


def runs_of(asked: QueueQuery, judges: Sequence[VerifierRun] | None = None) -> str:
    """Name the verifiers with their runs, such as ``rules (run 1), llm † (run 2), always-incorrect (no run)``; † marks
    a verifier that helped to choose the items."""
    return ", ".join(
        f"{with_mark(judge.name, asked.chose)} ({'no run' if judge.run is None else f'run {judge.run}'})"
        for judge in (asked.judges if judges is None else judges)
    )
