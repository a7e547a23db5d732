"""What lies beside a file of lm-eval's samples: the run's results, which name the model and the metrics' direction."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

_SAMPLES: Final = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)")
_SUFFIXES: Final = re.compile(r"(\.(jsonl|json|parquet|gz))+$")
_NAME: Final = re.compile(r"(?:^|,)(?:pretrained|model)=([^,]+)")
_LONGEST: Final = 64 << 20
"""Bytes of a file of results that is read."""


class Run(Struct, frozen=True, kw_only=True):
    """The run that a file of samples comes from.

    Attributes:
        model: The model that answered; None where nothing says it.
        worse: Metrics that are lower for better responses.
        voting: Filters that take the majority of several responses.
    """

    task: str
    model: str | None = None
    worse: frozenset[str] = frozenset()
    voting: frozenset[str] = frozenset()

    def grades(self, metric: str) -> bool:
        """Whether a higher value of a metric speaks for a response."""
        return metric not in self.worse

    def votes(self, filter: str) -> bool:
        """Whether a filter takes what most of several responses say."""
        return filter in self.voting or filter.startswith("maj")


def run_of(path: Path) -> Run:
    """The run of a file of samples, as its name and the results beside it tell."""
    stem = _SUFFIXES.sub("", path.name)
    named = _SAMPLES.fullmatch(stem)
    for beside in _results(path, named["time"] if named else None):
        found = _read(beside)
        configs = found.get("configs")
        if not isinstance(configs, dict):
            continue
        task = named["task"] if named else _task_in(stem, configs)
        if task in configs:
            return _described(task, found, configs[task])
    return Run(task=named["task"] if named else stem)


def _results(path: Path, time: str | None) -> Iterator[Path]:
    """Files beside one of samples that may be its run's results: of the same time, or of an old version."""
    if time is None:
        yield path.with_name("results.json")
        return
    yield path.with_name(f"results_{time}.json")
    yield from sorted(one for one in path.parent.glob("*.json") if one.stem.endswith(f"_{time}"))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _LONGEST:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _task_in(stem: str, configs: Mapping[str, Any]) -> str:
    """The task in an old file's name, which is the model's arguments and the task's name."""
    return max((name for name in configs if stem.endswith(f"_{name}")), key=len, default=stem)


def _described(task: str, results: Mapping[str, Any], config: object) -> Run:
    directions = _of(_of(results, "higher_is_better"), task)
    filters = _of(config, "filter_list")
    return Run(
        task=task,
        model=_model(results),
        worse=frozenset(name for name, better in directions.items() if better is False)
        if isinstance(directions, dict)
        else frozenset(),
        voting=frozenset(_voting(filters if isinstance(filters, list) else [])),
    )


def _model(results: Mapping[str, Any]) -> str | None:
    arguments = _of(_of(results, "config"), "model_args")
    said = _NAME.search(arguments) if isinstance(arguments, str) else None
    for name in (results.get("model_name"), said and said[1], _of(arguments, "pretrained"), _of(arguments, "model")):
        if isinstance(name, str) and name.strip():
            return name
    return None


def _voting(filters: list[Any]) -> Iterator[str]:
    for one in filters:
        steps = _of(one, "filter")
        functions = [_of(step, "function") for step in steps] if isinstance(steps, list) else []
        if isinstance(name := _of(one, "name"), str) and "majority_vote" in functions:
            yield name


def _of(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
