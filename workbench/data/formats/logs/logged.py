"""The result of reading a row of a log: an item, and the grades that the tool gave it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from workbench.core.selection import is_usable_number
from workbench.core.verdict import OutcomeWord
from workbench.data.formats.documents import Row, SourceDocument
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError, Stream
from workbench.data.formats.logs.prompts import plain_object, targets_of
from workbench.data.formats.source import FileFormat

_MAX_NAME: Final = 100
"""Most characters of a verifier's name."""
_MAX_REPLY: Final = 200
_VERDICTS: Final[dict[float, OutcomeWord]] = {1: "correct", 0: "incorrect"}
_UNUSUAL = re.compile(r"[^\w.+@/-]+")


class Grade(Struct, frozen=True, kw_only=True):
    """One grader's judgement of one completion.

    Attributes:
        verifier: The grader's name, from `verifier_name`.
        verdict: Its verdict; None if it only gave a score, or could not decide.
        score: Its finite score; None if it gave none.
        reason: The grader's own reason code.
        answer: The completion's final answer as extracted by the grader.
        detail: Further details for the reader, such as the grader's explanation.
    """

    verifier: str
    verdict: OutcomeWord | None = None
    score: float | None = None
    reason: str | None = None
    answer: str | None = None
    detail: str | None = None


class Logged(Struct, frozen=True, kw_only=True):
    """One completion in a log.

    Attributes:
        item: Values by field name, None if there is none; other keys are stored unchanged with the item.
        grades: One grade per grader.
    """

    item: dict[str, Any]
    grades: tuple[Grade, ...] = ()


def verifier_name(*parts: str) -> str:
    """Join the parts that distinguish a grader to its name: ``lm-eval/gsm8k/exact_match-strict-match``.

    Invalid characters become ``-``; a long name ends in a hash of the full name.
    """
    name = "/".join(_UNUSUAL.sub("-", part).strip("-") or "-" for part in parts)
    if len(name) <= _MAX_NAME:
        return name
    mark = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{name[: _MAX_NAME - len(mark) - 1]}-{mark}"


def graded(verifier: str, value: object, answer: str | None = None, *, scale: bool = False) -> Grade | None:
    """Convert a number or a boolean to a grade; None for anything else.

    True and 1 are the verdict "correct", False and 0 are "incorrect". Any other number is a score without a verdict,
    which would need a threshold.

    Args:
        answer: The completion's final answer as extracted by the grader.
        scale: Whether the grader gives numbers outside [0, 1], so that 0 and 1 are scores as well.
    """
    if isinstance(value, bool):
        return Grade(verifier=verifier, verdict="correct" if value else "incorrect", answer=answer)
    number = None if isinstance(value, str) else number_of(value)
    if number is None:
        return None
    verdict = None if scale else _VERDICTS.get(number)
    return Grade(verifier=verifier, verdict=verdict, score=number, answer=answer)


def unparsed_grade(verifier: str, reply: str) -> Grade:
    return Grade(verifier=verifier, verdict="abstain", reason="unparsed", detail=reply[-_MAX_REPLY:])


def sample_id(task: str, number: object, question: str, reference: str) -> str:
    content = blake2b(f"{question}\0{reference}".encode(errors="replace"), digest_size=4).hexdigest()
    return f"{task}/{number}-{content}"


