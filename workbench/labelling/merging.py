"""Merging: imports the label events of other databases, such as returned bundles.

The result is the union of the events by uuid, independent of order and repetition. The events on one item are stored
in one transaction, some hundred events at a time, so that annotators can keep working; a killed merge can be started
again. The result depends only on the other file's content, which is opened separately and read-only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from workbench.config import settings_of
from workbench.core import project as transactions
from workbench.core.database import events, people, states
from workbench.core.database.journal import subject_place
from workbench.core.database.looking import opened_untrusted
from workbench.core.errors import Command, StoreError
from workbench.core.label import LabelEvent, Task
from workbench.core.project import Project
from workbench.core.states import current_labels, rival_heads
from workbench.core.text.figures import Narration, some, time_to_minute
from workbench.data.store.reading import annotator_names
from workbench.labelling import checks, ledger
from workbench.labelling.answers import contradictions
from workbench.labelling.believing import Origin, Trusted, UntrustedFileError, counted, identify
from workbench.labelling.incoming import Arrival, Incoming, RefusedEvent, Subject, refused_event
from workbench.labelling.store import foreign, guidelines

Guideline = tuple[foreign.ForeignGuideline, str, str]
"""A version of another database's guidelines, with its author's name and role."""
Tell = Callable[[Path, Trusted], None]
"""Called with a summary before a whole database is trusted."""


class SubjectName(Struct, frozen=True, kw_only=True):
    """An item, or with ``completion_id`` None a question."""

    task: Task
    dataset: str
    question_id: str
    completion_id: str | None


class TwoHeads(SubjectName, frozen=True, kw_only=True):
    """A person's labels of one item from different databases; the newest counts.

    Attributes:
        uuids: The labels' uuids, the newest last.
    """

    annotator: str
    uuids: tuple[str, ...]


class Surplus(SubjectName, frozen=True, kw_only=True):
    """A label beyond the item's overlap: it is kept, and counted in agreement."""

    annotator: str
    uuid: str


class Merged(Struct, kw_only=True):
    """The result of a merge.

    Attributes:
        file: The other database; empty for a summary of several.
        events_new: Number of imported events.
        unchanged: Number of events that were known.
        refused: Rejected events with reasons.
        heads: Items with two labels of one person from different databases.
        surplus: Labels beyond an item's overlap.
        reopened: Items that were resolved and have been reopened by a late label.
        people: Annotator -> number of new events.
        kinds: Kind of event, such as flag -> number of new events.
        contradicting: Number of new verdicts whose tags contradict them or each other.
        guidelines: Versions of the guidelines that are new here.
        bundle: The bundle's identity; None for a whole database.
        trusted: What was trusted in a whole database.
        not_believed: Why the whole file was rejected; empty otherwise.
    """

    file: str
    events_new: int = 0
    unchanged: int = 0
    refused: list[RefusedEvent] = []
    heads: list[TwoHeads] = []
    surplus: list[Surplus] = []
    reopened: list[SubjectName] = []
    people: dict[str, int] = {}
    kinds: dict[str, int] = {}
    contradicting: int = 0
    guidelines: list[str] = []
    bundle: Origin | None = None
    trusted: Trusted | None = None
    not_believed: str = ""
    files: list[Merged] | UnsetType = UNSET


def merge_reports(reports: Sequence[Merged]) -> Merged:
    """Return one report for several files, with their reports in ``files``; for one file, its own report."""
    if len(reports) == 1:
        return reports[0]
    found: dict[str, Any] = {name: sum(getattr(one, name) for one in reports) for name in _SUMS}
    for name in _COUNTS:
        found[name] = counted(sum((Counter(getattr(one, name)) for one in reports), Counter[str]()))
    for name in _LISTS:
        found[name] = [row for one in reports for row in getattr(one, name)]
    return Merged(file="", **found, files=list(reports))


_SUMS = ("events_new", "unchanged", "contradicting")
_COUNTS = ("people", "kinds")
_LISTS = ("refused", "heads", "surplus", "reopened", "guidelines")


