"""A row of each log format, read with some fields changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.documents import ROOT
from workbench.core.item import Refusal
from workbench.data.formats import kinds
from workbench.data.formats.documents import SourceDocument
from workbench.data.formats.logs.logged import Grade
from workbench.data.formats.source import detect_format, open_stream

FILES = ROOT / "tests" / "data" / "logs"
EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "tests/data/rows/logs").glob("*.json"))
}

Found = tuple[dict[str, Any], tuple[Grade, ...]] | Refusal
"""An item's fields and its grades, or the rejection."""


def read(name: str, path: Path) -> list[Found]:
    """Read a file of the given format."""
    container = detect_format(path)
    with open_stream(path) as (stream, _):
        rows = list(kinds.records(stream, kinds.KINDS[name], container, path))
    found = [(json.loads(row.json), grades) if isinstance(row, SourceDocument) else row for row, grades in rows]
    return [one for one in found if isinstance(one, tuple | Refusal)]


def read_rows(name: str, folder: Path, *rows: dict[str, Any], file: str = "rows.jsonl") -> list[Found]:
    """Write these rows to a file and read it."""
    path = folder / file
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read(name, path)


def changed(name: str, **fields: Any) -> dict[str, Any]:
    """The row with some fields changed; those that are ``...`` are left out."""
    return {key: value for key, value in {**EXAMPLES[name], **fields}.items() if value is not ...}


def item(found: Iterable[Found]) -> dict[str, Any]:
    """The only item found."""
    (only,) = found
    assert not isinstance(only, Refusal), only
    return only[0]


def grades_of(found: Iterable[Found]) -> list[dict[str, tuple[str | None, float | None]]]:
    """Map the verifiers of each item to verdict and score."""
    taken = [one for one in found if not isinstance(one, Refusal)]
    return [{grade.verifier: (grade.verdict, grade.score) for grade in grades} for _, grades in taken]


def refused(found: Iterable[Found]) -> Refusal:
    """The only refusal found."""
    (only,) = found
    assert isinstance(only, Refusal), only
    return only
