"""Frozen sets as they are listed, shown and compared."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from workbench.core.label import State
from workbench.core.sets import SetKind, SetReport
from workbench.core.verdict import GoldChoice


class SetLine(Struct, frozen=True, kw_only=True):
    """A set in a list.

    Attributes:
        gold: Whose labels count; None for a set without any.
        guideline: The version of the guidelines that was in force.
        code_version: The version of this program that froze it.
        tuples, questions: How many it has.
        short: How many shortfalls its report has.
        states: How many of its items are in each state today; none of a set of questions.
        changed: What differs now: items with another gold, and of another answer type.
    """

    name: str
    version: int
    kind: SetKind
    questions: int
    tuples: int
    seed: int
    gold: GoldChoice | None
    guideline: str | None
    code_version: str
    digest: str
    created_at: str
    short: int
    states: dict[State, int]
    changed: dict[str, int]

    @property
    def full_name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.name}@{self.version}"

    @property
    def progress(self) -> tuple[int, int, int] | None:
        """Items that people have decided, that wait for labels, and that are in conflict; None for questions."""
        if not self.tuples:
            return None
        decided, conflict = self.states.get("final", 0) + self.states.get("excluded", 0), self.states.get("conflict", 0)
        return decided, self.tuples - decided - conflict, conflict


class Flip(Struct, frozen=True, kw_only=True):
    """How often a judge that chose a set says something else of its items in a later run.

    Attributes:
        run: The one that chose.
        later: Its newest complete one since; None where there is none.
        both: Items of the set that both have decided.
        flipped: Those of them on which they differ.
        rate: Their share; None without any.
    """

    judge: str
    run: int
    later: int | None
    both: int
    flipped: int
    rate: float | None


class SetDetail(Struct, frozen=True, kw_only=True):
    """A set with all that is known of it.

    Attributes:
        config: What the choice depended on besides the data.
        report: What came of it when it was frozen.
        flips: The judges whose verdicts chose it.
        changed: As in ``set``.
    """

    set: SetLine
    config: dict[str, Any]
    report: SetReport
    flips: tuple[Flip, ...]
    changed: dict[str, int]


class DiffRow(Struct, frozen=True, kw_only=True):
    """An item or question that differs between two sets.

    Attributes:
        completion_id: None for a question of a set of questions.
        before, after: Its gold or answer type in each.
    """

    dataset: str
    question_id: str
    completion_id: str | None
    before: str | None = None
    after: str | None = None


class SetDiff(Struct, frozen=True, kw_only=True):
    """What differs between two sets.

    Attributes:
        old, new: Their names with their versions.
        same: Items or questions in both that are equal.
        settings: What was asked for: key -> the two values.
        texts: Those whose question, reference or completion is another; in two data sets only, where ids are equal.
    """

    old: str
    new: str
    same: int
    settings: dict[str, tuple[Any, Any]]
    only_old: tuple[DiffRow, ...]
    only_new: tuple[DiffRow, ...]
    gold: tuple[DiffRow, ...]
    subtypes: tuple[DiffRow, ...]
    texts: tuple[DiffRow, ...]
