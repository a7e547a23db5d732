"""Reviewers' decisions on disagreements: confirm gold, send back to annotators, or mark a verifier's error.

Reviews are append-only. The newest decision on an item's gold (confirmed or sent back) is the current one, and so is
the newest mark on a verifier's verdict; retracting it restores the previous one. A reviewer sees gold and verdicts.
That is recorded in the same transaction, so that a later label by the reviewer is marked unblinded. Repeating a
decision changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from workbench.core.database import events, people, states
from workbench.core.database.events import Connection
from workbench.core.database.journal import subject_place
from workbench.core.errors import Command, UsageError, opt
from workbench.core.item import Refusal
from workbench.core.label import LabelVerdict, Task
from workbench.core.options import record_from
from workbench.core.project import Parts, Project, batches
from workbench.core.run import RefusedLine
from workbench.core.selection import Condition, Selection
from workbench.core.states import current_exclusions, current_labels
from workbench.data.formats.lines import LineRefusedError
from workbench.data.formats.rows import read_checked
from workbench.data.formats.writing import write_lines
from workbench.data.store import reading
from workbench.labelling import coordinating, ledger
from workbench.labelling.assigning import Team, open_batch
from workbench.measuring.records.review import (
    ERROR_CATEGORIES,
    LONGEST_NOTE,
    CurrentReview,
    ErrorCategory,
    ErrorCount,
    GoldWord,
    Queue,
    Review,
    ReviewKind,
    ReviewLine,
    ReviewsImported,
)
from workbench.measuring.store import reviews


class UndecidableError(UsageError):
    """The decision is not possible for this item, although it may be for others."""


_NEW_SLOTS = 2
"""Slots opened on an item without slots."""


def confirm(project: Project, completion: int, *, by: str, queue: Queue | None = None, note: str = "") -> Review:
    """Record that an item's gold is right.

    Raises:
        UsageError: The item does not exist or has no gold, ``by`` is not a valid name, or the note is too long.
    """
    with _open_item(project, completion, by, note) as desk:
        if desk.gold == "none":
            raise UndecidableError("There is no gold to confirm.", "Send the item back to be labelled.")
        said = desk.review("confirmed", queue=queue)
        return desk.find_equal_review(said) or desk.append(said)


def decide_gold(project: Project, completion: int, verdict: LabelVerdict, *, by: str) -> None:
    """Decide the gold of an item that no annotator has labelled, like an adjudicator; a later label reopens it.

    A second decision of the same person replaces the first one.

    Raises:
        UndecidableError: The item is excluded, or has labels, or another person's or an imported gold.
        UsageError: The item does not exist, or ``by`` is not a valid name.
    """
    with _open_item(project, completion, by, "") as desk:
        said = events.events_of(desk.connection, "correctness", completion)
        own = events.current_of(desk.connection, "correctness", completion, desk.person, "adjudication")
        if current_labels(said) or current_exclusions(said) or (own is None and desk.gold != "none"):
            raise UndecidableError("This item has labels or gold, or is excluded.", "Confirm it, or send it back.")
        decided = events.new_event(
            "adjudication",
            "correctness",
            completion,
            desk.person,
            created_at=desk.moment,
            round=events.round_of(desk.connection, "correctness", completion),
            supersedes=None if own is None else own.uuid,
            unblinded=True,
            verdict=verdict,
        )
        ledger.record(desk.connection, decided)


def send_back(project: Project, completion: int, *, reason: str, by: str, queue: Queue | None = None) -> Review:
    """Send an item back to annotators; repeating this before it is resolved changes nothing.

    Its labels no longer count: a new round begins, with as many slots as before. An item without slots gets two, open
    to every active annotator. Until annotators resolve it, its gold is the imported gold, if any; the current review
    marks it as in doubt.

    Raises:
        UsageError: The item does not exist or is a check, the reason is missing or too long, ``by`` is not a valid
            name, or there are fewer than two annotators.
    """
    if not reason.strip():
        raise UsageError("Sending an item back needs a reason.", "Say what the annotators should check.")
    with _open_item(project, completion, by, reason) as desk:
        waiting = [review for review in desk.standing if review.kind == "reannotate"]
        if waiting and states.get_task(desk.connection, "correctness", completion).state not in ("final", "excluded"):
            return waiting[-1]
        coordinating.reopen(project, [completion], reason=reason, by=by)
        if not states.assigned_count(desk.connection, "correctness", completion):
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
    """Mark a run's verdict on an item as an error of a category.

    Raises:
        UsageError: The item, category or verdict does not exist, the verdict equals gold, ``other`` has no note, the
            note is too long, or ``by`` is not a valid name.
    """
    return mark_errors(project, [(completion, run)], category, by=by, queue=queue, note=note)[0]


def mark_errors(
    project: Project,
    verdicts: Sequence[tuple[int, int]],
    category: ErrorCategory,
    *,
    by: str,
    queue: Queue | None = None,
    note: str = "",
) -> tuple[Review, ...]:
    """Mark several verdicts as errors of one category in one transaction, with the same time.

    Args:
        verdicts: Pairs of item and run.

    Raises:
        UsageError: See `mark_error`.
    """
    if category not in ERROR_CATEGORIES:
        raise UsageError(f"{category!r} is not a valid kind of error.", f"Kinds: {', '.join(ERROR_CATEGORIES)}.")
    if category == "other" and not note.strip():
        raise UsageError("The kind other needs a note that names the kind of error.", f"Write: {opt.note:TEXT}")
    moment = people.now()
    with project.database.write("full"):
        marked = []
        for item, run in verdicts:
            with _open_item(project, item, by, note, moment) as desk:
                marked.append(_append_mark(desk, run, category, queue))
    return tuple(marked)


def _append_mark(desk: _ReviewerItem, run: int, category: ErrorCategory, queue: Queue | None) -> Review:
    said = reviews.verdict_of(desk.connection, run, desk.completion)
    if said is None:
        raise UndecidableError(f"Run {run} has no verdict on this item.", "See", Command("runs DB"))
    verifier, verdict = said
    if verdict == desk.gold:
        raise UndecidableError(
            f"{verifier} says {verdict}, and so does gold: there is no error to mark.",
            "If gold is wrong, send the item back to be labelled again.",
        )
    mark = desk.review("error", queue=queue, run=run, verifier=verifier, category=category)
    return desk.find_equal_review(mark) or desk.append(mark)


def take_back_each(project: Project, decided: Sequence[Review], *, by: str) -> None:
    """Retract several decisions, the newest first, in one transaction; see `take_back`."""
    with project.database.write("full"):
        for review in reversed(decided):
            take_back(project, review.uuid, by=by)


def take_back(project: Project, uuid: str, *, by: str) -> Review:
    """Retract a decision, so that the previous one is current again. Return the retraction.

    Slots opened by the decision stay open, and a round begun by it continues: old labels are never restored silently.

    Raises:
        UsageError: The decision does not exist, or ``by`` is not a valid name.
    """
    found = reviews.by_uuid(project.database.reader(), uuid)
    if found is None or found.kind == "retraction":
        raise UsageError(f"There is no decision {uuid!r}.", "See", Command("review DB list"))
    with _open_item(project, found.completion, by, "") as desk:
        earlier = reviews.retraction_of(desk.connection, found)
        return earlier or desk.append(desk.review("retraction", supersedes=uuid))


class _ReviewerItem(Struct, frozen=True, kw_only=True):
    connection: events.Connection
    completion: int
    person: int
    name: str
    note: str
    moment: str
    gold: GoldWord
    standing: list[Review]

    def review(self, kind: ReviewKind, **more: Any) -> Review:
        return Review(
            uuid=events.new_uuid(),
            kind=kind,
            completion=self.completion,
            gold=self.gold,
            note=self.note or None,
            reviewer=self.name,
            created_at=self.moment,
            **more,
        )

    def find_equal_review(self, said: Review) -> Review | None:
        for review in self.standing:
            if structs.replace(said, uuid=review.uuid, queue=review.queue, created_at=review.created_at) == review:
                return review
        return None

    def append(self, review: Review) -> Review:
        reviews.append(self.connection, review, self.person)
        return review


@contextmanager
def _open_item(
    project: Project, completion: int, by: str, note: str, moment: str | None = None
) -> Iterator[_ReviewerItem]:
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
            name=people.normalise_name(by),
            note=note,
            moment=moment or people.now(),
            gold=gold.word,
            standing=reviews.current_by_completion(connection, [completion]).get(completion, []),
        )


def _open_slots(project: Project, desk: _ReviewerItem) -> None:
    team = [
        person.id
        for person in people.all_people(project.database)
        if person.role != people.COORDINATOR and person.paused_at is None and person.id != desk.person
    ]
    if len(team) < _NEW_SLOTS:
        raise UsageError(
            f"{_NEW_SLOTS} annotators must label it again, and there {'is' if len(team) == 1 else 'are'} {len(team)}.",
            f"Add people: {Command('annotators DB add NAME…')}",
        )
    place = subject_place(desk.connection, "correctness", desk.completion)
    conditions = tuple(Condition(field, "=", value) for field, value in place._asdict().items())
    crew = Team(annotators=team, adjudicator=None, caps={})
    opened = open_batch(desk.connection, crew, per_item=_NEW_SLOTS, selection=Selection(conditions))
    if not opened.assigned:
        raise UndecidableError("This item is a check: it can't be labelled again.", "See", Command("checks DB"))


# -- Current decisions: the reviews of an item, and verifiers' errors counted by category.


Part = Literal["type", "subtype"]
"""Groupings of errors."""


def reviews_of(project: Project, completion: int) -> list[Review]:
    return reviews.current_by_completion(project.database.reader(), [completion]).get(completion, [])


def current_reviews(project: Project) -> list[CurrentReview]:
    reader = project.database.reader()
    found = list(reviews.every(reader, only_standing=True))
    golds = reviews.gold_of(reader, {review.completion for review in found})
    return [
        CurrentReview(**structs.asdict(line_of(reader, review)), gold_now=golds[review.completion].word)
        for review in found
    ]


def line_of(connection: Connection, review: Review) -> ReviewLine:
    place = subject_place(connection, "correctness", review.completion)
    names = ("uuid", "kind", "reviewer", "created_at", "gold", "verifier", "category", "queue", "note", "supersedes")
    return ReviewLine(**place._asdict(), **{name: getattr(review, name) for name in names})


def error_counts(project: Project, verifiers: Sequence[str] = (), by: Part | None = None) -> list[ErrorCount]:
    """Count the marked errors that are not retracted by verifier, group and category, without unused categories.

    A mark on a verdict that now agrees with gold is counted separately, in ``outdated``.

    Args:
        verifiers: Names; empty for all verifiers with marked errors.
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


