"""Export to other annotation tools and back: each file has the complete label line next to the answers that the tool
shows.

A tool has its own users, times and ids. To preserve ours, each person's answers are exported with their label line. If
the answers that come back still equal those of the line, the line is imported; if they were changed in the tool, they
are imported as a later revision of the label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid5

import msgspec
from msgspec import UNSET, Struct, structs

from workbench.core.item import StoredItem
from workbench.core.label import LabelLine
from workbench.core.taxonomy import parse_type
from workbench.data.formats.fields import FIELDS, GRADES, fold
from workbench.data.formats.lines import RefusedError, explain_document
from workbench.data.formats.verdict_words import in_words
from workbench.data.formats.writing import released_line

T = TypeVar("T")

NAMESPACE = UUID("0f4d2b0c-6a51-5f1e-8d2e-4a1c9b7e5d10")
"""Namespace of the uuids of labels that were given in another tool."""

LINE = "workbench"
"""Name of the hidden field with the label line, and of the hidden part of an item."""

VERDICTS = ("correct", "incorrect", "unsuitable")
QUESTIONS = ("verdict", "reason", "answer_subtype", "tags", "unsure", "note")
"""Questions to annotators in the tool; ``unsure`` is a choice with one option."""

TEXTS = {"question": "question", "answer": "reference", "completion": "completion"}
"""Names of the texts in other tools, by key of the released schema."""

_MAX_CHOICE = 100
_OF_VERDICTS = {"verdict", *FIELDS["gold"], *GRADES}
"""Names of questions whose answers may be any word for a verdict; in answers to others only `VERDICTS` count."""


class CarriedAnswers(Struct, kw_only=True):
    """One annotator's answers on one item in another tool, with their metadata.

    Attributes:
        person: The annotator's name in the tool.
        key: The tool's id of this answer, which is the same in each of its exports.
        line: The label line that was exported with the item, as it came back; None if the label was made in the tool.
    """

    person: str
    key: str
    verdict: str | None = None
    reason: str | None = None
    answer_subtype: str | None = None
    tags: tuple[str, ...] = ()
    unsure: bool = False
    note: str | None = None
    created_at: str | None = None
    line: str | None = None


class CarriedItem(NamedTuple):
    dataset: str | None
    question_id: str
    completion_id: str


def answers_of(line: LabelLine) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {
        "verdict": [line.verdict] if line.verdict else [],
        "reason": [line.reason] if line.reason else [],
        "answer_subtype": [line.answer_subtype] if line.answer_subtype else [],
        "tags": [] if line.tags is UNSET else list(line.tags),
        "unsure": ["unsure"] if line.unsure else [],
        "note": [line.note] if line.note else [],
    }
    return {name: values for name, values in found.items() if values}


def combine_answers(
    person: str, key: str, given: Mapping[str, Sequence[str]], created_at: str | None
) -> CarriedAnswers:
    """Combine an annotator's answers to the tool's questions; the question `LINE` holds the exported label line.

    The answer to a question with an unknown name is used if it is a verdict or an answer type.
    """

    def one(name: str) -> str | None:
        return given[name][0] if given.get(name) else None

    others = [texts for name, texts in given.items() if name not in (*QUESTIONS, LINE)]
    elsewhere = [text for texts in others for text in texts if len(text) <= _MAX_CHOICE]
    types = [parsed.code for text in elsewhere if (parsed := parse_type(text)) is not None and parsed.is_subtype]
    return CarriedAnswers(
        person=person,
        key=key,
        verdict=verdict_of(given),
        reason=one("reason"),
        answer_subtype=one("answer_subtype") or next(iter(types), None),
        tags=tuple(given.get("tags", ())),
        unsure=bool(given.get("unsure")),
        note="\n".join(given.get("note", ())) or None,
        created_at=created_at,
        line=one(LINE),
    )


def verdict_of(given: Mapping[str, Sequence[str]]) -> str | None:
    named = [text for name, texts in given.items() if fold(name) in _OF_VERDICTS for text in texts]
    others = [text for name, texts in given.items() if name not in (*QUESTIONS, LINE) for text in texts]
    words = dict.fromkeys(map(in_words, named or [text for text in others if text.lower() in VERDICTS]))
    return " and ".join(filter(None, words)) or None


def line_of(answers: CarriedAnswers, place: CarriedItem) -> LabelLine:
    sent = _exported_line(answers.line, place)
    if sent is None:
        said = _line_fields(answers)
        uuid = str(uuid5(NAMESPACE, "\x1f".join(str(part) for part in (*place, answers.key))))
        return LabelLine(**place._asdict(), annotator=answers.person, uuid=uuid, created_at=answers.created_at, **said)
    if answers_of(sent) == answers_of(structs.replace(sent, **_line_fields(answers))):
        return sent
    changed = structs.replace(sent, **_line_fields(answers), revision=sent.revision + 1)
    said_now = msgspec.json.encode(answers_of(changed)).decode()
    changed.uuid = str(uuid5(NAMESPACE, f"{sent.uuid} {said_now}"))
    changed.created_at = answers.created_at or sent.created_at
    return changed


def _line_fields(answers: CarriedAnswers) -> dict[str, Any]:
    return {
        "verdict": answers.verdict,
        "reason": answers.reason,
        "answer_subtype": answers.answer_subtype,
        "tags": answers.tags or UNSET,
        "unsure": answers.unsure,
        "note": answers.note,
    }


def _exported_line(text: str | None, place: CarriedItem) -> LabelLine | None:
    if text is None:
        return None
    try:
        line = msgspec.json.decode(text, type=LabelLine)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if line.uuid is None:
        return None
    ours = CarriedItem(line.dataset, line.question_id or place.question_id, line.completion_id)
    return line if ours[1:] == place[1:] else None


def names_of(item: StoredItem) -> dict[str, str]:
    return {"dataset": item.dataset, "question_id": item.question_key, "completion_id": item.completion_key}


def texts_of(item: StoredItem) -> dict[str, str]:
    return {"question": item.question, "reference": item.reference, "completion": item.completion}


def hidden_part(item: StoredItem) -> str:
    """Return the data of an item that annotators must not see, as JSON: a row in the released schema
    with empty texts.
    """
    bare = structs.replace(item, question="", reference="", completion="")
    return released_line(bare, fixed=True).decode().rstrip("\n")


def decoded(raw: bytes, kind: type[T]) -> T:
    """Decode a JSON document to the given type.

    Raises:
        RefusedError: The document has another type.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        message, _, field = str(error).partition(" - at `$.")
        raise RefusedError("wrong_type", field.rstrip("`") or None, f"{message}. Export it again.") from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise explain_document(raw) from None


def merge_row(hidden: str, texts: Mapping[str, msgspec.Raw], place: str) -> bytes:
    """Merge a `hidden_part` and the visible texts into a row.

    Args:
        place: The field with the hidden part, for messages.

    Raises:
        RefusedError: The hidden part is not an object.
    """
    try:
        row = msgspec.json.decode(hidden.encode(), type=dict[str, msgspec.Raw])
        return msgspec.json.encode({key: texts.get(TEXTS.get(key, ""), token) for key, token in row.items()})
    except (msgspec.MsgspecError, UnicodeEncodeError):
        raise RefusedError("wrong_type", place, f"{place}.{LINE} is not a row. Export it again.") from None
