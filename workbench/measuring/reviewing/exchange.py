"""Review files out and in: every decision, whether or not it stands; reading one twice changes nothing.

An import records what was decided and does nothing else: an item that was sent back elsewhere is not reopened here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from workbench.core.database import people
from workbench.core.database.events import Connection
from workbench.core.errors import UsageError
from workbench.core.item import Refusal
from workbench.core.project import Parts, Project, some_at_a_time
from workbench.core.run import RefusedLine
from workbench.data.formats.lines import LineRefusedError
from workbench.data.formats.rows import read_checked
from workbench.data.formats.writing import write_lines
from workbench.data.store import label_lines
from workbench.measuring.records.review import Review, ReviewLine, ReviewsImported
from workbench.measuring.reviewing.deciding import line_of
from workbench.measuring.store import reviews

# -- Review files: JSON Lines, one decision a line.


_DECODER = msgspec.json.Decoder(ReviewLine)


def read(path: Path) -> Iterator[tuple[int, ReviewLine | Refusal]]:
    """Line numbers (from 1) with a review each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    return read_checked(path, _DECODER, _fault)


def _fault(line: ReviewLine) -> tuple[str, str] | None:
    """A field, and what is wrong with it."""
    is_error = line.kind == "error"
    if (line.verifier is not None) != is_error:
        return "verifier", "an error is a verifier's, and nothing else is"
    if (line.category is not None) != is_error:
        return "category", "an error has a category, and nothing else has one"
    if line.category == "other" and not (line.note or "").strip():
        return "note", "another kind of error needs a note that says which"
    if (line.supersedes is not None) != (line.kind == "retraction"):
        return "supersedes", "a retraction takes something back, and nothing else does"
    return None


def export_reviews(project: Project, path: Path, *, force: bool = False) -> int:
    """Write all reviews in the order in which they came; returns the number of lines.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    reader = project.database.reader()
    return write_lines(path, (line_of(reader, review) for review in reviews.every(reader)), force=force)


def import_reviews(project: Project, path: Path) -> ReviewsImported:
    """Read a review file; a line that is there already is unchanged, the same uuid with other content is refused.

    Raises:
        FormatError: The file can't be opened.
    """
    report = ReviewsImported()
    parts = Parts("lines")
    for some in some_at_a_time(list(read(path))):
        with parts.storing(len(some)), project.database.write("full") as connection:
            for number, line in some:
                try:
                    if isinstance(line, Refusal):
                        raise LineRefusedError(line.field or "", line.message)
                    new = _put(connection, line)
                except LineRefusedError as error:
                    report.refused += 1
                    report.refusals.append(RefusedLine(line=number, field=error.field or None, message=str(error)))
                else:
                    report.imported += new
                    report.unchanged += not new
    return report


def _put(connection: Connection, line: ReviewLine) -> bool:
    """Store what a line says; whether that was new."""
    line = structs.replace(line, reviewer=people.tidy(line.reviewer))
    known = reviews.by_uuid(connection, line.uuid)
    if known is not None:
        if line_of(connection, known) != line:
            raise LineRefusedError("uuid", "another review of this uuid is there already")
        return False
    found = label_lines.find_completions(connection, line.completion_id, line.question_id, line.dataset)
    if not found:
        raise LineRefusedError("completion_id", f"there is no completion {line.completion_id!r} of this question here")
    run = None
    if line.verifier is not None:
        run = reviews.newest_run(connection, line.verifier, found[0][0])
        if run is None:
            raise LineRefusedError("verifier", f"no run of {line.verifier!r} has a verdict on this item")
    if line.supersedes is not None:
        _require_taken_back(connection, line.supersedes, found[0][0])
    try:
        people.require_distinct(connection, line.reviewer)
        reviewer = people.add(connection, line.reviewer, people.COORDINATOR)
    except UsageError as error:
        raise LineRefusedError("reviewer", str(error)) from error
    review = Review(
        uuid=line.uuid,
        kind=line.kind,
        completion=found[0][0],
        run=run,
        verifier=line.verifier,
        category=line.category,
        gold=line.gold,
        queue=line.queue,
        note=line.note,
        reviewer=line.reviewer,
        supersedes=line.supersedes,
        created_at=line.created_at,
    )
    reviews.append(connection, review, reviewer)
    return True


def _require_taken_back(connection: Connection, uuid: str, completion: int) -> None:
    taken_back = reviews.by_uuid(connection, uuid)
    if taken_back is None or taken_back.kind == "retraction" or taken_back.completion != completion:
        raise LineRefusedError("supersedes", f"there is no decision {uuid!r} on this item to take back")


# -- Items by the ids that people know them by.


def named(
    project: Project, ids: Sequence[str], dataset: str | None = None, question: str | None = None
) -> Iterator[tuple[str, int | str]]:
    """Each completion's id, once, with its row id, or with why it can't be told which item is meant."""
    reader = project.database.reader()
    for key in dict.fromkeys(ids):
        found = label_lines.find_completions(reader, key, question, dataset)
        if len(found) == 1:
            yield key, found[0][0]
        elif not found:
            yield key, "There is no completion of this id here."
        elif found[0][2] != found[1][2]:
            yield key, "Several data sets have a completion of this id: add --dataset NAME."
        else:
            yield key, "Several questions have a completion of this id: add --question ID."
