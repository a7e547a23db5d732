"""What OpenAI's batches were asked: their input files, and files of questions, that lie beside an output file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from workbench.core.errors import FormatError
from workbench.data.formats.documents import SourceDocument, documents
from workbench.data.formats.explain import RefusedError
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.logs.cells import answer, asked, maybe_text
from workbench.data.formats.logs.plain import plain_object
from workbench.data.formats.source import open_stream

Asked = dict[str, str]
"""Our field -> its value."""

_FILES: Final = 200
"""Files of a folder that are looked at: requests lie close to their answers."""

_ANSWERED: Final = frozenset({"response", "completion", "output"})
_IDS: Final = ("custom_id", *FIELDS["question_id"])
_BESIDES: Final = ("reference", "source", "type", "subtype")


def asked_beside(path: Path) -> dict[str, Asked | None]:
    """What the requests asked whose files lie in the folder of a file, by ``custom_id``; None where they differ.

    The reference answer is what the request's ``metadata`` calls so, or that of a question whose id is the
    ``custom_id`` in a file of questions in the same folder; else it is empty. Files that can't be read say nothing.
    """
    requests: dict[str, Asked | None] = {}
    questions: dict[str, Asked | None] = {}
    for file in sorted(path.parent.glob("*.jsonl*"))[:_FILES]:
        if file == path or not file.is_file():
            continue
        for row in _rows(file):
            of_request = is_request(row)
            try:
                key = maybe_text(row, *_IDS)
                said = _request(row) if of_request else _named(row, ("question", *_BESIDES))
            except RefusedError:
                continue
            if key is not None:
                known = requests if of_request else questions
                said = said if of_request else {**said, "question_id": key}
                known[key] = said if known.get(key, said) == said else None
    return {key: request and {**request, **(questions.get(key) or {})} for key, request in requests.items()}


def is_request(row: Mapping[str, Any]) -> bool:
    """Whether an object is a line of a batch's input."""
    return {"custom_id", "url", "body"} <= row.keys()


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """The requests or the questions of a file; none where its first line is neither."""
    with suppress(FormatError), open_stream(file) as (stream, _):
        for row in documents(stream, "jsonl", file, DEFAULT_MAX_LINE):
            try:
                found = plain_object(row.json) if isinstance(row, SourceDocument) else {}
            except RefusedError:
                found = {}
            if is_request(found) or _is_question(found):
                yield found
            elif row.line == 1:
                return


def _is_question(row: Mapping[str, Any]) -> bool:
    keys = row.keys()
    return not keys.isdisjoint(_IDS) and not keys.isdisjoint(FIELDS["reference"]) and not _ANSWERED & keys


def _request(row: Mapping[str, Any]) -> Asked:
    body = row["body"] if isinstance(row["body"], dict) else {}
    question = asked(body, "messages", "input", "prompt")
    return {**question, "reference": "", **_named(body.get("metadata"), _BESIDES)}


def _named(row: object, fields: tuple[str, ...]) -> Asked:
    """What a row, or the metadata of a request, calls like fields of ours."""
    found = row if isinstance(row, dict) else {}
    named = {field: answer(found, *FIELDS[field]) for field in fields}
    return {field: value for field, value in named.items() if value is not None}
