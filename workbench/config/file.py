"""Reads and writes the settings file; reading has size limits, because the file may come from another person."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from platformdirs import user_config_path

from workbench.core.errors import UsageError
from workbench.core.files import (
    NotOwnFileError,
    TooLargeError,
    read_at_most,
    read_own,
    require_input,
    require_own,
    whole_file,
)

Record = TypeVar("Record", bound=Struct)
_FIELD = re.compile(r"Object (?:contains |)(unknown|missing)(?: required|) field `([^`]*)")
_TYPE = re.compile(r"`(\w+)(?: \| null)?`")
_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}

# -- TOML from an untrusted source.


MAX_KEY_PARTS = 50
"""Maximum parts of a dotted key; the parser's memory grows with their square, so 200 kB could exhaust it."""
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}}")


def loads(text: str) -> dict[str, Any]:
    """Parse a TOML document, with limits on size and nesting.

    Raises:
        ValueError: The text is not TOML, or would need too much memory to parse.
        RecursionError: The text is nested too deeply.
    """
    if (found := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"A key of more than {MAX_KEY_PARTS} parts (at line {line})")
    return tomllib.loads(text)


FOLDER_VARIABLE = "WORKBENCH_CONFIG_DIR"
"""Environment variable for another configuration folder of the user."""
FILE_NAME = "workbench.toml"
MOST_BYTES = 1_000_000
"""Maximum bytes of a settings file."""


def user_folder() -> Path:
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_config_path("workbench", appauthor=False)


def file_of(database: Path) -> Path:
    return database.parent / FILE_NAME


def read(database: Path) -> dict[str, Any]:
    """Load the settings file next to a database; return an empty dict if there is none.

    Raises:
        UsageError: The file is not TOML, is too large or can't be read.
    """
    path = file_of(database)
    try:
        return _parse_toml(path, read_settings(path))
    except FileNotFoundError:
        return {}


def table_in(database: Path, name: str, example: str) -> tuple[str, dict[str, Any]]:
    """Return a table of the settings file (empty if it is missing), and its location for messages.

    Raises:
        UsageError: The file can't be read, or the entry is not a table.
    """
    place = f"{file_of(database)}:{name}"
    return place, require_table(place, read(database).get(name, {}), example)


def require_table(place: str, value: object, example: str) -> dict[str, Any]:
    """Return a value if it is a table.

    Raises:
        UsageError: The value is not a table.
    """
    if not isinstance(value, dict):
        raise UsageError(f"{place} must be a table.", f"Example: {example}")
    return value


def decode(place: str, value: object, record: type[Record], example: str) -> Record:
    """Decode a table of a settings file.

    Args:
        place: Its location, for messages: ``FILE:TABLE``, or ``FILE:`` for the whole file.

    Raises:
        UsageError: A field is missing, unknown, of another type or out of range; the message names it.
    """
    table = require_table(place, value, example)
    try:
        return msgspec.convert(table, record)
    except msgspec.ValidationError as error:
        wrong, _, path = str(error).removesuffix("`").partition(" - at `$")
        where = place + (path.removeprefix(".") if place.endswith(":") else path)
        if named := _FIELD.match(wrong):
            dot = "" if where.endswith(":") else "."
            raise UsageError(f"{where}{dot}{named[2]} is {named[1]}.", f"Example: {example}") from None
        wrong = _TYPE.sub(lambda found: _TYPES.get(found[1], found[1]), wrong.replace("Invalid enum", "Unknown"))
        raise UsageError(f"{where}: {wrong}.", f"Example: {example}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Load a small TOML file.

    Raises:
        FileNotFoundError: The file doesn't exist.
        UsageError: The file is not TOML, is too large or can't be read.
    """
    return _parse_toml(path, read_text(path))


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        # For a number of 5,000 digits or 1,000 nested brackets, the parser raises Python's own errors.
        raise UsageError(f"{path}: {error}.", "Correct that line.") from error


def read_settings(path: Path) -> str:
    """Return the text of a file that the program itself maintains.

    Raises:
        FileNotFoundError: The file doesn't exist.
        UsageError: The file is not readable UTF-8, is too large, or is not a regular file owned by the user.
    """
    return _read_decoded(path, MOST_BYTES, read_own)


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a small file that the user named.

    Raises:
        FileNotFoundError: The file doesn't exist.
        UsageError: The file is not readable UTF-8, or larger than ``most`` bytes.
    """
    return _read_decoded(path, most, _read_limited)


def _read_limited(path: Path, most: int) -> bytes:
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file.")
    require_input(path)
    with path.open("rb") as stream:
        return read_at_most(stream, path, most)


def _read_decoded(path: Path, most: int, read: Callable[[Path, int], bytes]) -> str:
    try:
        return read(path, most).decode()
    except FileNotFoundError:
        raise
    except (NotOwnFileError, TooLargeError) as error:
        raise UsageError(f"{path}: {error.strerror}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}.", "The file must be readable UTF-8.") from error


def write_whole(path: Path, text: str, *, replace: bool = True) -> None:
    """Write a file atomically; a new file is readable by its owner only.

    Raises:
        UsageError: The file can't be written, or exists and may not be replaced.
    """
    try:
        require_own(path)
        with whole_file(path, replace=replace) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}.") from error
