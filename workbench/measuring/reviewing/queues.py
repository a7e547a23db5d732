"""Review queues: items on which verifiers, gold or annotators disagree. All ids are computed at once, rows page by
page."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.selection import Selection
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.emphasis import explain_marks
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.data.records import BrowseQuery
from workbench.measuring.browsing import ItemTable
from workbench.measuring.columns import columns
from workbench.measuring.judged import BASELINE, VerifierRun, judges_of
from workbench.measuring.notes import among
from workbench.measuring.records.review import QUEUES, Disagreement, GoldWord, Queue, RunVote
from workbench.measuring.reviewing import kinds
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery
from workbench.measuring.store import reviews

if TYPE_CHECKING:
    from workbench.measuring.reviewing.differences import Differences
    from workbench.statistics.confusion import IntArray


_FINDERS: Final[dict[Queue, Callable[[QueueQuery], QueueContents]]] = {
    "verifier-gold": kinds.verifier_gold,
    "verifiers": kinds.verifiers,
    "split": kinds.split,
    "exact-label": kinds.exact_label,
    "suspect-gold": kinds.suspect_gold,
    "flips": kinds.flips,
    "annotators": kinds.annotators,
}
_ASKED: Final = 160
"""Most characters of a question's end in a row."""
_SENTENCE: Final = 20
"""Fewest characters of the last sentence in it."""
_SENTENCE_ENDS: Final = (". ", "? ", "! ", "。")
_GOLDS: Final[tuple[GoldWord, ...]] = ("incorrect", "correct", "none")


class AnsweredRow(NamedTuple):
    """An item of a queue, with texts that a list shows.

    Attributes:
        question: The question, or the last sentences of a long one.
        reference: The reference's final answer; empty if none was found.
        answer: The completion's final answer; empty if none was found.
    """

    item: Disagreement
    question: str
    reference: str
    answer: str
    differences: Differences


class ReviewQueue:
    """The items of one queue, the most suspicious first; every method may run in a worker thread.

    Attributes:
        name: The name of the queue.
        ids: Row ids of all its completions, in order.
        text: Description of what is counted, and from which runs.
        verifiers: Names of the queried verifiers, in the order of the votes.
    """

    def __init__(self, name: Queue, asked: QueueQuery, found: QueueContents) -> None:
        self.name, self.text = name, " ".join((found.text, *explain_marks(asked.chose)))
        self.verifiers = tuple(judge.name for judge in asked.judges)
        self.ids = array("q", asked.columns.item[found.ranking.place].tobytes())
        self._asked, self._found = asked, found
        self._table = ItemTable(asked.project, BrowseQuery())

    def __len__(self) -> int:
        return len(self.ids)

    def above(self, score: float) -> int:
        return int((self._found.ranking.score > score).sum())

    def against_gold(self) -> array[int]:
        """Return row ids of the items on which a verifier of the query contradicts gold, in the queue's order."""
        place, truth = self._found.ranking.place, self._asked.truth[self._found.ranking.place]
        differ = truth < -1
        for votes in self._asked.votes:
            differ |= (votes[place] >= 0) & (votes[place] != truth)
        return array("q", self._asked.columns.item[place[differ & (truth >= 0)]].tobytes())

    def against(self, verifier: str) -> set[int]:
        """Return row ids of the items on which ``verifier`` contradicts gold.

        In queues that compare verifiers with each other, return the items on which it contradicts the majority of the
        others.
        """
        place = self._found.ranking.place
        votes = dict(zip(self.verifiers, (votes[place] for votes in self._asked.votes), strict=True))
        own = votes.pop(verifier)
        if self.name in ("verifiers", "split"):
            right = sum((vote == OutcomeCode.CORRECT).astype(int) for vote in votes.values())
            wrong = sum((vote == OutcomeCode.INCORRECT).astype(int) for vote in votes.values())
            differs = ((own == OutcomeCode.CORRECT) & (wrong > right)) | (
                (own == OutcomeCode.INCORRECT) & (right > wrong)
            )
        else:
            truth = self._asked.truth[place]
            differs = (own >= 0) & (truth >= 0) & (own != truth)
        return set(self._asked.columns.item[place[differs]].tolist())

    def rows(self, ids: Sequence[int]) -> list[Disagreement]:
        return [row for some in batches(ids) for row in self._read_page(some)]

    def answered_rows(self, ids: Sequence[int]) -> list[AnsweredRow]:
        return [row for some in batches(ids) for row in self._read_answered_page(some)]

    def _read_answered_page(self, ids: Sequence[int]) -> list[AnsweredRow]:
        texts = reviews.texts(self._asked.project.database.reader(), ids)
        return [_answered_row(row, texts[row.id]) for row in self.rows(ids) if row.id in texts]

    def _read_page(self, ids: Sequence[int]) -> list[Disagreement]:
        places = self._positions_and_scores(ids)
        reader = self._asked.project.database.reader()
        golds, decided = reviews.gold_of(reader, places), reviews.current_by_completion(reader, list(places))
        there = [row for row in self._table.rows(list(places)) if row.id in golds]
        cases = [self._queue_item(row.id, *places[row.id], golds[row.id]) for row in there]
        types = self._asked.columns.groups("type")
        return [
            record_from(
                Disagreement,
                row,
                type=_known_type(types.names[types.code[case.place]]),
                subtype=_known_type(row.subtype),
                gold=case.gold,
                score=case.score,
                why=self._found.why(case),
                votes=case.votes,
                reviews=tuple(decided.get(row.id, ())),
            )
            for row, case in zip(there, cases, strict=True)
        ]

    def _positions_and_scores(self, ids: Sequence[int]) -> dict[int, tuple[int, float]]:
        found = {}
        for item in ids:
            place = bisect_left(self._asked.columns.item, item)
            if place < len(self._rank) and self._asked.columns.item[place] == item and self._rank[place] >= 0:
                found[item] = place, float(self._found.ranking.score[self._rank[place]])
        return found

    @cached_property
    def _rank(self) -> IntArray:
        import numpy as np

        ranking = self._found.ranking
        rank = np.full(len(self._asked.columns.item), -1, dtype=np.int32)
        rank[ranking.place] = np.arange(len(ranking.place), dtype=np.int32)
        return rank

    def _queue_item(self, item: int, place: int, score: float, said: reviews.Gold) -> QueueItem:
        votes = tuple(
            RunVote(verifier=judge.name, run=judge.run, verdict=OutcomeCode(int(outcome[place])).word)
            for judge, outcome in zip(self._asked.judges, self._asked.votes, strict=True)
            if outcome[place] >= 0
        )
        gold = _GOLDS[int(self._asked.truth[place])]
        return QueueItem(id=item, place=place, score=score, gold=gold, said=said, votes=votes)


