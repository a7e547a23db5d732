"""Our fields, the columns they are read from, and the released VerifyBench schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.errors import FormatError, UsageError

FIELDS: dict[str, tuple[str, ...]] = {
    "question_id": ("question_id", "qid", "problem_id", "prompt_id"),
    "completion_id": ("completion_id", "response_id", "output_id"),
    "question": ("question", "prompt", "problem", "instruction", "query"),
    "reference": (
        "reference",
        "reference_answer",
        "gold_answer",
        "ground_truth",
        "expected_answer",
        "answer",
    ),
    "completion": ("completion", "response", "output", "generation", "model_output", "model_response"),
    "gold": ("gold", "gold_correct", "is_correct", "correct", "label"),
    "model": ("model", "completion_model", "model_name"),
    "source": ("source", "data_source"),
    "type": ("type", "answer_type"),
    "subtype": ("subtype", "answer_subtype"),
}
"""Our field -> columns recognised for it, the first one present wins."""

KNOWN = frozenset(name for names in FIELDS.values() for name in names)
"""Every column that is recognised."""

REQUIRED = ("question", "reference", "completion")

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
"""Our field -> key of the released schema, in the released order (``annotator`` follows as an extra key)."""

RELEASED_KEYS = tuple(RELEASED.values())

_ALSO_CALLED = {key: field for field, key in RELEASED.items() if key not in FIELDS}
_ENOUGH = 6


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """Read ``--map FIELD=COLUMN`` options; a field without a column (``FIELD=``) is left out of what is read.

    Raises:
        UsageError: One is no pair, or its field is unknown (the message lists ours).
    """
    columns: dict[str, str] = {}
    for text in texts:
        name, equals, column = text.partition("=")
        field = _ALSO_CALLED.get(name.strip(), name.strip())
        if not equals:
            raise UsageError(f"--map {text!r} is no pair.", "Write --map FIELD=COLUMN: our field, their column.")
        if field not in FIELDS:
            raise UsageError(f"--map names an unknown field {name!r}.", f"Our fields: {', '.join(FIELDS)}.")
        if column and column in columns.values():
            raise UsageError(f"--map takes the column {column!r} twice.", "Give each field a column of its own.")
        columns[field] = column
    return columns


def is_released(keys: Iterable[str]) -> bool:
    """Whether keys are those of the released VerifyBench schema, a missing one or two allowed."""
    return len(set(keys) & set(RELEASED_KEYS)) >= _ENOUGH


def resolve_columns(found: Sequence[str], explicit: Mapping[str, str], *, released: bool, place: str) -> dict[str, str]:
    """Our field -> the column it is read from.

    Args:
        found: The file's columns.
        explicit: What ``--map`` says; it wins over names we recognise. A field with no column is not read.
        released: The file has the released schema: its keys stand even where rows lack them.
        place: The file's name, for messages.

    Raises:
        UsageError: ``--map`` names a column that the file does not have.
        FormatError: A required field has no column.
    """
    for field, column in explicit.items():
        if column and column not in found:
            raise UsageError(f"{place}: --map {field}={column}: there is no column {column!r}.", _columns_there(found))
    taken = set(explicit.values())
    columns = dict(explicit)
    by_name = {_fold(column): column for column in reversed(found) if column not in taken}
    for field, aliases in FIELDS.items():
        if field in columns:
            continue
        candidates = (RELEASED[field],) if released else aliases
        match = next((by_name[alias] for alias in candidates if alias in by_name), None)
        if match is None and released and RELEASED[field] not in taken:
            match = RELEASED[field]
        if match is not None:
            columns[field] = match
    columns = {field: columns[field] for field in FIELDS if columns.get(field)}
    _require(columns, found, place)
    return columns


def _require(columns: Mapping[str, str], found: Sequence[str], place: str) -> None:
    if not found and not columns:
        raise FormatError(f"{place}: there is no row with columns in it.", "Is it the right file, and --format?")
    for field in REQUIRED:
        if field not in columns:
            raise FormatError(
                f"{place}: no column holds the {field}.",
                f"{_columns_there(found)} Name it: --map {field}=COLUMN",
            )


def _columns_there(found: Sequence[str]) -> str:
    return f"Columns there: {', '.join(found) or 'none'}."


def _fold(column: str) -> str:
    return column.strip().lower().replace(" ", "_").replace("-", "_")
