"""Screens that show metrics: the request is one record, and each change of it computes the metrics anew."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, Final, get_args

from msgspec import Struct, structs

from workbench.app.tui.kit.choices import following
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.selection import GROUPS, TOLD, Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.browsing import breakdowns

FIGURES: Final = "figures"
"""The group of the threads that compute metrics."""


class FigureQuery(Struct, frozen=True, kw_only=True):
    """Settings for comparing verdicts with gold; protocol None is the project's protocol."""

    protocol: Protocol3 | None = None
    gold: GoldChoice = "final"


def counting(asked: Any) -> dict[str, Any]:
    """Return a `FigureQuery` that has ``conditions`` as keyword arguments of the metric functions."""
    return {"protocol": asked.protocol, "gold": asked.gold, "selection": Selection(asked.conditions)}


class FigureScreen(WorkbenchScreen):
    """Shows metrics for a request; keys change the request.

    Attributes:
        asked: The request: a record with ``gold`` and, on some screens, ``protocol``; None if there is none yet.
        groups: Names of the properties by which metrics can be broken down.
    """

    asked: Any
    _counted_at: int | None = None
    groups: tuple[str, ...] = tuple(by for by in GROUPS if by not in TOLD)

    def on_mount(self) -> None:
        self.in_background(partial(breakdowns, self.project), partial(setattr, self, "groups"), group="breakdowns")

    def on_screen_resume(self) -> None:
        """Compute the metrics again if something was stored while another screen was on top."""
        before, self._counted_at = self._counted_at, self.project.database.data_version()
        if before not in (None, self._counted_at) and not isinstance(self, LiveScreen):
            self.change()

    @property
    def groups_of_items(self) -> tuple[str, ...]:
        return tuple(by for by in self.groups if by != "reason")

    @abstractmethod
    def read(self) -> Any:
        """Compute the metrics for the request; called in a thread."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show the metrics."""

    def show_failure(self, error: Exception) -> None:
        """Show that there are no metrics, before the error is shown."""

    def count(self, asked: Any) -> None:
        """Compute and show the metrics for a request, unless it has changed meanwhile."""
        self.asked = asked
        self.say("reading …")

        def taken(found: Any) -> None:
            if asked == self.asked:
                self.show(found)

        self.in_background(self.read, taken, group=FIGURES, failed=self.show_failure, stops=True)

    def change(self, **changes: Any) -> None:
        """Change fields of the request and compute the metrics; without changes, compute them again."""
        if self.asked is not None:
            self.count(structs.replace(self.asked, **changes))

    def action_next_protocol(self) -> None:
        if self.asked is not None:
            now = self.asked.protocol or self.workbench.settings.protocol
            self.change(protocol=following(now, get_args(Protocol3)))

    def action_next_gold(self) -> None:
        if self.asked is not None:
            self.change(gold=following(self.asked.gold, get_args(GoldChoice)))
