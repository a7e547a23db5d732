"""A reviewer at work: the queue at hand, what has been decided of it, and where it goes on."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from workbench.app.tui.kit.review_words import decision_words
from workbench.core.project import Project
from workbench.measuring.records.review import ErrorCategory, Queue, Review
from workbench.measuring.reviewing import decided, deciding
from workbench.measuring.reviewing.queues import ReviewQueue


class ReviewDecision(NamedTuple):
    """What was decided of an item at one go, as it is stored."""

    completion: int
    reviews: tuple[Review, ...]

    @property
    def words(self) -> str:
        """The decision for people."""
        return decision_words(self.reviews)


class ReviewDesk:
    """Stores one person's decisions; those methods may run in a worker thread.

    Args:
        by: Whose decisions they are.

    Attributes:
        queue: The queue that is worked through; None where items come from elsewhere.
        order: Row ids as they are listed.
        reviewed: Those of the queue of which something stands decided.
    """

    def __init__(self, project: Project, by: str) -> None:
        self._project, self._by = project, by
        self._decisions: list[ReviewDecision] = []
        self.queue: ReviewQueue | None = None
        self.order: Sequence[int] = array("q")
        self.reviewed: set[int] = set()

    def take(self, queue: ReviewQueue, order: Sequence[int], reviewed: set[int]) -> None:
        """Work through a queue from now on."""
        self.queue, self.order, self.reviewed = queue, order, reviewed

    # -- deciding ----------------------------------------------------------------------------------

    def confirm(self, completion: int, note: str) -> ReviewDecision:
        """Gold is right."""
        return self._keep(deciding.confirm(self._project, completion, by=self._by, queue=self._name, note=note))

    def send_back(self, completion: int, reason: str) -> ReviewDecision:
        """People are to label the item anew."""
        return self._keep(deciding.send_back(self._project, completion, reason=reason, by=self._by, queue=self._name))

    def mark_errors(self, completion: int, runs: Sequence[int], category: ErrorCategory, note: str) -> ReviewDecision:
        """The verifiers of these runs err, all for the same reason."""
        mark, by, queue = deciding.mark_error, self._by, self._name
        return self._keep(
            *(mark(self._project, completion, run, category, by=by, queue=queue, note=note) for run in runs)
        )

    def take_back(self, completion: int) -> ReviewDecision | None:
        """Take back the newest decision on an item or, where this person has made none on it, their last one.

        Returns:
            What was taken back; None where there was nothing.
        """
        decision = self._newest(completion)
        if decision is None:
            return None
        for review in reversed(decision.reviews):
            deciding.take_back(self._project, review.uuid, by=self._by)
        if not decided.reviews_of(self._project, decision.completion):
            self.reviewed.discard(decision.completion)
        return decision

    @property
    def _name(self) -> Queue | None:
        return None if self.queue is None else self.queue.name

    def _keep(self, *reviews: Review) -> ReviewDecision:
        decision = ReviewDecision(reviews[0].completion, reviews)
        self._decisions.append(decision)
        self.reviewed.add(decision.completion)
        return decision

    def _newest(self, completion: int) -> ReviewDecision | None:
        """Decisions of this sitting are taken back as they were made, older ones review by review."""
        own = [review for review in decided.reviews_of(self._project, completion) if review.reviewer == self._by]
        if own:
            together = (decision for decision in self._decisions if own[-1] in decision.reviews)
            return next(together, ReviewDecision(completion, (own[-1],)))
        while self._decisions:
            last = self._decisions.pop()
            if set(last.reviews) <= set(decided.reviews_of(self._project, last.completion)):
                return last
        return None

    # -- going on ----------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many items the queue has."""
        return 0 if self.queue is None else len(self.queue)

    def next_open(self, after: int) -> int | None:
        """The place of the next item that nobody has reviewed: further on in the order, else from its beginning.

        Args:
            after: A place in the order; -1 for before the first.
        """
        places = chain(range(after + 1, len(self.order)), range(min(after + 1, len(self.order))))
        return next((place for place in places if self.order[place] not in self.reviewed), None)


def taken_back(decision: ReviewDecision | None) -> str:
    """What has been taken back, for a person."""
    if decision is None:
        return "There is no decision of yours to take back."
    goes_on = any(review.kind == "reannotate" for review in decision.reviews)
    return f"Taken back: {decision.words}" + (". People still label it anew." if goes_on else "")
