"""Fields, the columns they are read from, and the released VerifyBench schema."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from msgspec import structs

from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import TypeColumn
from workbench.core.run import VerdictColumn
from workbench.core.taxonomy import TypeCode, parse_type

_LISTS = ("completions", "responses", "outputs", "generations")
FIELDS: dict[str, tuple[str, ...]] = {
    "question_id": ("question_id", "qid", "problem_id", "prompt_id"),
    "completion_id": ("completion_id", "response_id", "output_id"),
    "question": ("question", "prompt", "problem", "instruction", "query"),
    "reference": ("reference", "reference_answer", "gold_answer", "ground_truth", "expected_answer", "answer"),
    "completion": ("completion", "response", "output", "generation", "model_output", "model_response", *_LISTS),
    "gold": ("gold", "gold_correct", "label"),
    "model": ("model", "completion_model", "model_name"),
    "source": ("source", "data_source"),
    "licence": ("licence", "license"),
    "type": ("type", "answer_type"),
    "subtype": ("subtype", "answer_subtype"),
}
"""The column names that are recognised for each field, by field name; the first one that a file has is used."""
QUESTION_FIELDS: dict[str, tuple[str, ...]] = {
    **{name: FIELDS[name] for name in ("question_id", "question", "reference", "source", "licence", "type", "subtype")},
    "domain": ("domain",),
}
"""`FIELDS` for a file of questions without completions."""
GRADES = frozenset(("is_correct", "correct"))
"""Names of columns that hold gold in one file and a grader's verdicts in the next: the user has to decide."""
KNOWN = frozenset(name for names in FIELDS.values() for name in names) | GRADES
"""Every column that is recognised."""
ITEM_FIELDS: dict[str, tuple[str, ...]] = {**FIELDS, "domain": ()}
"""`FIELDS` for a file of items: the domain's column is never recognised by name."""
REQUIRED = ("question", "reference", "completion")
_OF_COMPLETIONS = ("completion", "completion_id", "gold", "model")
RELEASED: dict[str, str] = {
    "question_id": "question_id",
    "completion_id": "completion_id",
    "question": "question",
    "reference": "answer",
    "completion": "completion",
    "gold": "gold_correct",
    "model": "completion_model",
    "source": "source",
    "type": "answer_type",
    "subtype": "answer_subtype",
}
"""Keys of the released schema by field name, in the released order (``annotator`` follows as an extra key)."""
RELEASED_KEYS = tuple(RELEASED.values())
_TOLD_BY_WORDS = {
    "question": FIELDS["question"],
    "reference": (*FIELDS["reference"], "expected", "label_answer", "target", "solution"),
    "completion": (*FIELDS["completion"], "reply", "prediction"),
    "gold": ("human", "annotator", *FIELDS["gold"]),
    "model": (*FIELDS["model"], "llm"),
    "domain": ("domain", "topic", "subject", "discipline"),
}
"""Names whose words suggest a field, by field, the most certain first. A gold column must also contain words for
verdicts.
"""
_JUDGING = frozenset(("judge", "grader", "verifier", "reward"))
"""Words in the names of columns with a judge's verdicts."""
_NO_PERSON = _JUDGING | {"model", "llm", "auto", "predicted"}
"""Words in the names of verdict columns that don't hold a person's verdicts."""
_WORD = re.compile(r"[^\W_]+")
_NO_LICENCE = frozenset(("", "/", "-", "–", "?", "none", "null", "n/a", "na", "unknown", "unspecified"))
_ALSO_CALLED = {key: field for field, key in RELEASED.items() if key not in FIELDS}
_MIN_RELEASED_KEYS = 6
_COLUMN = "COLUMN"
"""Placeholder for a column's name in a message."""
_MAX_SHOWN = 40
"""Most columns named in an error."""


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """Parse ``--map FIELD=COLUMN`` options; a field without a column (``FIELD=``) is not read.

    Raises:
        UsageError: An option is not a pair, or its field is unknown (the message lists the fields).
    """
    columns: dict[str, str] = {}
    for text in texts:
        name, equals, column = text.partition("=")
        field = _ALSO_CALLED.get(name.strip(), name.strip())
        if not equals:
            raise UsageError(
                f"{text!r} is not a FIELD=COLUMN pair.", f"Write {opt.map:FIELD=COLUMN} (our field, the file's column)."
            )
        if field not in FIELDS | QUESTION_FIELDS:
            known = ", ".join(FIELDS | QUESTION_FIELDS)
            raise UsageError(f"{opt.map} names an unknown field {name!r}.", f"Our fields: {known}.")
        if column and column in columns.values():
            raise UsageError(f"{opt.map} takes the column {column!r} twice.", "Give each field its own column.")
        columns[field] = column
    return columns


def is_released(keys: Iterable[str]) -> bool:
    return len(set(keys) & set(RELEASED_KEYS)) >= _MIN_RELEASED_KEYS


