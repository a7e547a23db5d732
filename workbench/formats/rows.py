"""From one JSON object to a checked item.

Every format comes through here: values stay raw JSON tokens until their field is known, so keys we do not know
are kept as they are spelled, and the order of keys is seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from workbench.formats.explain import RefusedError, bad_utf8, explain_document, json_kind, refusal
from workbench.formats.fields import RELEASED, RELEASED_KEYS
from workbench.formats.types import TypeMismatch, TypeReader
from workbench.model.item import ItemRecord, Refusal

FIXED_KEY = "schema_version"
FIXED_VERSION = "verifybench-fixed-1"
"""Marks rows of our ``verifybench-fixed`` export; it is dropped when such a file is read."""

_FIXED_TOKEN = msgspec.Raw(f'"{FIXED_VERSION}"'.encode())
_REMEMBERED = 10_000
_NO_VALUE = msgspec.Raw(b"null")
_GOLD: dict[bytes, bool | None] = {
    b"true": True,
    b"false": False,
    b"1": True,
    b"0": False,
    b"null": None,
    b'""': None,
}
_GOLD_WORDS = {"true": True, "false": False, "1": True, "0": False, "correct": True, "incorrect": False}

_tokens = msgspec.json.Decoder(dict[str, msgspec.Raw])
_text = msgspec.json.Decoder(str)
_hashed = msgspec.msgpack.Encoder()


class _Shape(NamedTuple):
    """What follows from the keys of a row and their order."""

    extras: tuple[tuple[str, bytes], ...]
    layout: str | None


class RowBuilder:
    """Makes items of the rows of one file.

    Args:
        columns: Our field -> their key.
        types: Reads the type fields.
        number_ids: Whole numbers are taken as ids too.
        blank_is_none: An empty id, name or type is an absent one, as in a table's cells.
    """

    def __init__(
        self,
        columns: Mapping[str, str],
        types: TypeReader,
        *,
        number_ids: bool = False,
        blank_is_none: bool = False,
    ) -> None:
        self._columns = columns
        self._types = types
        self._number_ids = number_ids
        self._blank_is_none = blank_is_none
        self._known = set(columns.values())
        self._as_released = set(columns) == set(RELEASED) and self._known == set(RELEASED_KEYS)
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._short: dict[bytes, str | None] = {}
        self._question, self._reference = columns["question"], columns["reference"]
        self._completion = columns["completion"]
        self._gold = columns.get("gold", "")
        self._optional = tuple(columns.get(field, "") for field in ("model", "source", "type", "subtype"))
        self._ids = tuple(columns.get(field, "") for field in ("question_id", "completion_id"))

    def build(self, line: int, document: bytes, raw: bytes) -> ItemRecord | Refusal:
        """The item that one JSON object holds, or why it holds none.

        Args:
            line: Where the row stands, for messages.
            document: The row as one JSON object.
            raw: The row as the file has it, for quarantine.
        """
        try:
            cells = _tokens.decode(document)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return refusal(line, raw, explain_document(document))
        try:
            return self._item(line, cells, raw)
        except RefusedError as error:
            return refusal(line, raw, error)
        except TypeMismatch as error:
            field = self._columns.get(error.field, error.field)
            return refusal(
                line, raw, RefusedError("type_mismatch", field, f"{error} Correct the row, or use --map.")
            )

    def _item(self, line: int, cells: dict[str, msgspec.Raw], raw: bytes) -> ItemRecord:
        if FIXED_KEY in cells and cells[FIXED_KEY] == _FIXED_TOKEN:
            del cells[FIXED_KEY]
        keys = tuple(cells)
        shape = self._shapes.get(keys) or self._new_shape(keys)
        question = self._required(cells, self._question)
        reference = self._required(cells, self._reference)
        completion = self._required(cells, self._completion)
        model, source, first, second = (self._optional_text(cells, column) for column in self._optional)
        types = self._types.read(first, second)
        question_key = self._id(cells, self._ids[0])
        if question_key is None:
            question_key = _derived(question, reference)
        completion_key = self._id(cells, self._ids[1])
        if completion_key is None:
            completion_key = _derived(question_key, model, completion)
        return ItemRecord(
            line=line,
            raw=raw,
            question_key=question_key,
            completion_key=completion_key,
            question=question,
            reference=reference,
            completion=completion,
            gold=self._gold_of(cells),
            model=model,
            source=source,
            type=types.type,
            subtype=types.subtype,
            type_text=types.type_text,
            subtype_text=types.subtype_text,
            extra=_extra(cells, shape.extras) if shape.extras else None,
            layout=shape.layout,
        )

    def _new_shape(self, keys: tuple[str, ...]) -> _Shape:
        extras = tuple(
            (key, json.dumps(key, ensure_ascii=False).encode() + b": ") for key in keys if key not in self._known
        )
        usual = (*RELEASED_KEYS, *(key for key, _ in extras))
        layout = json.dumps(keys, ensure_ascii=False) if self._as_released and keys != usual else None
        if len(self._shapes) >= _REMEMBERED:
            self._shapes.clear()
        shape = self._shapes[keys] = _Shape(extras, layout)
        return shape

    def _required(self, cells: dict[str, msgspec.Raw], column: str) -> str:
        token = cells.get(column)
        if token is None or token == _NO_VALUE:
            raise RefusedError(
                "missing_field", column, f"{column} is missing. Add it, or name its column with --map."
            )
        return _string(token, column)

    def _optional_text(self, cells: dict[str, msgspec.Raw], column: str) -> str | None:
        token = cells.get(column)
        if token is None:
            return None
        raw = bytes(token)
        try:
            return self._short[raw]
        except KeyError:
            value = None if token == _NO_VALUE else _string(token, column)
            if self._blank_is_none and not value:
                value = None
            if len(self._short) >= _REMEMBERED:
                self._short.clear()
            self._short[raw] = value
            return value

    def _id(self, cells: dict[str, msgspec.Raw], column: str) -> str | None:
        token = cells.get(column)
        if token is None or token == _NO_VALUE:
            return None
        raw = bytes(token)
        if self._number_ids and raw.removeprefix(b"-").isdigit():
            return raw.decode()
        value = _string(token, column)
        if not value and self._blank_is_none:
            return None
        if not value:
            raise RefusedError("missing_field", column, f"{column} is empty. Give every row an id, or none.")
        return value

    def _gold_of(self, cells: dict[str, msgspec.Raw]) -> bool | None:
        token = cells.get(self._gold)
        if token is None:
            return None
        raw = bytes(token)
        try:
            return _GOLD[raw]
        except KeyError:
            if raw.startswith(b'"'):
                word = _string(token, self._gold).strip().lower()
                if word in _GOLD_WORDS:
                    return _GOLD_WORDS[word]
        raise RefusedError(
            "wrong_type",
            self._gold,
            f"{self._gold} is {raw[:40].decode(errors='replace')}. Write true or false (or 1 or 0).",
        )


def _string(token: msgspec.Raw, column: str) -> str:
    try:
        value = _text.decode(token)
    except UnicodeDecodeError as error:
        raise bad_utf8(column, error) from None
    except msgspec.MsgspecError:
        kind = json_kind(bytes(token))
        raise RefusedError("wrong_type", column, f"{column} is {kind}. Write it as text, in quotes.") from None
    if "\0" in value:
        raise RefusedError("nul", column, f"{column} contains a NUL character. Remove it.")
    return value


def _extra(cells: dict[str, msgspec.Raw], extras: tuple[tuple[str, bytes], ...]) -> str:
    text = b"{" + b", ".join([prefix + bytes(cells[key]) for key, prefix in extras]) + b"}"
    try:
        extra = text.decode()
    except UnicodeDecodeError as error:
        raise bad_utf8(extras[0][0] if len(extras) == 1 else None, error) from None
    # A document that is laid out over several lines: its values must fit one line again.
    return json.dumps(json.loads(extra), ensure_ascii=False) if "\n" in extra else extra


def _derived(*parts: str | None) -> str:
    return blake2b(_hashed.encode(parts), digest_size=16).hexdigest()
