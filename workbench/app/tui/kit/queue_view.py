"""A queue of disagreements: its settings, its rows, and the details of one item."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct, structs
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.title_bar import verdict_words
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.text.figures import NONE
from workbench.core.verdict import GoldChoice
from workbench.measuring.judged import everybody
from workbench.measuring.records.review import QUEUES, Disagreement, Queue, Review, ReviewKind
from workbench.measuring.reviewing.queues import AnsweredRow, ReviewQueue, queue, reviewed_items
from workbench.measuring.reviewing.triage import cause_of
from workbench.tables.document import Cell, Tone
from workbench.tables.table import Columns, column, word

# -- What a reviewer decided, in symbol and words.


REVIEW_MARKS: Final[dict[ReviewKind, tuple[str, Tone]]] = {
    "confirmed": ("✓", "success"),
    "reannotate": ("↻", "accent"),
    "error": ("✗", "error"),
}
"""Symbol and style of each kind of decision; retracted decisions are never shown."""
_WORDS: Final[dict[ReviewKind, str]] = {"confirmed": "gold is right", "reannotate": "sent back"}
_SHORT: Final[dict[ReviewKind, str]] = {"confirmed": "gold ok", "reannotate": "sent back"}


def review_words(first: Review, *others: Review) -> str:
    """Return a decision in full: ``✗ error of math-verify: extraction``; errors that were decided together share one
    cause.
    """
    mark = REVIEW_MARKS[first.kind][0]
    if first.kind != "error":
        return f"{mark} {_WORDS[first.kind]}"
    names = ", ".join(review.verifier or "" for review in (first, *others))
    return f"{mark} error of {names}: {_cause_name(first)}"


def decided_words(reviews: Sequence[Review]) -> str:
    """Return the decisions on an item, each with the reviewer."""
    return " · ".join(f"{review_words(review)} ({review.reviewer})" for review in reviews)


def _decided_line(reviews: Sequence[Review]) -> Content:
    return Content.assemble(("Decided  ", "bold"), printable(decided_words(reviews)))


def _cause_name(review: Review) -> str:
    return cause_of(review.category or "other", review.note).name


def review_cell(reviews: Sequence[Review]) -> Cell:
    """Return the decisions on an item for a narrow column: the newest one, and their number."""
    if not reviews:
        return Cell("· open", "dim")
    newest = reviews[-1]
    mark, style = REVIEW_MARKS[newest.kind]
    more = f" +{len(reviews) - 1}" if len(reviews) > 1 else ""
    return Cell(f"{mark} {_cause_name(newest) if newest.kind == 'error' else _SHORT[newest.kind]}{more}", style)


def review_lines(why: str, reviews: Sequence[Review], note: str, said: str) -> Content:
    parts = [Content.assemble(("Why  ", "bold"), printable(why))] if why else []
    if reviews:
        parts.append(_decided_line(reviews))
    if note:
        parts.append(Content(f"✎ {printable(note)}"))
    if said:
        parts.append(Content.styled(printable(said), "$text-success"))
    return Content("\n").join(parts)


class QueueRequest(Struct, frozen=True, kw_only=True):
    """The settings of a queue.

    Attributes:
        verifiers: Participating verifiers; empty for all that have a complete run.
        k: In the queue ``split``, the number of verifiers in the minority; None for half of them.
        hidden: Leave out reviewed items.
        against: List only items on which this verifier contradicts gold (or most other verifiers); "" for all items.
    """

    queue: Queue = "verifier-gold"
    verifiers: tuple[str, ...] = ()
    k: int | None = None
    gold: GoldChoice = "final"
    conditions: tuple[Condition, ...] = ()
    hidden: bool = False
    against: str = ""


class QueueListing(NamedTuple):
    """A queue with its items.

    Attributes:
        order: Row ids in the order of the table.
        reviewed: Row ids of the items that have a decision.
        everybody: Names of all verifiers that could take part.
    """

    wanted: QueueRequest
    queue: ReviewQueue
    order: array[int]
    reviewed: set[int]
    everybody: tuple[str, ...]

    def instead_of(self, item: int) -> int | None:
        """Return the next unreviewed item if `item` is hidden because it is reviewed; None if it is not, or none is
        left.
        """
        if not self.wanted.hidden or item not in self.reviewed or not self.order:
            return None
        later = islice(self.queue.ids, self.queue.ids.index(item), None)
        return next((other for other in later if other not in self.reviewed), self.order[0])


class Count(NamedTuple):
    """The number of items in a queue.

    Attributes:
        trouble: Why the queue can't be made; empty if it can.
    """

    items: int = 0
    reviewed: int = 0
    trouble: str = ""


def columns(verifiers: Sequence[str], *, wide: bool) -> Columns[AnsweredRow]:
    """Return the columns of a queue. In the title of the verdict column each verifier has a digit;
    `detail` names it.
    """
    digits = "".join(str(number % 10) for number in range(1, len(verifiers) + 1))
    return (
        word("question", lambda row: row.question, room=(16, 40)),
        column(
            "review" if wide else "",
            lambda row: row.item.reviews,
            review_cell if wide else lambda reviews: Cell("●", "accent") if reviews else Cell("·", "dim"),
            words=True,
            key="review",
            room=(11 if wide else 1, 18),
        ),
        word("reference", lambda row: row.reference or NONE, room=(10, 24), tone="bold"),
        word("completion", lambda row: row.answer or NONE, room=(10, 24), tone="bold"),
        word("differs", lambda row: row.differences.words, room=(8, 26), tone="warning"),
        word(f"g│{digits}", lambda row: _verdict_strip(row.item, verifiers), key="verdicts", room=len(verifiers) + 4),
        word("type", lambda row: row.item.subtype or row.item.type or NONE, key="subtype", room=4),
    )


WORDS: Final[dict[str, str]] = {
    "g│12": "Gold, then each verifier by its number, with its name below: ✓ correct, ✗ incorrect, ? abstains, ! "
    "failed, · no verdict.",
    "differs": "The difference between reference and completion.",
}
"""Explanations of the columns of a queue's table."""


