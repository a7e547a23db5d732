"""The queue of verdicts that do not repeat: a verifier differs between its samples, or between its newest two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.verdict import Outcome
from workbench.measuring.judged import VerifierRun
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery
from workbench.measuring.reviewing.wording import gold_says, runs_of
from workbench.measuring.store import disagreements

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray

_DECIDED = Outcome.CORRECT, Outcome.INCORRECT


class _Repeated(Struct, frozen=True, kw_only=True, eq=False):
    """Several verdicts of one verifier on each item.

    Attributes:
        judge: The verifier and its newest run.
        before: The run before it; None for the samples of one run.
        yes: How many of an item's verdicts are "correct".
        no: How many are "incorrect".
    """

    judge: VerifierRun
    before: int | None
    yes: IntArray
    no: IntArray

    def words(self, place: int) -> str:
        """What flips on an item; "" where nothing does."""
        yes, no = int(self.yes[place]), int(self.no[place])
        if not yes or not no:
            return ""
        if self.before is None:
            return f"of {self.judge.name}'s samples {yes} say correct and {no} incorrect"
        return f"{self.judge.name} differs between run {self.before} and run {self.judge.run}"

    def rate(self, kept: BoolArray | None) -> str:
        """How often it flips, of the items with two decided verdicts."""
        import numpy as np

        twice, flips = self.yes + self.no > 1, (self.yes > 0) & (self.no > 0)
        if kept is not None:
            twice, flips = twice & kept, flips & kept
        items, flipped = int(np.count_nonzero(twice)), int(np.count_nonzero(flips))
        share = f" ({flipped / items:.1%})" if items else ""
        between = "between samples" if self.before is None else f"from run {self.before} to run {self.judge.run}"
        return f"{self.judge.name} {flipped:,} of {items:,}{share} {between}"


def flips(asked: QueueQuery) -> QueueContents:
    """A decided verdict of a verifier is contradicted by another of its own."""
    import numpy as np

    from workbench.statistics.votes import falling, of

    repeated = list(_repeated(asked))
    score = np.zeros(len(asked.columns.item))
    for one in repeated:
        score += 2 * np.minimum(one.yes, one.no) / np.maximum(one.yes + one.no, 1)
    place = of(score > 0, asked.kept)

    def why(cases: Sequence[QueueItem]) -> list[str]:
        return [
            f"{', '.join(filter(None, (one.words(case.place) for one in repeated)))}; {gold_says(case)}."
            for case in cases
        ]

    rates = "; ".join(one.rate(asked.kept) for one in repeated)
    return QueueContents(
        ranking=falling(place, score[place]),
        text=f"Decided verdicts of one verifier that contradict each other. Flip rate, of items with two of them: "
        f"{rates}. Score: twice the minority's share, summed over verifiers and kinds of repetition."
        if repeated
        else f"Nothing repeats: {runs_of(asked) or 'no verifier'} took one sample in one complete run.",
        why=why,
    )


def _repeated(asked: QueueQuery) -> Iterator[_Repeated]:
    import numpy as np

    from workbench.statistics.arrays import align

    reader = asked.project.database.reader()
    for judge, vote in zip(asked.judges, asked.votes, strict=True):
        if judge.run is None:
            continue
        found = disagreements.samples(reader, judge.run)
        if found.item:
            yes, no = (align(asked.columns.item, found.item, said, np.int16(0)) for said in (found.yes, found.no))
            yield _Repeated(judge=judge, before=None, yes=yes, no=no)
        before = disagreements.run_before(reader, judge.run)
        if before is not None:
            both = vote, asked.columns.outcome(before)
            yes, no = (sum((one == said).astype(np.int16) for one in both) for said in _DECIDED)
            yield _Repeated(judge=judge, before=before, yes=yes, no=no)
