"""Reads and writes Label Studio's JSON: tasks with annotations.

Label Studio's description of the formats: https://labelstud.io/guide/tasks.html and
https://labelstud.io/guide/export.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from workbench.core.item import StoredItem
from workbench.core.label import LabelLine
from workbench.core.verdict import Outcome
from workbench.data.formats.carried import (
    LINE,
    VERDICTS,
    CarriedAnswers,
    answers_of,
    combine_answers,
    decoded,
    hidden_part,
    merge_row,
    names_of,
    texts_of,
    verdict_of,
)
from workbench.data.formats.logs.logged import Grade, unparsed_grade, verifier_name


class _StudioTask(Struct):
    data: dict[str, msgspec.Raw]
    meta: dict[str, Any] | None = None
    annotations: list[dict[str, Any]] = []
    predictions: Any = None
    id: int | str | None = None


def is_task(element: Mapping[str, Any]) -> bool:
    return isinstance(element.get("data"), dict) and bool({"annotations", "predictions"} & element.keys())


def task_of(number: int, item: StoredItem, lines: Iterable[LabelLine], *, sighted: bool) -> dict[str, Any]:
    """Convert an item to a task.

    Args:
        number: The task's number in the file, from 1.
        lines: The item's labels; each becomes an annotation.
        sighted: Include the data that annotators must not see, such as gold.
    """
    return {
        "id": number,
        "data": {**names_of(item), **texts_of(item)},
        "meta": {LINE: hidden_part(item)} if sighted else {},
        "annotations": [_annotation(line) for line in lines],
        "predictions": [],
    }


def _annotation(line: LabelLine) -> dict[str, Any]:
    fields = answers_of(line) | {LINE: [msgspec.json.encode(line).decode()]}
    annotation: dict[str, Any] = {
        "result": [_result(line, name, values) for name, values in fields.items()],
        "was_cancelled": False,
        "ground_truth": line.role == "adjudicator",
        "created_at": line.created_at,
        "updated_at": line.created_at,
        "lead_time": line.focused_ms / 1000 if isinstance(line.focused_ms, int) else None,
        "unique_id": line.uuid,
    }
    # Label Studio accepts only an address or id of its own users; for other people, the label line has the name.
    if "@" in line.annotator:
        annotation["completed_by"] = {"email": line.annotator}
    return annotation


def _result(line: LabelLine, name: str, values: list[str]) -> dict[str, Any]:
    is_text = name in ("note", LINE)
    region = blake2b(f"{line.uuid} {name}".encode(), digest_size=5).hexdigest()
    return {
        "id": region,
        "from_name": name,
        "to_name": "completion",
        "type": "textarea" if is_text else "choices",
        "value": {"text" if is_text else "choices": values},
        "origin": "manual",
    }


def row_of(raw: bytes) -> bytes:
    """Return the item of a task, as one JSON object.

    Raises:
        RefusedError: The task contains no item.
    """
    task = _task(raw)
    hidden = (task.meta or {}).get(LINE)
    if isinstance(hidden, str):
        return merge_row(hidden, task.data, "meta")
    return msgspec.json.encode({key: token for key, token in task.data.items() if key != "dataset"})


def dataset_of(raw: bytes) -> str | None:
    try:
        return msgspec.json.decode(_task(raw).data["dataset"], type=str)
    except (KeyError, msgspec.MsgspecError):
        return None


def answers_in(raw: bytes) -> Iterator[CarriedAnswers]:
    """Return the annotators' answers in a task, without cancelled annotations.

    Raises:
        RefusedError: The task can't be read.
    """
    task = _task(raw)
    for number, annotation in enumerate(task.annotations, 1):
        if not annotation.get("was_cancelled"):
            yield _answers(task, number, annotation)


def grades_in(raw: bytes) -> tuple[Grade, ...]:
    """Return the verdicts of a task's predictions. Their scores are confidences, not grades.

    Raises:
        RefusedError: The task can't be read.
    """
    found: dict[str, Grade] = {}
    predictions = _task(raw).predictions
    for prediction in predictions if isinstance(predictions, list) else []:
        if isinstance(prediction, dict):
            verdict = verdict_of(_control_values(prediction))
            name = verifier_name("label-studio", str(prediction.get("model_version") or "predictions"))
            if verdict is not None:
                found.setdefault(name, _grade(name, verdict, prediction.get("score")))
    return tuple(found.values())


def _grade(name: str, said: str, confidence: object) -> Grade:
    sure = f"confidence {confidence:.3g}" if isinstance(confidence, float) else None
    if said == "unsuitable":
        return Grade(verifier=name, verdict="abstain", reason="invalid", detail=sure)
    return (
        Grade(verifier=name, verdict=Outcome(said).word, detail=sure)
        if said in VERDICTS
        else unparsed_grade(name, said)
    )


def _answers(task: _StudioTask, number: int, annotation: Mapping[str, Any]) -> CarriedAnswers:
    key = annotation.get("unique_id") or f"{task.id} {annotation.get('id') or number}"
    return combine_answers(
        _person_name(annotation.get("completed_by")), str(key), _control_values(annotation), _time_text(annotation)
    )


def _control_values(annotation: Mapping[str, Any]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    results = annotation.get("result")
    for result in results if isinstance(results, list) else []:
        if isinstance(result, dict) and isinstance(result.get("value"), dict):
            given.setdefault(str(result.get("from_name")), []).extend(_texts_in(result["value"]))
    return given


def _texts_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for part in value for text in _texts_in(part)]
    if isinstance(value, dict):
        return [text for name in ("choices", "text", "taxonomy") for text in _texts_in(value.get(name))]
    return []


def _person_name(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return value if isinstance(value, str) and value not in ("", "None") else f"label-studio-{value or 'user'}"


def _time_text(annotation: Mapping[str, Any]) -> str | None:
    time = annotation.get("updated_at") or annotation.get("created_at")
    return time if isinstance(time, str) else None


def _task(raw: bytes) -> _StudioTask:
    return decoded(raw, _StudioTask)
