"""Converts one JSON object to a validated item.

Every format uses this module. A row is decoded twice: once with types, and once to raw tokens, which preserves the
order of keys and the exact text of unknown values. This is faster than decoding once to plain objects and checking
them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from workbench.core.errors import FormatError
from workbench.core.item import ItemRecord, QuestionRecord, Refusal
from workbench.data.formats.documents import documents, without_nan
from workbench.data.formats.fields import (
    ITEM_FIELDS,
    RELEASED,
    RELEASED_KEYS,
    REQUIRED,
    TypeMismatch,
    TypeReader,
    is_type,
    known_licence,
)
from workbench.data.formats.lines import (
    RefusedError,
    bad_utf8_error,
    explain_cells,
    explain_document,
    is_no_text,
    make_refusal,
    no_text_error,
)
from workbench.data.formats.source import open_stream
from workbench.data.formats.verdict_words import MISSING, in_words

FIXED_KEY = "schema_version"
FIXED_VERSION = "verifybench-fixed-1"
"""Marks rows of the export format ``verifybench-fixed``; the mark is dropped when such a file is imported."""
_FIXED_TOKEN = msgspec.Raw(f'"{FIXED_VERSION}"'.encode())
_MAX_CACHED = 10_000
_LONG_TEXT = 1 << 16
"""Characters of a text from which its header in MessagePack has 5 bytes."""
NO_SOURCE = "unknown"
"""The name of the source of rows with only a domain."""
_GOLD: Final[dict[str | None, bool | None]] = {"correct": True, "incorrect": False, None: None}
_tokens = msgspec.json.Decoder(dict[str, msgspec.Raw])
_hashed = msgspec.msgpack.Encoder()


_OPTIONAL = tuple(field for field in ITEM_FIELDS if field not in REQUIRED)
_NAMES = ("model", "source", "domain", "type", "subtype")
_TEXTS = ("question", "reference", "completion", "question_id", "completion_id")


class _KeyShape(NamedTuple):
    extras: tuple[tuple[str, bytes], ...]
    layout: str | None


class RowBuilder:
    """Builds items, or questions without completions, from the rows of one file.

    Args:
        columns: Our field -> the file's key.
        types: Reads the type fields.
        place: The file, for messages.
        questions: Whether the rows have no completions.
        numbers: Whether numbers are accepted as references, and integers as ids.
        blank_is_none: Treat an empty id, name or type as missing, as in a table's cells.
        usual: Default source and licence of rows without them.
        kept: Columns whose values are kept with the items, even if they are a field's.
        keep_equal: Whether equal completions without ids become separate items; the second and later ones are numbered
            in the file's order.
        by_row: Whether completions are compared only within a row, because the next row may judge the same completions
            again, as with lm-eval's filters.

    Raises:
        FormatError: A column's name can't be read.
    """

    def __init__(
        self,
        columns: Mapping[str, str],
        types: TypeReader,
        *,
        place: Path,
        questions: bool = False,
        numbers: bool = False,
        blank_is_none: bool = False,
        usual: Mapping[str, str] = {},
        kept: Sequence[str] = (),
        keep_equal: bool = False,
        by_row: bool = False,
    ) -> None:
        self._columns, self._types, self._fields = columns, types, _field_types(numbers)
        self._usual_source, self._usual_licence = usual.get("source"), known_licence(usual.get("licence"))
        self._questions, self._blank_is_none = questions, blank_is_none
        self._keep_equal, self._by_row = keep_equal, by_row
        self._seen, self._line, self._number = Counter[bytes](), 0, 0
        # A row's licence belongs to its source, and is kept as an extra key of the row.
        self._known = {column for field, column in columns.items() if field != "licence"} - {*kept}
        self._as_released = set(columns) - {"licence"} == set(RELEASED) and self._known == set(RELEASED_KEYS)
        read = ((field, columns.get(field)) for field in ("type", "subtype"))
        # The values of the released type columns are stored unchanged.
        self._types_read = [(name, key) for name, key in read if key in self._known and not self._as_released]
        required = [field for field in REQUIRED if not (questions and field == "completion")]
        self._decode = _typed_decoder(columns, self._fields, required, place).decode
        self._shapes: dict[tuple[str, ...], _KeyShape] = {}

    def build(self, line: int, document: bytes, raw: bytes) -> ItemRecord | Refusal:
        """Return the record that one JSON object describes, or its rejection with the reason.

        Args:
            line: Line number, for messages.
            document: The row as one JSON object.
            raw: The row as in the file, for quarantine.
        """
        try:
            cells, row = _tokens.decode(document), self._decode(document)
            for field in _TEXTS:
                if is_no_text(text := getattr(row, field)):
                    raise no_text_error(self._columns.get(field, field), text)
            return self._record(line, row, cells, raw)
        except RefusedError as error:
            return make_refusal(line, raw, error)
        except TypeMismatch as error:
            field = self._columns.get(error.field, error.field)
            return make_refusal(
                line, raw, RefusedError("type_mismatch", field, f"{error} Correct the row, or its mapping.")
            )
        except (msgspec.MsgspecError, ValueError, RecursionError):
            if (fixed := without_nan(document)) != document:
                return self.build(line, fixed, raw)
            return make_refusal(line, raw, self._explain(document))

    def _explain(self, document: bytes) -> RefusedError:
        try:
            cells = _tokens.decode(document)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return explain_document(document)
        return explain_cells(cells, self._columns, self._fields)

    def _extras(self, keys: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
        if any("\0" in key for key in keys):
            raise RefusedError("nul", None, "A key contains a NUL character. Remove it.")
        return tuple((key, _key_prefix(key)) for key in keys if key not in self._known)

    def _unknown_types(self, row: Any) -> tuple[tuple[str, bytes], ...]:
        if not self._types_read:
            return ()
        said = ((column, getattr(row, field)) for field, column in self._types_read)
        return tuple((column, _key_prefix(column)) for column, text in said if text and not is_type(text))

    def _require_text(self, row: Any) -> None:
        for field in ("question", "reference"):
            if isinstance(text := getattr(row, field), str) and not text.strip():
                column = self._columns[field]
                message = f"{column} is empty. Write it in every row, also where it is that of the row above."
                raise RefusedError("missing_field", column, message)

    def _empty_id_error(self, field: str) -> RefusedError:
        column = self._columns[field]
        return RefusedError("missing_field", column, f"{column} is empty. Give every row an id, or none.")

    def _record(self, line: int, row: Any, cells: dict[str, msgspec.Raw], raw: bytes) -> ItemRecord:
        if FIXED_KEY in cells and cells[FIXED_KEY] == _FIXED_TOKEN:
            del cells[FIXED_KEY]
        keys = tuple(cells)
        shape = self._shapes.get(keys) or self._key_shape(keys)
        if self._blank_is_none:
            self._require_text(row)
            for field in _OPTIONAL:
                value = getattr(row, field)
                if value == "" or (field in _NAMES and isinstance(value, str) and value.strip().casefold() in MISSING):
                    setattr(row, field, None)
        question, reference, completion = row.question, row.reference, row.completion
        question_key, completion_key = row.question_id, row.completion_id
        model, source = row.model, row.source
        if not isinstance(reference, str):
            reference = bytes(cells[self._columns["reference"]]).decode()
        if source is None:
            source = self._usual_source
        if row.domain:
            source = with_domain(row.domain, source)
        if question_key is None:
            question_key = derived_id(question, reference)
        elif type(question_key) is int:
            question_key = str(question_key)
        if self._questions:
            completion = completion_key = ""
        elif completion_key is None:
            if self._by_row and line != self._line:
                self._line, self._seen = line, Counter()
            completion_key = self._derived_id(question_key, model, completion)
        elif type(completion_key) is int:
            completion_key = str(completion_key)
        if "\0" in question or "\0" in reference or _has_nul(completion) or "\0" in question_key:
            raise self._nul_field_error(row)
        if "\0" in completion_key or (model and "\0" in model) or (source and "\0" in source):
            raise self._nul_field_error(row)
        if not question_key or not (completion_key or self._questions):
            raise self._empty_id_error("completion_id" if question_key else "question_id")
        kind, subtype, type_text, subtype_text = self._types.read(row.type, row.subtype)
        return (QuestionRecord if self._questions else ItemRecord)(
            line=line,
            raw=raw,
            question_key=question_key,
            completion_key=completion_key,
            question=question,
            reference=reference,
            completion=completion,
            gold=gold_of(self._columns.get("gold", "gold"), row.gold),
            model=model,
            source=source,
            licence=licence_in(row.licence) or self._usual_licence,
            type=kind,
            subtype=subtype,
            type_text=type_text,
            subtype_text=subtype_text,
            extra=extra_text(cells, extras) if (extras := (*shape.extras, *self._unknown_types(row))) else None,
            layout=shape.layout,
            is_first_in_row=self._by_row and self._number == 1,
        )

    def _derived_id(self, question_key: str, model: str | None, completion: str) -> str:
        key = derived_id(question_key, model, completion)
        if not self._keep_equal and not self._by_row:
            return key
        digest = bytes.fromhex(key)
        self._seen[digest] += 1
        number = self._number = self._seen[digest]
        return key if number == 1 or not self._keep_equal else derived_id(question_key, model, completion, str(number))

    def _key_shape(self, keys: tuple[str, ...]) -> _KeyShape:
        extras = self._extras(keys)
        usual = (*RELEASED_KEYS, *(key for key, _ in extras))
        layout = json.dumps(keys, ensure_ascii=False) if self._as_released and keys != usual else None
        if len(self._shapes) >= _MAX_CACHED:
            self._shapes.clear()
        shape = self._shapes[keys] = _KeyShape(extras, layout)
        return shape

    def _nul_field_error(self, row: Any) -> RefusedError:
        column = next(column for field, column in self._columns.items() if "\0" in str(getattr(row, field)))
        return RefusedError("nul", column, f"{column} contains a NUL character. Remove it.")


def _has_nul(text: str) -> bool:
    if len(text) < _LONG_TEXT or text.isascii():
        return "\0" in text
    # The search is ten times as fast in UTF-8, which the text keeps for its hash and the database; without the header.
    return b"\0" in _hashed.encode(text)[5:]


@lru_cache(_MAX_CACHED)
def gold_of(column: str, value: bool | float | str | None) -> bool | None:
    """Return the gold label that a column's value stands for, in any known word; None for an empty value.

    Raises:
        RefusedError: The value is not a known word.
    """
    if (word := in_words(value)) not in _GOLD:
        raise RefusedError("wrong_type", column, f"{column} is {str(value)[:40]!r}. Write true or false (or 1 or 0).")
    return _GOLD[word]


def _field_types(numbers: bool) -> dict[str, Any]:
    an_id = str | int | None if numbers else str | None
    types: dict[str, Any] = dict.fromkeys(ITEM_FIELDS, str | None)
    types.update(dict.fromkeys(REQUIRED, str), reference=str | int | float if numbers else str)
    return {**types, "question_id": an_id, "completion_id": an_id, "gold": bool | float | str | None, "licence": Any}


def _typed_decoder(
    columns: Mapping[str, str], types: Mapping[str, Any], required: Sequence[str], place: Path
) -> msgspec.json.Decoder[msgspec.Struct]:
    fields = [(field, types[field]) if field in required else (field, types[field], None) for field in types]
    # A field without a column must not match a key of the same name.
    names = {field: columns.get(field, f"no column for {field}") for field in types}
    try:
        return msgspec.json.Decoder(msgspec.defstruct("Row", sorted(fields, key=len), rename=names, gc=False))
    except ValueError as error:
        raise FormatError(f"{place}: a column's name can't be read: {error}.", "Rename the column.") from None


def _key_prefix(key: str) -> bytes:
    return json.dumps(key, ensure_ascii=False).encode() + b": "


def extra_text(cells: Mapping[str, msgspec.Raw], extras: Sequence[tuple[str, bytes]]) -> str:
    """Return a JSON object of some cells, without parsing their values.

    Args:
        extras: The keys of the cells, each with the bytes to write before its value.

    Raises:
        RefusedError: A value is not UTF-8.
    """
    text = b"{" + b", ".join([prefix + bytes(cells[key]) for key, prefix in extras]) + b"}"
    try:
        extra = text.decode()
    except UnicodeDecodeError as error:
        raise bad_utf8_error(extras[0][0] if len(extras) == 1 else None, error) from None
    # A value that is written over several lines is rewritten in one.
    return json.dumps(json.loads(extra), ensure_ascii=False) if "\n" in extra else extra


def licence_in(value: object) -> str | None:
    """Return the licence that a row names; None if it names none, or one that is not text."""
    return known_licence(value) if isinstance(value, str) else None


def with_domain(domain: str, source: str | None) -> str:
    """Return a source as ``domain/name``; one that includes its domain is unchanged."""
    return source if source is not None and "/" in source else f"{domain}/{source or NO_SOURCE}"


def is_derived(item: ItemRecord) -> bool:
    made = derived_id(item.question, item.reference)
    return item.question_key == made and item.completion_key == derived_id(made, item.model, item.completion)


def derived_id(*parts: str | None) -> str:
    return blake2b(_hashed.encode(parts), digest_size=16).hexdigest()


# -- Files of records: JSON Lines, one record a line.


T = TypeVar("T")


def read_records(path: Path, decoder: msgspec.json.Decoder[T]) -> Iterator[tuple[int, bytes, T | Refusal]]:
    """Yield for each line its number (from 1), its bytes, and its record or rejection.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_stream(path) as (stream, _):
        for row in documents(stream, "jsonl", path):
            if isinstance(row, Refusal):
                yield row.line, row.raw, row
            else:
                record = decoded(row.line, row.raw, decoder)
                yield row.line, row.raw, record


