"""Odd files: they are read as a spreadsheet shows them, or rejected with line, field and advice."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet

from workbench.core.errors import FormatError
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats.reading import plan_file, read_items

HEADER = ("question", "answer", "completion")
Cell = Any
Rows = list[tuple[str, str, str]]


@dataclass(frozen=True)
class Case:
    """A file, the texts that are read of it, and line, field and remedy of what is rejected."""

    name: str
    write: Callable[[Path], None]
    read: Rows
    rejected: tuple[tuple[int, str | None, str], ...] = ()


def _sheet(*rows: tuple[Cell, ...], change: Callable[[Worksheet], None] | None = None) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        book = Workbook()
        page = book.active
        assert page is not None
        for row in (HEADER, *rows):
            page.append(row)
        if change is not None:
            change(page)
        book.save(path)

    return write


def _cell(value: Cell, format: str = "General") -> Callable[[Path], None]:
    """A sheet whose only reference is one cell with a number format."""

    def change(page: Worksheet) -> None:
        page["B2"].value = value
        page["B2"].number_format = format

    return _sheet(("q", None, "c"), change=change)


def _parquet(**columns: pa.Array | list[Any]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        rows = len(next(iter(columns.values())))
        given = {"question": ["q"] * rows, "answer": ["a"] * rows, "completion": ["c"] * rows} | columns
        pq.write_table(pa.table(given), path)

    return write


def _edited(write: Callable[[Path], None], old: str, new: str) -> Callable[[Path], None]:
    """The same with another text in its parts, as other programs write them."""

    def edit(path: Path) -> None:
        write(path)
        with zipfile.ZipFile(path) as packed:
            parts = {name: packed.read(name) for name in packed.namelist()}
        assert any(old.encode() in part for part in parts.values())
        with zipfile.ZipFile(path, "w") as packed:
            for name, part in parts.items():
                packed.writestr(name, part.replace(old.encode(), new.encode()))

    return edit


def _shown(name: str, value: Cell, format: str, text: str) -> Case:
    return Case(f"{name}.xlsx", _cell(value, format), [("q", text, "c")])


def _merged(*ranges: str) -> Callable[[Worksheet], None]:
    def change(page: Worksheet) -> None:
        for one in ranges:
            page.merge_cells(one)

    return change


def _texts_that_look_like_formulas(page: Worksheet) -> None:
    page["B2"].data_type = "s"
    page["C2"].data_type = "s"


def _array_formula(page: Worksheet) -> None:
    page["B2"] = ArrayFormula("B2:B2", "=SUM(A1:A3*2)")


def _sheets(*pages: tuple[str, list[tuple[Cell, ...]]], hidden: str = "") -> Callable[[Path], None]:
    def write(path: Path) -> None:
        book = Workbook()
        assert book.active is not None
        book.remove(book.active)
        for title, rows in pages:
            page = book.create_sheet(title)
            for row in rows:
                page.append(row)
            page.sheet_state = "hidden" if title == hidden else "visible"
        book.save(path)

    return write


DAY = datetime(2024, 3, 1)
SHEET = [
    _shown("a date", date(2024, 3, 1), "yyyy-mm-dd", "2024-03-01"),
    _shown("a date as pandas writes it", DAY, "YYYY-MM-DD HH:MM:SS", "2024-03-01"),
    _shown("a date in words", DAY, '[$-409]dddd, mmmm d", "yyyy;@', "2024-03-01"),
    _shown("a moment", datetime(2024, 3, 1, 14, 5), "yyyy-mm-dd", "2024-03-01 14:05:00"),
    _shown("a time", time(14, 5), "h:mm AM/PM", "14:05:00"),
    _shown("a duration", timedelta(hours=26, minutes=30), "[h]:mm:ss", "26:30:00"),
    _shown("a whole number", 4.0, "0.00", "4"),
    _shown("a fraction", 0.1 + 0.2, "General", "0.3"),
    _shown("a third", 1 / 3, "0.00", "0.333333333333333"),
    _shown("a percentage", 0.125, "0%", "12.5%"),
    _shown("a percentage in words", 0.5, '0" % of it"', "0.5"),
    _shown("a number with zeros before it", 7, "000", "007"),
    _shown("true", True, "General", "TRUE"),
    _shown("text", "007", "@", "007"),
    _shown("lines", "a\nb", "General", "a\nb"),
    Case(
        "another program's line end.xlsx",
        _edited(_cell("a?b"), "a?b", "a_x000D_b _x005F_x000D_"),
        [("q", "a\rb _x000D_", "c")],
    ),
    Case(
        "text that is no formula.xlsx",
        _sheet(("q", "=1+1", "=2"), change=_texts_that_look_like_formulas),
        [("q", "=1+1", "=2")],
    ),
    Case(
        "a formula without a value.xlsx",
        _sheet(("q", "=1+1", "c"), ("q2", "2", "c")),
        [("q2", "2", "c")],
        ((2, "answer", "answer is the formula =1+1 without a stored value. Open the file in a spreadsheet program"),),
    ),
    Case(
        "an array formula without a value.xlsx",
        _sheet(("q", "1", "c"), ("q2", "2", "c"), change=_array_formula),
        [("q2", "2", "c")],
        ((2, "answer", "without a stored value"),),
    ),
    Case(
        "a formula with a value.xlsx",
        _edited(_sheet(("q", "=1+1", "c")), "<v></v>", "<v>2</v>"),
        [("q", "2", "c")],
    ),
    Case(
        "a formula with an empty text.xlsx",
        _edited(_sheet(("q", "1", "=X1")), '<c r="C2">', '<c r="C2" t="str">'),
        [("q", "1", "")],
    ),
    Case(
        "a formula with the 0 of a program that doesn't compute.xlsx",
        _edited(_sheet(("q", "=1+1", "c")), "<v></v>", "<v>0</v>"),
        [],
        ((2, "answer", "without a stored value"),),
    ),
    Case(
        "a formula with a 0.xlsx",
        _edited(_edited(_sheet(("q", "=1-1", "c")), "<v></v>", "<v>0</v>"), 'fullCalcOnLoad="1"', ""),
        [("q", "0", "c")],
    ),
    Case(
        "a formula in another column.xlsx",
        _sheets(("Data", [(*HEADER, "length"), ("q", "1", "c", "=LEN(A2)")])),
        [("q", "1", "c")],
    ),
    Case(
        "a cell without a header.xlsx",
        _sheet(("q", "1", "c", "x"), ("q2", "2", "c")),
        [("q2", "2", "c")],
        ((2, None, "The row has 4 cells, the header 3. Name every column."),),
    ),
    Case(
        "an error.xlsx",
        _sheet(("q", "#DIV/0!", "c"), ("q2", "2", "c")),
        [("q2", "2", "c")],
        ((2, "answer", "answer is the error #DIV/0!. Correct the cell"),),
    ),
    Case(
        "a merged question.xlsx",
        _sheet(("q", "1", "a"), (None, "1", "b"), (None, "1", "c"), ("q2", "2", "d"), change=_merged("A2:A4")),
        [("q", "1", "a"), ("q", "1", "b"), ("q", "1", "c"), ("q2", "2", "d")],
    ),
    Case(
        "merged questions and references.xlsx",
        _sheet(("q", "1", "a"), (None, None, "b"), change=_merged("A2:A3", "B2:B3")),
        [("q", "1", "a"), ("q", "1", "b")],
    ),
    Case(
        "a title over all columns.xlsx",
        _sheet(("Part one", None, None), ("q", "1", "a"), change=_merged("A2:C2")),
        [("q", "1", "a")],
        ((2, "answer", "answer is empty. Write it in every row"),),
    ),
    Case(
        "an empty question.xlsx",
        _sheet(("q", "1", "a"), (None, "1", "b"), ("q2", "2", "c")),
        [("q", "1", "a"), ("q2", "2", "c")],
        ((3, "question", "question is empty. Write it in every row"),),
    ),
    Case("an empty completion.xlsx", _sheet(("q", "1", None), ("q2", "2", "c")), [("q", "1", ""), ("q2", "2", "c")]),
    Case(
        "rows with gaps.xlsx",
        _sheet(("q", "1", "a"), (), ("q2", "", "c")),
        [("q", "1", "a")],
        ((4, "answer", "is empty"),),
    ),
    Case(
        "data on the second sheet.xlsx",
        _sheets(("Read me", [("About this file",), ("It has answers.",)]), ("Data", [HEADER, ("q", "1", "a")])),
        [("q", "1", "a")],
    ),
    Case("an empty first sheet.xlsx", _sheets(("Sheet1", []), ("Data", [HEADER, ("q", "1", "a")])), [("q", "1", "a")]),
    Case(
        "data on two sheets.xlsx",
        _sheets(("One", [HEADER, ("q", "1", "a")]), ("Two", [HEADER, ("q2", "2", "b")])),
        [("q", "1", "a")],
        ((1, "Two", "The sheet 'Two' has rows as well, which are not read. Save it as a separate file."),),
    ),
    Case(
        "a second sheet that is none of data.xlsx",
        _sheets(("One", [HEADER, ("q", "1", "a")]), ("Pivot", [("model", "n"), ("m", 3)]), ("Blank", [HEADER])),
        [("q", "1", "a")],
    ),
    Case(
        "a hidden first sheet.xlsx",
        _sheets(("Old", [HEADER, ("old", "1", "a")]), ("New", [HEADER, ("q", "1", "a")]), hidden="Old"),
        [("q", "1", "a")],
    ),
    Case(
        "blank rows before the header.xlsx",
        _sheets(("Data", [(), (), HEADER, ("q", "1", "a"), ("q2", "", "b")])),
        [("q", "1", "a")],
        ((5, "answer", "is empty"),),
    ),
    Case(
        "a size that is too small.xlsx",
        _edited(_sheet(("q", "1", "a"), ("q2", "2", "b")), 'ref="A1:C3"', 'ref="A1:C2"'),
        [("q", "1", "a"), ("q2", "2", "b")],
    ),
    Case("a workbook without its name", _sheet(("q", "1", "a")), [("q", "1", "a")]),
]
BYTES = [b"It is 4.", "Fünf".encode()]
PARQUET = [
    Case("bytes.parquet", _parquet(completion=pa.array(BYTES)), [("q", "a", "It is 4."), ("q", "a", "Fünf")]),
    Case(
        "large bytes.parquet",
        _parquet(question=pa.array(BYTES, pa.large_binary())),
        [("It is 4.", "a", "c"), ("Fünf", "a", "c")],
    ),
    Case(
        "bytes in a dictionary.parquet",
        _parquet(answer=pa.array(BYTES).dictionary_encode()),
        [("q", "It is 4.", "c"), ("q", "Fünf", "c")],
    ),
    Case(
        "bytes that are no text.parquet",
        _parquet(completion=pa.array([b"\xff\xfe", b"c", None])),
        [("q", "a", "c")],
        (
            (1, "completion", "completion holds bytes that are not UTF-8. Write it as text."),
            (3, "completion", "completion is missing."),
        ),
    ),
    Case("a picture in another column.parquet", _parquet(picture=pa.array([b"\x89PNG\xff"])), [("q", "a", "c")]),
    Case("dates.parquet", _parquet(answer=pa.array([date(2024, 3, 1)])), [("q", "2024-03-01", "c")]),
    Case(
        "moments.parquet",
        _parquet(answer=pa.array([DAY, datetime(2024, 3, 1, 14, 5)])),
        [("q", "2024-03-01", "c"), ("q", "2024-03-01 14:05:00", "c")],
    ),
    Case(
        "moments with a zone.parquet",
        _parquet(answer=pa.array([datetime(2024, 3, 1, tzinfo=UTC)])),
        [("q", "2024-03-01 00:00:00+00:00", "c")],
    ),
    Case("times.parquet", _parquet(answer=pa.array([time(14, 5)])), [("q", "14:05:00", "c")]),
    Case("durations.parquet", _parquet(answer=pa.array([timedelta(hours=26)])), [("q", "26:00:00", "c")]),
    Case("decimals.parquet", _parquet(answer=pa.array([Decimal("1.50")])), [("q", "1.50", "c")]),
]


def _text(text: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return _bytes(text.encode(encoding))


def _bytes(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def _row(**changes: object) -> str:
    return json.dumps({"question": "q", "answer": "1", "completion": "c"} | changes)


ONE = [("q", "1", "c")]
TWO = [("q", "1", "c"), ("q2", "2", "d")]
TABLE = "question,answer,completion\nq,1,c\nq2,2,d\n"
TEXTS = [
    Case("semicolons.csv", _text(TABLE.replace(",", ";")), TWO),
    Case("tabs.csv", _text(TABLE.replace(",", "\t")), TWO),
    Case("bars.csv", _text(TABLE.replace(",", "|")), TWO),
    Case("commas.tsv", _text(TABLE), TWO),
    Case("semicolons", _text(TABLE.replace(",", ";")), TWO),
    Case("commas in cells.csv", _text("question;answer;completion\na, b, c;1,5;d, e\n"), [("a, b, c", "1,5", "d, e")]),
    Case("commas in a header.csv", _text("question;answer;completion;a, b, c, d\nq;1;c;x\n"), ONE),
    Case("bars in a header.csv", _text("question,answer,completion,a|b|c|d|e\nq,1,c,x\n"), ONE),
    Case(
        "a line for Excel.csv", _text("sep=;\n" + TABLE.replace(",", ";") + "q3;3\n"), TWO, ((5, None, "Fix the row"),)
    ),
    Case("a quoted line for Excel.csv", _text('"sep=|"\r\n' + TABLE.replace(",", "|")), TWO),
    Case("a line for Excel with a tab.csv", _text("sep=\t\r\n" + TABLE.replace(",", "\t")), TWO),
    Case("UTF-16 with a mark.csv", _text(TABLE, "utf-16"), TWO),
    Case("Unicode text of Excel.txt", _text(TABLE.replace(",", "\t").replace("\n", "\r\n"), "utf-16"), TWO),
    Case("UTF-16 without a mark.csv", _text(TABLE, "utf-16-le"), TWO),
    Case("big-endian UTF-16.csv", _text(TABLE, "utf-16-be"), TWO),
    Case("UTF-32.csv", _text(TABLE, "utf-32"), TWO),
    Case("UTF-16.jsonl", _text(_row(question="Fünf?") + "\n", "utf-16"), [("Fünf?", "1", "c")]),
    Case("UTF-16.jsonl.gz", _bytes(gzip.compress((_row() + "\n").encode("utf-16"))), ONE),
    Case(
        "UTF-16 with half a character.csv",
        _bytes("question,answer,completion\nq,1,c\nq,\ud800,c\n".encode("utf-16-le", "surrogatepass")),
        ONE,
        ((3, None, "is not UTF-8"),),
    ),
    Case(
        "UTF-16 cut in a character.csv",
        _bytes(TABLE.encode("utf-16")[:-3]),
        ONE,
        ((3, None, "is not UTF-8"),),
    ),
    Case("a mark.csv.gz", _bytes(gzip.compress(b"\xef\xbb\xbf" + TABLE.encode())), TWO),
    Case("CR line ends.csv", _text(TABLE.replace("\n", "\r")), TWO),
    Case(
        "CR line ends and lines in cells.csv", _text('question,answer,completion\rq,1,"a\nb"\r'), [("q", "1", "a\nb")]
    ),
    Case("CR line ends.jsonl", _text(_row() + "\r" + _row(question='a "b"') + "\r"), [*ONE, ('a "b"', "1", "c")]),
    Case("CR in a cell.csv", _text('question,answer,completion\nq,1,"a\rb"\n'), [("q", "1", "a\rb")]),
    Case("CR in a cell of the header.csv", _text('question,answer,completion,"a\rb"\nq,1,c,x\n'), ONE),
    Case("two CR before LF.csv", _text(TABLE.replace("\n", "\r\r\n")), TWO),
    Case("Latin-1.csv", _text(TABLE + "für,3,c\n", "latin-1"), TWO, ((4, None, "Save the file as UTF-8."),)),
    Case("an index of pandas.csv", _text(",question,answer,completion\n0,q,1,c\n1,q2,2,d\n"), TWO),
    Case("an index that was saved again.csv", _text("Unnamed: 0,question,answer,completion\n0,q,1,c\n"), ONE),
    Case("columns without names.csv", _text("question,,answer,,completion\nq,x,1,y,c\n"), ONE),
    Case("an empty question.csv", _text(TABLE + ",3,c\n"), TWO, ((4, "question", "Write it in every row"),)),
    Case("an empty reference.tsv", _text(TABLE.replace(",", "\t") + "q\t \tc\n"), TWO, ((4, "answer", "is empty"),)),
    Case(
        "an index of pandas.parquet",
        lambda path: pd.DataFrame({"question": ["q"], "answer": ["1"], "completion": ["c"]}, index=[7]).to_parquet(
            path
        ),
        ONE,
    ),
    Case(
        "an index of pandas.xlsx",
        lambda path: pd.DataFrame({"question": ["q"], "answer": [1], "completion": ["c"]}).to_excel(path),
        ONE,
    ),
    Case(
        "numbers.jsonl",
        _text("\n".join(_row(answer=one) for one in (4, 1.50, -3, 10**20)) + "\n"),
        [("q", text, "c") for text in ("4", "1.5", "-3", "1" + "0" * 20)],
    ),
    Case(
        "numbers.parquet", _parquet(answer=pa.array([4.5, None])), [("q", "4.5", "c")], ((2, "answer", "is missing"),)
    ),
    Case("a truth value.jsonl", _text(_row(answer=True) + "\n" + _row()), ONE, ((1, "answer", "Write it as text"),)),
    Case(
        "lists of completions.jsonl",
        _text(
            _row(completion=["a", "b"])
            + "\n"
            + _row()
            + "\n"
            + _row(completion=[])
            + "\n"
            + _row(completion=["d", None])
        ),
        [("q", "1", "a"), ("q", "1", "b"), *ONE, ("q", "1", "d")],
        (
            (3, "completion", "completion is an empty list. Write a completion, or drop the row."),
            (4, "completion", "is missing"),
        ),
    ),
    Case(
        "lists of completions.parquet",
        _parquet(completion=pa.array([["a", "b"], ["c"]])),
        [("q", "a", "a"), ("q", "a", "b"), ("q", "a", "c")],
    ),
]
CASES = [*SHEET, *PARQUET, *TEXTS]


def _read(path: Path) -> tuple[Rows, list[Refusal]]:
    with read_items(plan_file(path)) as (found, _):
        rows = list(found)
    items = [(one.question, one.reference, one.completion) for one in rows if isinstance(one, ItemRecord)]
    return items, [one for one in rows if isinstance(one, Refusal)]


@pytest.mark.few(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_files_are_read_as_a_spreadsheet_shows_them(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    case.write(path)
    read, rejected = _read(path)
    assert read == case.read
    assert [(one.line, one.field) for one in rejected] == [one[:2] for one in case.rejected]
    for one, (_, _, remedy) in zip(rejected, case.rejected, strict=True):
        assert remedy in one.message


UNREAD = {
    "old.xls": (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "an old Excel file"),
    "locked.xlsx": (
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "a password",
    ),
    "page.xls": (b"<html><body><table><tr><td>question</td></tr></table></body></html>", "a web page"),
    "book.xls": (b'<?xml version="1.0"?><Workbook xmlns="urn:x"></Workbook>', "a web page or XML"),
    "sheet.ods": (
        b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        "OpenDocument",
    ),
    "book.xlsb": (b"PK\x03\x04" + bytes(26) + b"xl/workbook.bin", "a binary Excel file"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_file_of_another_kind_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    content, what = UNREAD[name]
    path.write_bytes(content)
    with pytest.raises(FormatError, match=what) as raised:
        plan_file(path)
    assert raised.value.hint == "Save it as .xlsx or CSV, without a password."


def test_parallel_lists_are_split_among_the_completions(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    rows = [
        {"problem": "q", "answer": 1, "generations": ["a", "b"], "gold": [True, False], "tags": ["x", "y"]},
        {"problem": "q", "answer": 2, "generations": ["c", "d"], "completion_id": "k", "gold": [True]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with read_items(plan_file(path)) as (found, _):
        first, second, *rejected = found
    assert isinstance(first, ItemRecord)
    assert isinstance(second, ItemRecord)
    assert [(one.completion, one.gold, one.extra) for one in (first, second)] == [
        ("a", True, '{"tags": ["x", "y"]}'),
        ("b", False, '{"tags": ["x", "y"]}'),
    ]
    assert [(one.line, one.field) for one in rejected if isinstance(one, Refusal)] == [(2, "gold")] * 2
