"""Inspect AI's logs of evaluations: ``.eval`` (a ZIP archive) and ``.json`` (one document).

A log has a header, which names the task and the model, and samples: what was asked, what the model said, and what each
scorer made of it. A log that broke off has no header; its journal says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.data.formats.documents import Row, SourceDocument, whole
from workbench.data.formats.explain import RefusedError, explain_document, refusal
from workbench.data.formats.lines import Stream
from workbench.data.formats.logs import inspect_zip
from workbench.data.formats.logs.inspect_scores import grades_of, scales_in
from workbench.data.formats.logs.inspect_texts import completions_of, question_of, resolver
from workbench.data.formats.logs.kind import LogKind, always
from workbench.data.formats.logs.logged import Logged, sample_id
from workbench.data.formats.logs.plain import plain, plain_object
from workbench.data.formats.logs.targets import several
from workbench.data.formats.source import ZIP, FileFormat, first_bytes

_DOCUMENT: Final = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
_TASK: Final = re.compile(rb'"task"\s*:\s*("(?:[^"\\]|\\.)*")')
_HEADERS: Final = ("header.json", "_journal/start.json")
_SUMMARIES: Final = "summaries.json"
_LONGEST_ERROR: Final = 1_000
_WRITE: Final = "Inspect writes samples into its logs unless it is told --no-log-samples."


class Header(Struct, frozen=True, kw_only=True):
    """What a log says of all its samples.

    Attributes:
        id: The evaluation's id.
        scales: Scorers, or parts of them, that give numbers beyond [0, 1].
    """

    id: str
    task: str
    model: str | None = None
    scales: list[str] = []


def recognises(_element: Mapping[str, Any]) -> bool:
    """Whether an object is a row of such a log: its samples are no rows of a file."""
    return False


def begins(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a log."""
    return inspect_zip.is_log(head) or _DOCUMENT.match(head) is not None


def dataset_of(path: Path) -> str | None:
    """The task that a log is of; None where its beginning does not say it.

    Raises:
        FormatError: The file can't be read.
    """
    head = first_bytes(path)
    if inspect_zip.is_log(head):
        with inspect_zip.opened(path) as file:
            return _header_of_zip(file, path).task
    named = _TASK.search(head)
    try:
        return msgspec.json.decode(named[1], type=str) if named else None
    except (msgspec.MsgspecError, ValueError):
        return None


def rows(stream: Stream, _container: FileFormat, path: Path, _max_line: int) -> Iterator[Row]:
    """The samples of an open log, each with the header.

    Raises:
        FormatError: It is damaged, or has no samples.
    """
    start = stream.read(len(ZIP))
    if start == ZIP:
        with inspect_zip.opened(path) as file:
            yield from _members(file, path)
    else:
        yield from _elements(start + whole(stream, path), path)


def _members(file: inspect_zip.EvalFile, path: Path) -> Iterator[Row]:
    header = _header_of_zip(file, path)
    if not file.samples:
        raise FormatError(f"{path}: the log has no samples.", _WRITE)
    for number, name in enumerate(file.samples, 1):
        try:
            raw = file.read(name)
            more = inspect_zip.beside(file, name)
        except RefusedError as error:
            yield refusal(number, name.encode(errors="replace"), error)
        else:
            yield SourceDocument(number, _row(header, raw, more), raw)


def _elements(text: bytes, path: Path) -> Iterator[Row]:
    said = plain(text)
    if not isinstance(said, dict):
        raise FormatError(f"{path}: {explain_document(text).message}", "Fetch the log again.")
    samples = said.get("samples")
    if not isinstance(samples, list) or not samples:
        raise FormatError(f"{path}: the log has no samples.", _WRITE)
    header = _header(said, samples, path)
    for number, sample in enumerate(samples, 1):
        try:
            raw = msgspec.json.encode(sample)
        except (UnicodeEncodeError, RecursionError):
            message = "The sample can't be read: it is nested too deeply, or a character in it is none."
            yield refusal(number, b"", RefusedError("bad_json", None, message))
        else:
            yield SourceDocument(number, _row(header, raw, {}), raw)


