"""What the verifiers said, shown to an adjudicator once the decision is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.label_line import verdict_words


class VerdictsAfter(ModalScreen[str]):
    """Returns "on", "undo" when the person wants their decision back, or "case" for a case of the guidelines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,escape", "leave('on')", "Go on"),
        Binding("z", "leave('undo')", "Undo"),
        Binding("e", "leave('case')", "Case"),
    ]

    def __init__(self, decided: Content, said: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._decided = decided
        self._said = said

    def compose(self) -> ComposeResult:
        """Lay out."""
        with VerticalScroll(id="verdicts-box") as box:
            box.border_title = Content("Saved ✓ · what the verifiers said")
            box.border_subtitle = Content("enter or space: go on · z: undo · e: guidelines")
            yield Static(self._lines(), markup=False)

    def _lines(self) -> Content:
        wide = max(len(printable(name)) for name, _ in self._said)
        lines = [Content.assemble(("you".ljust(wide), "bold"), "  ", self._decided)]
        for name, verdict in self._said:
            lines.append(Content.assemble(printable(name).ljust(wide), "  ", verdict_words(verdict)))
        return Content("\n").join(lines)

    def on_click(self) -> None:
        """A click goes on, too."""
        self.dismiss("on")

    def action_leave(self, answer: str) -> None:
        """Go on, or do something about the decision first."""
        self.dismiss(answer)
