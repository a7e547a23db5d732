"""Run by a Python that has verl and this package: its own loader and reward managers call the verifier.

python verl_peer.py   prints what each of them made of it; no network, no weights
"""

from __future__ import annotations

import asyncio
import json

import numpy as np
import torch
from omegaconf import OmegaConf  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto  # type: ignore[import-not-found]
from verl.experimental.reward_loop.reward_manager.naive import (  # type: ignore[import-not-found]
    NaiveRewardManager as LoopManager,
)
from verl.trainer.ppo.reward import get_custom_reward_fn  # type: ignore[import-not-found]
from verl.workers.reward_manager.batch import BatchRewardManager  # type: ignore[import-not-found]
from verl.workers.reward_manager.naive import NaiveRewardManager  # type: ignore[import-not-found]

WORDS = ["<eos>", "<unk>", "q", r"\boxed{2}", r"\boxed{3}", "hm"]


def tokenizer() -> PreTrainedTokenizerFast:
    plain = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")


def batch() -> DataProto:
    """Three completions: the right one, a wrong one, and an empty one."""
    responses = torch.tensor([[3, 0], [4, 0], [0, 0]])
    return DataProto.from_dict(
        tensors={
            "prompts": torch.tensor([[2]] * 3),
            "responses": responses,
            "attention_mask": torch.ones(3, 3, dtype=torch.long),
        },
        non_tensors={
            "reward_model": np.array([{"ground_truth": "2"}] * 3, dtype=object),
            "data_source": np.array(["d"] * 3, dtype=object),
            "extra_info": np.array([{"question": "1+1?"} for _ in range(3)], dtype=object),
        },
    )


def loaded(name: str) -> object:
    """Return what verl's configuration loads."""
    settings = {
        "path": "pkg://workbench.training.verl",
        "name": name,
        "reward_kwargs": {"verifier": "rules", "undecided": -1.0},
    }
    return get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": settings}}))


def main() -> None:
    words = tokenizer()
    managers = {}
    for manager in (
        NaiveRewardManager(words, 0, loaded("compute_score"), compute_score_timeout=30),
        BatchRewardManager(words, 0, loaded("compute_scores")),
    ):
        found = manager(batch(), return_dict=True)
        extra = {name: [str(value) for value in values] for name, values in found["reward_extra_info"].items()}
        scores = found["reward_tensor"].sum(dim=1).tolist()
        managers[type(manager).__module__] = {"scores": scores, "extra": extra}

    async def looped() -> list[float]:
        manager = LoopManager(OmegaConf.create({"reward": {}}), words, loaded("compute_score"))
        manager.loop = asyncio.get_running_loop()
        rows = batch()
        found = await asyncio.gather(*(manager.run_single(rows[row : row + 1]) for row in range(3)))
        return [one["reward_score"] for one in found]

    managers[LoopManager.__module__] = {"scores": asyncio.run(looped())}
    print(json.dumps({"managers": managers}))


if __name__ == "__main__":
    main()
