"""Items as files hold them: a question, its reference answer and one completion."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

KEPT_RAW = 64 * 1024
"""Bytes of a rejected row that quarantine keeps."""


class ItemRecord(Struct, kw_only=True, gc=False):
    """One row of a file, checked and ready to store.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        raw: The row's bytes as read, kept in quarantine if it contradicts a stored item.
        question_key: The source's id of the question, or one derived from its content.
        completion_key: The source's id of the completion, or one derived from its content.
        gold: The imported correctness label, if the file has one.
        source: ``domain/name`` as found.
        licence: The source's, if the file has a known one.
        type: Answer-type code (``"B"``), or None.
        subtype: Answer-subtype code (``"B5"``), or None.
        type_text: The source's own string for the type, kept for export.
        subtype_text: The source's own string for the subtype, kept for export.
        extra: JSON object of unknown keys, in their order and spelling; or None.
        layout: JSON array of all keys of a row in the released schema whose order or presence is not the
            usual one; or None.
        is_first_in_row: An equal record is from another row, which judges the same completion again.
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


class QuestionRecord(Struct, kw_only=True, gc=False):
    """One question of a pool: it has a reference answer, and no completion yet.

    Attributes:
        key: The source's id of the question, or one derived from its content.
        extra: JSON object of unknown keys, in their order and spelling; or None. The other fields are those of
            `ItemRecord`.
    """

    line: int
    raw: bytes
    key: str
    question: str
    reference: str
    source: str | None = None
    licence: str | None = None
    type: str | None = None
    subtype: str | None = None
    type_text: str | None = None
    subtype_text: str | None = None
    extra: str | None = None


class Refusal(Struct, frozen=True, kw_only=True):
    """A rejected row (quarantine).

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        code: Bare reason code: ``bad_json``, ``bad_csv``, ``missing_field``, ``wrong_type``, ``bad_utf8``,
            ``nul``, ``too_long``, ``duplicate_key``, ``conflict``, ``truncated``, ``type_mismatch``; for code also
            ``unknown_problem`` and ``unsupported``.
        field: The faulty field, if there is one.
        message: What is wrong and what to do, for a person.
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
        gold: The requested gold label, usually the final one (adjudicated, else agreed, else imported; None in conflict
            or excluded).
        gold_from: Origin of ``gold``.
        imported_gold: The label in the file.
        type: Answer-type code in force.
        subtype: Answer-subtype code in force.
        type_text: The exported text of the type: the source's own string while its code is in force.
        subtype_text: The exported text of the subtype.
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
        values: Rows with a value.
        unknown: Rows whose value is not an answer type.
        words: The first 20 such values, each with its frequency.
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
    """A row in quarantine.

    Attributes:
        file: The name of its file.
        line: Its line there (for Parquet and JSON arrays: the element's number).
        text: Its beginning.
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
    """Describe which column gold is read from; "" for a file with workbench's field names."""
    if "completion" not in columns:
        return ""
    return f"Gold: the column {columns['gold']!r}." if columns.get("gold") else "Gold: none; no column is read as it."
