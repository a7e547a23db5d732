"""Values in columns: timestamps, untrusted JSON, and whole columns of integers read as one text."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, get_origin

import msgspec

from workbench.core.errors import Command, StoreError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def now() -> str:
    """Return the current time in UTC, as ISO 8601 with microseconds; such texts sort by time."""
    return _timestamp_text(datetime.now(UTC))


def timestamp_of(at: float) -> str:
    return _timestamp_text(datetime.fromtimestamp(at, UTC))


def _timestamp_text(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


# -- Rows as records.


R = TypeVar("R", bound=msgspec.Struct)


def as_record(kind: type[R], row: Sequence[object], **more: object) -> R:
    """Return a row as a record, whose fields have the order of the row's columns.

    SQLite has neither booleans nor lists: where a field is one, 0 and 1 become a truth value and JSON becomes a tuple.

    Args:
        more: The values of fields that are no column.
    """
    columns = zip((field for field in _readers(kind) if field[0] not in more), row, strict=True)
    return kind(**{name: read(value) if read else value for (name, read), value in columns}, **more)


@lru_cache(1_000)
def _readers(kind: type[msgspec.Struct]) -> list[tuple[str, Callable[[Any], object] | None]]:
    return [(field.name, _reader(field.type)) for field in msgspec.structs.fields(kind)]


def _reader(kind: Any) -> Callable[[Any], object] | None:
    if kind is bool:
        return bool
    if kind == bool | None:
        return lambda value: None if value is None else bool(value)
    return _tuple_of if get_origin(kind) is tuple else None


def _tuple_of(document: str | None) -> tuple[object, ...]:
    return tuple(msgspec.json.decode(document)) if document else ()


# -- JSON stored in a column; in an untrusted file, a column may contain anything.


T = TypeVar("T")


def decode_stored(decoder: msgspec.json.Decoder[T], document: str, what: str) -> T:
    """Decode a stored JSON document.

    Args:
        what: Name of the document, for the message.

    Raises:
        StoreError: The document can't be decoded.
    """
    try:
        return decoder.decode(document)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(
            f"{what} in the database can't be read: {error}.", f"Go back to a backup: {Command('restore DB BACKUP')}"
        ) from error


# -- Whole columns of integers, which SQLite joins to one text.


_PIECE_CHARACTERS = 65_536


def integers(text: str | None) -> array[int]:
    """Parse integers joined by ``group_concat``; None (its result if there are no rows) gives an empty array.

    This takes a third of the time of reading rows, and lets other threads run. The text is parsed in pieces, because a
    list of a million integers would need fifty megabytes.
    """
    found = array("q")
    text, at = text or "", 0
    while at < len(text):
        end = text.find(",", at + _PIECE_CHARACTERS)
        end = len(text) if end < 0 else end
        found.extend(msgspec.json.decode(f"[{text[at:end]}]", type=list[int]))
        at = end + 1
    return found


def vector(text: str | None) -> npt.NDArray[np.int64]:
    """Parse integers as `integers` does, into a numpy array and three times as fast."""
    import numpy as np

    return np.fromstring(text or "", dtype=np.int64, sep=",")
