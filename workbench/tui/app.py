"""The terminal application: a project, who is looking, and the screens."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from workbench.services.project import Project
from workbench.services.settings import Settings
from workbench.tui.actions import Action, bindings
from workbench.tui.screen import WorkbenchScreen

SCREENS: dict[str, tuple[str, str, str]] = {
    "home": ("HomeScreen", "h", "Home: data sets, states, people, runs"),
    "annotate": ("AnnotateScreen", "a", "Annotate: label the next item"),
    "adjudicate": ("AdjudicateScreen", "j", "Adjudicate: settle conflicts"),
    "browse": ("BrowseScreen", "b", "Browse: every item in a table"),
    "runs": ("RunsScreen", "v", "Verifiers & runs: start, watch, pause, cancel"),
    "accuracy": ("AccuracyScreen", "y", "Accuracy: verifiers by answer type"),
    "history": ("HistoryScreen", "l", "History: your own labels"),
}
"""Screen name -> (class in tui/screens/NAME.py, its key on Home, one line of help); imported on first use."""

ANNOTATOR_SCREENS = ("home", "annotate", "adjudicate", "history")
"""What a person sees who came with ``--as NAME``."""


class WorkbenchApp(App[None]):
    """The app on one project.

    Attributes:
        project: The open project.
        annotator: Who came with ``--as``; None for the coordinator.
    """

    TITLE = "workbench"
    CSS_PATH = "app.tcss"

    EVERYWHERE: ClassVar[tuple[Action, ...]] = (
        Action("app.help", "question_mark,f1", "help", "Keys", "Show the keys of this screen."),
        Action("app.palette", "ctrl+p", "command_palette", "Commands", "Find a command by name.", footer=False),
        Action("app.back", "escape", "go_back", "Back", "Go back to the screen before."),
        Action("app.quit", "q", "quit", "Quit", "Leave the app; runs go on."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(EVERYWHERE)]

    def __init__(self, project: Project, annotator: str | None = None, settings: Settings | None = None) -> None:
        super().__init__()
        self.project = project
        self.annotator = annotator
        self.settings = settings or Settings()

    @property
    def screen_names(self) -> tuple[str, ...]:
        """The screens this person may open."""
        return ANNOTATOR_SCREENS if self.annotator else tuple(SCREENS)

    def on_mount(self) -> None:
        """Theme, keys, then Home."""
        if self.settings.theme:
            if self.settings.theme in self.available_themes:
                self.theme = self.settings.theme
            else:
                self.notify(
                    f"Unknown theme {self.settings.theme!r} in workbench.toml.", severity="warning", markup=False
                )
        self.set_keymap(self.settings.keymap)
        self.open_screen("home")

    def actions_everywhere(self) -> Iterator[Action]:
        """The actions that work on every screen."""
        yield from self.EVERYWHERE

    def open_screen(self, name: str, *arguments: object) -> None:
        """Push a screen by name; its module is imported now."""
        if name not in self.screen_names:
            return
        module = import_module(f"workbench.tui.screens.{name}")
        screen: Screen[None] = getattr(module, SCREENS[name][0])(*arguments)
        self.push_screen(screen)

    def action_open_screen(self, name: str) -> None:
        """Open a screen by name (key and palette)."""
        self.open_screen(name)

    def action_go_back(self) -> None:
        """Leave the present screen; Home is the last one."""
        if len(self.screen_stack) > 2:
            self.pop_screen()

    async def action_help(self) -> None:
        """Show the keys of the present screen."""
        from workbench.tui.screens.help import HelpScreen

        if isinstance(self.screen, WorkbenchScreen):
            self.push_screen(HelpScreen(self.screen))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: the screen's actions, the other screens, then Textual's own commands."""
        if isinstance(screen, WorkbenchScreen):
            for action in screen.all_actions():
                yield SystemCommand(
                    action.label, action.help, lambda run=action.run: self.call_later(self.run_action, run, screen)
                )
        for name in self.screen_names:
            title, _, text = SCREENS[name][2].partition(": ")
            yield SystemCommand(f"Open {title}", text, lambda name=name: self.open_screen(name))
        yield from super().get_system_commands(screen)


def run(project: Project, annotator: str | None, settings: Settings) -> None:
    """Run the app until the person leaves; problems are logged beside the database."""
    log = logging.FileHandler(project.path.with_name(f"{project.path.name}.app.log"), delay=True)
    logging.basicConfig(handlers=[log], level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    WorkbenchApp(project, annotator, settings).run()
