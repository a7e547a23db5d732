"""Settings: ``workbench.toml`` beside the database (keys and theme), checked field by field."""

from __future__ import annotations

import tomllib
from pathlib import Path

from msgspec import Struct

from workbench.errors import UsageError

FILE_NAME = "workbench.toml"


class Settings(Struct, frozen=True, kw_only=True):
    """What a project's settings file says.

    Attributes:
        theme: Name of a theme of the app; None for the default.
        keymap: Action id (``annotate.correct``) -> keys, comma-separated.
    """

    theme: str | None = None
    keymap: dict[str, str] = {}


def load(database: Path) -> Settings:
    """Read the settings beside a database; defaults when there is no file.

    Raises:
        UsageError: The file is no TOML, or a field has the wrong type (the message names file and field).
    """
    path = database.parent / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}.", "The file must be readable UTF-8.") from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}.", "Correct that line.") from error
    theme = content.get("theme")
    if theme is not None and not isinstance(theme, str):
        raise UsageError(f"{path}:theme must be a name in quotes.")
    keymap = content.get("keymap", {})
    if not isinstance(keymap, dict) or not all(isinstance(keys, str) for keys in keymap.values()):
        raise UsageError(f'{path}:keymap must be a table of action = "keys".', 'Example: "annotate.correct" = "1,y"')
    return Settings(theme=theme, keymap=keymap)
