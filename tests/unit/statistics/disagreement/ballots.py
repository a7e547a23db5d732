"""Votes of verifiers on items, small enough to be counted by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from msgspec import Struct

from workbench.statistics.confusion import IntArray


class Ballot(Struct, frozen=True, kw_only=True):
    """Votes (verifiers x items), gold, types and questions of some items."""

    votes: list[list[int]]
    gold: list[int]
    group: list[int]
    question: list[int]

    @property
    def items(self) -> int:
        """Return the number of items."""
        return len(self.gold)

    def vote_columns(self) -> list[IntArray]:
        """Return the votes as column arrays."""
        return [np.array(vote, dtype=np.int8) for vote in self.votes]

    def ordered(self, order: list[int]) -> Ballot:
        """The same items in another order."""
        return Ballot(
            votes=[[vote[place] for place in order] for vote in self.votes],
            gold=[self.gold[place] for place in order],
            group=[self.group[place] for place in order],
            question=[self.question[place] for place in order],
        )

    def of(self, item: int) -> list[int]:
        """The decided votes on an item."""
        return [vote[item] for vote in self.votes if vote[item] in (0, 1)]


@st.composite
def ballots(draw: st.DrawFn, *, golds: tuple[int, ...] = (-1, 0, 1), least: int = 1) -> Ballot:
    """Any votes, abstentions, errors and missing verdicts among them."""
    items, verifiers = draw(st.integers(least, 14)), draw(st.integers(1, 5))

    def column(*values: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.sampled_from(values), min_size=items, max_size=items)

    return Ballot(
        votes=[draw(column(-1, 0, 1, 2, 3, 0, 1)) for _ in range(verifiers)],
        gold=draw(column(*golds)),
        group=draw(column(0, 1, 2)),
        question=draw(column(*range(6))),
    )
