"""What a reviewer decides of a disagreement: gold is right, people look again, or a verifier erred and how.

Reviews are append-only. Of the decisions on an item's gold (confirmed or sent back) the newest is in force, and of the
marks on a verifier's verdict; taking it back brings the one before it back. Who decides has seen gold and the verdicts,
which is recorded in the same transaction, so that a later label by that person is marked unblinded. Deciding the same
once more changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from msgspec import Struct, structs

from workbench.core.database import events, people, states
from workbench.core.database.events import Connection
from workbench.core.errors import UsageError
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.data.store import label_lines
from workbench.labelling import coordinating, ledger
from workbench.labelling.assigning import Team, open_batch
from workbench.measuring.records.review import (
    ERROR_CATEGORIES,
    LONGEST_NOTE,
    ErrorCategory,
    ErrorCount,
    GoldWord,
    Queue,
    Review,
    ReviewKind,
    ReviewLine,
    StandingReview,
)
from workbench.measuring.store import reviews


class UndecidableError(UsageError):
    """The decision can't be taken of this item, though it can of others."""


_PEOPLE = 2
"""How many people label an item that nobody was to label before."""


def confirm(project: Project, completion: int, *, by: str, queue: Queue | None = None, note: str = "") -> Review:
    """Decide that an item's gold is right as it stands.

    Raises:
        UsageError: There is no such item, it has no gold, ``by`` is no name, or the note is too long.
    """
    with _at_desk(project, completion, by, note) as desk:
        if desk.gold == "none":
            raise UndecidableError("There is no gold to confirm.", "Send the item to people to be labelled.")
        said = desk.review("confirmed", queue=queue)
        return desk.same_as(said) or desk.append(said)


def send_back(project: Project, completion: int, *, reason: str, by: str, queue: Queue | None = None) -> Review:
    """Have people label an item anew; while they have yet to settle it, sending it back again changes nothing.

    What people have said of it counts no longer: a new round begins, with as many slots as before. An item without
    slots gets two, for everyone who labels and is not paused. Until people have settled it, its gold is what was
    imported, if anything was; the standing review says that it is in doubt.

    Raises:
        UsageError: There is no such item or no reason, it is too long, ``by`` is no name, there are not two people to
            label it, or it is a check.
    """
    if not reason.strip():
        raise UsageError("Sending an item back needs a reason.", "Say what people should look at.")
    with _at_desk(project, completion, by, reason) as desk:
        waiting = [review for review in desk.standing if review.kind == "reannotate"]
        if waiting and states.get_task(desk.connection, "correctness", completion).state not in ("final", "excluded"):
            return waiting[-1]
        coordinating.reopen(project, [completion], reason=reason, by=by)
        if not states.need(desk.connection, "correctness", completion):
            _open_slots(project, desk)
        return desk.append(desk.review("reannotate", queue=queue))


def mark_error(
    project: Project,
    completion: int,
    run: int,
    category: ErrorCategory,
    *,
    by: str,
    queue: Queue | None = None,
    note: str = "",
) -> Review:
    """Mark a run's verdict on an item as an error, and of what kind.

    Raises:
        UsageError: There is no such item, category or verdict, the verdict is what gold says, ``other`` has no note,
            the note is too long, or ``by`` is no name.
    """
    if category not in ERROR_CATEGORIES:
        raise UsageError(f"{category!r} is no kind of error.", f"Kinds: {', '.join(ERROR_CATEGORIES)}.")
    if category == "other" and not note.strip():
        raise UsageError("Another kind of error needs a note that says which.", "Write: --note TEXT")
    with _at_desk(project, completion, by, note) as desk:
        said = reviews.verdict_of(desk.connection, run, completion)
        if said is None:
            raise UndecidableError(f"Run {run} has no verdict on this item.", "See: workbench runs DB")
        verifier, verdict = said
        if verdict == desk.gold:
            raise UndecidableError(
                f"{verifier} says {verdict}, and so does gold: there is no error to mark.",
                "If gold is wrong, send the item back to be labelled anew.",
            )
        mark = desk.review("error", queue=queue, run=run, verifier=verifier, category=category)
        return desk.same_as(mark) or desk.append(mark)


def take_back(project: Project, uuid: str, *, by: str) -> Review:
    """Take a decision back; the one before it is in force again. Returns the retraction.

    Slots that it opened stay open, and a round that it began goes on: labels never come back unseen.

    Raises:
        UsageError: There is no such decision, or ``by`` is no name.
    """
    found = reviews.by_uuid(project.database.reader(), uuid)
    if found is None or found.kind == "retraction":
        raise UsageError(f"There is no decision {uuid!r}.", "See: workbench review DB list")
    with _at_desk(project, found.completion, by, "") as desk:
        earlier = reviews.retraction_of(desk.connection, found)
        return earlier or desk.append(desk.review("retraction", supersedes=uuid))


