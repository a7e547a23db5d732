"""Spreadsheets: the rows of the sheet that holds the data, each cell as the text that the sheet shows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.etree.ElementTree import iterparse
from zipfile import ZipFile

from workbench.core.errors import FormatError
from workbench.core.inputs import require_input
from workbench.data.formats.fields import KNOWN, fold
from workbench.data.formats.source import refuse_bomb

MISSING_XLSX = "Install the reader: pip install 'verifier-workbench[xlsx]'. Or save the sheet as CSV."

_EXACT: Final = 1 << 53
_SYSTEM: Final = frozenset(("mm-dd-yy", "m/d/yy h:mm"))
"""Formats 14 and 22, which each computer shows in its own way."""
_DATE_PART: Final = re.compile(
    r'\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]|"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.'
    r"|(?P<half>AM/PM|A/P)|(?P<unit>y+|m+|d+|h+|s+)|(?P<fraction>\.0+)|(?P<plain>.)",
    re.IGNORECASE,
)
_LITERAL: Final = re.compile(r'\[[^\]]*\]|"[^"]*"|\\.|_.|\*.')
_ESCAPED: Final = re.compile(r"_x(00[01][0-9A-F]|005F)_", re.IGNORECASE)
"""A character that XML has no place for, as spreadsheets write it."""
_SPANS: Final = {"h": timedelta(hours=1), "m": timedelta(minutes=1), "s": timedelta(seconds=1)}
_UNITS: Final = {"y": "%y", "m": "%m", "d": "%d", "s": "%S"}
_SPELLED: Final = {"yyy": "%Y", "yyyy": "%Y", "mmm": "%b", "mmmm": "%B", "ddd": "%a", "dddd": "%A"}
_FIRST_DAY: Final = date(1900, 1, 1)
_SHOWN: Final = 60
_ENOUGH: Final = 2
"""Recognised columns that make a sheet one of data."""
_SAVE: Final = "Open the file in a spreadsheet program and save it, or save the sheet as CSV."


class SheetRow(NamedTuple):
    """A row of a sheet that has text.

    Attributes:
        number: Its number in the sheet, from 1.
        cells: Its cells' texts, up to the last that has one.
        faults: Place of a cell whose value is not known -> why, and what to do.
    """

    number: int
    cells: list[str]
    faults: dict[int, str]


_NO_ROW: Final = SheetRow(1, [], {})


class DataSheet(NamedTuple):
    """The sheet of a workbook that holds the data.

    Attributes:
        header: Its first row that has text.
        rows: Those below it.
        others: Names of other sheets that hold rows under such a header.
    """

    header: SheetRow
    rows: Iterator[SheetRow]
    others: list[str]


@contextmanager
def open_sheet(path: Path) -> Iterator[DataSheet]:
    """Open the visible sheet whose header has the most columns that are recognised; of equal ones the first.

    Raises:
        FormatError: It can't be read, or openpyxl is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise FormatError(f"{path}: spreadsheets need openpyxl.", MISSING_XLSX) from None
    require_input(path)
    try:
        # An open file: the library judges a path by its name.
        with path.open("rb") as file, warnings.catch_warnings():
            with ZipFile(file) as packed:
                parts = packed.infolist()
                refuse_bomb(path, sum(part.file_size for part in parts), sum(part.compress_size for part in parts))
                books = (packed.read(part) for part in parts if part.filename.endswith("workbook.xml"))
                is_stale = any(b'fullCalcOnLoad="1"' in book for book in books)
            # It tells of charts and styles that it leaves out.
            warnings.simplefilter("ignore")
            with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
                sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
                yield _data_sheet(sheets, is_stale=is_stale)
    except FormatError:
        raise
    # What a damaged file makes the library raise is anything.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise FormatError(f"{path}: not a readable spreadsheet: {reason}.", "Save it again, or as CSV.") from error


def _data_sheet(sheets: Sequence[Any], *, is_stale: bool) -> DataSheet:
    for sheet in sheets:
        # Some programs write a size that leaves rows out.
        sheet.reset_dimensions()
    headers = [next(_rows(sheet), _NO_ROW) for sheet in sheets] or [_NO_ROW]
    names = [{fold(cell) for cell in header.cells} for header in headers]
    known = [len(KNOWN & some) for some in names]
    at = known.index(max(known))
    others = [place for place in range(len(sheets)) if place != at and names[place]]
    others = [place for place in others if known[place] >= _ENOUGH or names[place] == names[at]]
    return DataSheet(
        headers[at],
        _data_rows(sheets[at], headers[at].number, is_stale=is_stale) if sheets else iter(()),
        [sheets[place].title for place in others if next(_rows(sheets[place], headers[place].number), None)],
    )


def _data_rows(sheet: Any, header: int, *, is_stale: bool) -> Iterator[SheetRow]:
    """The rows below the header; each row of a cell that is merged over several has its text."""
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


