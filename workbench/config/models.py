"""``[models.NAME]``: models that write texts, with the same options as ``-o`` on the command line."""

from __future__ import annotations

from pathlib import Path

from workbench.config.file import file_of, read
from workbench.config.verifiers import options_in
from workbench.core.errors import UsageError

_TABLE = "models"
_EXAMPLE = '[models.qwen] base_url = "http://localhost:8000/v1", model = "…"'


def named_model(database: Path, name: str) -> dict[str, str] | None:
    """The options of the model that the settings file has under a name; None if it has none.

    Raises:
        UsageError: The file can't be read, or the entry is wrong.
    """
    place = f"{file_of(database)}:{_TABLE}"
    table = read(database).get(_TABLE, {})
    if not isinstance(table, dict):
        raise UsageError(f"{place} must be a table.", f"Example: {_EXAMPLE}")
    entry = table.get(name)
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise UsageError(f"{place}.{name} must be a table.", f"Example: {_EXAMPLE}")
    return options_in(f"{place}.{name}", entry)