def decoded_rows(
    rows: Iterable[tuple[int, bytes, Any]], decoder: msgspec.json.Decoder[T]
) -> Iterator[tuple[int, bytes, T | Refusal]]:
    """Yield for each row of a table its number, its bytes, and its record or rejection.

    Args:
        rows: The rows; the third value has the fields, or is a rejection.
    """
    for number, raw, fields in rows:
        if isinstance(fields, Refusal):
            yield number, raw, fields
        else:
            record = decoded(number, msgspec.json.encode(fields), decoder)
            yield number, raw, record


def read_checked(
    path: Path, decoder: msgspec.json.Decoder[T], fault: Callable[[T], tuple[str, str] | None]
) -> Iterator[tuple[int, T | Refusal]]:
    """Yield for each line its number (from 1), and its record or rejection; see `checked`.

    Raises:
        FormatError: The file can't be opened.
    """
    records = read_records(path, decoder)
    return checked(records, fault)


def checked(
    records: Iterable[tuple[int, bytes, T | Refusal]], fault: Callable[[T], tuple[str, str] | None]
) -> Iterator[tuple[int, T | Refusal]]:
    """Yield for each record its number, and the record or its rejection.

    Args:
        fault: Returns an invalid field of a record that has the right types, and the reason; None for a valid record.
    """
    for number, raw, record in records:
        found = None if isinstance(record, Refusal) else fault(record)
        if found is None:
            yield number, record
        else:
            yield number, Refusal(line=number, code="wrong_type", message=found[1], raw=raw, field=found[0])


def decoded(number: int, raw: bytes, decoder: msgspec.json.Decoder[T]) -> T | Refusal:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        field = field_in_message(str(error))
        if field == "verdict" and (said := _normalise_verdict(raw)) is not None:
            return decoded(number, said, decoder)
        return Refusal(line=number, code="wrong_type", message=f"{error}", raw=raw, field=field)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return make_refusal(number, raw, explain_document(raw))


def _normalise_verdict(raw: bytes) -> bytes | None:
    cells = msgspec.json.decode(raw)
    verdict = in_words(cells["verdict"])
    return None if verdict in (None, cells["verdict"]) else msgspec.json.encode(cells | {"verdict": verdict})


def field_in_message(message: str) -> str | None:
    _, at, path = message.rpartition("`$.")
    _, lacks, rest = message.partition("missing required field `")
    parts = ([path.rstrip("`")] if at else []) + ([rest.split("`", 1)[0]] if lacks else [])
    return ".".join(parts) or None
