"""Screens that show metrics: the request is one record, and each change of it computes the metrics anew."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, get_args

from msgspec import Struct, structs

from workbench.app.tui.kit.choices import following
from workbench.app.tui.live import LiveScreen
from workbench.core.selection import GROUPS, TOLD, Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.browsing import breakdowns


class FigureQuery(Struct, frozen=True, kw_only=True):
    """Settings for comparing verdicts with gold; protocol None is the project's protocol."""

    protocol: Protocol3 | None = None
    gold: GoldChoice = "final"


def counting(asked: Any) -> dict[str, Any]:
    """Return a `FigureQuery` that has ``conditions`` as keyword arguments of the metric functions."""
    return {"protocol": asked.protocol, "gold": asked.gold, "selection": Selection(asked.conditions)}


class FigureScreen(LiveScreen):
    """Shows metrics for a request; keys change the request.

    Attributes:
        asked: The request: a record; None if there is none yet.
    """

    LOOK_S: ClassVar[float | None] = None
    asked: Any

    @property
    def request(self) -> Any:
        return self.asked

    def read_again(self) -> None:
        if self.asked is not None:
            super().read_again()

    def change(self, **changes: Any) -> None:
        """Change fields of the request and compute the metrics; without changes, compute them again."""
        if self.asked is not None:
            self.count(structs.replace(self.asked, **changes))

    def count(self, asked: Any) -> None:
        """Compute and show the metrics for a request, unless it has changed meanwhile."""
        self.asked = asked
        self.say("reading …")
        self.read_again()

    def action_next_gold(self) -> None:
        if self.asked is not None:
            self.change(gold=following(self.asked.gold, get_args(GoldChoice)))


class BreakdownScreen(FigureScreen):
    """Shows metrics for a `FigureQuery`, broken down by a property of items.

    Attributes:
        groups: Names of the properties by which metrics can be broken down.
    """

    groups: tuple[str, ...] = tuple(by for by in GROUPS if by not in TOLD)

    def on_mount(self) -> None:
        self.in_background(partial(breakdowns, self.project), partial(setattr, self, "groups"), group="breakdowns")

    def action_next_protocol(self) -> None:
        if self.asked is not None:
            now = self.asked.protocol or self.workbench.settings.protocol
            self.change(protocol=following(now, get_args(Protocol3)))
