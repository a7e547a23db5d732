"""Screens of figures: what is asked for is one record, and a change of it counts anew."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, get_args

from msgspec import Struct, structs

from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.switches import following
from workbench.core.options import BasisArguments
from workbench.core.selection import GROUPS, TOLD, Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.browsing import breakdowns

Found = TypeVar("Found")


class FigureQuery(Struct, frozen=True, kw_only=True):
    """How verdicts are set against gold; without a protocol by that of the project."""

    protocol: Protocol3 | None = None
    gold: GoldChoice = "final"


def counting(asked: Any) -> BasisArguments:
    """A `FigureQuery` and its ``conditions``, as figures are asked for."""
    return {"protocol": asked.protocol, "gold": asked.gold, "selection": Selection(asked.conditions)}


class FigureScreen(WorkbenchScreen):
    """Shows figures of what is asked for, which keys change.

    Attributes:
        asked: A record with ``gold``, maybe ``protocol``; None before anything can be asked for.
        groups: What figures can be broken down by.
    """

    asked: Any
    groups: tuple[str, ...] = tuple(by for by in GROUPS if by not in TOLD)

    def on_mount(self) -> None:
        """Columns that were kept with the items come beside what every item has."""
        self.in_background(partial(breakdowns, self.project), partial(setattr, self, "groups"), group="breakdowns")

    @property
    def groups_of_items(self) -> tuple[str, ...]:
        """Those that are no verifier's own."""
        return tuple(by for by in self.groups if by != "reason")

    @abstractmethod
    def count(self, asked: Any) -> None:
        """Show what is asked for now."""

    def change(self, **changes: Any) -> None:
        """Ask for the same in another way; without changes anew."""
        if self.asked is not None:
            self.count(structs.replace(self.asked, **changes))

    def while_asked(self, work: Callable[[], Found], then: Callable[[Found], None], *, group: str) -> None:
        """Count in a thread; ``then`` takes the result unless something else is asked for by then."""
        asked = self.asked

        def taken(found: Found) -> None:
            if asked == self.asked:
                then(found)

        self.in_background(work, taken, group=group, stops=True)

    def action_next_protocol(self) -> None:
        """Count undecided rows in the next way."""
        if self.asked is not None:
            now = self.asked.protocol or self.workbench.settings.protocol
            self.change(protocol=following(now, get_args(Protocol3)))

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        if self.asked is not None:
            self.change(gold=following(self.asked.gold, get_args(GoldChoice)))