def _verdict_strip(item: Disagreement, verifiers: Sequence[str]) -> str:
    said = {vote.verifier: OUTCOME_MARKS[vote.verdict][0] for vote in item.votes}
    return f"{OUTCOME_MARKS[item.gold][0]}│{''.join(said.get(name, '·') for name in verifiers)}"


def detail(item: Disagreement, verifiers: Sequence[str], *, reasons: bool, width: int) -> Content:
    """Return the verdicts, the gold and the decisions of an item, in full words.

    Args:
        verifiers: The queue's verifiers, in the order of the verdict column.
        reasons: Also say why the item is in the queue, and its score.
        width: Cells of a line: no line breaks between a verifier's number, name and verdict.
    """
    said = {vote.verifier: vote.verdict for vote in item.votes}
    words = [Content.assemble(("gold ", "bold"), verdict_words(item.gold))]
    words += [
        Content.assemble((f"{number % 10} {printable(name)} ", "bold"), verdict_words(said[name]))
        for number, name in enumerate(verifiers, 1)
        if name in said
    ]
    lines = [
        *_join_within(words, width),
        _decided_line(item.reviews)
        if item.reviews
        else Content.styled(f"not reviewed yet · {key_of('disagreements.reasons')} shows its score", "$text-muted"),
    ]
    if reasons:
        lines.append(Content.assemble(("Why  ", "bold"), printable(item.why)))
        lines.append(Content.styled(f"Score {item.score:.2f}; the highest come first.", "$text-muted"))
    return Content("\n").join(lines)


def _join_within(parts: Iterable[Content], width: int) -> Iterator[Content]:
    line = Content()
    for part in parts:
        longer = Content("   ").join((line, part)) if line else part
        if line and longer.cell_length > width:
            yield line
            line = part
        else:
            line = longer
    yield line


NOTHING = "No item is left in this queue. Choose another queue, or change the filter."


def head(name: Queue, text: str) -> Content:
    called = Content.assemble((f"{name}  ", "bold $text-accent"), QUEUES[name])
    return Content.assemble(called, (f"\n{printable(text)}" if text else "", "$text-muted"))


def progress(reviewed: int, total: int) -> str:
    return f"{reviewed:,} of {total:,} reviewed"


def queue_line(name: Queue, count: Count) -> str:
    if count.trouble:
        return f"{name:<14}{'–':>9}  {count.trouble}"
    return f"{name:<14}{count.items:>9,}  {QUEUES[name]}" + (f" {count.reviewed:,} reviewed." if count.reviewed else "")


def read(project: Project, wanted: QueueRequest) -> QueueListing:
    """Read a queue and put its items in order.

    Raises:
        UsageError: See `queue`.
    """
    found = _read_queue(project, wanted)
    reviewed = reviewed_items(project).intersection(found.ids)
    order = array("q", (item for item in found.ids if item not in reviewed)) if wanted.hidden else found.ids
    if wanted.against in found.verifiers:
        against = found.against(wanted.against)
        order = array("q", (item for item in order if item in against))
    return QueueListing(wanted, found, order, reviewed, everybody(project))


def count_queues(project: Project, wanted: QueueRequest) -> dict[Queue, Count]:
    reviewed = reviewed_items(project)
    return {name: _count_items(project, structs.replace(wanted, queue=name), reviewed) for name in QUEUES}


def _count_items(project: Project, wanted: QueueRequest, reviewed: set[int]) -> Count:
    try:
        ids = _read_queue(project, wanted).ids
    except UsageError as error:
        return Count(trouble=str(error))
    return Count(len(ids), len(reviewed.intersection(ids)))


def _read_queue(project: Project, wanted: QueueRequest) -> ReviewQueue:
    return queue(
        project,
        wanted.queue,
        verifiers=wanted.verifiers,
        k=wanted.k if wanted.queue == "split" else None,
        gold=wanted.gold,
        selection=Selection(wanted.conditions),
    )
