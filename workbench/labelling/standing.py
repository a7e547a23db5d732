"""Where a person's answer to an item stands, or would stand."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.database import events
from workbench.core.label import EventKind, LabelEvent, Task
from workbench.data.store import label_lines
from workbench.labelling.annotation_item import AnnotationItem
from workbench.labelling.store import assignments
from workbench.labelling.store.assignments import Purpose

KIND: dict[Purpose, EventKind] = {"quota": "label", "check": "check", "repeat": "repeat"}
PURPOSE: dict[EventKind, Purpose] = {kind: purpose for purpose, kind in KIND.items()}
TASKS: tuple[Task, ...] = ("correctness", "type")


class Standing(NamedTuple):
    """Where an answer to an item would stand: what for, after which own one, and what its subject is called."""

    purpose: Purpose
    mine: LabelEvent | None
    round: int
    revealed: bool
    place: label_lines.SubjectPlace


def standing(connection: events.Connection, person: int, task: Task, item: AnnotationItem) -> Standing:
    """Where this person's answer to a task would stand now."""
    subject = subject_of(task, item)
    purpose = assignments.purpose_of(connection, task, subject, person, answered=answered(task, item))
    return Standing(
        purpose=purpose,
        mine=events.current_of(connection, task, subject, person, KIND[purpose]),
        round=events.round_of(connection, task, subject),
        revealed=events.was_revealed(connection, person, task, subject),
        place=label_lines.place(connection, task, subject),
    )


def subject_of(task: Task, item: AnnotationItem) -> int:
    """What of an item a task asks about: the completion, or its question."""
    return item.completion if task == "correctness" else item.question


def answered(task: Task, item: AnnotationItem) -> bool:
    """Whether the person had answered the task as the item was opened."""
    return (item.verdict if task == "correctness" else item.subtype) is not None
