"""Reads labels and verdicts in tables: wide tables have one column per annotator or verifier, long tables one row per
label or verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.run import VerdictColumn
from workbench.core.taxonomy import parse_type
from workbench.data.formats.documents import documents, header_of, keys_of
from workbench.data.formats.fields import FIELDS, GRADES, KNOWN, columns_there, fold
from workbench.data.formats.logs.logged import number_of, verifier_name
from workbench.data.formats.places import ColumnPath
from workbench.data.formats.source import FileFormat, open_stream, table_of
from workbench.data.formats.verdict_words import MISSING, MISTAKES, WORDS, GraderColumns, is_scale, may_be_verdicts

_IDS: Final[dict[str, tuple[str, ...]]] = {
    "completion_id": FIELDS["completion_id"],
    "question_id": FIELDS["question_id"],
    "dataset": ("dataset",),
}
_UNSUITABLE: Final = "unsuitable"
_SAMPLE: Final = (1_000, 64 << 20)
_MAX_WORD: Final = 40
_texts = msgspec.json.Decoder(dict[str, str])
Line = dict[str, Any]
"""A label or a verdict, by the fields of its kind of line."""


class Sheet:
    """A table that has item ids in one column, and labels or verdicts on these items in others.

    Args:
        long: The columns by which a long table is recognised: it has all columns of the first set, and at least one of
            the second.
        reads: Returns whether a value is a label or verdict; a column is read if at least half of its values are.

    Attributes:
        columns: The columns that are read, each with the labels of one annotator or the verdicts of one verifier; empty
            for a long table.
        ignored: Columns that are not read.

    Raises:
        FormatError: The table can't be read, or has no column with item ids or none with labels or verdicts.
    """

    OTHERS: ClassVar = KNOWN

    def __init__(
        self, path: Path, kind: FileFormat, long: tuple[set[str], set[str]], reads: Callable[[str], bool]
    ) -> None:
        self._path, self._kind = path, kind
        with open_stream(path) as (stream, _):
            self.header = header_of(stream, kind, path)
        with open_stream(path) as (stream, _):
            self.sample = keys_of(documents(stream, kind, path), *_SAMPLE)[1]
        named = {fold(column): column for column in reversed(self.header)}
        self._ids = {
            field: found for field, names in _IDS.items() if (found := next(filter(None, map(named.get, names)), None))
        }
        self._named = named
        if not {"completion_id", "question_id"} & self._ids.keys():
            raise FormatError(f"{path}: no column holds the completion_id.", columns_there(self.header))
        self.is_long = long[0] <= named.keys() and bool(long[1] & named.keys())
        free = [column for column in self.header if column not in self._ids.values()]
        self.columns = (
            [] if self.is_long else [one for one in free if fold(one) not in self.OTHERS and self._says(one, reads)]
        )
        self.ignored = [] if self.is_long else [column for column in free if column not in self.columns]
        if not self.is_long and not self.columns:
            raise FormatError(f"{path}: no column has known words for verdicts or labels.", columns_there(self.header))

    def rows(self) -> Iterator[tuple[int, bytes, bytes, dict[str, str] | Refusal]]:
        """Yield for each row its line number (from 1), its bytes, the row as a JSON object, and its cells or its
        rejection.
        """
        with open_stream(self._path) as (stream, _):
            for row in documents(stream, self._kind, self._path):
                if isinstance(row, Refusal):
                    yield row.line, row.raw, b"", row
                else:
                    yield row.line, row.raw, row.json, _texts.decode(row.json)

    def item(self, cells: Mapping[str, str]) -> Line:
        return {field: cells[column] for field, column in self._ids.items() if cells[column]}

    def by_field(self, cells: Mapping[str, str]) -> dict[str, str]:
        """Return the non-empty cells of a row of a long table, by lowercase column name."""
        return {name: cells[column] for name, column in self._named.items() if not is_missing(cells[column])}

    def _says(self, column: str, reads: Callable[[str], bool]) -> bool:
        values = [msgspec.json.decode(cells[column], type=str) for cells in self.sample]
        said = [value for value in values if not is_missing(value)]
        return bool(said) and sum(map(reads, said)) * 2 >= len(said)


def is_missing(value: str) -> bool:
    return value.strip().casefold() in MISSING


class LabelSheet(Sheet):
    """Labels in a table: one column for each annotator, or one row for each label with ``annotator`` and ``verdict`` or
    ``answer_subtype``.

    Attributes:
        missing: The number of empty cells, by annotator.
    """

    def __init__(self, path: Path, kind: FileFormat) -> None:
        super().__init__(
            path, kind, ({"annotator"}, {"verdict", "answer_subtype"}), lambda text: bool(_parse_label(text))
        )
        self.missing = Counter[str]()

    def _says(self, column: str, reads: Callable[[str], bool]) -> bool:
        return super()._says(column, reads) and not is_scale(self.sample, ColumnPath(column), MISTAKES)

    def lines(self) -> Iterator[tuple[int, bytes, Line | Refusal]]:
        """Yield for each label its line number (from 1), its row, and the label or its rejection."""
        for number, raw, _, cells in self.rows():
            if isinstance(cells, Refusal):
                yield number, raw, cells
            elif self.is_long:
                yield number, raw, _long_label(self.by_field(cells)) | self.item(cells)
            else:
                for person in self.columns:
                    if is_missing(cells[person]):
                        self.missing[person] += 1
                    else:
                        yield number, raw, self._label_line(number, person, cells)

    def _label_line(self, number: int, person: str, cells: Mapping[str, str]) -> Line | Refusal:
        label = _parse_label(cells[person])
        if not label:
            message = (
                f"{cells[person][:_MAX_WORD]!r} is not a valid label of {person[:_MAX_WORD]}. Write correct, "
                "incorrect, true, false, yes, no, 1, 0, unsuitable: REASON, or a subtype such as A1."
            )
            return Refusal(line=number, code="wrong_type", field=person, message=message, raw=b"")
        return {**self.item(cells), "annotator": person, **label}


def label_sheet(path: Path) -> LabelSheet | None:
    """Return the table of labels if a file's name is that of a table; None otherwise.

    Raises:
        FormatError: The file can't be read as a table.
    """
    return LabelSheet(path, kind) if (kind := table_of(path)) else None


def _parse_label(text: str) -> Line:
    word, _, reason = (part.strip() for part in text.partition(":"))
    if word.casefold() == _UNSUITABLE:
        return {"verdict": _UNSUITABLE, "reason": reason.casefold() or None}
    verdict = WORDS.get(text.strip().casefold())
    if verdict in ("correct", "incorrect"):
        return {"verdict": verdict}
    parsed = parse_type(text)
    return {"answer_subtype": parsed.code} if parsed is not None and parsed.is_subtype else {}


def _long_label(cells: dict[str, str]) -> Line:
    line: Line = dict(cells)
    label = _parse_label(cells.get("verdict", ""))
    if "verdict" in label:
        line |= {name: said for name, said in label.items() if said}
    if "revision" in line:
        line["revision"] = number_of(cells["revision"])
    for name in {"unsure", "unblinded", "flagged"} & line.keys():
        line[name] = WORDS.get(cells[name].strip().casefold()) == "correct"
    for name in {"tags", "seen"} & line.keys():
        line[name] = re.split(r"[\s,;]+", cells[name].strip())
    return line


class VerdictSheet(Sheet):
    """Verdicts in a table: one column for each verifier, or one row for each verdict with ``verdict`` or ``score``."""

    OTHERS = KNOWN - GRADES

    def __init__(self, path: Path, kind: FileFormat) -> None:
        super().__init__(path, kind, (set(), {"verdict", "score"}), lambda text: may_be_verdicts([text]))
        columns = {verifier_name(column): column for column in self.columns}
        if len(columns) < len(self.columns):
            raise FormatError(f"{path}: two columns would be one verifier: {', '.join(columns)}.", "Rename one.")
        places = {name: ColumnPath(column) for name, column in columns.items()}
        scales = frozenset(name for name, place in places.items() if is_scale(self.sample, place))
        self._graders = GraderColumns(columns, places, scales)

    @property
    def counts(self) -> list[VerdictColumn]:
        return list(self._graders.counts.values())

    def lines(self) -> Iterator[tuple[int, bytes, Line | Refusal]]:
        """Yield for each verdict its line number (from 1), its row, and the verdict or its rejection."""
        for number, raw, document, cells in self.rows():
            if isinstance(cells, Refusal):
                yield number, raw, cells
            elif self.is_long:
                yield number, raw, _long_verdict(self.by_field(cells)) | self.item(cells)
            else:
                for grade in self._graders.read(number, document):
                    if isinstance(grade, Refusal):
                        yield number, raw, grade
                    else:
                        said = {"verifier": grade.verifier, "verdict": grade.verdict, "score": grade.score}
                        yield number, raw, {**self.item(cells), **said}


def verdict_sheet(path: Path) -> VerdictSheet | None:
    """Return the table of verdicts if a file's name is that of a table; None otherwise.

    Raises:
        FormatError: The file can't be read as a table.
    """
    return VerdictSheet(path, kind) if (kind := table_of(path)) else None


def _long_verdict(cells: dict[str, str]) -> Line:
    line: Line = dict(cells)
    if "verdict" in line:
        line["verdict"] = WORDS.get(cells["verdict"].strip().casefold()) or cells["verdict"]
    for field in ("score", "ms"):
        if field in line:
            number = number_of(cells[field])
            line[field] = cells[field] if number is None else number
    return line
