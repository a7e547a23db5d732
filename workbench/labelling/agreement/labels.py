"""The labels that agreement is about, as arrays, and what is known of their items and makers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from workbench.core.database import people
from workbench.core.database.selection import chosen_subjects
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.labelling.store import agreement as store

if TYPE_CHECKING:
    from workbench.statistics.agreement.ratings import Ratings
    from workbench.statistics.arrays import IntArray


class Outcomes(NamedTuple):
    """Labels held against something, two lists of one length: whose it was, and whether it was the same."""

    person: list[int]
    same: list[bool]


class FirstPassLabels(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """First-pass labels: blind, in force, of the round under way; no adjudications, repeats or checks.

    Attributes:
        ratings: The labels; an item is a place in ``known``, a person in ``people``, a category in ``categories``.
        known: What is known of each item, completions (correctness) or questions (type) in the order of import.
        people: The names of all who have said anything, unblinded or not, in the order they came.
        categories: What has been said, in alphabetical order.
        unblinded: Each person's labels that are left out.
        surplus: Labels beyond the overlap of their item.
        focused_ms: How long each label took, -1 where it is not known.
        completed: When each item got its last label.
        upheld: Labels of items a third person settled, against the decision.
        imported: Labels of items that came with gold (or a type), against it.
        checks: Verdicts on items with a known answer, against it.
        repeats: Second labels of own items, against the first.
    """

    ratings: Ratings
    known: Sequence[store.AgreementSubject]
    people: Sequence[str]
    categories: Sequence[str]
    unblinded: Sequence[int]
    surplus: int
    focused_ms: IntArray
    completed: Sequence[str]
    upheld: Outcomes
    imported: Outcomes
    checks: Outcomes
    repeats: Outcomes


def counted(
    project: Project,
    task: Task,
    *,
    by: str | None = None,
    coarse: bool = False,
    selection: Selection | None = None,
) -> FirstPassLabels:
    """Read the labels that count.

    Args:
        by: What ``known`` groups subjects by: one of ``store.GROUPS``.
        coarse: Take answer types by their letter.
        selection: Only labels of these items, or of their questions.

    Raises:
        UsageError: The selection names something unknown.
    """
    import numpy as np

    from workbench.statistics.agreement.ratings import Ratings

    reader = project.database.reader()
    labels, about = store.labels(reader, task), store.subjects(reader, task, by)
    if selection is not None:
        chosen = set(chosen_subjects(reader, task, selection))
        labels = [label for label in labels if label.subject in chosen]
    checks, repeats = store.checks(reader) if task == "correctness" else [], store.repeats(reader, task)
    names = _names(
        project, {label.annotator for label in labels} | {second.annotator for second in (*checks, *repeats)}
    )
    place = {person: number for number, person in enumerate(names)}
    blind = [label for label in labels if not label.unblinded]
    said = [label.value[:1] if coarse else label.value for label in blind]
    person = np.array([place[label.annotator] for label in blind], dtype=np.int64)
    subject, item = np.unique(np.array([label.subject for label in blind], dtype=np.int64), return_inverse=True)
    categories, value = np.unique(np.array(said, dtype=np.str_), return_inverse=True)
    unblinded = Counter(label.annotator for label in labels if label.unblinded)
    held = _LabelComparison(place, coarse)
    return FirstPassLabels(
        ratings=Ratings(
            item=item,
            annotator=person,
            value=value,
            items=len(subject),
            annotators=len(place),
            categories=len(categories),
        ),
        known=[about[number] for number in subject.tolist()],
        people=list(names.values()),
        categories=categories.tolist(),
        unblinded=[unblinded[id] for id in place],
        surplus=_surplus(store.overlap(reader, task), subject.tolist(), np.bincount(item).tolist()),
        focused_ms=np.array([label.focused_ms for label in blind], dtype=np.int64),
        completed=_completed(item.tolist(), [label.created_at for label in blind]),
        upheld=held.against((label.annotator, label.value, about[label.subject].ruling) for label in blind),
        imported=held.against((label.annotator, label.value, about[label.subject].imported) for label in blind),
        checks=held.against(checks),
        repeats=held.against(repeats),
    )


def _names(project: Project, there: set[int]) -> dict[int, str]:
    """Row id -> name of those people, in the order they came."""
    return {person.id: person.name for person in people.everyone(project.database) if person.id in there}


class _LabelComparison(NamedTuple):
    """How labels are held against something.

    Attributes:
        place: Row id of a person -> their place.
        coarse: By the letter of a type.
    """

    place: dict[int, int]
    coarse: bool

    def against(self, labels: Iterable[tuple[int, str, str | None]]) -> Outcomes:
        """Of (person, said, expected) those with something to expect."""
        found = Outcomes([], [])
        for person, said, expected in labels:
            if expected is not None:
                found.person.append(self.place[person])
                found.same.append(said[:1] == expected[:1] if self.coarse else said == expected)
        return found


def _surplus(overlap: dict[int, int], subjects: Sequence[int], labels: Sequence[int]) -> int:
    wanted = ((overlap.get(subject), number) for subject, number in zip(subjects, labels, strict=True))
    return sum(max(0, number - need) for need, number in wanted if need is not None)


def _completed(item: Sequence[int], created_at: Sequence[str]) -> list[str]:
    last: dict[int, str] = {}
    for number, at in zip(item, created_at, strict=True):
        last[number] = max(at, last.get(number, ""))
    return [last[number] for number in range(len(last))]
