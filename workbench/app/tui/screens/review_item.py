"""One item of a queue of disagreements: why it is there, all the evidence, one key for the decision, then the next."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.tui.kit.item_panes import DECIDED, View, against_gold
from workbench.app.tui.kit.queue_view import progress
from workbench.app.tui.kit.title_bar import RemarkPiece
from workbench.app.tui.review_desk import ReviewDecision, ReviewDesk
from workbench.app.tui.screens.item import ItemScreen
from workbench.data.records.browse import ItemDetail, ItemVerdict
from workbench.measuring.reviewing.queues import ReviewQueue


class ReviewItemScreen(ItemScreen):
    """The item screen on a queue: a decision brings the next item that nobody has reviewed.

    Args:
        completion: Row id of the item to begin with.
        desk: Where decisions are stored.
        queue: The queue the desk works through.
    """

    TITLE_TEXT = "Review"

    def __init__(self, completion: int, desk: ReviewDesk, queue: ReviewQueue) -> None:
        super().__init__(completion, desk.order)
        self._desk = desk
        self._queue = queue

    def why(self, completion: int) -> str:
        """Why the item stands in the queue."""
        return next((row.why for row in self._queue.rows([completion])), "")

    def erring(self, item: ItemDetail) -> list[ItemVerdict]:
        """Those of the queue's verifiers, and one that is chosen by hand."""
        asked = (*self._queue.verifiers, self.chosen.verifier if self.chosen is not None else "")
        return [verdict for verdict in against_gold(item) if verdict.verifier in asked]

    def first_of(self, item: ItemDetail) -> Sequence[str]:
        """Verdicts against gold come before those that agree with it, and verifiers of the queue before others."""
        against = [verdict.verifier for verdict in against_gold(item)]
        return sorted(against, key=lambda name: name not in self._queue.verifiers)

    def viewed(self, item: ItemDetail, view: View) -> View:
        """One single decided verdict against gold is chosen by itself: it is what the item is about."""
        against = [verdict.verifier for verdict in against_gold(item) if verdict.verdict in DECIDED]
        against = [name for name in against if name in self._queue.verifiers]
        return view._replace(verifier=against[0]) if view.verifier is None and len(against) == 1 else view

    def title_parts(self, item: ItemDetail) -> list[RemarkPiece]:
        """How far the queue is reviewed, before all else."""
        done = progress(len(self.desk.reviewed), len(self._queue))
        return [RemarkPiece(done), RemarkPiece(self._queue.name, 3), *super().title_parts(item)]

    def after_review(self, decision: ReviewDecision) -> None:
        """Open the next item that nobody has reviewed."""
        place = self.desk.next_open(-1 if self._index is None else self._index)
        if place is None:
            self.notify("Every item of this queue is reviewed.", title="Done", markup=False)
            self.after_decision(decision.completion)
        else:
            self._index = place
            self._open(self._neighbours[place])
