"""The app's settings: keys and theme, checked field by field."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.config.file import file_of, read
from workbench.config.policy import AnnotationPolicy
from workbench.core.errors import UsageError


class Settings(Struct, frozen=True, kw_only=True):
    """What a project's settings file says of the app.

    Attributes:
        theme: Name of a theme of the app; None for the default.
        keymap: Action id (``annotate.correct``) -> keys, comma-separated.
        suggest_types: Name of the verifier whose answer types people see when they settle one; None for no suggestions.
        annotation: Checks, repeats and breaks.
    """

    theme: str | None = None
    keymap: dict[str, str] = {}
    suggest_types: str | None = None
    annotation: AnnotationPolicy = AnnotationPolicy()


def load(database: Path) -> Settings:
    """Read the settings beside a database; defaults when there is no file.

    Raises:
        UsageError: The file is no TOML, or a field has the wrong type (the message names file and field).
    """
    path, content = file_of(database), read(database)
    names = {field: content.get(field) for field in ("theme", "suggest_types")}
    for field, name in names.items():
        if name is not None and not isinstance(name, str):
            raise UsageError(f"{path}:{field} must be a name in quotes.")
    keymap = content.get("keymap", {})
    if not isinstance(keymap, dict) or not all(isinstance(keys, str) for keys in keymap.values()):
        raise UsageError(f'{path}:keymap must be a table of action = "keys".', 'Example: "annotate.correct" = "1,y"')
    return Settings(keymap=keymap, annotation=_policy(path, content.get("annotation", {})), **names)


def _policy(path: Path, table: object) -> AnnotationPolicy:
    try:
        policy = msgspec.convert(table, AnnotationPolicy)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}:annotation: {error}.") from error
    unknown = sorted(set(table) - set(AnnotationPolicy.__struct_fields__)) if isinstance(table, dict) else []
    if unknown:
        fields = ", ".join(AnnotationPolicy.__struct_fields__)
        raise UsageError(f"{path}:annotation.{unknown[0]} is no setting.", f"Settings: {fields}.")
    for field in ("check_rate", "check_threshold", "repeat_share"):
        if not 0 <= getattr(policy, field) <= 1:
            raise UsageError(f"{path}:annotation.{field} must be between 0 and 1.")
    for field in ("check_minimum", "repeat_after_hours", "break_after_minutes"):
        if not getattr(policy, field) >= 0:
            raise UsageError(f"{path}:annotation.{field} must not be negative.")
    return policy
