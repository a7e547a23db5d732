"""A table as text: copied, or written beside the database.

A text is copied through a program that says whether it worked, else through the terminal, which does not say.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Final, TypeVar

from workbench.app.tui.kit.arranging import read_all
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.kit.columns import RowSource
from workbench.app.tui.kit.copies import Copyable
from workbench.app.tui.kit.table_messages import ExportRequested
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.files import require_own, whole_file
from workbench.core.options import TableForm, TableFormat
from workbench.core.text.figures import counted
from workbench.tables.document import Table, heads, row
from workbench.tables.files import SUFFIXES, write_beside, written

_PATIENCE_S = 5.0

_Command = tuple[str, ...]


Result = TypeVar("Result")

MOST_ROWS: Final = 20_000
"""Rows of a list that are written at most."""
_CHOOSING: Final[tuple[TableFormat, ...]] = ("markdown", "latex")
_COLUMNS: Final = "columns by heading, with commas between them"
_PLOTS: Final = "plots"
_WORD: Final = re.compile(r"\w+")
_NAMES: Final[dict[TableFormat, str]] = {"csv": "CSV", "markdown": "Markdown", "latex": "LaTeX (booktabs)"}


def share(
    screen: WorkbenchScreen,
    name: str,
    text: Callable[[TableForm], str],
    plots: Callable[[Path], Sequence[Path]] | None = None,
) -> None:
    """Ask what to do with a table, and do it; a served app writes no files.

    Args:
        screen: Whose table it is.
        name: What a file of it is called.
        text: The table in a form; called in a thread.
        plots: Writes the plots that belong to it to a new folder; called in a thread.
    """

    def save(form: TableForm) -> Path:
        return write_beside(screen.project.path, name, SUFFIXES[form.format], text(form))

    def save_some(kind: TableFormat, said: str | None) -> None:
        if said:
            names = tuple(filter(None, map(str.strip, said.split(","))))
            _in_background(screen, lambda: save(TableForm(format=kind, columns=names)), partial(_saved, screen))

    def chosen(value: str | None) -> None:
        for kind in _NAMES:
            if value == f"save {kind}":
                _in_background(screen, partial(save, TableForm(format=kind)), partial(_saved, screen))
            elif value == f"copy {kind}":
                _in_background(screen, partial(_copy, text, kind), partial(_copied, screen))
            elif value == f"some {kind}":
                screen.ask_line(_COLUMNS, name, partial(save_some, kind))
        if value == _PLOTS and plots is not None:
            _in_background(screen, partial(_drawn, screen.project.path, plots), partial(_plotted, screen))

    choices = [
        *(Choice(f"save {kind}", f"Save as {name}, beside the database") for kind, name in _NAMES.items()),
        *(Choice(f"copy {kind}", f"Copy as {name}") for kind, name in _NAMES.items()),
        *(Choice(f"some {kind}", f"Save as {_NAMES[kind]}, some columns …") for kind in _CHOOSING),
        *([Choice(_PLOTS, "Save the plots as SVG, PDF and PNG, in a folder beside the database")] if plots else []),
    ]
    if screen.app.is_web:
        choices = [one for one in choices if one.value.startswith("copy")]
    screen.app.push_screen(ChoiceMenu("The table as text", choices), chosen)


def share_list(screen: WorkbenchScreen, asked: ExportRequested) -> None:
    """The same with a list, as it is arranged."""
    name = "-".join(_WORD.findall(screen.TITLE_TEXT.lower())) or "list"
    share(screen, name, partial(_list_as, screen.TITLE_TEXT, asked.source, asked.columns))


def _list_as(caption: str, source: RowSource, places: Sequence[int], form: TableForm) -> str:
    """All rows of a list; runs in a thread."""
    rows = list(islice((one for one in read_all(source) if one.cells), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise UsageError(
            f"The list has more than {MOST_ROWS:,} rows, which is what can be written from here.",
            "Filter it, or export items and verdicts whole.",
        )
    columns = [source.columns[place] for place in places]
    table = Table(
        caption=caption,
        head=(heads(*(column.title for column in columns)),),
        rows=tuple(row(*(one.cells[place].full for place in places)) for one in rows),
        left=len(list(takewhile(lambda column: column.align == "left", columns))),
    )
    return written([table], form)


def _drawn(database: Path, plots: Callable[[Path], Sequence[Path]]) -> tuple[Path, int]:
    """The folder that plots were written to, one that was not there before, and how many files."""
    names = (f"{database.stem}-figures{f'-{number}' if number > 1 else ''}" for number in count(1))
    folder = next(path for name in names if not (path := database.with_name(name)).exists())
    return folder, len(plots(folder))


def _plotted(screen: WorkbenchScreen, done: tuple[Path, int]) -> None:
    folder, files = done
    screen.notify(f"{folder}: {counted(files, 'file')}", title="Written", markup=False)


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


def copy_text(screen: WorkbenchScreen, text: str) -> None:
    """Copy a text, and say where it is."""
    _in_background(screen, lambda: (text, copy(text)), partial(_copied, screen))


def _copy(text: Callable[[TableForm], str], kind: TableFormat) -> tuple[str, str | None]:
    """The text, and where it is now; None where no program took it. Runs in a thread."""
    table = text(TableForm(format=kind))
    return table, copy(table)


def _copied(screen: WorkbenchScreen, done: tuple[str, str | None]) -> None:
    """Say so where it is known; else try the terminal, which does not answer, and keep the text in a file."""
    text, place = done
    if place is not None:
        screen.notify(f"{len(text):,} characters are in {place}.", title="Copied", markup=False)
        return
    screen.app.copy_to_clipboard(text)
    kept = None if screen.app.is_web else _keep(screen.project.path, text)
    screen.notify(
        f"{len(text):,} characters were offered to the terminal (OSC 52). Whether it took them isn't known: "
        f"paste to see.{'' if kept is None else f' They also stand in {kept}'}",
        title="Perhaps copied",
        severity="warning",
        markup=False,
    )


def _keep(database: Path, text: str) -> Path | None:
    """The text in a file beside the database, in place of the one before; None where it can't be written."""
    path = database.with_name(f"{database.stem}-copied.txt")
    try:
        require_own(path)
        with whole_file(path) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except (OSError, WorkbenchError):
        return None
    return path


