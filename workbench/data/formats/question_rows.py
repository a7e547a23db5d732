"""From one JSON object to a checked question of a pool: as `rows` does it for items, without a completion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from workbench.core.item import QuestionRecord
from workbench.data.formats.fields import QUESTION_FIELDS
from workbench.data.formats.rows import Builder, derived, extra_text, licence_in
from workbench.data.formats.types import TypeReader

_REQUIRED: Final = ("question", "reference")
_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(QUESTION_FIELDS, str | None),
    "question_id": str | int | None,
    "question": str,
    # Many sets write a reference that is a number as one; it is kept as it is spelled.
    "reference": str | int | float,
    "licence": Any,
}


class QuestionBuilder(Builder[QuestionRecord]):
    """Makes questions of the rows of one file.

    Args:
        columns: Our field -> their key.
        types: Reads the type fields.
        place: The file, for messages.
        blank_is_none: An empty id, name or type is an absent one, as in a table's cells.
        usual: The source and the licence of rows that name none.

    Raises:
        FormatError: A column's name can't be read.
    """

    def __init__(
        self,
        columns: Mapping[str, str],
        types: TypeReader,
        *,
        place: Path,
        blank_is_none: bool = False,
        usual: Mapping[str, str] = {},
    ) -> None:
        super().__init__(columns, types, fields=_TYPES, required=_REQUIRED, place=place, usual=usual)
        self._absent = (None, "") if blank_is_none else (None,)

    def _record(self, line: int, row: Any, cells: dict[str, msgspec.Raw], raw: bytes) -> QuestionRecord:
        question, reference = row.question, row.reference
        if not isinstance(reference, str):
            reference = bytes(cells[self._columns["reference"]]).decode()
        kind, subtype, type_text, subtype_text = self._types.read(
            self._said(row, "type") or None, self._said(row, "subtype") or None
        )
        record = QuestionRecord(
            line=line,
            raw=raw,
            key=self._key(row, question, reference),
            question=question,
            reference=reference,
            source=self._source(row),
            licence=licence_in(row.licence) or self._usual_licence,
            type=kind,
            subtype=subtype,
            type_text=type_text,
            subtype_text=subtype_text,
            extra=extra_text(cells, extras) if (extras := self._extras(cells)) else None,
        )
        for field, text in (("question", question), ("reference", reference), ("question_id", record.key)):
            if "\0" in text:
                raise self._nul(field)
        if record.source is not None and "\0" in record.source:
            raise self._nul("source")
        return record

    def _said(self, row: Any, field: str) -> Any:
        """A field's value; None where it is absent."""
        value = getattr(row, field)
        return None if value in self._absent else value

    def _key(self, row: Any, question: str, reference: str) -> str:
        key = self._said(row, "question_id")
        if key is None:
            return derived(question, reference)
        if key == "":
            raise self._empty_id("question_id")
        return str(key)

    def _source(self, row: Any) -> str | None:
        """``domain/name``: the domain may stand in a column of its own."""
        source, domain = self._said(row, "source"), self._said(row, "domain")
        if source is None:
            return self._usual_source
        return f"{domain}/{source}" if domain and "/" not in source else str(source)
