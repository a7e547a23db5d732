"""The coordinator's terminal, lent to a person who works blind until they give it back."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.keymap import Action, bindings
from workbench.core.project import Project
from workbench.core.text.inert import inert

_LENT: Final = "WORKBENCH_LENT"
"""The variable that tells a process of the app that another one waits for it."""

_APART: Final = "\x1b[?1049h\x1b[2J\x1b[2;3H"
"""Goes to the terminal's other screen, which apps use, clears it and goes near its corner."""
_GIVE_BACK: Final = "Give back"


def lend(project: Project, name: str) -> None:
    hold(f"Opening the app for {name}, blind …")
    command = [sys.executable, "-P", "-m", "workbench", "open", f"--as={name}", "--at", "work"]
    subprocess.run([*command, "--", str(project.path)], check=False, env={**os.environ, _LENT: "1"})


def hold(words: str) -> None:
    """Show words alone in the terminal, in place of the shell, until an app draws its first screen."""
    print(f"{_APART}{inert(words)}", end="", flush=True)  # noqa: T201 (no app has the terminal)


def is_lent() -> bool:
    """Tell whether this process is a lent app."""
    return _LENT in os.environ


def _returned(action: Action) -> Action:
    if action.id != "app.quit":
        return action
    return action._replace(label=_GIVE_BACK, help="Give the app back to the coordinator.")


class LentApp(WorkbenchApp):
    """A person's app that returns to the coordinator's when left, and says so wherever leaving is mentioned."""

    EVERYWHERE: ClassVar[tuple[Action, ...]] = tuple(map(_returned, WorkbenchApp.EVERYWHERE))
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(EVERYWHERE),
        Binding("ctrl+q", "quit", _GIVE_BACK, priority=True),
    ]
    LEAVING = "gives the app back to the coordinator"
    is_lent = True

    @property
    def seat(self) -> str:
        return f"{super().seat} · {self.leaving_words}"
