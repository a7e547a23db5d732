"""Values out of a few, any number of them, in a line of a form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.many_choices import ManyMenu


class PickMany(Static, can_focus=True):
    """The names that are taken; enter lists all of them.

    Attributes:
        value: Those that are taken, with blanks between them.

    Args:
        title: What is asked.
        names: Words: none has a blank in it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "list", "List", show=False, id="pick-many.list"),
    ]

    class Changed(Message):
        """Others were taken."""

    value: reactive[str] = reactive("")

    def __init__(self, title: str, names: Sequence[str]) -> None:
        super().__init__(markup=False)
        self._title, self._names = title, names

    def render(self) -> Content:
        """How many, and which."""
        taken = self.value.split()
        which = printable(" ".join(taken)) or "(enter: choose)"
        return Content.assemble((f"{len(taken)} of {len(self._names)}", "bold"), (f"  {which}", "$text-muted"))

    def watch_value(self) -> None:
        """Say that it has changed."""
        self.post_message(self.Changed())

    def action_list(self) -> None:
        """Take and leave in a menu of all names."""

        def chosen(names: tuple[str, ...] | None) -> None:
            if names is not None:
                self.value = " ".join(names)

        self.app.push_screen(ManyMenu(self._title, self._names, self.value.split()), chosen)

    def on_click(self) -> None:
        """A click lists them."""
        self.action_list()
