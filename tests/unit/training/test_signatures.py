"""Our callables take what trainers call theirs with, as it was read from their wheels."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench.training import verl
from workbench.training.records import OpenRlhfRequest, OpenRlhfRewards
from workbench.training.reward import Reward

READ: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "trainers" / "signatures.json").read_text()
)
CALLS = [
    (package, file, call) for package, read in READ.items() for file in read["calls"] for call in read["calls"][file]
]


@pytest.fixture(scope="module")
def reward() -> Reward:
    return workbench.reward("exact")


def callables(reward: Reward, package: str, call: dict[str, Any]) -> list[Callable[..., Any]]:
    if package == "trl":
        return [reward]
    if package == "openrlhf":
        return [reward.reward_func]
    if "data_sources" in call["keywords"]:
        return [reward.compute_scores, verl.compute_scores]
    return [reward.compute_score, verl.compute_score]


def test_every_trainer_and_shape_was_read() -> None:
    assert {package: read["version"] for package, read in READ.items()} == {
        "trl": "1.16.0",
        "verl": "0.9.1",
        "openrlhf": "0.11.2",
    }
    assert len(CALLS) == 8


@pytest.mark.parametrize(("package", "file", "call"), CALLS)
def test_calls_of_trainers_bind(reward: Reward, package: str, file: str, call: dict[str, Any]) -> None:
    more = dict.fromkeys(READ[package].get("columns", []))
    for function in callables(reward, package, call):
        inspect.signature(function).bind(*[0] * call["positions"], **dict.fromkeys(call["keywords"]), **more)


@pytest.mark.parametrize("function", [Reward.compute_score, verl.compute_score])
def test_leading_arguments_equal_the_function_of_verl(function: Callable[..., Any]) -> None:
    (default,) = READ["verl"]["default"]
    ours = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    named = [one for one in ours if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert [one.name for one in named] == default["names"][: len(named)]
    assert {one.name: repr(one.default) for one in named if one.default is not one.empty} == {
        one.name: default["defaults"][one.name] for one in named if one.name in default["defaults"]
    }
    assert ours[-1].kind is inspect.Parameter.VAR_KEYWORD


def test_openrlhf_s_remote_model_is_asked_and_answers_in_the_same_fields() -> None:
    assert list(OpenRlhfRequest.__struct_fields__) == READ["openrlhf"]["posted"]
    assert sorted(OpenRlhfRewards.__struct_fields__) == READ["openrlhf"]["read"]
