"""Run by a Python that has trl and this package: a step of GRPO on a tiny random model, rewarded by a verifier.

python trl_peer.py   prints what the trainer made of the rewards; no network, no weights
"""

from __future__ import annotations

import json
import tempfile

import torch
from datasets import Dataset  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer  # type: ignore[import-not-found]

import workbench

WORDS = ["<eos>", "<unk>", "1", "2", "3", "+", "=", "?", r"\boxed{2}", r"\boxed{3}"]


def main() -> None:
    plain = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")
    config = GPT2Config(vocab_size=len(WORDS), n_positions=64, n_embd=16, n_layer=1, n_head=2, eos_token_id=0)
    rows = [{"prompt": "1 + 1 = ?", "ground_truth": "2"}, {"prompt": "1 + 2 = ?", "ground_truth": "3"}] * 4
    with tempfile.TemporaryDirectory() as folder, workbench.reward("rules", undecided=0.0) as reward:
        arguments = GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=4,
            max_steps=2,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            seed=0,
        )
        torch.manual_seed(0)
        trainer = GRPOTrainer(
            GPT2LMHeadModel(config),
            reward_funcs=reward,
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        trainer.train()
        steps = [entry for entry in trainer.state.log_history if "reward" in entry]
        arguments = {"completions": [r"\boxed{2}", r"\boxed{2}", "", "7"], "prompts": ["1 + 1 = ?"] * 4}
        inputs = [{"prompt": "1 + 1 = ?", "ground_truth": truth} for truth in ("2", "3", "2", None)]
        rewards = trainer._calculate_rewards(inputs, arguments["prompts"], arguments["completions"], [[0]] * 4)
    names = [f"rewards/{reward.__name__}/mean", f"{reward.name}/undecided"]
    logged = [sorted(name for name in names if name in step) for step in steps]
    print(json.dumps({"rewards": [str(one) for one in rewards[:, 0].tolist()], "logged": logged}))


if __name__ == "__main__":
    main()
