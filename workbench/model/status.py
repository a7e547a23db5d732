"""What Home and ``workbench status`` show."""

from __future__ import annotations

from msgspec import Struct


class DatasetInfo(Struct, frozen=True, kw_only=True):
    """One data set. ``types`` is ``trusted`` (imported with its items) or ``labelled`` (people settle them)."""

    name: str
    items: int
    questions: int
    types: str


class PersonProgress(Struct, frozen=True, kw_only=True):
    """One person's work: correctness labels in force, items left for them, conflicts they may settle."""

    name: str
    role: str
    done: int
    left: int
    conflicts: int


class Status(Struct, frozen=True, kw_only=True):
    """Counts over the whole database.

    Attributes:
        states: Items by public state.
        checks: How many of the items are checks: their answer is known, and they are part of no benchmark.
        runs: How many runs there are.
        running: How many of them are queued or running.
        quarantined: Rows that could not be imported.
        flags: Flags that wait for the coordinator's answer.
    """

    items: int
    questions: int
    states: dict[str, int]
    checks: int
    runs: int
    running: int
    quarantined: int
    flags: int
    datasets: list[DatasetInfo]
    people: list[PersonProgress]
