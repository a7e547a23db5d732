"""The kinds of logs: detects a log by its beginning, and reads its completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from workbench.core.item import Refusal
from workbench.data.formats.documents import Row, SourceDocument
from workbench.data.formats.lines import RefusedError, Stream, make_refusal
from workbench.data.formats.logs import inspect_ai, judges, lm_eval, openai, trainers
from workbench.data.formats.logs.logged import Grade, LogKind
from workbench.data.formats.logs.prompts import plain_object
from workbench.data.formats.source import FileFormat, first_bytes

KINDS: Final[dict[str, LogKind]] = {
    kind.name: kind
    for kind in (
        lm_eval.KIND,
        inspect_ai.KIND,
        openai.OPENAI_EVALS_KIND,
        openai.KIND,
        judges.REWARDBENCH_KIND,
        judges.XVERIFY_KIND,
        judges.KIND,
        trainers.KIND,
        trainers.ROLLOUTS,
        trainers.RESPONSES,
        trainers.DATASET,
    )
}
"""The kinds of logs by name, in the order in which they are tried on a file."""

LATER: Final = frozenset[str]().union(*(kind.later for kind in KINDS.values()))
"""Codes of rejections that may be resolved by adding a file next to the imported one, see `LogKind.later`."""


def detect_document(path: Path) -> str | None:
    """Return the kind of log whose files are single documents, such as a ZIP archive; None for a file of rows.

    Raises:
        FormatError: The file can't be read.
    """
    head = first_bytes(path)
    return next((kind.name for kind in KINDS.values() if kind.begins(head)), None)


def detect_rows(rows: Sequence[Mapping[str, msgspec.Raw]]) -> str | None:
    if not rows:
        return None
    try:
        first = plain_object(msgspec.json.encode(rows[0]))
    except RefusedError:
        return None
    return next((kind.name for kind in KINDS.values() if kind.recognises(first)), None)


def items(
    stream: Stream, kind: LogKind, container: FileFormat, path: Path, max_line: int
) -> Iterator[tuple[Row, tuple[Grade, ...]]]:
    """Yield the completions of an open log, each as a row of workbench's fields, with its grades.

    Raises:
        FormatError: The file as a whole is not in this format.
    """
    read = kind.begin(path)
    for row in kind.rows(stream, container, path, max_line):
        if isinstance(row, Refusal):
            yield row, ()
            continue
        try:
            found = [(_encoded(one.item), one.grades) for one in read(plain_object(row.json))]
        except RefusedError as error:
            yield make_refusal(row.line, row.raw, error), ()
        else:
            for item, grades in found:
                yield SourceDocument(row.line, item, row.raw, row.unterminated), grades


def _encoded(item: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode({key: value for key, value in item.items() if value is not None})
    except UnicodeEncodeError:
        message = "A lone \\ud800–\\udfff escape is not a character. Remove or pair it."
        raise RefusedError("bad_utf8", None, message) from None
    except RecursionError:
        raise RefusedError("bad_json", None, "The row is nested too deeply. Flatten it.") from None
