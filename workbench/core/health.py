"""Findings of ``doctor``, and results of ``rescue``."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Remedy = Literal["", "repair", "rescue"]


class Finding(Struct, frozen=True, kw_only=True):
    """The result of one check of ``doctor``.

    Attributes:
        remedy: ``repair`` if the faulty data can be derived from the rest, ``rescue`` if it is stored nowhere else in
            the file.
    """

    name: str
    ok: bool
    message: str
    remedy: Remedy = ""


class TableRescued(Struct, frozen=True, kw_only=True):
    """The recovered rows of one table.

    Attributes:
        rows: Number of rows that were read and kept.
        missing: Number of lost rows; None if it can't be determined.
        stand_ins: Number of placeholder rows, inserted for lost rows that other rows refer to.
        dropped: Number of rows that were read but not kept, because the row to which they belong is lost, or they
            violate a constraint.
        is_derived: Whether the table can be recomputed, so that nothing is lost with it.
    """

    table: str
    rows: int
    missing: int | None = 0
    stand_ins: int = 0
    dropped: int = 0
    is_derived: bool = False

    @property
    def is_whole(self) -> bool:
        return self.is_derived or (self.missing == 0 and not self.stand_ins and not self.dropped)


class Rescued(Struct, frozen=True, kw_only=True):
    """The content recovered from a damaged database.

    Attributes:
        schema: Version of the database's schema.
        changed_questions: Row ids of questions that differ from their import.
        changed_items: Row ids of items that differ from their import.
        changed_labels: Row ids of label events that don't match their digests.
        notes: What the losses mean for the user, one sentence each.
    """

    database: str
    source: str
    schema: int
    tables: list[TableRescued]
    changed_questions: list[int]
    changed_items: list[int]
    changed_labels: list[int]
    notes: list[str]

    @property
    def is_whole(self) -> bool:
        changed = self.changed_questions or self.changed_items or self.changed_labels
        return all(table.is_whole for table in self.tables) and not changed


class Repaired(Struct, frozen=True, kw_only=True):
    """The actions of ``doctor --repair``.

    Attributes:
        done: What was rebuilt, one sentence each; empty if nothing had to be.
        kept: Paths of the previous files, which were kept.
    """

    done: list[str]
    kept: list[str]