def known_licence(text: str | None) -> str | None:
    """Return a licence without surrounding spaces; None for a placeholder such as "/" (in the paper's table 7)."""
    tidy = (text or "").strip()
    return None if tidy.lower() in _NO_LICENCE else tidy


def holds_questions(found: Sequence[str], explicit: Mapping[str, str]) -> bool:
    """Return whether a file's columns hold questions only: there is none that belongs to a completion.

    Args:
        explicit: The columns from ``--map``.
    """
    if any(explicit.get(field) for field in _OF_COMPLETIONS):
        return False
    folded = {fold(column) for column in found if column not in explicit.values()}
    named = {field for field in FIELDS if explicit.get(field) or (field not in explicit and folded & {*FIELDS[field]})}
    return {"question", "reference"} <= named and not named & {*_OF_COMPLETIONS}


def resolve_columns(
    found: Sequence[str],
    explicit: Mapping[str, str],
    *,
    released: bool,
    place: str,
    fields: Mapping[str, tuple[str, ...]] = FIELDS,
) -> dict[str, str]:
    """Map each field to the column it is read from.

    Args:
        found: The file's columns.
        explicit: The columns from ``--map``, which take precedence over recognised names; a field mapped to "" is not
            read.
        released: Whether the file has the released schema, so that its keys are expected even if the first rows lack
            them.
        place: The file's name, for messages.
        fields: `FIELDS`, or those of another kind of file.

    Raises:
        UsageError: ``--map`` names a column that the file does not have, or a field that such a file doesn't have.
        FormatError: A required field has no column.
    """
    for field, column in explicit.items():
        if column and field not in fields:
            raise UsageError(f"{place}: {opt.map}: such a file has no {field}.", f"It has: {', '.join(fields)}.")
    require_columns(found, {f"{opt.map:{field}}": column for field, column in explicit.items() if column}, place)
    taken = set(explicit.values())
    columns = dict(explicit)
    by_name = {fold(column): column for column in reversed(found) if column not in taken}
    for field, aliases in fields.items():
        if field in columns:
            continue
        own = RELEASED.get(field) if released else None
        candidates = (own,) if own is not None else aliases
        match = next((by_name[alias] for alias in candidates if alias in by_name), None)
        if match is None and own is not None and own not in taken:
            match = own
        if match is not None:
            columns[field] = match
    columns = {field: columns[field] for field in fields if columns.get(field)}
    _require_fields(columns, found, place, [field for field in REQUIRED if field in fields])
    return columns


def require_columns(found: Sequence[str], asked: Mapping[str, str], place: str) -> None:
    """Check that a file has the requested columns.

    Args:
        found: The file's columns.
        asked: The requested columns, by the option that names each.
        place: The file's name.

    Raises:
        UsageError: The file has no such column.
    """
    for option, column in asked.items():
        if column not in found:
            raise UsageError(f"{place}: {option}={column}: there is no column {column!r}.", columns_there(found))


def _require_fields(columns: Mapping[str, str], found: Sequence[str], place: str, required: Sequence[str]) -> None:
    if not found and not columns:
        raise FormatError(f"{place}: there is no row with columns in it.", f"Is it the right file, and {opt.format}?")
    missing = [field for field in required if field not in columns]
    if missing:
        like = map_by_words([column for column in found if column not in columns.values()], columns)
        maps = " ".join(f"{opt.map:{shlex.quote(field + '=' + like.get(field, _COLUMN))}}" for field in missing)
        meant = f"Did you mean {maps}?" if like.keys() & {*missing} else f"Name it: {maps}"
        raise FormatError(f"{place}: no column holds the {missing[0]}.", f"{columns_there(found)} {meant}")


def map_by_words(
    columns: Sequence[str], fields: Collection[str], verdicts: Collection[str] = (), names: Collection[str] = ()
) -> dict[str, str]:
    """Map fields to columns whose names contain all words of a known column name.

    Args:
        fields: Fields that already have a column.
        verdicts: Columns with verdicts: gold can only be one of these, and other fields can't.
        names: Columns with few distinct short texts: model and domain can only be one of these.
    """
    found: dict[str, str] = {}
    words = {one: {*_WORD.findall(fold(one))} for one in columns}
    for field, aliases in _TOLD_BY_WORDS.items():
        fit = [one for one in columns if one not in found.values() and (one in verdicts) is (field == "gold")]
        if field in ("model", "domain"):
            fit = [one for one in fit if one in names and not _JUDGING & words[one]]
        if field == "gold":
            fit = [one for one in fit if not _NO_PERSON & words[one]]
        matches = (one for alias in aliases for one in fit if {*alias.split("_")} <= words[one])
        column = next(matches, None)
        if column is not None and field not in fields:
            found[field] = column
    return found


def columns_there(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MAX_SHOWN:,} more" if len(found) > _MAX_SHOWN else ""
    return f"Columns there: {', '.join(found[:_MAX_SHOWN]) or 'none'}{more}."


def fold(column: str) -> str:
    return column.strip().lower().replace(" ", "_").replace("-", "_")


