"""Reads OpenAI's batches, with the questions from the input files next to them, and OpenAI evals' recordings.

Batches are described at https://platform.openai.com/docs/guides/batch. Chat completions, completions and responses can
be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats.documents import Row, SourceDocument, documents
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import DEFAULT_MAX_LINE, RefusedError, Stream
from workbench.data.formats.logs.logged import (
    Format,
    Grade,
    Logged,
    Read,
    answer_text,
    constant_reader,
    content_text,
    graded,
    maybe_text,
    messages,
    number,
    question_fields,
    reference_text,
    unparsed_grade,
    verifier_name,
    wrong_type_error,
)
from workbench.data.formats.logs.prompts import join_alternatives, plain_object
from workbench.data.formats.source import FileFormat, open_stream

# -- Questions of OpenAI's batches: input files, and files of questions, next to an output file.


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


# -- OpenAI evals' recordings: a line for the run, then events of its samples, which are joined here.


_TYPES: Final = ("sampling", "match", "metrics", "error")
"""Events that are read; others (embeddings, raw samples, extras) are not about a completion."""
_AROUND: Final = (b'{"spec"', b'{"final_report"')


class _SampleEvents(Struct):
    line: int
    raw: bytes
    run_id: str
    events: dict[str, list[msgspec.Raw]]


class _Event(Struct):
    sample_id: str | int
    type: str
    data: msgspec.Raw
    run_id: str = ""


class _Spec(Struct):
    spec: msgspec.Raw


_event = msgspec.json.Decoder(_Event)
_spec = msgspec.json.Decoder(_Spec)


def rows(stream: Stream, kind: FileFormat, path: Path, max_line: int) -> Iterator[Row]:
    """Yield one row for each sample of an open file, with its run and all its events, in the order of the first events.

    The events of a sample can be anywhere in the file (threads write them), so the whole file is kept in memory.
    """
    samples: dict[str | int, _SampleEvents] = {}
    spec = msgspec.Raw(b"{}")
    for row in documents(stream, kind, path, max_line):
        if isinstance(row, Refusal):
            yield row
            continue
        event = _event_of(row.json)
        if event is None:
            if row.json.lstrip().startswith(_AROUND):
                spec = _spec_of(row.json) or spec
            else:
                # As a sample it has no events, so it is rejected with the reason.
                yield row
        elif event.type in _TYPES:
            sample = samples.setdefault(event.sample_id, _SampleEvents(row.line, row.raw, event.run_id, {}))
            sample.events.setdefault(event.type, []).append(event.data)
    for sample_id, sample in samples.items():
        joined = {"sample_id": sample_id, "run_id": sample.run_id, "spec": spec, "events": sample.events}
        yield SourceDocument(sample.line, msgspec.json.encode(joined), sample.raw)


def _read_sampled(row: Mapping[str, Any]) -> Iterator[Logged]:
    events = row.get("events")
    if not isinstance(events, dict):
        raise RefusedError(
            "missing_field", "sample_id", "The line is not an event: sample_id, type or data is missing."
        )
    spec = row["spec"] if isinstance(row["spec"], dict) else {}
    match = _event_data(events, "match")
    # The first sampling event is from the evaluated model; later ones are from a model that grades its answer.
    sampling = _event_data(events, "sampling")
    if not sampling:
        raise RefusedError("missing_field", "sampling", _no_sampling_message(events))
    name = str(spec.get("base_eval") or spec.get("eval_name") or "eval")
    models = spec.get("completion_fns")
    yield Logged(
        item={
            "completion_id": f"{row['run_id']}/{row['sample_id']}",
            **question_fields(sampling, "prompt"),
            "reference": _expected_answer(match),
            "completion": _completion(sampling, match),
            "model": str(models[0]) if isinstance(models, list) and models else None,
            "source": str(spec.get("eval_name") or name),
        },
        grades=(*_match_grades(name, match), *_metric_grades(name, _event_data(events, "metrics"))),
    )


def _completion(sampling: Mapping[str, Any], match: Mapping[str, Any]) -> str:
    graded = match.get("sampled")
    if isinstance(graded, str):
        return graded
    sampled = sampling.get("sampled")
    if isinstance(sampled, list) and sampled and isinstance(sampled[0], str):
        return sampled[0]
    return answer_text(sampling, "sampled")


def _expected_answer(match: Mapping[str, Any]) -> str:
    expected = match.get("expected")
    if isinstance(expected, list) and len(expected) > 1 and all(isinstance(one, str) for one in expected):
        return join_alternatives(expected)
    return reference_text(match, "expected") or ""


def _match_grades(name: str, match: Mapping[str, Any]) -> Iterator[Grade]:
    picked = match.get("picked")
    # Some evals compare the whole answer.
    told = isinstance(picked, str) and picked != match.get("sampled")
    grade = graded(verifier_name("openai-evals", name, "match"), match.get("correct"), picked if told else None)
    if grade is not None:
        yield grade


def _metric_grades(name: str, metrics: Mapping[str, Any]) -> Iterator[Grade]:
    choice = maybe_text(metrics, "choice") if isinstance(metrics.get("choice"), str) else None
    for key, value in metrics.items():
        verifier = verifier_name("openai-evals", name, key)
        grade = graded(verifier, value)
        if grade is not None:
            yield msgspec.structs.replace(grade, detail=None if choice is None else f"choice {choice}")
        elif key == "score" and choice is not None and number(value) is None:
            yield unparsed_grade(verifier, f"choice {choice}")


def _event_data(events: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    found = events.get(kind) or [{}]
    if not isinstance(found[0], dict):
        raise RefusedError("wrong_type", "data", f"The data of the event {kind} is not an object.")
    return found[0]


def _no_sampling_message(events: Mapping[str, Any]) -> str:
    fault = maybe_text(_event_data(events, "error"), "message") if "error" in events else None
    return f"The sample failed: {fault}" if fault else "The sample has no sampling event: nothing was answered."


def _event_of(line: bytes) -> _Event | None:
    try:
        return _event.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return _event.decode(msgspec.json.encode(plain_object(line)))
    except (RefusedError, msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _spec_of(line: bytes) -> msgspec.Raw | None:
    try:
        return _spec.decode(line).spec
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


OPENAI_EVALS_KIND: Final = Format(
    name="openai-evals",
    keys=({"spec.eval_name", "spec.completion_fns"}, {"run_id", "event_id", "sample_id", "type", "data"}),
    begin=constant_reader(_read_sampled),
    rows=rows,
)
