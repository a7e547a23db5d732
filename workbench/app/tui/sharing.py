"""A table as text: copied, or written next to the database.

A text is copied by a clipboard program, which reports whether it worked, else by the terminal, which doesn't.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from workbench.app.tui.kit.arranging import read_all
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.columns import RowSource
from workbench.app.tui.kit.copies import Copyable
from workbench.app.tui.kit.table_messages import ExportRequested
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.files import require_own, whole_file
from workbench.core.options import TableForm, TableFormat
from workbench.tables.document import Table, heads, row
from workbench.tables.files import SUFFIXES, format_tables, write_next_to

_COPY_TIMEOUT_S = 5.0

_Command = tuple[str, ...]


Result = TypeVar("Result")

MAX_ROWS: Final = 20_000
"""Maximum number of rows of a list that can be exported."""
_WORD: Final = re.compile(r"\w+")
_NAMES: Final[dict[TableFormat, str]] = {"csv": "CSV", "markdown": "Markdown", "latex": "LaTeX (booktabs)"}


def share(
    screen: WorkbenchScreen,
    name: str,
    text: Callable[[TableForm], str],
    record: Callable[[], object],
    further: Mapping[str, Callable[[], None]] = {},
) -> None:
    """Ask whether to save or copy a table and in which format, and do so; an app in a browser writes no files.

    Args:
        screen: The table's screen.
        name: Name of the file, without suffix.
        text: Returns the table in a format; called in a thread.
        record: Returns the data for JSON; called in a thread.
        further: Menu text -> further export.
    """

    def save(suffix: str, make: Callable[[], str]) -> None:
        path, written = screen.project.path, partial(screen.notify, title="Written")
        work = partial(write_next_to, path, name, suffix)
        _run_in_background(screen, lambda: work(make()), lambda found: written(str(found.absolute())))

    writers: dict[str, tuple[str, Callable[[], str]]] = {
        words: (SUFFIXES[kind], partial(text, TableForm(format=kind))) for kind, words in _NAMES.items()
    }
    writers["JSON"] = ".json", lambda: json_text(record())
    copies: dict[str, Callable[[], object]] = {}
    saves: dict[str, Callable[[], object]] = {}
    for words, (suffix, make) in writers.items():
        saves[f"Save as {words}, next to the database"] = partial(save, suffix, make)
        copies[f"Copy as {words}"] = partial(copy_text, screen, make)
    offered = copies if screen.app.is_web else {**saves, **further, **copies}
    menu = ChoiceMenu("The table as text", [Choice(act, words) for words, act in offered.items()])
    choose(screen, menu, lambda act: act())


def share_list(
    screen: WorkbenchScreen,
    asked: ExportRequested,
    further: Mapping[str, Callable[[], None]] = {},
) -> None:
    name = "-".join(_WORD.findall(screen.TITLE_TEXT.lower())) or "list"
    read = partial(_read_table, screen.TITLE_TEXT, asked.source, asked.columns)
    share(screen, name, lambda form: format_tables([read()], form), lambda: records(read()), further)


def json_text(record: object) -> str:
    return msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"


def records(table: Table) -> list[dict[str, str]]:
    titles = [head.text for head in table.head[-1]]
    return [dict(zip(titles, (cell.full for cell in one.cells), strict=True)) for one in table.rows]


def _read_table(caption: str, source: RowSource, places: Sequence[int]) -> Table:
    rows = list(islice((one for one in read_all(source) if one.cells), MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise UsageError(
            f"The list has more than {MAX_ROWS:,} rows, the maximum that can be written from here.",
            "Filter it, or export items and verdicts whole.",
        )
    columns = [source.columns[place] for place in places]
    return Table(
        caption=caption,
        head=(heads(*(column.title for column in columns)),),
        rows=tuple(row(*(one.cells[place].full for place in places)) for one in rows),
        left=len(list(takewhile(lambda column: column.align == "left", columns))),
    )


def _run_in_background(screen: WorkbenchScreen, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
    def attempt() -> Result | WorkbenchError:
        try:
            return work()
        except WorkbenchError as error:
            return error

    def end(result: Result | WorkbenchError) -> None:
        # Screens take their own trouble for figures that could not be had.
        WorkbenchScreen.show_error(screen, result) if isinstance(result, WorkbenchError) else then(result)

    screen.in_background(attempt, end, group="share")


def copy_text(screen: WorkbenchScreen, make: Callable[[], str]) -> None:
    """Copy a text, made in a thread; an app in a browser copies through the browser's terminal only."""

    def work() -> tuple[str, str | None]:
        text = make()
        return text, None if screen.app.is_web else copy(text)

    _run_in_background(screen, work, partial(_finish_copy, screen))


def _finish_copy(screen: WorkbenchScreen, done: tuple[str, str | None]) -> None:
    text, place = done
    if place is not None:
        screen.notify(f"{len(text):,} characters are in {place}.", title="Copied")
        return
    screen.app.copy_to_clipboard(text)
    kept = None if screen.app.is_web else _save_copy(screen.project.path, text)
    screen.notify(
        f"{len(text):,} characters were offered to the terminal (OSC 52). It does not confirm: paste to "
        f"check.{'' if kept is None else f' They are also saved in {kept}'}",
        title="Possibly copied",
        severity="warning",
    )


def _save_copy(database: Path, text: str) -> Path | None:
    path = database.with_name(f"{database.stem}-copied.txt")
    try:
        require_own(path)
        with whole_file(path) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except (OSError, WorkbenchError):
        return None
    return path


def copy_menu(screen: WorkbenchScreen, offers: Sequence[Copyable]) -> None:
    menu = ChoiceMenu("Copy", [Choice(one.text, one.name, one.key) for one in offers])
    choose(screen, menu, partial(copy_text, screen))


def copy(text: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Copy a text with a clipboard program; this may take a moment.

    Args:
        environment: Environment variables; by default the process's own.

    Returns:
        The clipboard's name for messages; None if no program accepted the text.
    """
    for words, command in _clipboard_programs(os.environ if environment is None else environment):
        if shutil.which(command[0]) and _pipe_to(command, text):
            return words
    return None


def _clipboard_programs(environment: Mapping[str, str]) -> Iterator[tuple[str, _Command]]:
    if environment.get("TMUX"):
        # tmux passes the text on to the outer terminal, which doesn't report whether it accepted it.
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


def _pipe_to(command: _Command, text: str) -> bool:
    encoding = "utf-16" if command[0] == "clip.exe" else "utf-8"
    try:
        # Some programs keep running to serve the text: they must not hold a pipe that is read to its end.
        done = subprocess.run(
            command,
            input=text.encode(encoding),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_COPY_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
