"""Reads OpenAI's batches, with the questions from the input files next to them.

Batches are described at https://platform.openai.com/docs/guides/batch. Chat completions, completions and responses can
be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from workbench.core.errors import FormatError
from workbench.data.formats.documents import SourceDocument, documents
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError
from workbench.data.formats.logs.logged import (
    Format,
    Logged,
    Read,
    content_text,
    maybe_text,
    messages,
    question_fields,
    reference_text,
    wrong_type_error,
)
from workbench.data.formats.logs.prompts import plain_object
from workbench.data.formats.source import open_stream

Asked = dict[str, str]
"""The fields of a question, by field name."""
_MAX_FILES: Final = 200
"""Most files of a folder that are read."""
_ANSWERED: Final = frozenset({"response", "completion", "output"})
_IDS: Final = ("custom_id", *FIELDS["question_id"])
_REQUEST: Final = frozenset({"custom_id", "url", "body"})
_BESIDES: Final = ("reference", "source", "type", "subtype")


def questions_nearby(path: Path) -> dict[str, Asked | None]:
    """Map each ``custom_id`` to the question in the request files of the same folder; None if files contradict each
    other.

    The reference answer is in the request's ``metadata``, or in a file of questions in the same folder, under the
    question whose id is the ``custom_id``; otherwise it is empty. Unreadable files are ignored.
    """
    requests: dict[str, Asked | None] = {}
    questions: dict[str, Asked | None] = {}
    for file in sorted(path.parent.glob("*.jsonl*"))[:_MAX_FILES]:
        if file == path or not file.is_file():
            continue
        for row in _rows(file):
            of_request = is_request(row)
            try:
                key = maybe_text(row, *_IDS)
                said = _request_question(row) if of_request else _known_fields(row, ("question", *_BESIDES))
            except RefusedError:
                continue
            if key is not None:
                known = requests if of_request else questions
                said = said if of_request else {**said, "question_id": key}
                known[key] = said if known.get(key, said) == said else None
    return {key: request and {**request, **(questions.get(key) or {})} for key, request in requests.items()}


def is_request(row: Mapping[str, Any]) -> bool:
    return row.keys() >= _REQUEST


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    with suppress(FormatError), open_stream(file) as (stream, _):
        for row in documents(stream, "jsonl", file):
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


def _request_question(row: Mapping[str, Any]) -> Asked:
    body = row["body"] if isinstance(row["body"], dict) else {}
    question = question_fields(body, "messages", "input", "prompt")
    return {**question, "reference": "", **_known_fields(body.get("metadata"), _BESIDES)}


def _known_fields(row: object, fields: tuple[str, ...]) -> Asked:
    found = row if isinstance(row, dict) else {}
    named = {field: reference_text(found, *FIELDS[field]) for field in fields}
    return {field: value for field, value in named.items() if value is not None}


_UNASKED: Final = "unknown_request"
"""Code of a rejected row whose request is unknown; it may be accepted once the request file is next to it."""


def begin(path: Path) -> Read:
    asked = questions_nearby(path)
    return lambda row: _read(row, asked, path)


def _read(row: Mapping[str, Any], requests: Mapping[str, Asked | None], path: Path) -> Iterator[Logged]:
    if is_request(row):
        message = "The line is a request, not an answer. Import the batch's output file; leave this one next to it."
        raise RefusedError("missing_field", "response", message)
    body = _response_body(row)
    custom_id = maybe_text(row, "custom_id") or ""
    if custom_id not in requests:
        message = (
            f"No file next to {path.name} has the request {custom_id[:80]!r}: a batch's output doesn't say what was "
            "asked. Put the batch's input file (.jsonl) into the same folder, and import again."
        )
        raise RefusedError(_UNASKED, "custom_id", message)
    request = requests[custom_id]
    if request is None:
        message = f"Files next to {path.name} have different requests {custom_id[:80]!r}. Leave one of them there."
        raise RefusedError("conflict", "custom_id", message)
    for place, (completion, ending) in enumerate(_completions(body)):
        yield Logged(
            item={
                **request,
                "custom_id": custom_id,
                "completion_id": f"{row.get('id') or body.get('id') or custom_id}/{place}",
                "completion": completion,
                "model": maybe_text(body, "model"),
                "finish_reason": ending,
            }
        )


def _response_body(row: Mapping[str, Any]) -> Mapping[str, Any]:
    response = row.get("response")
    error = row.get("error")
    if isinstance(error, dict):
        raise _failed_request_error(error)
    if not isinstance(response, dict) or not isinstance(response.get("body"), dict):
        raise wrong_type_error("response", "an object with a body")
    body: Mapping[str, Any] = response["body"]
    if isinstance(body.get("error"), dict):
        raise _failed_request_error(body["error"], response.get("status_code"))
    return body


def _failed_request_error(error: Mapping[str, Any], status: object = None) -> RefusedError:
    words = [str(part) for part in (status, error.get("code") or error.get("type"), error.get("message")) if part]
    message = f"The request failed: {', '.join(words)[:300].rstrip('.') or 'no reason is given'}. Send it again."
    return RefusedError("failed_request", "error", message)


def _completions(body: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    choices, output = body.get("choices"), body.get("output")
    if isinstance(choices, list) and choices:
        for choice in choices:
            if not isinstance(choice, dict):
                raise wrong_type_error("choices", "objects with a message or text")
            yield _choice_text(choice), maybe_text(choice, "finish_reason")
    elif isinstance(output, list) and output:
        said = [part for part in output if isinstance(part, dict) and part.get("type") == "message"]
        yield "\n".join(text for _, text in messages(said, "output")), maybe_text(body, "status")
    else:
        raise RefusedError("missing_field", "choices", "The body has no choices and no output: nothing was answered.")


def _choice_text(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    if isinstance(message, dict):
        return content_text(message.get("content") or message.get("refusal"), "message")
    text = maybe_text(choice, "text")
    if text is None:
        raise RefusedError("missing_field", "message", "A choice has no message and no text.")
    return text


KIND: Final = Format(
    name="openai-batch", keys=({"custom_id", "response", "error"}, _REQUEST), begin=begin, later=frozenset({_UNASKED})
)
