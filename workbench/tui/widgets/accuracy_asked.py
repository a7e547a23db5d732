"""What the Accuracy screen asks for: a breakdown, a protocol, a gold, and the groups that were opened on the way."""

from __future__ import annotations

from msgspec import Struct, structs

from workbench.model.breakdown import GROUPS
from workbench.model.selection import Condition
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.tui.widgets.accuracy_view import group_name
from workbench.tui.widgets.cells import printable


class OpenedGroup(Struct, frozen=True):
    """A group that was opened: its property and its name."""

    by: str
    group: str


class SheetQuery(Struct, frozen=True, kw_only=True):
    """What is asked for.

    Attributes:
        of: The items to begin with, such as those of a set; none for all items.
        path: The groups one inside the other whose items are shown; none for all of them.
    """

    by: str = "type"
    protocol: Protocol3 = "forced"
    gold: GoldChoice = "final"
    of: tuple[Condition, ...] = ()
    path: tuple[OpenedGroup, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The items the table is about."""
        return (*self.of, *(Condition(step.by, "=", step.group) for step in self.path))

    @property
    def words(self) -> str:
        """The same for people; empty for all items."""
        begun = (printable(str(condition)) for condition in self.of)
        return " · ".join([*begun, *(group_name(step.group, step.by) for step in self.path)])

    @property
    def free(self) -> tuple[str, ...]:
        """The properties that can still be broken down by."""
        fixed = {step.by for step in self.path}
        return tuple(by for by in GROUPS if by not in fixed)

    def conditions_of(self, group: str | None) -> tuple[Condition, ...]:
        """The items of a column; a reason is no property of items."""
        if group is None or self.by == "reason":
            return self.conditions
        return (*self.conditions, Condition(self.by, "=", group))

    def words_of(self, group: str | None) -> str:
        """The items of a column in words."""
        own = "" if group is None else group_name(group, self.by)
        return " · ".join(part for part in (self.words, own) if part) or "all"

    def inside(self, group: str, by: str) -> SheetQuery:
        """The same of one group only, broken down by another property."""
        return structs.replace(self, by=by, path=(*self.path, OpenedGroup(self.by, group)))

    def outside(self) -> tuple[SheetQuery, str]:
        """What the group opened last stands in, and that group.

        Raises:
            ValueError: No group was opened.
        """
        *path, last = self.path
        return structs.replace(self, by=last.by, path=tuple(path)), last.group
