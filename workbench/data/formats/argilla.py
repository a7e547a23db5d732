"""Reads and writes Argilla 2's records as JSON, the format of ``dataset.records.to_json`` and ``from_json``.

Argilla's description of the format: https://docs.argilla.io/latest/how_to_guides/import_export/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import uuid5

import msgspec
from msgspec import Struct

from workbench.core.item import StoredItem
from workbench.core.label import LabelLine
from workbench.data.formats.carried import (
    LINE,
    NAMESPACE,
    CarriedAnswers,
    answers_of,
    combine_answers,
    decoded,
    hidden_part,
    merge_row,
    names_of,
    texts_of,
)

_SEVERAL = "tags"


class _ArgillaRecord(Struct):
    fields: dict[str, msgspec.Raw]
    metadata: dict[str, Any] | None = None
    responses: dict[str, list[dict[str, Any]]] | None = None
    id: str | int | None = None


def is_record(element: Mapping[str, Any]) -> bool:
    return isinstance(element.get("fields"), dict) and bool({"responses", "suggestions"} & element.keys())


def record_of(item: StoredItem, lines: Iterable[LabelLine], *, sighted: bool) -> dict[str, Any]:
    """Convert an item to a record.

    Args:
        lines: The item's labels; each becomes the responses of one Argilla user.
        sighted: Include the data that annotators must not see, such as gold.
    """
    responses: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        # A user answers a question once, so an adjudicator is a different user than an annotator.
        user = str(uuid5(NAMESPACE, f"{line.role} {line.kind} {line.annotator}"))
        for name, values in (answers_of(line) | {LINE: [msgspec.json.encode(line).decode()]}).items():
            value = values if name == _SEVERAL else values[0]
            responses.setdefault(name, []).append({"value": value, "user_id": user, "status": "submitted"})
    hidden = {LINE: hidden_part(item)} if sighted else {}
    return {
        "id": f"{item.question_key}/{item.completion_key}",
        "fields": texts_of(item),
        "metadata": {**names_of(item), **hidden},
        "suggestions": {},
        "responses": responses,
        "vectors": {},
        "status": "completed" if responses else "pending",
        "_server_id": None,
    }


def row_of(raw: bytes) -> bytes:
    """Return a record's item as one JSON object: the record's fields, and its metadata as further columns.

    Raises:
        RefusedError: The record contains no item.
    """
    record = decoded(raw, _ArgillaRecord)
    metadata = dict(record.metadata or {})
    hidden = metadata.pop(LINE, None)
    if isinstance(hidden, str):
        return merge_row(hidden, record.fields, "metadata")
    metadata.pop("dataset", None)
    more = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in metadata.items()}
    return msgspec.json.encode({**more, **record.fields})


def dataset_of(raw: bytes) -> str | None:
    name = (decoded(raw, _ArgillaRecord).metadata or {}).get("dataset")
    return name if isinstance(name, str) else None


def answers_in(raw: bytes) -> Iterator[CarriedAnswers]:
    """Return the annotators' answers in a record, without drafts and discarded ones.

    Raises:
        RefusedError: The record can't be read.
    """
    record = decoded(raw, _ArgillaRecord)
    users: dict[str, dict[str, list[str]]] = {}
    for name, responses in (record.responses or {}).items():
        for response in responses:
            if response.get("status") in (None, "submitted"):
                users.setdefault(str(response.get("user_id")), {})[name] = _texts_in(response.get("value"))
    for user, given in users.items():
        yield combine_answers(f"argilla-{user}", f"{record.id} {user}", given, None)


def _texts_in(value: object) -> list[str]:
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]
    return [value] if isinstance(value, str) else []
