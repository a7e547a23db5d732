"""Home."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Footer, Static

from workbench.tui.screen import WorkbenchScreen


class HomeScreen(WorkbenchScreen):
    """What there is to do."""

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield Static("home")
        yield Footer()
