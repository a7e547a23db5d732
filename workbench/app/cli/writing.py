"""Input and output of commands: a file, or "-" for standard input or output; narration goes to stderr."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

import click

from workbench.core.errors import UsageError
from workbench.core.files import STANDARD_INPUT, temporary_folder

STDOUT: Final = Path("-")
"""Name that commands get for "-"; a file of that name is ``./-``."""

_SHOWN: Final = "standard output"


class InputPath(click.Path):
    """A file to read; "-" is a temporary copy of standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        found: Path = super().convert(standard_input() if value == "-" else value, param, ctx)  # type: ignore[assignment]
        return found


def standard_input() -> Path:
    """Return a temporary copy of standard input, since files are read more than once."""
    path = click.get_current_context().with_resource(temporary_folder("input")) / STANDARD_INPUT
    with open(0, "rb", closefd=False) as given, path.open("wb") as file:
        shutil.copyfileobj(given, file)
    return path


class OutputPath(click.Path):
    """A file or folder to write; "-" is standard output.

    Args:
        text: Whether the output can go there: one stream, fit for a terminal.
    """

    def __init__(self, *, dir_okay: bool = False, text: bool = True) -> None:
        super().__init__(dir_okay=dir_okay, path_type=Path)
        self._text = text

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or `STDOUT`.

        Raises:
            click.BadParameter: It is standard output, and the output is not a stream of text.
        """
        if value != "-":
            found: Path = super().convert(value, param, ctx)  # type: ignore[assignment]
            return found
        if not self._text:
            self.fail("The output is not a stream: name a file (./- for one of that name).", param, ctx)
        return STDOUT


@contextmanager
def standard_output(*, as_json: bool) -> Iterator[Path]:
    """Yield a file that is copied to standard output once complete; all other output goes to stderr.

    Args:
        as_json: Whether a JSON document has been asked for, too.

    Raises:
        UsageError: It has, or there is no standard output.
    """
    if as_json:
        raise UsageError("--json and - both mean standard output.", "Name a file, or leave --json out.")
    if sys.__stdout__ is None:
        raise UsageError("Standard output is closed.", "Name a file.")
    with temporary_folder("output") as folder:
        file, status, narration = folder / "-", None, StringIO()
        with redirect_stdout(narration):
            try:
                yield file
            except SystemExit as ended:
                status = ended
        if file.exists():
            with file.open("rb") as content:
                shutil.copyfileobj(content, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        # Only now it is true that so much has been written.
        click.echo(narration.getvalue(), nl=False, err=True)
        if status is not None:
            raise status


def shown(file: Path) -> str:
    return _SHOWN if file.name == "-" and file.is_absolute() else click.format_filename(file)
