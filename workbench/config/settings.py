"""The settings in ``workbench.toml``: keys, theme, protocol, annotation policy; and the list of recent projects."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from workbench.config.file import decode, file_of, read, read_settings, user_folder, write_whole
from workbench.core.errors import WorkbenchError
from workbench.core.verdict import PROTOCOL, Protocol3

__all__ = ["RecentProject", "recent_projects", "remember_project"]

# -- The annotation policy: checks and repeats. ``[annotation]`` in workbench.toml.


_EXAMPLE: Final = 'theme = "nord", protocol = "strict", annotation.check_rate = 0.05, keymap."annotate.correct" = "1,y"'
_Share = Annotated[float, Meta(ge=0, le=1)]


class AnnotationPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class _Counting(Struct, frozen=True, kw_only=True):
    protocol: Protocol3 = PROTOCOL


class Settings(_Counting, frozen=True, kw_only=True):
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
    annotation: AnnotationPolicy = AnnotationPolicy()


def load(database: Path) -> Settings:
    """Load the settings next to a database; return the defaults if there is no file.

    Raises:
        UsageError: The file is not TOML, or a field has the wrong type (the message names file and field).
    """
    return decode(f"{file_of(database)}:", read(database), Settings, _EXAMPLE)


def protocol_at(database: Path) -> Protocol3:
    """Return the protocol configured next to a database; `PROTOCOL` if none is.

    Raises:
        UsageError: The file can't be read, or its protocol is invalid.
    """
    example = 'protocol = "strict" (or "forced", "decided")'
    return decode(f"{file_of(database)}:", read(database), _Counting, example).protocol


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
