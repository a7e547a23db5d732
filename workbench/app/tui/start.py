"""The app before a database is open: a new one, the demo, recent ones and those in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.keymap import Action, bindings, shown_keys
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.path_suggester import PathSuggester
from workbench.app.tui.kit.title_bar import Line
from workbench.app.tui.themes import OWN_THEMES
from workbench.config.settings import RecentProject
from workbench.core.files import free_name

_NEW_NAME = "project.db"
_NEW = "New project            your own data, from a file to a first metric"
_NAMING = "enter make it   esc back"
_FIXED = 2
"""Number of menu lines above the projects: a new project and the demo."""
_DEMO = "The demo               sample data with verdicts and metrics"


class Beginning(NamedTuple):
    """The project to open.

    Attributes:
        how: ``new``: create the database; ``demo``: with the sample data in it.
    """

    path: str
    annotator: str | None = None
    how: Literal["open", "new", "demo"] = "open"


class StartApp(App[Beginning]):
    """Returns the project to open, or None.

    Args:
        choices: Projects to offer, the likeliest first; those whose file is missing come last.
        demo: The path of the demo's database, which may not exist yet.
        left: The project that was open before, to which escape returns; None if there was none.
    """

    CSS = """
    Screen { padding: 1 2; }
    #start-title { text-style: bold; margin-bottom: 1; }
    #start-name { display: none; margin-bottom: 1; }
    #start-wrong { display: none; color: $text-error; margin-bottom: 1; }
    #start-list { height: 1fr; margin-bottom: 1; }
    OptionList { height: auto; max-height: 100%; }
    #start-keys { dock: bottom; color: $text-muted; }
    """
    ENABLE_COMMAND_PALETTE = False
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("start.quit", "q,ctrl+q", "quit", "Quit", "Leave the app."),
        Action("start.help", "?,f1", "help", "Keys", "Explain the keys."),
        Action("start.back", "escape", "close", "Back", "Close the input line, or go back."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    def __init__(self, choices: Sequence[RecentProject], demo: str, left: RecentProject | None = None) -> None:
        super().__init__()
        self._left = left
        self._choices = sorted(choices, key=lambda one: not _file_exists(one))
        self._demo = demo
        self._there: Path | None = None  # an existing file that was typed as the new project's name
        self.animation_level = "none"

    def compose(self) -> ComposeResult:
        for theme in OWN_THEMES:
            self.register_theme(theme)
        yield Static("workbench", id="start-title", markup=False)
        line = Line(value=free_name(Path(_NEW_NAME)).name, id="start-name", suggester=PathSuggester())
        line.border_title = "Where to keep the project (a new file)"
        yield line
        yield Static(id="start-wrong", markup=False)
        new = [Option(_NEW, id="new"), Option(_DEMO, id="demo")]
        listed = [Option(_project_line(one), disabled=not _file_exists(one)) for one in self._choices]
        with Vertical(id="start-list"):
            yield OptionList(*new, *listed, markup=False)
        yield Static(self._key_hints, id="start-keys", markup=False)

    def on_mount(self) -> None:
        menu = self.query_one(OptionList)
        menu.focus()
        menu.highlighted = _FIXED if any(map(_file_exists, self._choices)) else 0

    @property
    def _key_hints(self) -> str:
        back = "" if self._left is None else f"   esc back to {printable(Path(self._left.path).name)}"
        return f"enter open{back}   ? keys   q quit"

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == "new":
            self.query_one("#start-name").display = True
            self.query_one("#start-name").focus()
            self.query_one("#start-keys", Static).update(_NAMING)
        elif event.option_id == "demo":
            self.exit(Beginning(self._demo, how="demo"))
        else:
            one = self._choices[event.option_index - _FIXED]
            self.exit(Beginning(one.path, one.annotator))

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        named = Path(event.value.strip()).expanduser()
        path = named if named.suffix or not named.name else named.with_suffix(".db")
        if path == self._there:
            self.exit(Beginning(str(path)))
        elif wrong := _path_error(path):
            self._there = path if path.is_file() else None
            self._show_error(f"! {wrong}")
        else:
            self.exit(Beginning(str(path), how="new"))

    @on(Input.Changed)
    def _clear_error(self) -> None:
        self._show_error("")

    def _show_error(self, text: str) -> None:
        show_line(self.query_one("#start-wrong", Static), text)

    def action_help(self) -> None:
        lines = (f"{' '.join(shown_keys(one.id, one.keys))}  {one.help}" for one in self.ACTIONS)
        self.notify("\n".join(lines), markup=False)

    def action_close(self) -> None:
        line = self.query_one("#start-name")
        if line.display:
            line.display = False
            self._show_error("")
            self.query_one("#start-keys", Static).update(self._key_hints)
            self.query_one(OptionList).focus()
        else:
            self.exit(None if self._left is None else Beginning(self._left.path, self._left.annotator))


def _path_error(path: Path) -> str:
    if not path.name:
        return "Give it a name."
    if path.is_file():
        return "This file already exists. Enter opens it; a new project needs another name."
    if path.exists():
        return "This folder already exists. Choose another name."
    return "" if path.absolute().parent.is_dir() else "There is no such folder."


def here(folder: Path, known: Sequence[RecentProject]) -> list[RecentProject]:
    seen = {opened.path for opened in known if opened.annotator is None}
    found = sorted(str(path.resolve()) for path in folder.glob("*.db") if path.is_file())
    return [RecentProject(path) for path in found if path not in seen]


def _file_exists(opened: RecentProject) -> bool:
    return Path(opened.path).is_file()


def _project_line(opened: RecentProject) -> Content:
    path = Path(opened.path)
    person = f" as {opened.annotator}" if opened.annotator else ""
    missing = "" if _file_exists(opened) else "   (missing)"
    return Content(printable(f"{path.name}{person}   {path.parent}{missing}"))