def _answered_row(row: Disagreement, texts: reviews.ItemTexts) -> AnsweredRow:
    from workbench.core.final_answer.card import card_completion, card_reference
    from workbench.measuring.reviewing.differences import LONGEST, differences

    reference, answer = card_reference(texts.reference, texts.subtype).text, card_completion(texts.completion).text
    found = differences(reference, answer)
    return AnsweredRow(row, question_end(texts.question), reference[:LONGEST], answer[:LONGEST], found)


def question_end(question: str) -> str:
    said = " ".join(question.split())
    if len(said) <= _ASKED:
        return said
    end = said[-_ASKED:]
    behind = max(
        (end.rfind(mark, 0, -_SENTENCE) + len(mark) for mark in _SENTENCE_ENDS if mark in end[:-_SENTENCE]), default=0
    )
    return f"…{end[behind:].lstrip() if behind else end.partition(' ')[2] or end}"


def queue(
    project: Project,
    name: Queue,
    *,
    verifiers: Sequence[str] = (),
    k: int | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    hide_reviewed: bool = False,
) -> ReviewQueue:
    """Return the items of a queue, ranked.

    Args:
        name: One of `QUEUES`.
        verifiers: The verifiers; empty for all with a complete run except the baseline, which disagrees with all
            correct gold.
        k: Number of verifiers in the minority, for ``split``; None for half of them, rounded down: 2 of 5.
        hide_reviewed: Whether to leave out items with a current review, unless their gold has changed since.

    Raises:
        UsageError: The queue, a verifier or a field is unknown; there are too few verifiers; ``k`` is not a minority of
            them; or no verifier has the evidence that ``exact-label`` needs.
    """
    import numpy as np

    if name not in _FINDERS:
        raise UsageError(f"There is no queue {name!r}.", f"Queues: {', '.join(QUEUES)}.")
    if k is not None and name != "split":
        raise UsageError("k only applies to the queue split.", f"Write: {opt.queue:split} {opt.k:2}")
    everything = columns(project)
    kept = everything.chosen(selection or Selection())
    if hide_reviewed:
        done = np.asarray(reviews.settled_items(project.database.reader()), dtype=np.int64)
        left = np.isin(everything.item, done, assume_unique=True, invert=True)
        kept = left if kept is None else left & kept
    judges = _verifier_runs(project, name, verifiers)
    asked = QueueQuery(
        project=project,
        columns=everything,
        judges=judges,
        votes=tuple(everything.outcome(judge.run) for judge in judges),
        gold=gold,
        truth=everything.gold(gold),
        k=k,
        kept=kept,
        chose=among(project, [judge.name for judge in judges], selection, everything),
    )
    return ReviewQueue(name, asked, _FINDERS[name](asked))


def _verifier_runs(project: Project, name: Queue, verifiers: Sequence[str]) -> tuple[VerifierRun, ...]:
    judges = judges_of(project, tuple(verifiers))
    if not verifiers:
        judges = tuple(judge for judge in judges if judge.name != BASELINE)
    if not judges and name != "annotators":
        raise UsageError("No verifier has a complete run yet.", "Start one", Command("verify DB rules"))
    return judges


def _known_type(name: str) -> str | None:
    return None if name in ("", UNTYPED) else name


# -- Reviewed items: those with a decision, and those behind a count of errors.


def reviewed_items(project: Project) -> set[int]:
    """Return row ids of the items with a current review, except items whose gold has changed since."""
    return set(reviews.settled_items(project.database.reader()))
