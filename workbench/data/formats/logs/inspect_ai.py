"""Inspect AI's logs of evaluations: ``.eval`` (a ZIP archive) and ``.json`` (one document).

A log has a header, which names the task and the model, and samples: the question, the model's answer, and each scorer's
score. An interrupted log has no header; its journal has the same data.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.core.files import require_input
from workbench.core.verdict import OutcomeWord
from workbench.data.formats.documents import Row, SourceDocument, read_all
from workbench.data.formats.lines import RefusedError, Stream, explain_document, make_refusal
from workbench.data.formats.logs.logged import (
    Format,
    Grade,
    Logged,
    constant_reader,
    graded,
    number_of,
    sample_id,
    verifier_name,
)
from workbench.data.formats.logs.prompts import join_alternatives, parse_lenient, plain_object
from workbench.data.formats.source import ZIP, FileFormat, first_bytes, require_plausible_ratio
from workbench.data.formats.verdict_words import WORDS

# -- Scores of Inspect's scorers as grades: letters, booleans, numbers, and dictionaries of them.


_VERDICT_LETTERS: Final[dict[str, OutcomeWord]] = {"C": "correct", "I": "incorrect"}
_GRADES: Final = frozenset("ABDEF")
"""Letters that show that a scorer gives letter grades, so that C and I are not verdicts."""
_CODE: Final = re.compile(r"[\w.-]{1,60}")
_PARTIAL: Final = "P"
_NO_ANSWER: Final = "N"
_MAX_EXPLANATION: Final = 10_000
"""Most characters of an explanation."""
UNSCORED: Final = "unscored"
"""Reason of a grade of a scorer that gave no value."""
NO_VERDICT: Final = "no_verdict"
"""Reason of a grade whose value is an unknown word."""


def scales_in(scored: Iterable[object]) -> list[str]:
    """List the scorers (or parts of scorers) that have a number outside [0, 1] or a letter other than C and I in some
    sample.
    """
    found: dict[str, None] = {}
    for scores in scored:
        for name, _, value in _score_values(scores):
            number = number_of(value)
            if str(value).strip().rstrip("+-") in _GRADES or (number is not None and not 0 <= number <= 1):
                found[name] = None
    return list(found)


def grades_of(scores: object, task: str, completion: str, scales: Collection[str]) -> tuple[Grade, ...]:
    """Return the scorers' grades of a completion.

    Args:
        scores: The score of each scorer, by its name.
        scales: The result of `scales_in` for the log.
    """
    return tuple(
        _grade(verifier_name("inspect", task, name), score, value, completion, scale=name in scales)
        for name, score, value in _score_values(scores)
    )


def _score_values(scores: object) -> Iterator[tuple[str, Mapping[str, Any], object]]:
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        if not isinstance(score, Mapping) or "value" not in score:
            continue
        value = score["value"]
        if isinstance(value, Mapping):
            yield from ((f"{name}/{key}", score, one) for key, one in value.items())
        elif isinstance(value, list):
            yield from ((f"{name}/{number}", score, one) for number, one in enumerate(value, 1))
        else:
            yield str(name), score, value


def _grade(verifier: str, score: Mapping[str, Any], value: object, completion: str, *, scale: bool) -> Grade:
    answer, explanation, reason = (_nonempty_text(score.get(key)) for key in ("answer", "explanation", "reason"))
    found = _verdict_or_score(verifier, value, scale=scale)
    return Grade(
        verifier=verifier,
        verdict=found.verdict,
        score=found.score,
        reason=reason if found.reason and reason and _CODE.fullmatch(reason) else found.reason,
        answer=answer if answer != completion else None,
        detail=explanation[:_MAX_EXPLANATION] if explanation and explanation != completion else found.detail,
    )


def _verdict_or_score(verifier: str, value: object, *, scale: bool) -> Grade:
    number = number_of(value)
    if isinstance(value, str) and number is None:
        word = value.strip()
        if word == _PARTIAL and not scale:
            return Grade(verifier=verifier, score=0.5)
        if word == _NO_ANSWER and not scale:
            return Grade(verifier=verifier, reason="no_answer_found")
        verdict = WORDS.get(word.casefold()) if len(word) > 1 else None if scale else _VERDICT_LETTERS.get(word)
        detail = None if verdict else word[:_MAX_EXPLANATION]
        return Grade(verifier=verifier, verdict=verdict, reason=None if verdict else NO_VERDICT, detail=detail)
    found = graded(verifier, value if isinstance(value, bool) else number, scale=scale)
    return found or Grade(verifier=verifier, reason=UNSCORED)


def _nonempty_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


# -- Samples' questions and models' answers as text.


_ATTACHMENT: Final = "attachment://"
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Resolve = Callable[[str], str]
"""Returns a text, or if it refers to an attachment, the attached text."""


def attachment_resolver(attachments: object) -> Resolve:
    known = attachments if isinstance(attachments, Mapping) else {}

    def resolve(text: str) -> str:
        found = known.get(text.removeprefix(_ATTACHMENT)) if text.startswith(_ATTACHMENT) else None
        return found if isinstance(found, str) else text

    return resolve


def question_of(sample: Mapping[str, Any], resolve: Resolve) -> str | None:
    """Return a sample's question: its input, followed by the lettered options if the input does not contain them.

    The input of a chat is the user's message; for several messages, all but the system's, each with the speaker's name.
    """
    asked = sample.get("input")
    text = resolve(asked) if isinstance(asked, str) else _chat_text(asked, resolve) if isinstance(asked, list) else None
    if text is None:
        return None
    choices = [one for one in sample.get("choices") or [] if isinstance(one, str)]
    lettered = list(zip(_LETTERS, choices, strict=False))
    if all(re.search(rf"\b{letter}\W{{1,3}}{re.escape(one)}", text) for letter, one in lettered):
        return text
    return "\n".join([text, "", *(f"{letter}) {one}" for letter, one in lettered)])


def completions_of(sample: Mapping[str, Any], resolve: Resolve) -> list[str]:
    output = sample.get("output")
    if not isinstance(output, Mapping):
        return []
    choices = output.get("choices")
    messages = [one.get("message") for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
    texts = [_content_text(one.get("content"), resolve) for one in messages if isinstance(one, Mapping)]
    said = output.get("completion")
    if isinstance(said, str) and said:
        return [resolve(said), *texts[1:]]
    return texts


def _chat_text(messages: list[Any], resolve: Resolve) -> str | None:
    turns = [
        (str(one.get("role")), _content_text(one.get("content"), resolve))
        for one in messages
        if isinstance(one, Mapping)
    ]
    spoken = [turn for turn in turns if turn[0] != "system"] or turns
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken) if spoken else None


def _content_text(content: object, resolve: Resolve) -> str:
    if isinstance(content, str):
        return resolve(content)
    return "".join(_part_texts(content, resolve)) if isinstance(content, list) else ""


def _part_texts(content: list[Any], resolve: Resolve) -> Iterator[str]:
    for part in content:
        if isinstance(part, Mapping):
            kind, text = part.get("type"), part.get("text")
            if kind == "text" and isinstance(text, str):
                yield resolve(text)
            elif kind != "reasoning":
                yield f"[{kind}]"


# -- Inspect's ``.eval`` files: ZIP archives with one JSON member per sample.


# Inspect compresses members with Zstandard, which Python's own module reads from 3.14 on.
if sys.version_info >= (3, 14):
    from zipfile import BadZipFile, ZipFile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError
    from backports.zstd.zipfile import BadZipFile, ZipFile
T = TypeVar("T")
_SAMPLE: Final = re.compile(r"samples/(?P<whole>.+)_epoch_\d+(?:\.json|/(?P<shell>sample\.json))", re.DOTALL)
_OURS: Final = (b"_journal/", b"samples/", b"summaries.json", b"reductions.json", b"header.json")
_MAX_MEMBER_BYTES: Final = 256 << 20
"""Most bytes of a member."""
_ENCRYPTED: Final = 1
"""The bit in a member's flags that marks it as encrypted."""
_LOCAL_HEADER: Final = 30
"""Bytes before a member's name (APPNOTE, 4.3.7)."""
_AGAIN: Final = "Fetch it again, or write it again with: inspect log convert"
_BROKEN: Final = (
    BadZipFile,
    zlib.error,
    ZstdError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def is_log(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a ``.eval`` file, by its first member's name."""
    return head.startswith(ZIP) and head[_LOCAL_HEADER:].startswith(_OURS)


class EvalFile:
    """An open ``.eval`` file.

    Attributes:
        samples: Names of the members with samples, in the order in which they were first written. Of several members
            with the same name the last counts, as in Inspect.
    """

    def __init__(self, path: Path, archive: ZipFile) -> None:
        self._members = {entry.filename: entry for entry in archive.infolist()}
        self._archive = archive
        self.samples = [name for name in self._members if _SAMPLE.fullmatch(name)]
        require_plausible_ratio(path, sum(entry.file_size for entry in self._members.values()), path.stat().st_size)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def numbered_members(self, start: str) -> list[str]:
        """Return the names of the JSON members that consist of this start and a number, sorted by number."""
        found = (re.fullmatch(rf"{re.escape(start)}(\d{{1,9}})\.json", name) for name in self._members)
        return [match[0] for match in sorted(filter(None, found), key=lambda match: int(match[1]))]

    def read(self, name: str) -> bytes:
        """Return the decompressed bytes of a member.

        Raises:
            RefusedError: The member is damaged, encrypted or too long.
        """
        entry = self._members[name]
        if entry.flag_bits & _ENCRYPTED:
            raise RefusedError("unsupported", None, f"{name} is encrypted. Write the log without encryption.")
        if entry.file_size > _MAX_MEMBER_BYTES:
            raise RefusedError("too_long", None, f"{name} is longer than {_MAX_MEMBER_BYTES >> 20} MiB.")
        try:
            return self._archive.read(entry)
        except _BROKEN as error:
            raise RefusedError("truncated", None, f"{name} is damaged: {error}. {_AGAIN}") from None


@contextmanager
def open_eval_file(path: Path) -> Iterator[EvalFile]:
    """Open an ``.eval`` file for reading.

    Raises:
        FormatError: The file is damaged, or its compression ratio is too high.
    """
    require_input(path)
    with path.open("rb") as file:
        try:
            archive = ZipFile(file)
        except (BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise FormatError(f"{path}: the ZIP archive is damaged: {error}.", _AGAIN) from None
        with archive:
            yield EvalFile(path, archive)


def read_sample_parts(file: EvalFile, sample: str) -> dict[str, Any]:
    """Return the other members of a sample that is split into several: its metadata, and its long texts by number.
    Members of other samples are left out.

    Raises:
        RefusedError: A member can't be read.
    """
    folder = sample.removesuffix("sample.json")
    if folder == sample:
        return {}
    texts: dict[str, str] = {}
    for name in file.numbered_members(f"{folder}attachments/"):
        first = int(name.rpartition("/")[2].removesuffix(".json"))
        some = _decode_member(file, name, list[str])
        texts.update((str(first + number), text) for number, text in enumerate(some))
    about = f"{folder}metadata.json"
    return {"attachments": texts, "metadata": _decode_member(file, about, dict[str, Any]) if about in file else None}


def _decode_member(file: EvalFile, name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(file.read(name), type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise RefusedError("bad_json", None, f"{name} can't be read. {_AGAIN}") from None


_DOCUMENT: Final = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
_TASK: Final = re.compile(rb'"task"\s*:\s*("(?:[^"\\]|\\.)*")')
_HEADERS: Final = ("header.json", "_journal/start.json")
_SUMMARIES: Final = "summaries.json"
_MAX_ERROR: Final = 1_000
_WRITE: Final = "Inspect writes samples into its logs unless --no-log-samples is set."


class Header(Struct, frozen=True, kw_only=True):
    """The part of a log that applies to all samples.

    Attributes:
        id: The evaluation's id.
        scales: Scorers, or parts of scorers, whose values are scores on a scale; see `scales_in`.
    """

    id: str
    task: str
    model: str | None = None
    scales: list[str] = []


def begins(head: bytes) -> bool:
    return is_log(head) or _DOCUMENT.match(head) is not None


def dataset_of(path: Path) -> str | None:
    """Return the task that a log names as its data set; None if it is not found in the log's beginning.

    Raises:
        FormatError: The file can't be read.
    """
    head = first_bytes(path)
    if is_log(head):
        with open_eval_file(path) as file:
            return _header_of_zip(file, path).task
    named = _TASK.search(head)
    try:
        return msgspec.json.decode(named[1], type=str) if named else None
    except (msgspec.MsgspecError, ValueError):
        return None


def rows(stream: Stream, _container: FileFormat, path: Path) -> Iterator[Row]:
    """Yield the samples of an open log, each with the header.

    Raises:
        FormatError: The log is damaged, or has no samples.
    """
    start = stream.read(len(ZIP))
    if start == ZIP:
        with open_eval_file(path) as file:
            yield from _members(file, path)
    else:
        yield from _rows_of_document(start + read_all(stream, path), path)


def _members(file: EvalFile, path: Path) -> Iterator[Row]:
    header = _header_of_zip(file, path)
    if not file.samples:
        raise FormatError(f"{path}: the log has no samples.", _WRITE)
    for number, name in enumerate(file.samples, 1):
        try:
            raw = file.read(name)
            more = read_sample_parts(file, name)
        except RefusedError as error:
            yield make_refusal(number, name.encode(errors="replace"), error)
        else:
            yield SourceDocument(number, _row(header, raw, more), raw)


def _rows_of_document(text: bytes, path: Path) -> Iterator[Row]:
    said = parse_lenient(text)
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
            message = "The sample can't be read: it is nested too deeply, or contains an invalid character."
            yield make_refusal(number, b"", RefusedError("bad_json", None, message))
        else:
            yield SourceDocument(number, _row(header, raw, {}), raw)


def _header_of_zip(file: EvalFile, path: Path) -> Header:
    name = next((name for name in _HEADERS if name in file), None)
    if name is None:
        raise FormatError(f"{path}: it is not an Inspect log: it has neither {' nor '.join(_HEADERS)}.", _WRITE)
    try:
        said = plain_object(file.read(name))
        summaries = [_SUMMARIES] if _SUMMARIES in file else file.numbered_members("_journal/summaries/")
        scored = [plain_object(b'{"all":' + file.read(one) + b"}")["all"] for one in summaries]
    except RefusedError as error:
        raise FormatError(f"{path}: {error.message}", "Fetch the log again.") from None
    return _header(said, [one for some in scored if isinstance(some, list) for one in some], path)


def _header(said: Mapping[str, Any], scored: list[Any], path: Path) -> Header:
    about = said.get("eval")
    task, model, known = (_name(about, key) for key in ("task", "model", "eval_id"))
    if task is None:
        raise FormatError(f"{path}: the log does not name its task.", "Is it an Inspect log?")
    scores = (_scores(one) for one in scored if isinstance(one, Mapping))
    return Header(id=known or task, task=task, model=model, scales=scales_in(scores))


def _name(about: object, key: str) -> str | None:
    name = about.get(key) if isinstance(about, Mapping) else None
    return name if isinstance(name, str) and name.isprintable() and name.strip() else None


def _row(header: Header, sample: bytes, more: Mapping[str, Any]) -> bytes:
    return b'{"log":%b,"more":%b,"sample":%b}' % (msgspec.json.encode(header), msgspec.json.encode(more), sample)


def _scores(sample: Mapping[str, Any]) -> object:
    return sample["scores"] if "scores" in sample else {"score": sample.get("score")}


def completions(row: Mapping[str, Any]) -> Iterator[Logged]:
    """Yield the completions of a sample, with their scores.

    Raises:
        RefusedError: The sample failed without a completion, or lacks required fields.
    """
    header, sample = msgspec.convert(row["log"], Header), row["sample"]
    if not isinstance(sample, Mapping):
        raise RefusedError("wrong_type", "samples", "A sample is not an object. Fetch the log again.")
    sample = {**sample, **row["more"]}
    resolve = attachment_resolver(sample.get("attachments"))
    question, reference = question_of(sample, resolve), _reference(sample.get("target"))
    if question is None:
        raise RefusedError("missing_field", "input", "The sample has no input. Fetch the log again.")
    said = completions_of(sample, resolve)
    error = _error_message(sample.get("error"))
    if not said or (error and not said[0]):
        why = f": the sample failed. {error}" if error else "."
        raise RefusedError("missing_field", "output", f"There is no completion{why}")
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
    targets = target if isinstance(target, list) else [target]
    texts = [one for one in targets if isinstance(one, str)]
    if len(texts) < len(targets):
        raise RefusedError("wrong_type", "target", "The target is not text. Fetch the log again.")
    return join_alternatives(texts)


def _error_message(error: object) -> str | None:
    message = error.get("message") if isinstance(error, Mapping) else error
    return message[:_MAX_ERROR] if isinstance(message, str) and message else None


KIND: Final = Format(
    name="inspect",
    begin=constant_reader(completions),
    rows=rows,
    begins=begins,
    dataset_of=dataset_of,
)