def _header_of_zip(file: inspect_zip.EvalFile, path: Path) -> Header:
    name = next((name for name in _HEADERS if name in file), None)
    if name is None:
        raise FormatError(f"{path}: it is no log of Inspect's: it has neither {' nor '.join(_HEADERS)}.", _WRITE)
    try:
        said = plain_object(file.read(name))
        summaries = [_SUMMARIES] if _SUMMARIES in file else file.numbered("_journal/summaries/")
        scored = [plain_object(b'{"all":' + file.read(one) + b"}")["all"] for one in summaries]
    except RefusedError as error:
        raise FormatError(f"{path}: {error.message}", "Fetch the log again.") from None
    return _header(said, [one for some in scored if isinstance(some, list) for one in some], path)


def _header(said: Mapping[str, Any], scored: list[Any], path: Path) -> Header:
    """What a log says of itself.

    Args:
        scored: All samples, or their summaries.
    """
    about = said.get("eval")
    task, model, known = (_name(about, key) for key in ("task", "model", "eval_id"))
    if task is None:
        raise FormatError(f"{path}: the log does not say what task it is of.", "Is it a log of Inspect's?")
    scores = (_scores(one) for one in scored if isinstance(one, Mapping))
    return Header(id=known or task, task=task, model=model, scales=scales_in(scores))


def _name(about: object, key: str) -> str | None:
    name = about.get(key) if isinstance(about, Mapping) else None
    return name if isinstance(name, str) and name.isprintable() and name.strip() else None


def _row(header: Header, sample: bytes, more: Mapping[str, Any]) -> bytes:
    return b'{"log":%b,"more":%b,"sample":%b}' % (msgspec.json.encode(header), msgspec.json.encode(more), sample)


def _scores(sample: Mapping[str, Any]) -> object:
    """A sample's scores by scorer; the first version of the format had one alone."""
    return sample["scores"] if "scores" in sample else {"score": sample.get("score")}


def completions(row: Mapping[str, Any]) -> Iterator[Logged]:
    """What the model said to a sample, with what scorers made of it.

    Raises:
        RefusedError: It said nothing, since the sample failed, or the sample lacks what a sample has.
    """
    header, sample = msgspec.convert(row["log"], Header), row["sample"]
    if not isinstance(sample, Mapping):
        raise RefusedError("wrong_type", "samples", "A sample is no object. Fetch the log again.")
    sample = {**sample, **row["more"]}
    resolve = resolver(sample.get("attachments"))
    question, reference = question_of(sample, resolve), _reference(sample.get("target"))
    if question is None:
        raise RefusedError("missing_field", "input", "The sample has no input. Fetch the log again.")
    said = completions_of(sample, resolve)
    error = _message(sample.get("error"))
    if not said or (error and not said[0]):
        raise RefusedError("missing_field", "output", _unsaid(error))
    item = _item(header, sample, question, reference, error)
    for number, text in enumerate(said, 1):
        key = item["completion_id"] if number == 1 else f"{item['completion_id']}/{number}"
        grades = grades_of(_scores(sample), header.task, text, header.scales) if number == 1 else ()
        yield Logged(item={**item, "completion": text, "completion_id": key}, grades=grades)


def _item(
    header: Header, sample: Mapping[str, Any], question: str, reference: str, error: str | None
) -> dict[str, Any]:
    epoch = sample.get("epoch")
    limit = sample.get("limit")
    return {
        "task": header.task,
        "sample_id": sample.get("id"),
        "epoch": epoch,
        "metadata": sample.get("metadata") or None,
        "limit": limit.get("type") if isinstance(limit, Mapping) else None,
        "error": error,
        "question_id": sample_id(header.task, sample.get("id"), question, reference),
        "completion_id": str(sample.get("uuid") or f"{header.id}/{sample.get('id')}/{epoch}"),
        "question": question,
        "reference": reference,
        "model": header.model,
        "source": header.task,
    }


def _reference(target: object) -> str:
    """The target; of several, any is right."""
    targets = target if isinstance(target, list) else [target]
    texts = [one for one in targets if isinstance(one, str)]
    if len(texts) < len(targets):
        raise RefusedError("wrong_type", "target", "The target is no text. Fetch the log again.")
    return several(texts)


def _message(error: object) -> str | None:
    message = error.get("message") if isinstance(error, Mapping) else error
    return message[:_LONGEST_ERROR] if isinstance(message, str) and message else None


def _unsaid(error: str | None) -> str:
    return f"There is no completion: the sample failed. {error}" if error else "There is no completion."


KIND: Final = LogKind(
    name="inspect", recognises=recognises, begin=always(completions), rows=rows, begins=begins, dataset_of=dataset_of
)
