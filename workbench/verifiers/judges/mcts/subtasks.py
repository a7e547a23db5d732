"""The subtasks a judgment is broken down into: a versioned list, kept as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct


class Subtask(Struct, frozen=True, forbid_unknown_fields=True):
    """One angle from which a submission is looked at.

    Attributes:
        focus: What to look for, as the model is told.
        comparative: It says nothing without a reference or an example.
    """

    id: str
    title: str
    focus: str
    comparative: bool = False


History = tuple[tuple[Subtask, bool | None], ...]
"""The subtasks done so far, and what each of them found."""


class SubtaskFinding(Struct, frozen=True):
    """What came of a subtask.

    Attributes:
        outcome: None where the reply held no verdict.
        call: The analysis's place among the calls for the item.
    """

    outcome: bool | None
    call: int


class SubtaskList(Struct, frozen=True, forbid_unknown_fields=True):
    """All subtasks in their fixed order, under a version that is part of a judge's identity."""

    version: int
    subtask: tuple[Subtask, ...]


@cache
def subtask_list() -> SubtaskList:
    """The list of this release."""
    text = files(__package__).joinpath("subtasks.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), SubtaskList)


def subtasks_for(texts: Mapping[str, str]) -> tuple[Subtask, ...]:
    """The subtasks there are for an item with these texts."""
    comparable = bool(texts.get("reference") or texts.get("example"))
    return tuple(one for one in subtask_list().subtask if comparable or not one.comparative)
