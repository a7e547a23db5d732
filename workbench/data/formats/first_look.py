"""A first look at a file: its columns, the fields they are recognised as, and those that hold verdicts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.data.formats.fields import FIELDS, fold, told_by_words
from workbench.data.formats.places import ColumnPath, value_at
from workbench.data.formats.reading import sampled
from workbench.data.formats.verdict_words import speaks_of_verdicts

_NO_NAME = re.compile(r"[^\w.+@/-]+", re.ASCII)


class FirstLook(Struct, frozen=True, kw_only=True):
    """What a file's first rows tell.

    Attributes:
        columns: Its columns, in their order; none where its fields have names of their own.
        fields: Our field -> the column that is recognised for it.
        like: Our field -> another column whose name has the words of one that would be.
        verdicts: Other columns that hold verdicts -> what their verifier could be called.
    """

    columns: tuple[str, ...] = ()
    fields: dict[str, str] = {}
    like: dict[str, str] = {}
    verdicts: dict[str, str] = {}

    def words_for(self, taken: Collection[str]) -> str:
        """The options of a command that take what may be gold, and other verdicts than those taken already."""
        gold = [column for field, column in self.like.items() if field == "gold" and column not in taken]
        others = [column for column in self.verdicts if column not in gold and column not in taken]
        words = [f"--map {shlex.quote(f'gold={column}')}" for column in gold]
        words += [f"--verdict {shlex.quote(f'{self.verdicts[column]}={column}')}" for column in others]
        return " ".join(words)


def first_look(path: Path) -> FirstLook:
    """Look at the beginning of a file; one of code, or a log, has no columns to choose from.

    Raises:
        FormatError: It can't be read.
    """
    keys, sample = sampled(path)
    fields = _recognised(keys)
    others = [key for key in keys if key not in fields.values()]
    verdicts = {key: verifier_name(key) for key in others if _holds_verdicts(sample, key)}
    like = told_by_words(others, fields, verdicts)
    return FirstLook(columns=tuple(keys), fields=fields, like=like, verdicts=verdicts)


def _recognised(keys: Sequence[str]) -> dict[str, str]:
    named = {fold(key): key for key in reversed(keys)}
    found = {field: next((named[one] for one in aliases if one in named), "") for field, aliases in FIELDS.items()}
    return {field: column for field, column in found.items() if column}


def _holds_verdicts(sample: Sequence[Mapping[str, msgspec.Raw]], column: str) -> bool:
    return speaks_of_verdicts([value_at(cells, ColumnPath(column)) for cells in sample])


def verifier_name(column: str) -> str:
    """A verifier's name that is like a column's."""
    return _NO_NAME.sub("-", column).strip("-.") or "verdicts"