class _ReviewerItem(Struct, frozen=True, kw_only=True):
    """One item before one reviewer, inside a transaction."""

    connection: events.Connection
    completion: int
    person: int
    name: str
    note: str
    gold: GoldWord
    standing: list[Review]

    def review(
        self,
        kind: ReviewKind,
        *,
        queue: Queue | None = None,
        run: int | None = None,
        verifier: str | None = None,
        category: ErrorCategory | None = None,
        supersedes: str | None = None,
    ) -> Review:
        """A review of the item by the reviewer, not yet stored."""
        return Review(
            uuid=events.new_uuid(),
            kind=kind,
            completion=self.completion,
            run=run,
            verifier=verifier,
            category=category,
            gold=self.gold,
            queue=queue,
            note=self.note or None,
            reviewer=self.name,
            supersedes=supersedes,
            created_at=people.now(),
        )

    def same_as(self, said: Review) -> Review | None:
        """The review in force by which the same person has said the same already."""
        for review in self.standing:
            if structs.replace(said, uuid=review.uuid, queue=review.queue, created_at=review.created_at) == review:
                return review
        return None

    def append(self, review: Review) -> Review:
        """Store a review."""
        reviews.append(self.connection, review, self.person)
        return review


@contextmanager
def _at_desk(project: Project, completion: int, by: str, note: str) -> Iterator[_ReviewerItem]:
    """One transaction in which a reviewer decides of an item."""
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"A note has at most {LONGEST_NOTE:,} characters.", "Keep the rest elsewhere.")
    with project.database.write("full") as connection:
        gold = reviews.gold_of(connection, [completion]).get(completion)
        if gold is None:
            raise UndecidableError(
                f"There is no item with row id {completion}.", "It may have been removed; look again."
            )
        person = people.add(connection, by, people.COORDINATOR)
        question, _ = states.question_of(connection, completion)
        looked: tuple[tuple[Task, int], ...] = (("correctness", completion), ("type", question))
        for task, subject in looked:
            ledger.reveal(connection, person, task, subject, "review")
        yield _ReviewerItem(
            connection=connection,
            completion=completion,
            person=person,
            name=people.tidy(by),
            note=note,
            gold=gold.word,
            standing=reviews.standing(connection, [completion]).get(completion, []),
        )


def _open_slots(project: Project, desk: _ReviewerItem) -> None:
    """Let everyone who labels, but for the reviewer, have an item that nobody was to label before."""
    team = [
        person.id
        for person in people.everyone(project.database)
        if person.role != people.COORDINATOR and person.paused_at is None and person.id != desk.person
    ]
    if len(team) < _PEOPLE:
        raise UsageError(
            f"{_PEOPLE} people must label the item anew, and there {'is' if len(team) == 1 else 'are'} {len(team)}.",
            "Add people: workbench annotators DB add NAME…",
        )
    place = label_lines.place(desk.connection, "correctness", desk.completion)
    conditions = tuple(Condition(field, "=", value) for field, value in place._asdict().items())
    crew = Team(annotators=team, adjudicator=None, caps={})
    opened = open_batch(desk.connection, crew, per_item=_PEOPLE, selection=Selection(conditions))
    if not opened.assigned:
        raise UndecidableError("This item is a check: it has no label to be given anew.", "See: workbench checks DB")


# -- What has been decided of disagreements: the reviews of an item, and verifiers' errors counted by kind.


Part = Literal["type", "subtype"]
"""What errors can be counted by."""


def reviews_of(project: Project, completion: int) -> list[Review]:
    """The reviews of an item that are in force, the newest last."""
    return reviews.standing(project.database.reader(), [completion]).get(completion, [])


def standing_reviews(project: Project) -> list[StandingReview]:
    """All reviews in force, in the order in which they came."""
    reader = project.database.reader()
    found = list(reviews.every(reader, only_standing=True))
    golds = reviews.gold_of(reader, {review.completion for review in found})
    return [
        StandingReview(**structs.asdict(line_of(reader, review)), gold_now=golds[review.completion].word)
        for review in found
    ]


def line_of(connection: Connection, review: Review) -> ReviewLine:
    """A review in the words of review files."""
    place = label_lines.place(connection, "correctness", review.completion)
    names = ("uuid", "kind", "reviewer", "created_at", "gold", "verifier", "category", "queue", "note", "supersedes")
    return ReviewLine(**place._asdict(), **{name: getattr(review, name) for name in names})


def error_counts(project: Project, verifiers: Sequence[str] = (), by: Part | None = None) -> list[ErrorCount]:
    """Marked errors in force, counted by verifier, group and category; categories nobody marked are left out.

    A mark on a verdict that gold has come to agree with is counted apart, in ``outdated``.

    Args:
        verifiers: Names; empty for all that have marks.
    """
    marks = [mark for mark in reviews.marks(project.database.reader()) if not verifiers or mark.verifier in verifiers]
    groups = [(mark, (mark.verifier, getattr(mark, by) if by else None)) for mark in marks]
    outdated = Counter(key for mark, key in groups if mark.outdated)
    marked = Counter(key for mark, key in groups if not mark.outdated)
    counts = Counter((key, mark.category) for mark, key in groups if not mark.outdated)
    return [
        ErrorCount(
            verifier=key[0],
            group=key[1],
            category=category,
            count=counts[key, category],
            marked=marked[key],
            outdated=outdated[key],
        )
        for key in sorted(marked, key=lambda key: (key[0], key[1] or ""))
        for category in ERROR_CATEGORIES
        if counts[key, category]
    ]