def merge_all(
    project: Project, others: Sequence[Path], *, whole: bool = False, tell: Tell | None = None
) -> list[Merged]:
    """Import the label events of returned bundles or of whole databases; the other files are not changed.

    From a bundle of this database only its person's possible events on its items are imported. Items are matched by
    data set, question id, completion id and text; people by name. Leases, drafts and skips are not imported. Of several
    files, one that can't be read is reported as rejected, and the others are merged.

    Args:
        whole: Whether to accept everything in the files; else only bundles are accepted.

    Raises:
        StoreError: A single file is not a workbench database, has a newer schema, is damaged, or is this database.
    """
    reports = []
    for other in others:
        try:
            found = _read(project, other, whole=whole)
        except StoreError as error:
            if len(others) == 1:
                raise
            refused = [refused_event("file", "file", str(error), events=0)]
            reports.append(Merged(file=str(other), not_believed=str(error), refused=refused))
        else:
            reports.append(_import_file(project, found, tell))
    return reports


class _ReadFile(NamedTuple):
    file: Path
    incoming: Incoming | None
    guidelines: list[Guideline]
    origin: Origin | None
    why_not: str = ""


def _read(project: Project, other: Path, *, whole: bool) -> _ReadFile:
    project.database.require_other(other)
    try:
        with opened_untrusted(other, foreign.TABLES) as theirs:
            believed = None if whole else identify(project.database.reader(), theirs)
            incoming = Incoming(project, theirs, believed)
            return _ReadFile(other, incoming, list(incoming.guidelines()), believed.origin if believed else None)
    except UntrustedFileError as error:
        return _ReadFile(other, None, [], None, str(error))


def _import_file(project: Project, found: _ReadFile, tell: Tell | None) -> Merged:
    if found.incoming is None:
        file = str(found.file)
        return Merged(file=file, not_believed=found.why_not, refused=_rejected_events(found.file, found.why_not))
    taking = _MergeWriter(project, found.incoming, str(found.file))
    taking.report.bundle = found.origin
    if found.origin is None:
        taking.report.trusted = found.incoming.trusted(len(found.guidelines))
        if tell is not None:
            tell(found.file, taking.report.trusted)
    if found.guidelines:
        taking.guidelines(found.guidelines)
    parts = transactions.Parts("events")
    for chunk in _chunks(found.incoming.arrivals):
        with parts.storing(sum(len(arrived) for _, arrived in chunk)):
            taking.subjects(chunk)
    return taking.report


def _rejected_events(other: Path, why: str) -> list[RefusedEvent]:
    counts = Counter[tuple[str, str]]()
    with opened_untrusted(other, foreign.TABLES) as theirs:
        names = {row: str(name)[:100] for row, (name, _) in foreign.people(theirs).items()}
        for row in foreign.events(theirs, ("annotator_id", "kind"), 0):
            counts[names.get(cast("int", row["annotator_id"]), ""), str(row["kind"])[:20]] += 1
    some = counts.most_common(_MAX_NAMED)
    more = counts.total() - sum(number for _, number in some)
    refused = [refused_event("file", "bundle", why, *of, number) for of, number in some]
    return refused + ([refused_event("file", "bundle", why, events=more)] if more or not some else [])


_MAX_NAMED = 50
"""Maximum number of groups of events listed for a file that is rejected as a whole."""