# -- Answer-type fields of a file: the columns of type and subtype.


Pair = tuple[str | None, str | None]
_MAX_CACHED = 10_000
_MAX_LISTED = 20
_MAX_WORD = 40


class TypeFields(NamedTuple):
    """The answer type and subtype of one row: their codes, and the texts of the file."""

    type: str | None
    subtype: str | None
    type_text: str | None
    subtype_text: str | None


class TypeMismatch(Exception):
    """The type fields of a row contradict those of other rows, or each other."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def looks_swapped(pairs: Iterable[Pair]) -> bool:
    """Return whether the type column holds subtypes in most rows; False for a tie.

    Args:
        pairs: The texts of the type and of the subtype column, for the first rows of a file.
    """
    balance = 0
    for first, second in pairs:
        kinds = (_is_subtype(first), _is_subtype(second))
        if kinds in ((True, False), (True, None)):
            balance += 1
        elif kinds in ((False, True), (None, True)):
            balance -= 1
    return balance > 0


class TypeReader:
    """Reads the answer type and subtype of a file's rows; results are cached, since few pairs of texts occur.

    Args:
        one_column: Whether the file has only one of the two columns; its cells may then be types or subtypes.
    """

    def __init__(self, *, one_column: bool = False) -> None:
        self._one_column = one_column
        self._known: dict[Pair, TypeFields] = {}

    def read(self, type_text: str | None, subtype_text: str | None) -> TypeFields:
        """Return the type fields of one row.

        Raises:
            TypeMismatch: The type column holds a subtype or the subtype column a type, or the subtype is not one of the
                type's.
        """
        pair = (type_text, subtype_text)
        fields = self._known.get(pair)
        if fields is None:
            if len(self._known) >= _MAX_CACHED:
                self._known.clear()
            fields = self._known[pair] = _read_single_column(*pair) if self._one_column else _read_both_columns(*pair)
        return fields


class TypeCounts:
    """Counts the values in the type columns of a file.

    Args:
        columns: The file's columns by field name.

    Attributes:
        counts: The counts of each column's values, by column.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        kind, subtype = columns.get("type"), columns.get("subtype")
        self._columns = (kind or subtype, subtype or kind)
        self.counts = {name: TypeColumn(column=name, words={}) for name in (kind, subtype) if name is not None}

    def add(self, type_text: str | None, subtype_text: str | None) -> None:
        for column, text in zip(self._columns, (type_text, subtype_text), strict=True):
            if column is not None and text:
                count = self.counts[column]
                count.values += 1
                if not is_type(text):
                    count.unknown += 1
                    add_word(count.words, text[:_MAX_WORD])


C = TypeVar("C", TypeColumn, VerdictColumn)


def sum_column_counts(columns: Iterable[C]) -> list[C]:
    """Return the sums of the counts of several files, by column or verifier."""
    found: dict[str, C] = {}
    for one in columns:
        counts = {name: value for name, value in structs.asdict(one).items() if isinstance(value, int)}
        name = one.column if isinstance(one, TypeColumn) else one.verifier
        whole = found.setdefault(name, structs.replace(one, **dict.fromkeys(counts, 0), words={}))
        for field, number in counts.items():
            setattr(whole, field, getattr(whole, field) + number)
        for word, times in one.words.items():
            add_word(whole.words, word, times)
    return list(found.values())


def add_word(words: dict[str, int], word: str, times: int = 1) -> None:
    if word in words or len(words) < _MAX_LISTED:
        words[word] = words.get(word, 0) + times


@lru_cache(maxsize=_MAX_CACHED)
def is_type(text: str) -> bool:
    return parse_type(text) is not None


def _read_single_column(type_text: str | None, subtype_text: str | None) -> TypeFields:
    text = subtype_text if type_text is None else type_text
    code = _parse(text)
    if code is not None and code.is_subtype:
        return TypeFields(code.code[0], code.code, None, text)
    return TypeFields(code.code if code else None, None, text, None)


def _read_both_columns(type_text: str | None, subtype_text: str | None) -> TypeFields:
    kind, subkind = _parse(type_text), _parse(subtype_text)
    if kind is not None and kind.is_subtype:
        raise TypeMismatch("type", f"{type_text!r} is a subtype, but the other rows have types in this column.")
    if subkind is not None and not subkind.is_subtype:
        raise TypeMismatch("subtype", f"{subtype_text!r} is a type, but the other rows have subtypes in this column.")
    if kind is not None and subkind is not None and kind.code != subkind.code[0]:
        raise TypeMismatch("subtype", f"{subtype_text!r} does not belong to the type {type_text!r}.")
    letter = kind.code if kind else subkind.code[0] if subkind else None
    return TypeFields(letter, subkind.code if subkind else None, type_text, subtype_text)


def _is_subtype(text: str | None) -> bool | None:
    code = _parse(text)
    return None if code is None else code.is_subtype


def _parse(text: str | None) -> TypeCode | None:
    return None if text is None else parse_type(text)
