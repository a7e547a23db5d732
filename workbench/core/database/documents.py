"""JSON that is stored in a column: a file of somebody else's may hold anything there."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from workbench.core.errors import StoreError

T = TypeVar("T")


def stored(decoder: msgspec.json.Decoder[T], document: str, what: str) -> T:
    """The value of a stored document.

    Args:
        what: What it tells, for the message.

    Raises:
        StoreError: It is none of the decoder's.
    """
    try:
        return decoder.decode(document)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(
            f"{what} in the database can't be read: {error}.", "Go back to a backup: workbench restore DB BACKUP"
        ) from error
