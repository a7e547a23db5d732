"""A widget with its own actions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.widget import Widget

from workbench.app.tui.keymap import Action

if TYPE_CHECKING:
    from workbench.app.tui.kit.copies import Copyable


class ActingWidget(Widget):
    """A widget whose actions join those of its screen while it has the focus.

    Attributes:
        ACTIONS: Actions whose keys are the widget's bindings.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = ()

    @abstractmethod
    def copies(self) -> Iterator[Copyable]:
        """Yield what can be copied now."""
