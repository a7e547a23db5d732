"""Items: a question, its reference answer and one completion; as read from files, and as exported."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

KEPT_RAW = 64 * 1024
"""Bytes of a rejected row that quarantine keeps."""


class ItemRecord(Struct, kw_only=True, gc=False):
    """An item read from one row of a file, validated and ready to store.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        raw: The row's bytes as read, kept in quarantine if it contradicts a stored item.
        question_key: The source's id of the question, or one derived from its content.
        completion_key: The source's id of the completion, or one derived from its content.
        gold: The imported correctness label, if the file has one.
        source: The source as in the file, usually ``domain/name``.
        licence: The source's licence; None if the file states none.
        type: Answer-type code (``"B"``), or None.
        subtype: Answer-subtype code (``"B5"``), or None.
        type_text: The type as written in the file, stored for export.
        subtype_text: The subtype as written in the file, stored for export.
        extra: JSON object of unknown keys, in their order and spelling; or None.
        layout: For a row in the released schema with missing or reordered keys, a JSON array of its keys; otherwise
            None.
        is_first_in_row: Whether it is the row's first record of this completion, in a file in which several rows judge
            the same completion; an equal record of another row is then no repetition.
    """

    line: int
    raw: bytes
    question_key: str
    completion_key: str
    question: str
    reference: str
    completion: str
    gold: bool | None = None
    model: str | None = None
    source: str | None = None
    licence: str | None = None
    type: str | None = None
    subtype: str | None = None
    type_text: str | None = None
    subtype_text: str | None = None
    extra: str | None = None
    layout: str | None = None
    is_first_in_row: bool = False


class QuestionRecord(ItemRecord, kw_only=True, gc=False):
    """A question with a reference answer but without a completion, read from a file of questions."""

    completion_key: str = ""
    completion: str = ""


class Refusal(Struct, frozen=True, kw_only=True):
    """A rejected row (quarantine).

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        code: Reason code: ``bad_json``, ``bad_csv``, ``missing_field``, ``wrong_type``, ``bad_utf8``,
            ``nul``, ``too_long``, ``duplicate_key``, ``conflict``, ``truncated``, ``type_mismatch``; for code also
            ``unknown_problem`` and ``unsupported``.
        field: The faulty field, if there is one.
        message: What is wrong and what to do.
        raw: The row's bytes as read (the first 64 KiB of a long one).
    """

    line: int
    code: str
    message: str
    raw: bytes
    field: str | None = None


class StoredItem(Struct, frozen=True, kw_only=True):
    """One item in its current state, for export.

    Attributes:
        gold: The requested gold label, usually the final one: adjudicated, else agreed, else imported. None for an item
            that is in conflict or excluded.
        gold_from: Origin of ``gold``.
        imported_gold: The gold label in the imported file.
        type: Code of the current answer type.
        subtype: Code of the current answer subtype.
        type_text: The text of the type to export: as in the imported file unless annotators have changed the type.
        subtype_text: The text of the subtype to export, chosen in the same way.
        state: State of the item's annotation.
        extra: See ``ItemRecord``.
        layout: See ``ItemRecord``.
    """

    dataset: str
    question_key: str
    completion_key: str
    question: str
    reference: str
    completion: str
    gold: bool | None
    gold_from: str | None
    imported_gold: bool | None
    model: str | None
    source: str | None
    type: str | None
    subtype: str | None
    type_text: str | None
    subtype_text: str | None
    state: str
    extra: str | None
    layout: str | None


class TypeColumn(Struct, kw_only=True):
    """A column that was read as answer types or subtypes.

    Attributes:
        values: Number of rows with a value.
        unknown: Number of rows whose value is not an answer type.
        words: The first 20 unknown values, each with its frequency.
    """

    column: str
    values: int = 0
    unknown: int = 0
    words: dict[str, int] = {}

    @property
    def description(self) -> str:
        """Describe the values that are not answer types, and what to do about them."""
        examples = ", ".join([*list(self.words)[:3], *("…" for _ in list(self.words)[3:4])])
        return (
            f"{self.unknown:,} of {self.values:,} values of {self.column} are not answer types ({examples}): "
            "take it as domain instead. They stay with the items unchanged."
        )


class RefusedRow(Struct, frozen=True, kw_only=True):
    """A rejected row, as stored in quarantine.

    Attributes:
        file: The name of the row's file.
        line: The row's line number in the file (for Parquet and JSON arrays: the element's number).
        text: The beginning of the row's text.
    """

    dataset: str
    file: str
    line: int
    field: str | None
    code: str
    message: str
    text: str


class QuarantinedRow(Struct, frozen=True, kw_only=True):
    line: int
    field: str | None
    code: str
    message: str


def gold_source(columns: Mapping[str, str]) -> str:
    """Say from which column gold is read; "" for a file with workbench's own field names."""
    if "completion" not in columns:
        return ""
    return f"Gold: the column {columns['gold']!r}." if columns.get("gold") else "Gold: none; no column is read as it."
