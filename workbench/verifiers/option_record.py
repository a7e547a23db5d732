"""A verifier's options as a record, whose fields declare types, bounds, defaults and descriptions; values are text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import structs

from workbench.core.options import LARGEST, Options, RecordField, build_record, fields_of

Record = TypeVar("Record", bound=Options)
_SWITCH: Final = {
    **dict.fromkeys(("true", "on", "yes", "1"), True),
    **dict.fromkeys(("false", "off", "no", "0"), False),
}
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_QUOTED_CHARACTERS = 40
_SIDES: Final = {"gt": "above", "ge": "at least", "le": "at most"}


def meanings(*records: type[Options]) -> dict[str, str]:
    return {field.name: describe(field) for record in records for field in fields_of(record)}


def describe(field: RecordField) -> str:
    """Return an option's description, with its default."""
    text, default = field.description or "", field.default
    if field.is_required or default in (None, "", (), {}) or field.written.shows_default is False:
        return text
    if isinstance(default, bool):
        default = (field.written.choices or ("true", "false"))[not default]
    elif isinstance(default, float):
        default = f"{default:g}"
    return f"{text} (default {','.join(default) if isinstance(default, tuple) else default})"


def choices(*records: type[Options]) -> dict[str, tuple[str, ...]]:
    """Return the options with a fixed set of values, and these values."""
    return {field.name: found for record in records for field in fields_of(record) if (found := words(field))}


def parse_record(record: type[Record], options: Mapping[str, str]) -> Record:
    """Parse options given as text into the record; options that it doesn't have are ignored.

    Raises:
        ValueError: A value is wrong or missing; the message begins with its option's name.
    """
    values: dict[str, Any] = {}
    for field in fields_of(record):
        if field.is_required and not options.get(field.name, "").strip():
            raise ValueError(f"{field.name}: it is missing")
        if field.name in options:
            values[field.name] = read(field, options[field.name])
    return build_record(record, values)


def changed_values(record: Options) -> dict[str, object]:
    """Return the values that differ from the defaults, so that a new option doesn't change the hash of old
    configurations."""
    values = structs.asdict(record)
    return {one.name: values[one.name] for one in structs.fields(record) if values[one.name] != one.default}


def words(field: RecordField) -> tuple[str, ...]:
    if field.written.choices or get_origin(field.type) is Literal:
        return field.written.choices or get_args(field.type)
    return ("true", "false") if field.type is bool else ()


def read(field: RecordField, text: str) -> Any:
    """Parse an option's value.

    Raises:
        ValueError: The value is invalid; the message begins with the option's name.
    """
    try:
        return _parse(field, text)
    except ValueError as error:
        raise ValueError(f"{field.name}: {error}") from None


def _parse(field: RecordField, text: str) -> Any:
    if field.written.read is not None:
        text = field.written.read(text)
        if field.type is not int:
            return text
    if few := words(field):
        given = text.lower() if field.type is bool else text
        if given not in (_SWITCH if field.type is bool else few):
            raise ValueError(f"it is {' or '.join(few)}, not {quoted(text)}")
        return _SWITCH[given] if field.type is bool else given
    if text == "null" and field.default is None and field.type in (int, float):
        return None
    if field.type is int:
        return _whole_number(text, field.bounds)
    if field.type is float:
        return _number(text, field.bounds)
    return msgspec.convert(text, field.type, strict=False)


def _whole_number(text: str, bounds: Mapping[str, Any]) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a whole number")
    value, least, most = int(text), bounds.get("ge", 0), bounds.get("le", LARGEST)
    if not least <= value <= most:
        within = f"at least {least}" if most == LARGEST else f"from {least} to {most}"
        raise ValueError(f"it is a whole number {within}, not {value}")
    return value


def _number(text: str, bounds: Mapping[str, Any]) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{quoted(text)} is not a number")
    if not (bounds.get("gt", -math.inf) < value and bounds.get("ge", -math.inf) <= value <= bounds.get("le", math.inf)):
        within = " and ".join(f"{word} {bounds[side]:g}" for side, word in _SIDES.items() if side in bounds)
        if bounds.keys() >= {"ge", "le"}:
            within = f"from {bounds['ge']:g} to {bounds['le']:g}"
        raise ValueError(f"it is a number {within}, not {value:g}")
    return value


def quoted(text: str) -> str:
    return ascii(text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]}...")