def _chunks(arrivals: dict[Subject, list[Arrival]]) -> Iterator[list[tuple[Subject, list[Arrival]]]]:
    chunk: list[tuple[Subject, list[Arrival]]] = []
    size = 0
    for subject, arrived in sorted(arrivals.items(), key=lambda one: (one[1][-1].event.created_at, one[0])):
        chunk.append((subject, arrived))
        size += len(arrived)
        if size >= transactions.ROWS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class _MergeWriter:
    def __init__(self, project: Project, incoming: Incoming, file: str) -> None:
        self._database = project.database
        self._incoming = incoming
        self._policy = settings_of(project).annotation
        self._ids: dict[str, int] = {}
        self._checks = foreign.checks(project.database.reader())
        self._new: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self.report = Merged(file=file, refused=incoming.refused)

    @contextmanager
    def _transaction(self) -> Iterator[events.Connection]:
        with self._database.write("full") as connection:
            self._ids = {name: row for row, name in annotator_names(connection).items()}
            yield connection

    def guidelines(self, texts: Sequence[Guideline]) -> None:
        with self._transaction() as connection:
            held = {row.version: row.text for row in guidelines.every(connection)}
            for row, name, role in texts:
                if row.version not in held and self._incoming.is_bundle:
                    self._incoming.refuse(
                        f"guideline {row.version}", "version", "guidelines can't come from a bundle", name
                    )
                elif row.version not in held:
                    author = self._person(connection, name, role)
                    guidelines.add(connection, row.version, row.text, author, row.created_at)
                    self.report.guidelines.append(row.version)
                elif held[row.version] != row.text:
                    self._incoming.refuse(f"guideline {row.version}", "text", "the version has a different text here")

    def subjects(self, chunk: Sequence[tuple[Subject, list[Arrival]]]) -> None:
        with self._transaction() as connection:
            answered: set[int] = set()
            for subject, arrived in chunk:
                held = events.events_of(connection, *subject)
                new = self._new_of(connection, held, arrived)
                if new:
                    self._store(connection, subject, held, new)
                answered.update(event.annotator for event in new if event.kind == "check")
            for person in answered:
                checks.review(connection, person, self._policy)
        self.report.people, self.report.kinds = counted(self._new), counted(self._kinds)

    def _new_of(
        self, connection: events.Connection, held: Sequence[LabelEvent], arrived: Sequence[Arrival]
    ) -> list[LabelEvent]:
        new: list[LabelEvent] = []
        here = {event.uuid: event for event in held}
        begun = _first_round([*held, *(event for event, *_ in arrived)])
        for theirs, name, role in arrived:
            person = self._ids.get(name, 0)
            is_check = theirs.kind == "label" and (theirs.task, theirs.subject, person) in self._checks
            event = replace(theirs, annotator=person, kind="check" if is_check else theirs.kind)
            if event.uuid in here:
                self._compare(here[event.uuid], event, name)
            elif event.round > begun:
                self._refuse(event, name, "round", f"round {event.round} was never started")
            elif events.by_uuid(connection, event.uuid) is not None:
                self._refuse(event, name, "uuid", "it exists here for another item")
            else:
                new.append(replace(event, annotator=self._person(connection, name, role)))
                self._new[name] += 1
                self._kinds[event.kind] += 1
                self.report.contradicting += bool(contradictions(event.verdict, event.tags, event.partial))
        return new

    def _compare(self, here: LabelEvent, theirs: LabelEvent, name: str) -> None:
        if _comparable_content(here) == _comparable_content(theirs):
            self.report.unchanged += 1
        else:
            self._refuse(theirs, name, "uuid", "it exists here with other content")

    def _refuse(self, event: LabelEvent, name: str, field: str, message: str) -> None:
        self._incoming.refuse(event.uuid, field, message, name, event.kind)

    def _person(self, connection: events.Connection, name: str, role: str) -> int:
        if name not in self._ids:
            self._ids[name] = people.add(connection, name, role)
        return self._ids[name]

    def _store(
        self, connection: events.Connection, subject: Subject, held: Sequence[LabelEvent], new: Sequence[LabelEvent]
    ) -> None:
        before = states.get_task(connection, *subject)
        after = ledger.record_merged(connection, held, new)
        self.report.events_new += len(new)
        held = [*held, *new]
        labels = {label.annotator: label.uuid for label in current_labels(held)}
        left = foreign.settle_slots(connection, *subject, list(labels))
        foreign.settle_own_slots(connection, new)
        names = {row: name for name, row in self._ids.items()}
        if before.decided_by and not after.decided_by:
            self.report.reopened.append(SubjectName(**_subject_name(connection, subject)))
        for person in left:
            surplus = Surplus(**_subject_name(connection, subject), annotator=names[person], uuid=labels[person])
            self.report.surplus.append(surplus)
        for heads in rival_heads(held):
            uuids = tuple(event.uuid for event in heads)
            place = _subject_name(connection, subject)
            self.report.heads.append(TwoHeads(**place, annotator=names[heads[0].annotator], uuids=uuids))


