"""Records that have fields in common."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

Record = TypeVar("Record", bound=Struct)


def record_from(kind: type[Record], source: object, **others: Any) -> Record:
    """Return a record: `others`, and for each other field the attribute of this name that `source` has."""
    names = [name for name in kind.__struct_fields__ if name not in others and hasattr(source, name)]
    return kind(**{name: getattr(source, name) for name in names}, **others)