# -- Export and import of review files: JSON Lines, one decision a line, current or not; importing a file twice
# changes nothing.


_DECODER = msgspec.json.Decoder(ReviewLine)


def read(path: Path) -> Iterator[tuple[int, ReviewLine | Refusal]]:
    """Yield each line's number, from 1, with its review or the reason for its rejection.

    Raises:
        FormatError: The file can't be opened.
    """
    return read_checked(path, _DECODER, _fault)


def _fault(line: ReviewLine) -> tuple[str, str] | None:
    is_error = line.kind == "error"
    if (line.verifier is not None) != is_error:
        return "verifier", "an error must name a verifier, and no other decision may"
    if (line.category is not None) != is_error:
        return "category", "an error needs a category, and no other decision has one"
    if line.category == "other" and not (line.note or "").strip():
        return "note", "another kind of error needs a note that describes it"
    if (line.supersedes is not None) != (line.kind == "retraction"):
        return "supersedes", "a retraction must name a decision, and no other decision may"
    return None


def export_reviews(project: Project, path: Path, *, force: bool = False) -> int:
    """Write all reviews in the order in which they were made; return the number of lines.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    reader = project.database.reader()
    return write_lines(path, (line_of(reader, review) for review in reviews.every(reader)), force=force)


def import_reviews(project: Project, path: Path) -> ReviewsImported:
    """Import a review file. A line that is already stored counts as unchanged; a line with a stored uuid and other
    content is rejected.

    Raises:
        FormatError: The file can't be opened.
    """
    report = ReviewsImported()
    parts = Parts("lines")
    for some in batches(list(read(path))):
        with parts.storing(len(some)), project.database.write("full") as connection:
            for number, line in some:
                try:
                    if isinstance(line, Refusal):
                        raise LineRefusedError(line.field or "", line.message)
                    new = _import_line(connection, line)
                except LineRefusedError as error:
                    report.refused += 1
                    report.refusals.append(RefusedLine(line=number, field=error.field or None, message=str(error)))
                else:
                    report.imported += new
                    report.unchanged += not new
    return report


def _import_line(connection: Connection, line: ReviewLine) -> bool:
    line = structs.replace(line, reviewer=people.normalise_name(line.reviewer))
    known = reviews.by_uuid(connection, line.uuid)
    if known is not None:
        if line_of(connection, known) != line:
            raise LineRefusedError("uuid", "another review of this uuid is there already")
        return False
    found = reading.find_completions(connection, line.completion_id, line.question_id, line.dataset)
    if not found:
        raise LineRefusedError("completion_id", f"there is no completion {line.completion_id!r} of this question here")
    run = None
    if line.verifier is not None:
        run = reviews.newest_run(connection, line.verifier, found[0][0])
        if run is None:
            raise LineRefusedError("verifier", f"no run of {line.verifier!r} has a verdict on this item")
    if line.supersedes is not None:
        taken_back = reviews.by_uuid(connection, line.supersedes)
        if taken_back is None or taken_back.kind == "retraction" or taken_back.completion != found[0][0]:
            raise LineRefusedError("supersedes", f"there is no decision {line.supersedes!r} on this item to retract")
    try:
        people.require_distinct(connection, line.reviewer)
        reviewer = people.add(connection, line.reviewer, people.COORDINATOR)
    except UsageError as error:
        raise LineRefusedError("reviewer", str(error)) from error
    review = record_from(Review, line, completion=found[0][0], run=run)
    reviews.append(connection, review, reviewer)
    return True


# -- Items by their public ids.


def named(
    project: Project, ids: Sequence[str], dataset: str | None = None, question: str | None = None
) -> Iterator[tuple[str, int | str]]:
    reader = project.database.reader()
    for key in dict.fromkeys(ids):
        found = reading.find_completions(reader, key, question, dataset)
        if len(found) == 1:
            yield key, found[0][0]
        elif not found:
            yield key, "There is no completion of this id here."
        elif found[0][2] != found[1][2]:
            yield key, f"Several data sets have a completion of this id: add {opt.dataset:NAME}."
        else:
            yield key, f"Several questions have a completion of this id: add {opt.question:ID}."
