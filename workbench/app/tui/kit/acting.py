"""A widget with actions of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.widget import Widget

from workbench.app.tui.keymap import Action

if TYPE_CHECKING:
    from workbench.app.tui.kit.copies import Copyable


class ActingWidget(Widget):
    """While it has the focus, its actions stand beside those of its screen.

    Attributes:
        ACTIONS: Their keys are its own bindings.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = ()

    @abstractmethod
    def copies(self) -> Iterator[Copyable]:
        """What can be copied of it now."""
