"""Reads spreadsheets: the rows of the sheet that holds the data, each cell as text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.etree.ElementTree import iterparse
from zipfile import ZipFile

from workbench.core.errors import FormatError
from workbench.core.files import require_input
from workbench.data.formats.fields import KNOWN, fold
from workbench.data.formats.source import require_plausible_ratio

MISSING_XLSX = "Install the reader: pip install 'verifier-workbench[xlsx]'. Or save the sheet as CSV."

_EXACT: Final = 1 << 53
_LITERAL: Final = re.compile(r'\[[^\]]*\]|"[^"]*"|\\.|_.|\*.')
_ESCAPED: Final = re.compile(r"_x(00[01][0-9A-F]|005F)_", re.IGNORECASE)
"""Spreadsheets' escape of a character that XML does not allow."""
_MAX_SHOWN: Final = 60
_MIN_COLUMNS: Final = 2
"""Minimum number of recognised columns by which another sheet counts as one with data."""
_SAVE: Final = "Open the file in a spreadsheet program and save it, or save the sheet as CSV."


_Place = tuple[int, int]
"""A row number from 1, and a cell's position in it from 0."""


class SheetRow(NamedTuple):
    """A non-empty row of a sheet.

    Attributes:
        number: The row's number in the sheet, from 1.
        cells: The texts of its cells, up to the last non-empty cell.
        faults: Indexes of cells whose value is unknown, each with the reason and what to do.
    """

    number: int
    cells: list[str]
    faults: dict[int, str]


class DataSheet(NamedTuple):
    """The sheet of a workbook that holds the data.

    Attributes:
        header: The cells of its first non-empty row.
        rows: The rows below it.
        others: Names of other sheets that also have rows below a recognised header.
    """

    header: list[str]
    rows: Iterator[SheetRow]
    others: list[str]


@contextmanager
def open_sheet(path: Path) -> Iterator[DataSheet]:
    """Open the visible sheet whose header has the most recognised columns; the first one in a tie.

    Raises:
        FormatError: The file can't be read, or openpyxl is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise FormatError(f"{path}: spreadsheets need openpyxl.", MISSING_XLSX) from None
    require_input(path)
    try:
        # The open file is passed, because the library rejects paths with an unknown suffix.
        with path.open("rb") as file, warnings.catch_warnings():
            with ZipFile(file) as packed:
                parts = packed.infolist()
                require_plausible_ratio(
                    path, sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
                )
                books = (packed.read(part) for part in parts if part.filename.endswith("workbook.xml"))
                is_stale = any(b'fullCalcOnLoad="1"' in book for book in books)
            # The library warns about charts and styles that it ignores.
            warnings.simplefilter("ignore")
            with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
                shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
                yield _data_sheet(shown or book.worksheets, is_stale=is_stale)
    except FormatError:
        raise
    # A damaged file can make the library raise any exception.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise FormatError(f"{path}: not a readable spreadsheet: {reason}.", "Save it again, or as CSV.") from error


def _data_sheet(sheets: Sequence[Any], *, is_stale: bool) -> DataSheet:
    for sheet in sheets:
        # Some programs store sheet dimensions that are too small, so that rows would be missing.
        sheet.reset_dimensions()
    headers = [next(_rows(sheet), SheetRow(1, [], {})) for sheet in sheets]
    names = [frozenset(map(fold, header.cells)) for header in headers]
    at = max(range(len(sheets)), key=lambda place: len(KNOWN & names[place]))
    like = [place for place, some in enumerate(names) if len(KNOWN & some) >= _MIN_COLUMNS or some == names[at]]
    others = [place for place in like if place != at and next(_rows(sheets[place], headers[place].number), None)]
    rows = _data_rows(sheets[at], headers[at].number, is_stale=is_stale)
    return DataSheet(headers[at].cells, rows, [sheets[place].title for place in others])


def _data_rows(sheet: Any, header: int, *, is_stale: bool) -> Iterator[SheetRow]:
    formulas, merged = _formulas_and_merged(sheet, is_stale=is_stale)
    held: dict[int, tuple[int, str, str | None]] = {}
    for row in _rows(sheet, header, formulas):
        for place, text in enumerate(row.cells):
            if last := merged.get((row.number, place)):
                held[place] = last, text, row.faults.get(place)
        for place, (last, text, fault) in held.items():
            if row.number <= last:
                row.cells.extend([""] * (place + 1 - len(row.cells)))
                row.cells[place] = text
                row.faults.update({place: fault} if fault else {})
        yield row


def _rows(sheet: Any, after: int = 0, formulas: Mapping[_Place, str] = {}) -> Iterator[SheetRow]:
    for number, row in islice(enumerate(sheet.iter_rows(), 1), after, None):
        cells, faults = [_cell_text(cell.value, cell.number_format or "") for cell in row], {}
        for place, cell in enumerate(row):
            if (number, place) in formulas:
                text = cells[place] = formulas[number, place]
                faults[place] = f"is the formula {text[:_MAX_SHOWN]} without a stored value. {_SAVE}"
            elif cell.data_type == "e":
                faults[place] = f"is the error {cells[place]}. Correct the cell and save the file again."
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield SheetRow(number, cells, faults)


def _formulas_and_merged(sheet: Any, *, is_stale: bool) -> tuple[dict[_Place, str], dict[_Place, int]]:
    """Return the formulas of cells without a stored value, and the last row of vertically merged cells, by row and
    column.

    Args:
        is_stale: Whether the file requests recalculation on opening: a 0 then means no value.
    """
    from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries

    formulas, merged = {}, {}
    with sheet._get_source() as source:
        for _, element in iterparse(source):
            tag = element.tag.rpartition("}")[2]
            if tag == "c" and (formula := element.find("{*}f")) is not None:
                value, kind = element.findtext("{*}v"), element.get("t")
                if value is None or (not value and kind != "str") or (is_stale and value == "0"):
                    row, column = coordinate_to_tuple(element.get("r", "A1"))
                    formulas[row, column - 1] = f"={formula.text or '…'}"
            elif tag == "mergeCell":
                left, top, _, bottom = (side or 0 for side in range_boundaries(element.get("ref", "")))
                merged[top, left - 1] = bottom
            elif tag == "row":
                element.clear()
    return formulas, merged


# -- Texts of cells.


def _cell_text(value: object, format: str) -> str:
    """Return a cell's value as text: numbers with all their digits, dates and times in ISO 8601.

    Args:
        format: The cell's number format, as in ``0%``.
    """
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return _number_text(value, _LITERAL.sub("", format.split(";")[0]))
        case date() | time() | timedelta():
            return iso_text(value)
        case str():
            return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    return str(value)


def _number_text(value: float, format: str) -> str:
    if "%" in format:
        return f"{value * 100:.15g}%"
    if isinstance(value, int) or (value.is_integer() and abs(value) < _EXACT):
        return f"{int(value):0{0 if format.strip('0') else len(format)}d}"
    return f"{value:.15g}"


def iso_text(value: date | time | timedelta) -> str:
    """Return a date, a time or a duration in ISO 8601; the hours of a duration may exceed 24.

    A time of midnight is left out: spreadsheet programs store dates as midnight.
    """
    if isinstance(value, timedelta):
        hours, rest = divmod(abs(value), timedelta(hours=1))
        clock = f"{datetime.min + rest:%M:%S.%f}".rstrip("0").removesuffix(".")
        return f"{'-' if value < timedelta(0) else ''}{hours}:{clock}"
    if isinstance(value, datetime) and value.timetz() == time(0):
        return str(value.date())
    return str(value)
