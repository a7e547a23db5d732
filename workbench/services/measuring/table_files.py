"""Tables in every format, and files of them beside the database."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final, Literal, get_args

from workbench.beside.parts import whole_file
from workbench.errors import FormatError
from workbench.reports.document import Table
from workbench.reports.markdown import markdown_table
from workbench.reports.table_text import csv_table, latex_table, plain_table

TableFormat = Literal["text", "csv", "markdown", "latex"]
FORMATS: Final[tuple[TableFormat, ...]] = get_args(TableFormat)

SUFFIXES: Final[dict[TableFormat, str]] = {"text": ".txt", "csv": ".csv", "markdown": ".md", "latex": ".tex"}
"""How the files of each are called."""

WRITERS: Final[dict[TableFormat, Callable[[Table], str]]] = {
    "text": plain_table,
    "csv": csv_table,
    "markdown": markdown_table,
    "latex": latex_table,
}
"""What writes a table as it is shown; where CSV has figures in full it is made of the records instead."""


def write_beside(database: Path, stem: str, suffix: str, text: str) -> Path:
    """Write a text beside the database, to a file that was not there before; a number makes its name new.

    Raises:
        FormatError: The file can't be written.
    """
    for number in count(1):
        path = database.with_name(f"{stem}{f'-{number}' if number > 1 else ''}{suffix}")
        try:
            with whole_file(path, replace=False) as file:
                file.write(text.encode())
        except FileExistsError:
            continue
        except (OSError, UnicodeEncodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise FormatError(f"{path}: {why}. It was not written.") from error
        return path
    raise AssertionError("there is always a further number")