def _first_round(known: Sequence[LabelEvent]) -> int:
    begun = 1
    for number in sorted(event.round for event in known if event.kind == "reopen"):
        begun = max(begun, number) if number <= begun + 1 else begun
    return begun


def _comparable_content(event: LabelEvent) -> LabelEvent:
    """Return the content that two events with the same uuid must have in common.

    A bundle stores a check as a label, a reopening without coordinator and reason, and an answer without author and
    other recipients.
    """
    if event.kind == "answer":
        return replace(event, annotator=0, seen=(), merged=False)
    if event.kind == "reopen":
        return replace(event, annotator=0, note=None, merged=False)
    return replace(event, kind="label" if event.kind == "check" else event.kind, merged=False)


def _subject_name(connection: events.Connection, subject: Subject) -> dict[str, Any]:
    task, row = subject
    place: dict[str, Any] = subject_place(connection, task, row)._asdict()
    return {"task": task, **place} if task == "correctness" else {"task": task, **place, "completion_id": None}


def trusted_text(trusted: Trusted) -> str:
    if not trusted.people:
        return "nothing in it is new"
    parts = [f"{_counts_text(trusted.people)} ({_counts_text(trusted.kinds)})"]
    if trusted.coordinators:
        parts.append(f"new coordinators: {', '.join(trusted.coordinators)}")
    if trusted.guidelines:
        parts.append(f"guidelines: {trusted.guidelines} versions")
    return "; ".join(parts)


def _counts_text(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def merged_lines(report: Merged) -> Iterator[str]:
    refused = sum(row.events for row in report.refused)
    if report.not_believed:
        yield f"{report.file}: nothing was merged: {report.not_believed}"
    else:
        yield f"{report.file}: {report.events_new} new events, {report.unchanged} here already, {refused} rejected"
    if report.bundle is not None:
        made = time_to_minute(report.bundle.made_at)
        yield f"  bundle of {report.bundle.annotator}, made {made}, {report.bundle.items} items"
    if report.kinds:
        yield f"  {_counts_text(report.kinds)}"
    for name, number in report.people.items():
        yield f"  {name}: {number}"
    if report.contradicting:
        yield f"  {report.contradicting:,} verdicts with marks that contradict them or each other"
    for version in report.guidelines:
        yield f"  guidelines: version {version}"
    yield from _row_lines(
        "labelled by one person in two places, the newest counts", [(row, row.annotator) for row in report.heads]
    )
    yield from _row_lines("labels beyond the overlap, kept", [(row, row.annotator) for row in report.surplus])
    yield from _row_lines("resolved before, now open again", [(row, "") for row in report.reopened])
    yield from _refused_lines(report)


def _refused_lines(report: Merged) -> Iterator[str]:
    groups = Counter[tuple[str, str, str]]()
    for row in report.refused:
        groups[row.annotator, row.kind, row.field] += row.events
    rejected = [
        f"{report.file}: rejected {number:,} × {kind or 'row'} of {name or 'an unknown person'}: {field}"
        for (name, kind, field), number in groups.most_common()
    ]
    yield from map(Narration, some(rejected))
    if any(row.field == "bundle" for row in report.refused):
        yield Narration(f"To trust it for everybody: {Command('merge DB FILE', whole=True)}")
    if not report.not_believed:
        reasons = [f"{report.file}: {row.what}: {row.field}: {row.message}" for row in report.refused]
        yield from map(Narration, some(reasons))


def _row_lines(what: str, rows: list[tuple[SubjectName, str]]) -> Iterator[str]:
    if rows:
        yield f"  {len(rows)} {what}:"
    items = [(place.dataset, place.completion_id or f"type of {place.question_id}", name) for place, name in rows]
    yield from some([f"    {dataset} {item} {name}".rstrip() for dataset, item, name in items])
