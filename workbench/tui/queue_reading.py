"""What the Disagreements screen asks for and what it gets; every function runs in a thread."""

from __future__ import annotations

from array import array
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, structs

from workbench.errors import UsageError
from workbench.model.review import QUEUES, Queue
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice
from workbench.services.measuring.judged import everybody
from workbench.services.project import Project
from workbench.services.reviewing.queues import ReviewQueue, queue
from workbench.services.reviewing.reviewed import reviewed_items


class QueueRequest(Struct, frozen=True, kw_only=True):
    """What is asked for.

    Attributes:
        verifiers: Who takes part; empty for all that have a complete run.
        k: How many stand against the others in a split; None for half of them.
        hidden: Reviewed items are left out.
    """

    queue: Queue = "verifier-gold"
    verifiers: tuple[str, ...] = ()
    k: int | None = None
    gold: GoldChoice = "final"
    conditions: tuple[Condition, ...] = ()
    hidden: bool = False


class QueueListing(NamedTuple):
    """A queue as it is listed.

    Attributes:
        order: Row ids in the order of the table.
        reviewed: Those of the queue of which something stands decided.
        everybody: All verifiers that could take part.
    """

    wanted: QueueRequest
    queue: ReviewQueue
    order: array[int]
    reviewed: set[int]
    everybody: tuple[str, ...]

    def instead_of(self, item: int) -> int | None:
        """The item that comes after one that is reviewed and hidden; None where it is neither, or none is left."""
        if not self.wanted.hidden or item not in self.reviewed or not self.order:
            return None
        later = islice(self.queue.ids, self.queue.ids.index(item), None)
        return next((other for other in later if other not in self.reviewed), self.order[0])


class Count(NamedTuple):
    """How many items a queue has.

    Attributes:
        trouble: Why there is no such queue; empty where there is.
    """

    items: int = 0
    reviewed: int = 0
    trouble: str = ""


def read(project: Project, wanted: QueueRequest) -> QueueListing:
    """Rank the items of a queue.

    Raises:
        UsageError: See `queue`.
    """
    found = _queue(project, wanted)
    reviewed = reviewed_items(project).intersection(found.ids)
    order = array("q", (item for item in found.ids if item not in reviewed)) if wanted.hidden else found.ids
    return QueueListing(wanted, found, order, reviewed, everybody(project))


def counted(project: Project, wanted: QueueRequest) -> dict[Queue, Count]:
    """How many items each queue has under the same settings."""
    reviewed = reviewed_items(project)
    return {name: _count(project, structs.replace(wanted, queue=name), reviewed) for name in QUEUES}


def _count(project: Project, wanted: QueueRequest, reviewed: set[int]) -> Count:
    try:
        ids = _queue(project, wanted).ids
    except UsageError as error:
        return Count(trouble=f"{error.message} {error.hint}".strip())
    return Count(len(ids), len(reviewed.intersection(ids)))


def _queue(project: Project, wanted: QueueRequest) -> ReviewQueue:
    return queue(
        project,
        wanted.queue,
        verifiers=wanted.verifiers,
        k=wanted.k if wanted.queue == "split" else None,
        gold=wanted.gold,
        selection=Selection(wanted.conditions),
    )