def copy_menu(screen: WorkbenchScreen, offers: Sequence[Copyable]) -> None:
    """Ask what to copy, and do it; a served app uses the browser's terminal alone."""

    def take(key: str | None) -> None:
        for offer in offers:
            if offer.key == key:
                _in_background(screen, partial(_given, offer, nearby=not screen.app.is_web), partial(_copied, screen))

    screen.app.push_screen(ChoiceMenu("Copy", [Choice(one.key, one.name, one.key) for one in offers]), take)


def _given(offer: Copyable, *, nearby: bool) -> tuple[str, str | None]:
    text = offer.text()
    return text, copy(text) if nearby else None


def _saved(screen: WorkbenchScreen, path: Path) -> None:
    screen.notify(str(path), title="Written", markup=False)


def copy(text: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Give a text to a program that keeps it; may take a moment.

    Args:
        environment: The process's own by default.

    Returns:
        Where the text is now, for people; None where no program took it.
    """
    for words, command in _programs(os.environ if environment is None else environment):
        if shutil.which(command[0]) and _run(command, text):
            return words
    return None


def _programs(environment: Mapping[str, str]) -> Iterator[tuple[str, _Command]]:
    """What may take it; over ssh only tmux, for any other program's clipboard is the far machine's."""
    if environment.get("TMUX"):
        # tmux hands it on to the terminal outside, which does not say whether it took it.
        yield "tmux's buffer (paste with prefix ])", ("tmux", "load-buffer", "-w", "-")
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return
    if sys.platform == "darwin":
        yield "the clipboard", ("pbcopy",)
    if environment.get("WAYLAND_DISPLAY"):
        yield "the clipboard", ("wl-copy",)
    if environment.get("DISPLAY"):
        yield "the clipboard", ("xclip", "-selection", "clipboard")
        yield "the clipboard", ("xsel", "--clipboard", "--input")
    if sys.platform == "win32" or environment.get("WSL_DISTRO_NAME"):
        yield "the clipboard", ("clip.exe",)


def _run(command: _Command, text: str) -> bool:
    encoding = "utf-16" if command[0] == "clip.exe" else "utf-8"
    try:
        # Some of them stay behind to serve the text: they must not hold on to a pipe that is read to its end.
        done = subprocess.run(
            command,
            input=text.encode(encoding),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
