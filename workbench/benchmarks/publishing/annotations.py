"""What people said of a set's items, as it is published: each one's own labels and each third person's decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from workbench.benchmarks.card.contents import Annotations, Conflicts
from workbench.benchmarks.publishing.frozen import FrozenSet
from workbench.core.database import events
from workbench.core.label import LabelEvent, LabelLine, Task, pseudonym
from workbench.core.project import Project
from workbench.core.states import current_events
from workbench.data.store import exporting, label_lines
from workbench.labelling.label_export import label_line

_TASKS: tuple[Task, ...] = ("correctness", "type")


class SubjectAnnotations(Struct, frozen=True, kw_only=True):
    """What people said of one item, or of one question's type: labels and decisions in force, oldest first.

    Attributes:
        question: What the question is called in the files.
        completion: What the completion is called; of a type the first completion of the question in the set.
    """

    question: str
    completion: str
    events: tuple[LabelEvent, ...]


def aliases(project: Project, *, names: bool) -> dict[int, str]:
    """What each person is called in the files: a stable pseudonym, or the name."""
    found = exporting.annotator_names(project.database.reader())
    return found if names else {person: pseudonym(person) for person in found}


def said_of(project: Project, frozen: FrozenSet) -> Iterator[SubjectAnnotations]:
    """Everything that stands, item by item; answers to checks and repeats, and what was taken back, stay here."""
    reader = project.database.reader()
    first: dict[int, tuple[str, str]] = {}
    for row, question, place in label_lines.places(reader, [member.item for member in frozen.members]):
        names = frozen.id_of(place.dataset, place.question_id), frozen.id_of(place.dataset, place.completion_id)
        first.setdefault(question, names)
        if found := _standing(events.of_subject(reader, "correctness", row)):
            yield SubjectAnnotations(question=names[0], completion=names[1], events=found)
    for question, names in first.items():
        if found := _standing(events.of_subject(reader, "type", question)):
            yield SubjectAnnotations(question=names[0], completion=names[1], events=found)


def _standing(stored: Sequence[LabelEvent]) -> tuple[LabelEvent, ...]:
    return tuple(event for event in current_events(stored) if event.kind in ("label", "adjudication"))


def lines_of(said: Iterable[SubjectAnnotations], people: Mapping[int, str]) -> Iterator[LabelLine]:
    """A line a label or decision, as ``workbench labels DB import`` reads them."""
    for one in said:
        for event in one.events:
            yield _line(one, event, people[event.annotator])


def _line(said: SubjectAnnotations, event: LabelEvent, name: str) -> LabelLine:
    line = label_line(event, name, said.question, said.completion)
    for key in ("guideline", "open_ms"):
        if (value := getattr(event, key)) is not None:
            setattr(line, key, value)
    return line


def counted_annotations(said: Sequence[SubjectAnnotations], frozen_at: str) -> Annotations:
    """The labels in numbers.

    Args:
        frozen_at: When the set was frozen.
    """
    given = [event for one in said for event in one.events]
    return Annotations(
        lines=len(given),
        people=len({event.annotator for event in given}),
        guidelines=dict(sorted(Counter(event.guideline or "" for event in given).items())),
        later=sum(event.created_at > frozen_at for event in given),
        conflicts=[found for task in _TASKS if (found := _conflicts(task, said)).labelled],
    )


def _conflicts(task: Task, said: Sequence[SubjectAnnotations]) -> Conflicts:
    labelled = disputed = 0
    settled: Counter[str] = Counter()
    for one in said:
        values = [event.value for event in one.events if event.task == task and event.kind == "label"]
        labelled += len(values) > 1
        if len(set(values)) > 1:
            disputed += 1
            settled.update(event.value or "" for event in one.events[-1:] if event.kind == "adjudication")
    return Conflicts(task=task, labelled=labelled, disputed=disputed, settled=dict(sorted(settled.items())))
