"""Previews a file: its columns, the fields they are recognised as, and columns with verdicts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from workbench.core.errors import opt
from workbench.core.taxonomy import type_values
from workbench.data.formats.fields import FIELDS, GRADES, fold, map_by_words
from workbench.data.formats.places import ColumnPath, value_at
from workbench.data.formats.reading import fix_swapped_types, sample_columns
from workbench.data.formats.verdict_words import (
    MISTAKES,
    are_all_verdicts,
    is_scale,
    may_be_verdicts,
    mostly_verdicts,
)

_GUESSED: Final = ("completion_id", "gold", "type", "subtype", "domain", "model")
_IDS: Final = ("id", "idx", "index", "uid", "uuid", "sample_id", "row_id")
"""Names of columns that may number the rows of a file."""
_MAX_NAME: Final = 80
"""Most characters of a model's or a domain's name."""
_MAX_COLUMNS: Final = 1_000
"""Most columns whose values are examined, in addition to those recognised by name."""
_MAX_SUGGESTED: Final = 8
"""Most verdict columns in a suggestion; a table with words as columns may have thousands."""
_VALUES, _MAX_VALUE, _LOOKED_AT = 3, 24, 200
_NO_NAME = re.compile(r"[^\w.+@/-]+", re.ASCII)


class FirstLook(Struct, frozen=True, kw_only=True):
    """The columns of a file, as recognised in its first rows.

    Attributes:
        columns: The file's columns in order; empty for formats with fixed fields.
        fields: The column recognised for each field, by field name.
        like: Likely columns of other fields, by field name: the column has a similar name, or answer types as values.
        verdicts: Other columns with verdicts, each with a suggested name for its verifier.
        judging: Columns that may hold verdicts or scores: those of ``verdicts``, that of gold, and others with a number
            or a word for a verdict.
        values: The first values of each column, by column; long ones are shortened.
    """

    columns: tuple[str, ...] = ()
    fields: dict[str, str] = {}
    like: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    judging: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = {}

    def is_named(self, field: str) -> bool:
        return any(fold(column) in FIELDS.get(field, ()) for column in self.columns)

    def guess_columns(self, columns: Mapping[str, str], graders: Collection[str] = ()) -> dict[str, str]:
        """Map required fields without a column to a likely one.

        Args:
            columns: The columns in use, by field name.
            graders: The columns that are used as verdicts.
        """
        free = {field: column for field, column in self.like.items() if field in _GUESSED and field not in columns}
        return {field: column for field, column in free.items() if column not in (*columns.values(), *graders)}

    def suggested_options(self, columns: Mapping[str, str], graders: Collection[str] = ()) -> str:
        guesses = self.guess_columns(columns, graders)
        words = [f"{opt.map:{shlex.quote(f'{field}={column}')}}" for field, column in guesses.items()]
        others = [one for one in self.verdicts if "gold" not in columns or fold(one) in GRADES]
        taken = {*guesses.values(), *columns.values(), *graders}
        free = [one for one in others if one not in taken]
        words += [f"{opt.verdict:{shlex.quote(f'{self.verdicts[one]}={one}')}}" for one in free[:_MAX_SUGGESTED]]
        if free and "gold" not in (*guesses, *columns):
            words.append(f"(or {opt.map:{shlex.quote(f'gold={free[0]}')}} if people gave these verdicts)")
        return " ".join(words)


def first_look(path: Path) -> FirstLook:
    """Preview the beginning of a file; code files and logs have no columns to choose.

    Raises:
        FormatError: The file can't be read.
    """
    every, sample = sample_columns(path)
    fields = fix_swapped_types(sample, _recognise_fields(every))
    keys = list(dict.fromkeys((*every[:_MAX_COLUMNS], *fields.values())))
    if "reference" in fields and is_scale(sample, ColumnPath(fields.get("gold", "")), MISTAKES):
        del fields["gold"]
    others = [key for key in keys if key not in fields.values()]
    cells = {key: [value_at(row, ColumnPath(key)) for row in sample] for key in keys}
    verdicts = {key: verifier_name(key) for key in others if are_all_verdicts(cells[key])}
    meant = _gold_as_reference(fields, cells)
    texts = {key: [one for one in cells[key] if isinstance(one, str) and one.strip()] for key in keys}
    types = _map_by_types({key: texts[key] for key in others if key not in verdicts}, fields)
    short = [key for key in others if all(len(text) <= _MAX_NAME for text in texts[key])]
    names = [key for key in short if key not in types.values() and 0 < len({*texts[key]}) * 2 <= len(texts[key])]
    known = {*fields, "domain"} if "source" in fields else fields
    like = map_by_words([key for key in others if key not in types.values()], known, verdicts, names)
    asked = texts.get({**like, **fields}.get("question", ""), [])
    numbers = [key for key in others if fold(key) in _IDS and len({*map(str, cells[key])}) == len(sample)]
    if numbers and "completion_id" not in fields and len({*asked}) < len(asked):
        # Rows of one question are told apart by such a column; without it, equal completions are one item.
        like["completion_id"] = numbers[0]
    return FirstLook(
        columns=tuple(every),
        fields={field: column for field, column in fields.items() if column not in meant.values()},
        like={**like, **types, **meant},
        verdicts=verdicts,
        judging=tuple(key for key in keys if key in (*others, fields.get("gold")) and may_be_verdicts(cells[key])),
        values={key: _first_values(cells[key]) for key in keys},
    )


def _gold_as_reference(fields: Mapping[str, str], cells: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    column = fields.get("gold")
    if column is None or "reference" in fields or mostly_verdicts(cells[column]):
        return {}
    return {"reference": column}


def _map_by_types(texts: Mapping[str, Sequence[str]], fields: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for column, values in texts.items():
        if codes := type_values(values):
            field = "subtype" if sum(len(code) > 1 for code in codes) * 2 > len(codes) else "type"
            found.setdefault(field, column)
    return {field: column for field, column in found.items() if field not in fields}


def _first_values(cells: Sequence[Any]) -> tuple[str, ...]:
    texts = ("" if cell is None else cell if isinstance(cell, str) else json.dumps(cell) for cell in cells)
    lines = (" ".join(text[:_LOOKED_AT].split())[:_MAX_VALUE] for text in texts)
    return tuple(islice(dict.fromkeys(line for line in lines if line), _VALUES))


def _recognise_fields(keys: Sequence[str]) -> dict[str, str]:
    named = {fold(key): key for key in reversed(keys)}
    found = {field: next((named[one] for one in aliases if one in named), "") for field, aliases in FIELDS.items()}
    return {field: column for field, column in found.items() if column}


def verifier_name(column: str) -> str:
    return _NO_NAME.sub("-", column).strip("-.") or "verdicts"
