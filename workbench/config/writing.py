"""Adding a verifier to the settings file; the rest of it, comments too, stays byte for byte as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.config.file import read_settings, write_whole
from workbench.config.toml import loads
from workbench.config.verifiers import NAME
from workbench.core.errors import UsageError

Value = str | int | float | bool


def save_verifier(path: Path, name: str, kind: str, options: Mapping[str, Value]) -> None:
    """Write ``[verifiers.NAME]`` into a settings file, in place of an earlier one of that name.

    Args:
        path: The settings file; it is made if need be.
        name: The verifier's name.
        kind: Its kind.
        options: Option values by name.

    Raises:
        UsageError: The name is none, or the file can't be read, is no TOML, can't take the entry or can't be written.
    """
    from tomlkit.exceptions import TOMLKitError

    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a verifier.", "Use up to 100 letters, digits and . _ + @ / -")
    try:
        before = read_settings(path)
    except FileNotFoundError:
        before = ""
    entry = {"kind": kind, **options}
    try:
        wanted = loads(before)
        after = _with(before, name, entry)
        wanted.setdefault("verifiers", {})[name] = entry
        kept = tomllib.loads(after) == wanted
    except (ValueError, TypeError, AttributeError, RecursionError, TOMLKitError) as error:
        raise UsageError(f"{path}: {error}", "Is it TOML, and verifiers a table there?") from error
    if not kept:
        raise UsageError(f"{path} is written in a way that can't be added to.", f"Write [verifiers.{name}] by hand.")
    write_whole(path, after)


def _with(text: str, name: str, entry: dict[str, Any]) -> str:
    """The file's text with the entry; one that is there keeps the comments in it."""
    import tomlkit

    document = tomlkit.parse(text)
    if "verifiers" not in document:
        document["verifiers"] = tomlkit.table(is_super_table=True)
    named: Any = document["verifiers"]
    if name not in named:
        named[name] = tomlkit.table()
    for key in [key for key in named[name] if key not in entry]:
        del named[name][key]
    named[name].update(entry)
    return tomlkit.dumps(document)
