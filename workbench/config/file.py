"""The settings file as it stands, read within bounds: somebody else may have written it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from workbench.config.toml import loads
from workbench.errors import UsageError

FILE_NAME = "workbench.toml"

MOST_BYTES = 1_000_000
"""Larger settings files are refused."""


def file_of(database: Path) -> Path:
    """Where the settings of a database are, or would be."""
    return database.parent / FILE_NAME


def read(database: Path) -> dict[str, Any]:
    """The content of the settings file beside a database; empty when there is none.

    Raises:
        UsageError: The file is no TOML, too large or can't be read.
    """
    try:
        return read_toml(file_of(database))
    except FileNotFoundError:
        return {}


def read_toml(path: Path) -> dict[str, Any]:
    """A small TOML file.

    Raises:
        FileNotFoundError: There is none.
        UsageError: The file is no TOML, too large or can't be read.
    """
    text = read_text(path)
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        # The parser lets through what Python says of a number of 5,000 digits, and of brackets 1,000 deep.
        raise UsageError(f"{path}: {error}.", "Correct that line.") from error


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """A small text file.

    Raises:
        FileNotFoundError: There is none.
        UsageError: It is no readable UTF-8, or larger than ``most`` bytes.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file.")
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{path}: {error}.", "The file must be readable UTF-8.") from error
    if len(content) > most:
        raise UsageError(f"{path} is larger than {most:,} bytes.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}.", "The file must be readable UTF-8.") from error


def write_whole(path: Path, text: str) -> None:
    """Put a text in a file's place all at once; a new file is for its owner alone.

    Raises:
        UsageError: It can't be written.
    """
    target = path.resolve()
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(beside, mode)
            os.replace(beside, target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}.") from error
