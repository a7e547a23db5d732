"""What there is before a database is open: a choice of those opened lately and those in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.keymap import Action, bindings
from workbench.app.tui.themes import OWN_THEMES
from workbench.config.settings import RecentProject

_NEW = (
    "New here? These commands make a database:\n"
    "  workbench demo                  the sample data, with verdicts and figures\n"
    "  workbench import DB FILE…       your own questions, references and completions\n"
    "Then: workbench DB"
)


class StartApp(App[RecentProject]):
    """Ends with the database to open, or None.

    Args:
        choices: What can be opened, the likeliest first.
    """

    CSS = """
    Screen { padding: 1 2; }
    #start-title { text-style: bold; margin-bottom: 1; }
    OptionList { height: auto; max-height: 1fr; margin-bottom: 1; }
    #start-keys { dock: bottom; color: $text-muted; }
    """
    ENABLE_COMMAND_PALETTE = False
    ACTIONS: ClassVar[tuple[Action, ...]] = (Action("start.quit", "q,escape", "quit", "Quit", "Leave."),)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    def __init__(self, choices: Sequence[RecentProject]) -> None:
        super().__init__()
        self._choices = list(choices)
        self.animation_level = "none"

    def compose(self) -> ComposeResult:
        """Lay out; without anything to open, how to make it."""
        for theme in OWN_THEMES:
            self.register_theme(theme)
        yield Static("workbench: which database?" if self._choices else "workbench", id="start-title", markup=False)
        if self._choices:
            yield OptionList(*(Option(_words(opened)) for opened in self._choices), markup=False)
        yield Static(_NEW, markup=False)
        yield Static("enter open   q quit" if self._choices else "q quit", id="start-keys", markup=False)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.exit(self._choices[event.option_index])


def here(folder: Path, known: Sequence[RecentProject]) -> list[RecentProject]:
    """Databases of a folder, by name, that are not among those known."""
    seen = {opened.path for opened in known}
    found = sorted(str(path.resolve()) for path in folder.glob("*.db") if path.is_file())
    return [RecentProject(path) for path in found if path not in seen]


def _words(opened: RecentProject) -> Content:
    path = Path(opened.path)
    person = f" as {opened.annotator}" if opened.annotator else ""
    return Content("".join(c if c.isprintable() else "�" for c in f"{path.name}{person}   {path.parent}"))
