"""What ``doctor`` finds, and what ``rescue`` brings back."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Remedy = Literal["", "repair", "rescue"]


class Finding(Struct, frozen=True, kw_only=True):
    """One check: ``ok``, or what is wrong.

    Attributes:
        remedy: ``repair`` where what is wrong follows from the rest and can be made anew, ``rescue`` where what is
            hurt stands nowhere else in the file.
    """

    name: str
    ok: bool
    message: str
    remedy: Remedy = ""


class TableRescued(Struct, frozen=True, kw_only=True):
    """What came back of one table.

    Attributes:
        rows: Rows that were read and kept.
        missing: Rows that are not there; None where nobody can tell how many.
        stand_ins: Rows that stand for lost ones, because others refer to them.
        dropped: Rows that were read and could not be kept: what they belong to is lost, or they break a rule.
        is_derived: Nothing is lost with it: it is found again.
    """

    table: str
    rows: int
    missing: int | None = 0
    stand_ins: int = 0
    dropped: int = 0
    is_derived: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is missing."""
        return self.is_derived or (self.missing == 0 and not self.stand_ins and not self.dropped)


class LostLabel(Struct, frozen=True, kw_only=True):
    """A label event of which only an index still tells.

    Attributes:
        item: Row id of the completion, or of the question of an answer type; None where it can't be told.
    """

    event: int
    annotator: str | None = None
    task: str | None = None
    item: int | None = None


class Rescued(Struct, frozen=True, kw_only=True):
    """What came back of a hurt database.

    Attributes:
        schema: Version of its tables.
        lost_labels: Label events that are missing, as far as indexes tell of them.
        changed_questions: Row ids of questions that are not what they were imported as.
        changed_items: Row ids of items that are not.
        changed_labels: Row ids of label events that are not what was given.
        notes: What it means, a sentence each.
        without_digest: Tables with rows whose values carry no digest: a byte changed inside one is not seen.
    """

    database: str
    source: str
    schema: int
    tables: list[TableRescued]
    lost_labels: list[LostLabel]
    changed_questions: list[int]
    changed_items: list[int]
    changed_labels: list[int]
    notes: list[str]
    without_digest: list[str]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing or changed."""
        changed = self.changed_questions or self.changed_items or self.changed_labels
        return all(table.is_whole for table in self.tables) and not changed


class Repaired(Struct, frozen=True, kw_only=True):
    """What ``doctor --repair`` did.

    Attributes:
        done: What was made anew, a sentence each; nothing where there was no need.
        kept: Where what was there before stands.
    """

    done: list[str]
    kept: list[str]
