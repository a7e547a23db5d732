"""Values of columns: timestamps, foreign JSON, and columns of integers in one text."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from workbench.core.errors import Command, StoreError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def now() -> str:
    """Return the current time in UTC, ISO 8601 with microseconds: it sorts as text."""
    return _text(datetime.now(UTC))


def stamp(at: float) -> str:
    return _text(datetime.fromtimestamp(at, UTC))


def _text(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


# -- JSON stored in a column: an untrusted file may contain anything there.


T = TypeVar("T")


def stored(decoder: msgspec.json.Decoder[T], document: str, what: str) -> T:
    """Return the value of a stored document.

    Args:
        what: Name of the document, for the message.

    Raises:
        StoreError: The decoder rejects it.
    """
    try:
        return decoder.decode(document)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(
            f"{what} in the database can't be read: {error}.", f"Go back to a backup: {Command('restore DB BACKUP')}"
        ) from error


# -- Whole columns of integers, which SQLite aggregates into one text.


_PIECE_CHARACTERS = 65_536


def integers(text: str | None) -> array[int]:
    """Parse integers joined by ``group_concat``; empty for the NULL it returns without rows.

    This costs a third of a row-by-row read and leaves other threads free. The text is read in pieces: a list of a
    million would need fifty megabytes.
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
    """Parse the text into a numpy array, three times as fast as `integers`."""
    import numpy as np

    return np.fromstring(text or "", dtype=np.int64, sep=",")
