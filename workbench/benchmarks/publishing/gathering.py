"""Gathers the contents of a data card from the functions that compute every other table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct, structs

from workbench.benchmarks import store
from workbench.benchmarks.building.comparing import report_of, set_diff
from workbench.benchmarks.card.contents import Annotations, Conflicts, GuidelineVersion, SetContents
from workbench.benchmarks.publishing.frozen import FrozenSet, frozen_columns, selection_of
from workbench.benchmarks.publishing.leaderboard import leaderboard_of
from workbench.benchmarks.records import Differing, SetDiff
from workbench.core.database import events, sets
from workbench.core.database.journal import label_line
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.label import LabelEvent, LabelLine, Task, pseudonym
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.sets import SetName, StoredSet
from workbench.core.states import current_events
from workbench.core.verdict import Protocol3
from workbench.data.store import licences, reading
from workbench.data.store.reading import annotator_names
from workbench.labelling import guidelines
from workbench.labelling.agreement.measuring import agreement
from workbench.measuring.records.documents import DataCard, NamedCount
from workbench.measuring.report.card import data_card
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.gathering import run_facts, software
from workbench.measuring.report.people import renamed
from workbench.statistics.records.agreement import AgreementReport

# -- The published labels of a benchmark: each annotator's labels and each third person's decisions.


_TASKS: tuple[Task, ...] = ("correctness", "type")


class SubjectAnnotations(Struct, frozen=True, kw_only=True):
    """Current labels and decisions on one item, or on one question's type, the oldest first.

    Attributes:
        question: The id of the question in the files.
        completion: The id of the completion in the files; for a type, the question's first completion in the benchmark.
    """

    question: str
    completion: str
    events: tuple[LabelEvent, ...]


def aliases(project: Project, *, names: bool) -> dict[int, str]:
    found = reading.annotator_names(project.database.reader())
    return found if names else {person: pseudonym(person) for person in found}


def iter_annotations(project: Project, frozen: FrozenSet) -> Iterator[SubjectAnnotations]:
    reader = project.database.reader()
    first: dict[int, tuple[str, str]] = {}
    for row, question, place in reading.completion_places(reader, [member.item for member in frozen.members]):
        names = frozen.id_of(place.dataset, place.question_id), frozen.id_of(place.dataset, place.completion_id)
        first.setdefault(question, names)
        if found := _current_labels(events.events_of(reader, "correctness", row)):
            yield SubjectAnnotations(question=names[0], completion=names[1], events=found)
    for question, names in first.items():
        if found := _current_labels(events.events_of(reader, "type", question)):
            yield SubjectAnnotations(question=names[0], completion=names[1], events=found)


def _current_labels(stored: Sequence[LabelEvent]) -> tuple[LabelEvent, ...]:
    return tuple(event for event in current_events(stored) if event.kind in ("label", "adjudication"))


def lines_of(said: Iterable[SubjectAnnotations], people: Mapping[int, str]) -> Iterator[LabelLine]:
    """Yield one line for each label or decision, in the format of ``workbench labels DB import``."""
    for one in said:
        for event in one.events:
            yield _label_line(one, event, people[event.annotator])


def _label_line(said: SubjectAnnotations, event: LabelEvent, name: str) -> LabelLine:
    line = label_line(event, name, said.question, said.completion)
    line.round = UNSET  # Earlier rounds are not published.
    for key in ("guideline", "open_ms"):
        if (value := getattr(event, key)) is not None:
            setattr(line, key, value)
    return line


def counted_annotations(said: Sequence[SubjectAnnotations], frozen_at: str) -> Annotations:
    """Count the published labels.

    Args:
        frozen_at: The time at which the benchmark was frozen.
    """
    given = [event for one in said for event in one.events]
    return Annotations(
        lines=len(given),
        people=len({event.annotator for event in given}),
        guidelines=dict(sorted(Counter(event.guideline or "" for event in given).items())),
        later=sum(event.created_at > frozen_at for event in given),
        conflicts=[found for task in _TASKS if (found := _count_conflicts(task, said)).labelled],
    )


def _count_conflicts(task: Task, said: Sequence[SubjectAnnotations]) -> Conflicts:
    labelled = disputed = 0
    settled: Counter[str] = Counter()
    for one in said:
        labels = [event for event in one.events if event.task == task and event.kind == "label"]
        values = [label.value for label in labels if not label.unblinded]
        labelled += len(values) > 1
        if len(set(values)) > 1:
            disputed += 1
            settled.update(event.value or "" for event in one.events[-1:] if event.kind == "adjudication")
    return Conflicts(task=task, labelled=labelled, disputed=disputed, settled=dict(sorted(settled.items())))


def gather(
    project: Project,
    frozen: FrozenSet,
    config: str,
    said: Sequence[SubjectAnnotations],
    people: dict[int, str],
    protocol: Protocol3,
) -> SetContents:
    """Gather the card's contents about one benchmark.

    Args:
        config: The name of the benchmark in the folder.
        said: The labels and decisions on its items.
        people: Row id of a person -> their name in the files.
        protocol: How abstentions and errors are counted on the leaderboard.

    Raises:
        StoreError: The stored report of the benchmark can't be read.
    """
    stored, reader = frozen.stored, project.database.reader()
    report = report_of(stored)
    known = frozen_columns(project, frozen)
    board = leaderboard_of(project, frozen, known, protocol)
    called = {name: people[person] for person, name in annotator_names(reader).items()}
    annotated, drawn = store.annotated_in(reader, stored), store.drawn_from(reader, stored)
    judges = [run_facts(project, run) for run in stored.runs]
    card = data_card(project, frozen.selection, "final", known=known, together=frozen.title)
    chose = sorted({run.verifier for run in judges})
    contents = Contents(
        database=frozen.title,
        selection=str(frozen.selection),
        protocol=board.overall.protocol,
        gold_choice=stored.gold or "final",
        generated_at=stored.created_at,
        card=structs.replace(
            card,
            sources=_counts_with_draws(project, card, drawn),
            exclusions=report.excluded,
            selection_judges=card.selection_judges | ({frozen.title: chose} if chose else {}),
        ),
        overall=board.overall,
        agreement=_agreement_or_none(project, frozen.selection, "correctness", called),
        runs=board.runs,
        software=software(project, None),
    )
    return SetContents(
        config=config,
        stored=stored,
        report=report,
        contents=contents,
        types=_agreement_or_none(project, frozen.selection, "type", called),
        pool=_pool_agreement(project, frozen, annotated, called),
        made_of=[(one, report_of(one)) for one in (annotated, drawn) if one is not None],
        judges=judges,
        annotations=counted_annotations(said, stored.created_at),
        guideline=None if stored.guideline is None else _guideline_version(project, stored.guideline),
        leaderboard=board.lines,
        undecided=board.undecided,
        differing=_count_changed_labels(project, frozen),
        changes=_changes_since_previous(project, frozen),
        qualified=frozen.qualified,
    )


def _count_changed_labels(project: Project, frozen: FrozenSet) -> Differing:
    found = store.count_changed_labels(project.database.reader(), frozen.stored.id, frozen.stored.gold)
    return Differing(gold=found.gold, types=found.subtype)


def _changes_since_previous(project: Project, frozen: FrozenSet) -> SetDiff | None:
    before = SetName(frozen.stored.name, frozen.stored.version - 1)
    if sets.find(project.database.reader(), before) is None:
        return None
    return set_diff(project, str(before), str(frozen.name))


def _counts_with_draws(project: Project, card: DataCard, drawn: StoredSet | None) -> list[NamedCount]:
    reader = project.database.reader()
    given, known = store.questions_by_source(reader, None if drawn is None else drawn.id), licences.known(reader)
    there = {row.name for row in card.sources}
    unused = [
        NamedCount(name=name, items=0, questions=0, correct=0, licence=known.get(name))
        for name in sorted(given.keys() - there)
    ]
    return [structs.replace(row, drawn=given.get(row.name, 0)) for row in (*card.sources, *unused)]


def _agreement_or_none(
    project: Project, selection: Selection, task: Task, called: dict[str, str]
) -> AgreementReport | None:
    """Return the annotators' agreement on the selected items, with intervals; None if no item has two labels.

    For a reopened item, the labels of its current round count, which are the published ones.
    """
    found = agreement(project, task, selection=selection, latest=True)
    return renamed(found, called) if found.paired else None


def _pool_agreement(
    project: Project, frozen: FrozenSet, annotated: StoredSet | None, called: dict[str, str]
) -> tuple[str, AgreementReport] | None:
    selection = _selection_behind(frozen.stored, annotated)
    found = _agreement_or_none(project, selection, "correctness", called)
    if found is None or len(chosen_ids(project.database.reader(), selection)) == frozen.stored.items:
        return None
    return str(selection), found


def _selection_behind(stored: StoredSet, annotated: StoredSet | None) -> Selection:
    if annotated is not None:
        return selection_of(annotated)
    try:
        where = msgspec.json.decode(stored.config, type=_PlannedItems).where
    except msgspec.MsgspecError:
        where = ()
    return Selection(tuple(map(parse_condition, where)))


class _PlannedItems(Struct):
    where: tuple[str, ...] = ()


def _guideline_version(project: Project, version: str) -> GuidelineVersion:
    try:
        return GuidelineVersion(version=version, text=guidelines.of_version(project, version).text)
    except UsageError:
        return GuidelineVersion(version=version, text=None)
