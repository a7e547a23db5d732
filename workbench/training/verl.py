"""verl's custom reward function: ``reward.custom_reward_function.path=pkg://workbench.training.verl``.

``name`` is ``compute_score`` or, for the batch reward manager, ``compute_scores``; ``reward_kwargs`` are the arguments
of `workbench.reward`, such as ``{verifier: rules, undecided: 0.0}``.
"""

from __future__ import annotations

import json
import threading
from functools import lru_cache
from typing import Any

from workbench.training.reward import SETTINGS, Reward

_LOCK = threading.Lock()


def compute_score(
    data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **kwargs: Any
) -> dict[str, Any]:
    """Return the score of one completion; see `workbench.training.reward.Reward.compute_score`."""
    return _reward_of(kwargs).compute_score(data_source, solution_str, ground_truth, extra_info)


def compute_scores(
    data_sources: Any, solution_strs: Any, ground_truths: Any, extra_infos: Any = None, **kwargs: Any
) -> list[dict[str, Any]]:
    """Return the scores of a batch; see `workbench.training.reward.Reward.compute_scores`."""
    return _reward_of(kwargs).compute_scores(data_sources, solution_strs, ground_truths, extra_infos)


def _reward_of(kwargs: dict[str, Any]) -> Reward:
    given = {name: kwargs[name] for name in ("verifier", *SETTINGS) if name in kwargs}
    if "options" in given:
        given["options"] = {str(key): str(value) for key, value in given["options"].items()}
    with _LOCK:
        return _cached_reward(json.dumps(given, sort_keys=True))


@lru_cache(maxsize=8)
def _cached_reward(given: str) -> Reward:
    return Reward(**json.loads(given))
