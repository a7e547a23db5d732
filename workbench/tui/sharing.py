"""A table as text: copied, or written beside the database."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from workbench.errors import WorkbenchError
from workbench.services.measuring.table_files import TableFormat
from workbench.tui.clipboard import copy
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.choices import Choice, ChoiceMenu

Result = TypeVar("Result")

_NAMES: Final[dict[TableFormat, str]] = {"csv": "CSV", "markdown": "Markdown", "latex": "LaTeX (booktabs)"}


def share(screen: WorkbenchScreen, text: Callable[[TableFormat], str], save: Callable[[TableFormat], Path]) -> None:
    """Ask what to do with a table, and do it.

    Args:
        screen: Whose table it is.
        text: The table in a format; called in a thread.
        save: Writes it to a new file; called in a thread.
    """

    def chosen(value: str | None) -> None:
        for kind in _NAMES:
            if value == f"save {kind}":
                _in_background(screen, partial(save, kind), partial(_saved, screen))
            elif value == f"copy {kind}":
                _in_background(screen, partial(_copy, text, kind), partial(_copied, screen))

    choices = [
        *(Choice(f"save {kind}", f"Save as {name}, beside the database") for kind, name in _NAMES.items()),
        *(Choice(f"copy {kind}", f"Copy as {name}") for kind, name in _NAMES.items()),
    ]
    screen.app.push_screen(ChoiceMenu("The table as text", choices), chosen)


def _in_background(screen: WorkbenchScreen, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
    """What can't be written is told, and the figures stay."""

    def attempt() -> Result | WorkbenchError:
        try:
            return work()
        except WorkbenchError as error:
            return error

    def end(result: Result | WorkbenchError) -> None:
        # Screens take their own trouble for figures that could not be had.
        WorkbenchScreen.trouble(screen, result) if isinstance(result, WorkbenchError) else then(result)

    screen.in_background(attempt, end, group="share")


def _copy(text: Callable[[TableFormat], str], kind: TableFormat) -> tuple[str, str | None]:
    """The text, and where it is now; None where no program took it. Runs in a thread."""
    table = text(kind)
    return table, copy(table)


def _copied(screen: WorkbenchScreen, done: tuple[str, str | None]) -> None:
    """Say so where it is known; else try the terminal, which does not answer."""
    text, place = done
    if place is not None:
        screen.notify(f"{len(text):,} characters are in {place}.", title="Copied", markup=False)
        return
    screen.app.copy_to_clipboard(text)
    screen.notify(
        f"{len(text):,} characters were offered to the terminal (OSC 52). Whether it took them isn't known: "
        "paste to see, or save a file.",
        title="Perhaps copied",
        severity="warning",
        markup=False,
    )


def _saved(screen: WorkbenchScreen, path: Path) -> None:
    screen.notify(str(path), title="Written", markup=False)
