"""verl's rollouts (``rollout_data_dir``, ``validation_data_dir``) and its data sets, with and without responses.

Keys: ``_write_generations`` of ``verl/trainer/ppo/v1/trainer_base.py`` and ``main_generation_server.py`` (0.9.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from workbench.data.formats.logs.cells import answer, asked, kept, maybe_text, said, wrong
from workbench.data.formats.logs.kind import LogKind, Read, always
from workbench.data.formats.logs.logged import Logged
from workbench.data.formats.logs.rewards import Occurrences, rewarded

_OWN: Final = frozenset({"input", "output", "gts", "step", "reward", "uid", "request_id", "data_source"})
"""Keys of a rollout that are no rewards; validation writes the score again as ``reward``."""


def recognises_rollout(element: Mapping[str, Any]) -> bool:
    """Whether an object is a line of a dump of rollouts."""
    return {"input", "output", "score", "step"} <= element.keys()


def dataset_of(path: Path) -> str | None:
    """The folder of a step's file, which is called after its step alone: ``20.jsonl``."""
    return (path.absolute().parent.name or None) if path.stem.isdigit() else None


def begin_rollouts(_path: Path) -> Read:
    """A function that gives the completion of a line, with its score and what else its reward function gave."""
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question, completion = said(row, "input"), said(row, "output")
        rewards = {key: value for key, value in row.items() if key not in _OWN}
        yield Logged(
            item={
                "completion_id": seen.key_of(row.get("step"), question, completion),
                "question": question,
                "reference": answer(row, "gts", "ground_truth") or "",
                "completion": completion,
                "source": maybe_text(row, "data_source"),
                **kept(row, {"input", "output", "gts", "ground_truth", "data_source"}, "verl"),
            },
            grades=tuple(rewarded("verl", rewards)),
        )

    return read


def recognises_responses(element: Mapping[str, Any]) -> bool:
    """Whether an object is a row of a data set to which responses were added."""
    return recognises_dataset(element) and "responses" in element


def begin_responses(_path: Path) -> Read:
    """A function that gives the responses of a row."""
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question = _question(row)
        for completion in _responses(row):
            key = seen.key_of(question["question"], completion)
            yield Logged(item={**question, "completion_id": key, "completion": completion})

    return read


def recognises_dataset(element: Mapping[str, Any]) -> bool:
    """Whether an object is a row of a data set in verl's layout: a question."""
    return {"data_source", "prompt", "reward_model"} <= element.keys()


def _of_dataset(row: Mapping[str, Any]) -> Iterator[Logged]:
    yield Logged(item=_question(row))


def _question(row: Mapping[str, Any]) -> dict[str, Any]:
    rule = row.get("reward_model")
    if not isinstance(rule, dict):
        raise wrong("reward_model", "an object with ground_truth")
    return {
        **asked(row, "prompt"),
        "reference": answer(rule, "ground_truth") or "",
        "source": maybe_text(row, "data_source"),
        **kept(row, {"data_source", "prompt", "reward_model", "responses"}, "verl"),
    }


def _responses(row: Mapping[str, Any]) -> list[str]:
    responses = row.get("responses")
    if not isinstance(responses, list) or not all(isinstance(one, str) for one in responses):
        raise wrong("responses", "a list of texts")
    return responses


ROLLOUTS: Final = LogKind(
    name="verl-rollouts", recognises=recognises_rollout, begin=begin_rollouts, dataset_of=dataset_of
)
RESPONSES: Final = LogKind(name="verl-responses", recognises=recognises_responses, begin=begin_responses)
DATASET: Final = LogKind(name="verl-dataset", recognises=recognises_dataset, begin=always(_of_dataset), questions=True)
