"""Reads logs of trainers: TRL's tables of completions (``completions_00010.parquet``), verl's rollouts.

TRL's columns: ``trl/trainer/grpo_trainer.py`` (1.16.0), ``log``; before 0.17 only ``reward`` and no ``advantage``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from workbench.data.formats.fields import FIELDS
from workbench.data.formats.logs.logged import (
    Format,
    Grade,
    Logged,
    Read,
    answer_text,
    constant_reader,
    graded,
    maybe_text,
    question_fields,
    reference_text,
    remaining_fields,
    verifier_name,
    wrong_type_error,
)

# -- Rewards of the completions of a training run.


class Occurrences(Counter[bytes]):
    """Derives ids for a file's completions. Equal completions, which a policy may sample repeatedly,
    get different ids.
    """

    def key_of(self, *parts: object) -> str:
        same = blake2b(msgspec.msgpack.encode([str(part) for part in parts]), digest_size=16)
        self[same.digest()] += 1
        same.update(str(self[same.digest()]).encode())
        return same.hexdigest()


def reward_grades(tool: str, rewards: Mapping[str, Any]) -> Iterator[Grade]:
    """Yield a grade for each reward function: 1 is correct, 0 and -1 are incorrect, any other number is only a score.

    Args:
        rewards: Values by reward function; a value that is not a finite number is ignored (NaN: it did not apply).
    """
    for name, value in rewards.items():
        grade = graded(verifier_name(tool, name), value)
        if grade is not None:
            yield replace(grade, verdict="incorrect") if grade.score == -1 else grade


_OWN: Final = frozenset({"step", "prompt", "completion", "advantage", "image", "images"})
_REFERENCES: Final = (*FIELDS["reference"], "solution")


def dataset_of(path: Path) -> str | None:
    """Return the name of the training that wrote a table, from its folder:
    ``TRAINING/completions/completions_00010.parquet``.
    """
    folder = path.absolute().parent
    return (folder.parent.name or None) if folder.name == "completions" else None


def begin(_path: Path) -> Read:
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question, completion = question_fields(row, "prompt"), answer_text(row, "completion")
        rewards = {key: value for key, value in row.items() if key not in _OWN and key not in _REFERENCES}
        yield Logged(
            item={
                "completion_id": seen.key_of(row.get("step"), question["question"], completion),
                **question,
                "reference": reference_text(row, *_REFERENCES) or "",
                "completion": completion,
                **remaining_fields(row, {"prompt", "completion", *_REFERENCES}, "trl"),
            },
            grades=tuple(reward_grades("trl", rewards)),
        )

    return read


KIND: Final = Format(
    name="trl-completions",
    keys=tuple({"step", "prompt", "completion", one} for one in ("advantage", "reward")),
    begin=begin,
    dataset_of=dataset_of,
)


# -- verl's rollouts (``rollout_data_dir``, ``validation_data_dir``) and its data sets, with and without responses.


_DATASET_KEYS: Final = frozenset({"data_source", "prompt", "reward_model"})
_VERL_OWN: Final = frozenset({"input", "output", "gts", "step", "reward", "uid", "request_id", "data_source"})
"""Keys of a rollout that are not rewards; validation repeats the score as ``reward``."""


def verl_dataset(path: Path) -> str | None:
    """Return the folder's name of a rollout file, which is named by its training step: ``20.jsonl``; else None."""
    return (path.absolute().parent.name or None) if path.stem.isdigit() else None


def begin_rollouts(_path: Path) -> Read:
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question, completion = answer_text(row, "input"), answer_text(row, "output")
        rewards = {key: value for key, value in row.items() if key not in _VERL_OWN}
        yield Logged(
            item={
                "completion_id": seen.key_of(row.get("step"), question, completion),
                "question": question,
                "reference": reference_text(row, "gts", "ground_truth") or "",
                "completion": completion,
                "source": maybe_text(row, "data_source"),
                **remaining_fields(row, {"input", "output", "gts", "ground_truth", "data_source"}, "verl"),
            },
            grades=tuple(reward_grades("verl", rewards)),
        )

    return read


def begin_responses(_path: Path) -> Read:
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question = _question(row)
        responses = row.get("responses")
        if not isinstance(responses, list) or not all(isinstance(one, str) for one in responses):
            raise wrong_type_error("responses", "a list of texts")
        for completion in responses:
            key = seen.key_of(question["question"], completion)
            yield Logged(item={**question, "completion_id": key, "completion": completion})

    return read


def _question(row: Mapping[str, Any]) -> dict[str, Any]:
    rule = row.get("reward_model")
    if not isinstance(rule, dict):
        raise wrong_type_error("reward_model", "an object with ground_truth")
    return {
        **question_fields(row, "prompt"),
        "reference": reference_text(rule, "ground_truth") or "",
        "source": maybe_text(row, "data_source"),
        **remaining_fields(row, {"data_source", "prompt", "reward_model", "responses"}, "verl"),
    }


ROLLOUTS: Final = Format(
    name="verl-rollouts", keys=({"input", "output", "score", "step"},), begin=begin_rollouts, dataset_of=verl_dataset
)
RESPONSES: Final = Format(name="verl-responses", keys=({*_DATASET_KEYS, "responses"},), begin=begin_responses)
DATASET: Final = Format(
    name="verl-dataset",
    keys=(_DATASET_KEYS,),
    begin=constant_reader(lambda row: [Logged(item=_question(row))]),
    holds="questions",
)
