"""What every person says of an item, beside it in an export: labels and decisions, then repeats and checks apart."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.database import events
from workbench.core.label import LabelEvent, LabelVerdict, Task, pseudonym
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.states import current_beside, current_events
from workbench.data.store import exporting, label_lines

Role = Literal["annotator", "adjudicator", "coordinator"]

ROLES: dict[str, Role] = {"adjudication": "adjudicator", "exclusion": "coordinator"}
"""Kind of an event -> as what its maker spoke, where that is not as an annotator."""


class OwnLabel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one person says of an item, or of its question's type; for the fields see `LabelEvent`."""

    annotator: str
    task: Task
    created_at: str
    role: Role = "annotator"
    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    note: str | None = None
    unsure: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    unblinded: bool = False
    round: int = 1
    guideline: str | None = None


class ItemLabels(Struct, kw_only=True, omit_defaults=True):
    """What people say of one item.

    Attributes:
        labels: Each person's own label in force; adjudications and exclusions by their role.
        repeats: Answers of people who had labelled the item before; they count to nothing.
        checks: Answers to an item whose answer was known; they count to nothing.
    """

    labels: list[OwnLabel]
    repeats: list[OwnLabel] = []
    checks: list[OwnLabel] = []


class LabelIndex:
    """Everything people say of the selected items, to be found by item.

    Args:
        names: Annotators' names; stable pseudonyms otherwise.
    """

    def __init__(self, project: Project, selection: Selection, *, names: bool) -> None:
        reader = project.database.reader()
        self._names = exporting.annotator_names(reader) if names else {}
        self._said: dict[tuple[str, ...], list[LabelEvent]] = {}
        for subject in exporting.labelled_subjects(reader, selection):
            place = label_lines.place(reader, subject.task, subject.subject)
            key = place if subject.task == "correctness" else place[:2]
            stored = events.of_subject(reader, subject.task, subject.subject)
            self._said[key] = [*current_events(stored), *current_beside(stored)]

    def of(self, dataset: str, question: str, completion: str) -> ItemLabels:
        """What people say of a completion and of its question's type."""
        found = ItemLabels(labels=[])
        places = {"repeat": found.repeats, "check": found.checks}
        for key in ((dataset, question, completion), (dataset, question)):
            for event in self._said.get(key, ()):
                places.get(event.kind, found.labels).append(self._label(event))
        return found

    def _label(self, event: LabelEvent) -> OwnLabel:
        return OwnLabel(
            annotator=self._names.get(event.annotator, pseudonym(event.annotator)),
            task=event.task,
            created_at=event.created_at,
            role=ROLES.get(event.kind, "annotator"),
            verdict=event.verdict,
            reason=event.exclusion_reason,
            subtype=event.subtype,
            note=event.note,
            unsure=event.unsure,
            tags=event.tags,
            partial=event.partial,
            unblinded=event.unblinded,
            round=event.round,
            guideline=event.guideline,
        )
