"""TRL's tables of completions: what ``log_completions`` of its GRPO trainer writes (``completions_00010.parquet``).

Columns: ``trl/trainer/grpo_trainer.py`` (1.16.0), ``log``; before 0.17 ``reward`` alone and no ``advantage``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from workbench.data.formats.fields import FIELDS
from workbench.data.formats.logs.cells import answer, asked, kept, said
from workbench.data.formats.logs.kind import LogKind, Read
from workbench.data.formats.logs.logged import Logged
from workbench.data.formats.logs.rewards import Occurrences, rewarded

_OWN: Final = frozenset({"step", "prompt", "completion", "advantage", "image", "images"})
_REFERENCES: Final = (*FIELDS["reference"], "solution")


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is a row of such a table."""
    keys = element.keys()
    return {"step", "prompt", "completion"} <= keys and bool({"advantage", "reward"} & keys)


def dataset_of(path: Path) -> str | None:
    """The training in whose folder a table lies: ``TRAINING/completions/completions_00010.parquet``."""
    folder = path.absolute().parent
    return (folder.parent.name or None) if folder.name == "completions" else None


def begin(_path: Path) -> Read:
    """A function that gives the completion of a row, with what each reward function gave it."""
    seen = Occurrences()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        question, completion = asked(row, "prompt"), said(row, "completion")
        rewards = {key: value for key, value in row.items() if key not in _OWN and key not in _REFERENCES}
        yield Logged(
            item={
                "completion_id": seen.key_of(row.get("step"), question["question"], completion),
                **question,
                "reference": answer(row, *_REFERENCES) or "",
                "completion": completion,
                **kept(row, {"prompt", "completion", *_REFERENCES}, "trl"),
            },
            grades=tuple(rewarded("trl", rewards)),
        )

    return read


KIND: Final = LogKind(name="trl-completions", recognises=recognises, begin=begin, dataset_of=dataset_of)
