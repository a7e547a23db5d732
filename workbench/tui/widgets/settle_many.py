"""One question before many conflicts are settled alike, and the list of those that were not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.services.labelling.conflict_classes import LeftOut
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.line import Line

_BOX = """
    width: 70;
    max-width: 100%;
    height: auto;
    max-height: 100%;
    padding: 0 1;
    border: round $primary;
    background: $surface;
"""


class SettleMany(ModalScreen[str | None]):
    """Returns the note that goes with every decision (it may be empty) at enter; escape returns None.

    Args:
        count: How many conflicts are settled.
        how: The decision in words.
        needs_note: The decision says nothing without a note.
    """

    DEFAULT_CSS = f"""
    SettleMany {{ align: center middle; }}
    SettleMany #settle-box {{ {_BOX} }}
    SettleMany Input {{ margin-top: 1; }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Leave it")]

    def __init__(self, count: int, how: Content, *, needs_note: bool = False) -> None:
        super().__init__()
        self._count = count
        self._how = how
        self._needs_note = needs_note

    def compose(self) -> ComposeResult:
        """Lay out."""
        many = f"{self._count:,} {'conflict' if self._count == 1 else 'conflicts'}"
        with Vertical(id="settle-box") as box:
            box.border_title = Content(f"Settle {many}")
            box.border_subtitle = Content("enter: settle · escape: leave it")
            yield Static(Content.assemble((many, "bold"), " at once as ", self._how), markup=False)
            asked = "a note is needed" if self._needs_note else "a note on each of them, or nothing"
            yield Line(placeholder=asked, compact=True)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        note = event.value.strip()
        if note or not self._needs_note:
            self.dismiss(note)


class LeftOutList(ModalScreen[None]):
    """What was not settled, item by item."""

    DEFAULT_CSS = f"""
    LeftOutList {{ align: center middle; }}
    LeftOutList #left-out-box {{ {_BOX} }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space,escape,q", "dismiss", "Go on")]

    def __init__(self, settled: int, left_out: Sequence[LeftOut]) -> None:
        super().__init__()
        self._settled = settled
        self._left_out = left_out

    def compose(self) -> ComposeResult:
        """Lay out."""
        with VerticalScroll(id="left-out-box") as box:
            box.border_title = Content(f"{self._settled:,} settled ✓ · {len(self._left_out):,} left out")
            box.border_subtitle = Content("enter: go on")
            lines = (f"{printable(one.completion_id)}  {one.why}" for one in self._left_out)
            yield Static(Content("\n".join(lines)), markup=False)