def number_of(value: object) -> float | None:
    """Return a finite number, also from a text; None for anything else, including booleans."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if is_usable_number(number) else None


# -- The description of a format with fixed fields: how its files are detected and read.


Read = Callable[[Any], Iterable[Any]]
"""Returns the completions of a parsed row (`Logged`), or the records of code in it; raises RefusedError if a part is
invalid.
"""
Begin = Callable[[Path], Read]
"""Returns a `Read` for one file; it may look for other files next to it."""
Rows = Callable[[Stream, FileFormat, Path], Iterator[Row]]
"""Yields the rows of an open file, like `documents`."""


def constant_reader(read: Read) -> Begin:
    return lambda _path: read


class Format(Struct, frozen=True, kw_only=True):
    """A format with fixed fields: one kind of log, or of files of code.

    Attributes:
        name: Its name in ``import --format``.
        keys: The keys of a file's rows; one of these sets is there.
        without: Keys that its rows don't have.
        begin: Returns a reader for the rows of one file.
        rows: Yields the rows of a file; by default the file lists them.
        parse: Returns a row as `begin`'s reader takes it: a plain object.
        begins: Returns whether a file that begins with these bytes is a single document of this format.
        dataset_of: Returns the data set that a file names; None if it names none. Raises FormatError.
        holds: What its rows are. Problems may be followed by solutions in the same row.
        later: Codes of rejections that may be resolved by adding a file next to the imported one.
    """

    name: str
    keys: tuple[Set[str], ...] = ()
    without: Set[str] = frozenset()
    begin: Begin
    rows: Rows | None = None
    parse: Callable[[SourceDocument], Any] = lambda row: plain_object(row.json)
    begins: Callable[[bytes], bool] = lambda _head: False
    dataset_of: Callable[[Path], str | None] = lambda _path: None
    holds: Literal["items", "questions", "problems", "solutions"] = "items"
    later: frozenset[str] = frozenset()

    @property
    def is_code(self) -> bool:
        return self.holds in ("problems", "solutions")

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return self.without.isdisjoint(row) and any(keys <= row.keys() for keys in self.keys)


# -- Values in a row of a log as text, numbers and kept keys.


_SYSTEM: Final = ("system", "developer")
_CHAT: Final = "text, or messages with a role and content"


def maybe_text(row: Mapping[str, Any], *keys: str) -> str | None:
    """Return the first of these cells that is present and not null as text; a number is written as in JSON.

    Raises:
        RefusedError: The cell is neither text nor a number.
    """
    for key in keys:
        value = row.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, bool | list | dict):
            raise wrong_type_error(key, "text")
        if value is not None:
            return json_text(value)
    return None


def reference_text(row: Mapping[str, Any], *keys: str) -> str | None:
    """Return a reference answer as text; a number or any other JSON value is written as JSON.

    A list with one element (or the Python source of such a list) is replaced by the element.

    Raises:
        RefusedError: The answer can't be written as text.
    """
    value = next((row[key] for key in keys if row.get(key) is not None), None)
    members = targets_of(value)
    if members is not None and len(members) == 1 and (isinstance(value, list) or isinstance(members[0], str)):
        value = members[0]
    return value if value is None or isinstance(value, str) else json_text(value)


def json_text(value: object) -> str:
    """Return a value as JSON text.

    Raises:
        RefusedError: The value can't be written.
    """
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, RecursionError, UnicodeEncodeError):
        raise RefusedError("bad_json", None, "A number is too long, or a value is nested too deeply.") from None


def number(value: object) -> float | None:
    if isinstance(value, str):
        return None
    return number_of(int(value) if isinstance(value, bool) else value)


def question_fields(row: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """Return the question and the system prompt in a model's input, which is text or chat messages.

    A single message is used as it is; of several messages each is preceded by its speaker.

    Raises:
        RefusedError: The input is missing, or neither text nor chat messages.
    """
    key = _first_present(row, keys)
    if isinstance(row[key], str):
        return {"question": row[key]}
    turns = list(messages(row[key], key))
    spoken = [turn for turn in turns if turn[0] not in _SYSTEM]
    if not spoken:
        raise wrong_type_error(key, _CHAT)
    told = "\n\n".join(said for who, said in turns if who in _SYSTEM)
    question = spoken[0][1] if len(spoken) == 1 else "\n\n".join(f"{who}:\n{said}" for who, said in spoken)
    return {"question": question, **({"system": told} if told else {})}


def answer_text(row: Mapping[str, Any], *keys: str) -> str:
    """Return a model's answer: text, or the last message of a chat.

    Raises:
        RefusedError: The answer is missing, or neither text nor a chat.
    """
    key = _first_present(row, keys)
    if isinstance(row[key], str):
        return str(row[key])
    turns = list(messages(row[key], key))
    if not turns:
        raise wrong_type_error(key, _CHAT)
    return turns[-1][1]


def messages(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield speaker and text of each message.

    Args:
        key: Field of the messages, for errors.

    Raises:
        RefusedError: The value is not a list of messages.
    """
    for message in value if isinstance(value, list) else [value]:
        if not isinstance(message, dict) or not message.keys() & {"role", "content"}:
            raise wrong_type_error(key, _CHAT)
        yield str(message.get("role") or "user"), content_text(message.get("content"), key)


def content_text(value: object, key: str) -> str:
    """Return a message's content as text; of a list of parts, those without text are replaced by their type.

    Raises:
        RefusedError: The content is neither text nor a list of parts.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        texts = (part.get("text") for part in value)
        parts = zip(value, texts, strict=True)
        return "\n".join(said if isinstance(said, str) else f"[{part.get('type') or 'part'}]" for part, said in parts)
    raise wrong_type_error(key, _CHAT)


def remaining_fields(row: Mapping[str, Any], taken: Collection[str], tool: str) -> dict[str, Any]:
    """Return the other keys of a row, which are stored with the item.

    Args:
        taken: Keys that the item uses.
        tool: The tool's name; it becomes the prefix of keys that are also field names of workbench.
    """
    left = {key: value for key, value in row.items() if key not in taken}
    return {f"{tool}.{key}" if key in FIELDS else key: value for key, value in left.items()}


def wrong_type_error(key: str, wanted: str) -> RefusedError:
    return RefusedError("wrong_type", key, f"{key} has an unexpected kind of value. Write it as {wanted}.")


def _first_present(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    key = next((key for key in keys if row.get(key) is not None), None)
    if key is None:
        raise RefusedError("missing_field", keys[0], f"{' or '.join(keys)} is missing. Add it.")
    return key