def _rows(sheet: Any, after: int = 0, formulas: Mapping[tuple[int, int], str] = {}) -> Iterator[SheetRow]:
    """The rows behind a number that have text.

    Args:
        formulas: Those without a value, by row from 1 and place from 0.
    """
    for number, row in enumerate(sheet.iter_rows(), 1):
        if number <= after:
            continue
        cells, faults = [], {}
        for place, cell in enumerate(row):
            text = cell_text(cell.value, cell.number_format or "")
            if (number, place) in formulas:
                text = formulas[number, place]
                faults[place] = f"is the formula {text[:_SHOWN]} without a stored value. {_SAVE}"
            elif cell.data_type == "e":
                faults[place] = f"is the error {text}. Correct the cell and save the file again."
            cells.append(text)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield SheetRow(number, cells, faults)


def _formulas_and_merged(
    sheet: Any, *, is_stale: bool
) -> tuple[dict[tuple[int, int], str], dict[tuple[int, int], int]]:
    """Formulas without a value, and the last rows of cells that are merged over several, by row and place.

    Args:
        is_stale: The file asks to be computed when it is opened: a 0 is what its program wrote for no value.
    """
    from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries

    formulas: dict[tuple[int, int], str] = {}
    merged: dict[tuple[int, int], int] = {}
    row = column = 0
    with sheet._get_source() as source:
        for event, element in iterparse(source, ("start", "end")):
            tag = element.tag.rpartition("}")[2]
            if (event, tag) == ("start", "row"):
                row, column = int(element.get("r", row + 1)), 0
            elif (event, tag) == ("start", "c"):
                place = element.get("r")
                column = coordinate_to_tuple(place)[1] if place else column + 1
            elif (event, tag) == ("end", "c"):
                formula, value = element.find("{*}f"), element.findtext("{*}v")
                is_empty = not value and (value is None or element.get("t") != "str")
                if formula is not None and (is_empty or (is_stale and value == "0")):
                    formulas[row, column - 1] = f"={formula.text or '…'}"
            elif (event, tag) == ("end", "row"):
                element.clear()
            elif (event, tag) == ("end", "mergeCell"):
                left, top, _, bottom = (side or 0 for side in range_boundaries(element.get("ref", "")))
                merged[top, left - 1] = bottom
    return formulas, merged


# -- Cells as a sheet shows them.


def cell_text(value: object, format: str = "") -> str:
    """A cell's text as a sheet shows it; numbers have all their digits.

    Args:
        format: The cell's number format, as in ``yyyy-mm-dd``.
    """
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return _number_text(value, _LITERAL.sub("", format.split(";")[0]))
        case date() | time() | timedelta():
            return _time_text(value, format)
        case str():
            return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    return str(value)


def _number_text(value: float, format: str) -> str:
    if "%" in format:
        return f"{value * 100:.15g}%"
    if isinstance(value, int) or (value.is_integer() and abs(value) < _EXACT):
        width = len(format) if format.strip("0") == "" else 0
        return f"{int(value):0{width}d}"
    return f"{value:.15g}"


def iso_text(value: date | time | timedelta) -> str:
    """A date, a time or a duration in ISO 8601, the hours of a duration counting on.

    A time of midnight is left out behind a date: it is how programs store a date alone.
    """
    if isinstance(value, timedelta):
        seconds, rest = divmod(abs(value), timedelta(seconds=1))
        clock = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        fraction = f".{rest.microseconds:06d}".rstrip("0") if rest else ""
        return f"{'-' if value < timedelta(0) else ''}{clock}{fraction}"
    if isinstance(value, datetime) and value.timetz() == time(0):
        return str(value.date())
    return str(value)


def _time_text(value: date | time | timedelta, format: str) -> str:
    code = format.split(";")[0]
    parts = list(_DATE_PART.finditer(code))
    units = [(part["elapsed"] or part["unit"] or "")[:1].lower() for part in parts]
    if not any(units) or code in _SYSTEM or "[$-F" in code.upper():
        return iso_text(value)
    span = value if isinstance(value, timedelta) else timedelta(0)
    day, clock = (value, time(0)) if isinstance(value, date) else (_FIRST_DAY, value)
    if isinstance(value, datetime):
        clock = value.time()
    moment = datetime.combine(day, clock if isinstance(clock, time) else time(0)) + abs(span)
    hours = "%I" if any(part["half"] for part in parts) else "%H"
    text = "-" if span < timedelta(0) else ""
    for place, (part, unit) in enumerate(zip(parts, units, strict=True)):
        before, after = "".join(units[:place]), "".join(units[place + 1 :])
        if unit == "h" and {*before} & {*"yd"} and moment.time() == time(0):
            return text.rstrip(" T,")
        if part["elapsed"]:
            text += f"{abs(span) // _SPANS[unit]:0{len(part['elapsed'])}d}"
        elif unit:
            spelled = part["unit"].lower()
            is_minute = unit == "m" and (before.endswith("h") or after.startswith("s"))
            shown = f"{moment:{'%M' if is_minute else _SPELLED.get(spelled) or {**_UNITS, 'h': hours}[unit]}}"
            text += (shown.lstrip("0") or "0") if len(spelled) == 1 else shown
        elif part["half"]:
            text += f"{moment:%p}"[: len(part["half"]) // 2]
        else:
            fraction = part["fraction"] and f".{moment:%f}"[: len(part["fraction"])]
            text += fraction or part["quoted"] or part["escaped"] or part["plain"] or ""
    return text
