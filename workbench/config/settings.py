"""The settings in ``workbench.toml``: keys, theme, protocol, annotation policy; and the list of recent projects."""

from __future__ import annotations

import contextlib
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final, cast, get_args

import msgspec
from msgspec import Meta, Struct

from workbench.config.file import file_of, read, read_settings, user_folder, write_whole
from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.options import Options, fields_of
from workbench.core.verdict import PROTOCOL, Protocol3

__all__ = ["RecentProject", "recent_projects", "remember_project"]

# -- The annotation policy: checks and repeats. ``[annotation]`` in workbench.toml.


_Share = Annotated[float, Meta(ge=0, le=1)]


class AnnotationPolicy(Options, frozen=True, kw_only=True):
    """Rates and limits of annotation.

    Attributes:
        check_rate: Share of assigned items that are checks (items with a known answer), as long as there are any.
        check_threshold: Accuracy on checks below which a person is paused.
        check_minimum: Number of checks that a person must answer before they can be paused.
        repeat_share: Share of assigned items that the person has labelled before.
        repeat_after_hours: Hours after which a labelled item can be assigned to the same person again.
    """

    check_rate: _Share = 0.05
    check_threshold: _Share = 0.7
    check_minimum: Annotated[int, Meta(ge=0)] = 10
    repeat_share: _Share = 0.03
    repeat_after_hours: Annotated[float, Meta(ge=0)] = 24.0


class Settings(Struct, frozen=True, kw_only=True):
    """The app settings in a project's settings file.

    Attributes:
        theme: Name of a theme of the app; None for the default.
        keymap: Keys, comma-separated, by action id such as ``annotate.correct``.
        protocol: How abstentions are counted in every metric, unless another protocol is requested.
        suggest_types: Name of the verifier whose suggested answer types are shown to annotators; None for no
            suggestions.
        annotation: The policy for checks and repeats.
    """

    theme: str | None = None
    keymap: dict[str, str] = {}
    suggest_types: str | None = None
    protocol: Protocol3 = PROTOCOL
    annotation: AnnotationPolicy = AnnotationPolicy()


def load(database: Path) -> Settings:
    """Load the settings next to a database; return the defaults if there is no file.

    Raises:
        UsageError: The file is not TOML, or a field has the wrong type (the message names file and field).
    """
    path, content = file_of(database), read(database)
    names = {field: content.get(field) for field in ("theme", "suggest_types")}
    for field, name in names.items():
        if name is not None and not isinstance(name, str):
            raise UsageError(f"{path}:{field} must be a name in quotes.")
    keymap = content.get("keymap", {})
    if not isinstance(keymap, dict) or not all(isinstance(keys, str) for keys in keymap.values()):
        raise UsageError(f'{path}:keymap must be a table of action = "keys".', 'Example: "annotate.correct" = "1,y"')
    return Settings(
        keymap=keymap, annotation=_policy(path, content.get("annotation", {})), protocol=protocol_at(database), **names
    )


def protocol_at(database: Path) -> Protocol3:
    """Return the protocol configured next to a database; `PROTOCOL` if none is.

    Raises:
        UsageError: The file can't be read, or its protocol is invalid.
    """
    said = read(database).get("protocol", PROTOCOL)
    if said not in get_args(Protocol3):
        raise UsageError(f"{file_of(database)}:protocol must be one of {', '.join(get_args(Protocol3))}.")
    return cast("Protocol3", said)


def _policy(path: Path, table: object) -> AnnotationPolicy:
    if isinstance(table, dict):
        _require_bounds(f"{path}:annotation", table)
    try:
        return msgspec.convert(table, AnnotationPolicy)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}:annotation: {error}.") from error


def _require_bounds(place: str, table: dict[str, Any]) -> None:
    known = {field.name: field for field in fields_of(AnnotationPolicy)}
    for name, value in sorted(table.items()):
        if name not in known:
            raise UsageError(f"{place}.{name} is not a setting.", f"Settings: {', '.join(known)}.")
        most = known[name].bounds.get("le", inf)
        if isinstance(value, int | float) and not 0 <= value <= most:
            bounds = "must not be negative" if most == inf else "must be between 0 and 1"
            raise UsageError(f"{place}.{name} {bounds}.")


# -- Databases recently opened in the app, and as whom; stored in the user's configuration folder.


_FILE: Final = "recent.json"
_MAX_RECENT: Final = 10


class RecentProject(Struct, frozen=True):
    """A project that was opened recently.

    Attributes:
        path: The absolute path of the database.
        annotator: The person given by ``--as``; None for the coordinator.
    """

    path: str
    annotator: str | None = None


def recent_projects() -> list[RecentProject]:
    """Return the recently opened projects, newest first, also missing ones; empty if the list can't be read."""
    with contextlib.suppress(WorkbenchError, OSError, UnicodeError, msgspec.MsgspecError):
        return msgspec.json.decode(read_settings(_recent_file()), type=list[RecentProject])[:_MAX_RECENT]
    return []


def remember_project(database: Path, annotator: str | None) -> None:
    """Put a database first in the user's list of recent projects; write errors are ignored."""
    opened = RecentProject(str(database.resolve()), annotator)
    others = [other for other in recent_projects() if other != opened]
    with contextlib.suppress(WorkbenchError, OSError, UnicodeError):
        _recent_file().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(_recent_file(), msgspec.json.encode([opened, *others][:_MAX_RECENT]).decode())


def _recent_file() -> Path:
    return user_folder() / _FILE


# -- Recent databases, for the front ends.
