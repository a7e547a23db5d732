"""A verifier's options as a record: its fields declare types, defaults and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, structs

Record = TypeVar("Record", bound=Struct)


def meanings(record: type[Struct]) -> dict[str, str]:
    return {name: meaning(hint) for name, hint in _hints(record).items()}


def choices(record: type[Struct]) -> dict[str, tuple[str, ...]]:
    """Return the options with a fixed set of values, and these values."""
    return {name: found for name, hint in _hints(record).items() if (found := words(hint))}


def parse_record(record: type[Record], options: Mapping[str, str]) -> Record:
    """Parse options given as text into the record.

    Raises:
        ValueError: A value is wrong; the message begins with its option's name.
    """
    hints = _hints(record)
    return record(**{name: read(name, text, hints[name]) for name, text in options.items()})


def changed_values(record: Struct) -> dict[str, object]:
    """Return the values that differ from the defaults, so that a new option doesn't change the hash of old
    configurations."""
    values = structs.asdict(record)
    return {one.name: values[one.name] for one in structs.fields(record) if values[one.name] != one.default}


def meaning(hint: Any) -> str:
    metas = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((meta.description for meta in metas if isinstance(meta, Meta) and meta.description), "")


def words(hint: Any) -> tuple[str, ...]:
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if plain is bool:
        return ("true", "false")
    return tuple(map(str, get_args(plain))) if get_origin(plain) is Literal else ()


def read(name: str, text: str, hint: Any) -> Any:
    """Parse an option's value.

    Raises:
        ValueError: The value is invalid.
    """
    few = words(hint)
    if few and text.lower() not in few:
        raise ValueError(f"{name}: it is {' or '.join(few)}, not {text!r}")
    try:
        value = msgspec.convert(text, hint, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from None
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{name}: {text!r} is not a number")
    return value


def _hints(record: type[Struct]) -> dict[str, Any]:
    return get_type_hints(record, include_extras=True)
