"""Events written directly to the database, for tests of what is counted from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.core.database import events, people
from workbench.core.label import EventKind, LabelEvent, LabelVerdict, Task
from workbench.core.project import Project
from workbench.labelling import ledger

WORDS: dict[str, LabelVerdict] = {"c": "correct", "i": "incorrect", "u": "unsuitable"}


class Record:
    """A project's events, written one by one, a minute apart.

    Args:
        project: Where they go.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._minutes = 0

    def say(
        self,
        person: str,
        subject: int,
        said: str,
        *,
        task: Task = "correctness",
        kind: EventKind = "label",
        **more: Any,
    ) -> str:
        """Record one event; returns its uuid. ``said`` is c, i or u, a subtype, or empty."""
        self._minutes += 1
        at = f"2025-03-{1 + self._minutes // 600:02d}T{self._minutes // 60 % 10:02d}:{self._minutes % 60:02d}:00Z"
        with self.project.database.write() as connection:
            value: dict[str, Any] = {"verdict": WORDS.get(said)} if task == "correctness" else {"subtype": said or None}
            event = LabelEvent(
                **({"uuid": events.new_uuid(), "created_at": at} | value | more),
                kind=kind,
                task=task,
                subject=subject,
                annotator=people.add(connection, person),
                exclusion_reason="proof" if said == "u" else None,
            )
            ledger.record(connection, event)
        return event.uuid

    def table(self, people_: Iterable[str], rows: Iterable[str], task: Task = "correctness") -> None:
        """A line a person: what they say of subjects 1, 2, …; a point for nothing."""
        for person, row in zip(people_, rows, strict=True):
            for subject, said in enumerate(row.split(), 1):
                if said != ".":
                    self.say(person, subject, said, task=task)
