"""Run by a Python that has trl and this package: GRPO over an evolved set, tests as the reward.

python trl_tests_peer.py EXPORT   prints what the trainer made of the rewards; no network, no weights

EXPORT is the output of ``workbench code evolve --export``. The model is tiny and random, and each of its words is a
whole solution, so that some completions pass, some pass in part, and some are not Python. Settings are EvolveCoder's,
except for the lengths.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import torch
from datasets import Dataset  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer  # type: ignore[import-not-found]

import workbench

SOLUTIONS = [
    "def double(x):\n    return 2 * x",
    "def double(x):\n    return 2 * x if x > 0 else 1",
    "def double(x):\n    while True: pass",
    "import os\nos._exit(0)",
    "def double(x: return",
]
WORDS = ["<eos>", "<unk>", "Double", "it.", *SOLUTIONS]


def main() -> None:
    plain = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    config = GPT2Config(vocab_size=len(WORDS), n_positions=256, n_embd=16, n_layer=1, n_head=2, eos_token_id=0)
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    kept_columns = ("prompt", "tests", "entry_point", "setup", "pass_rates")
    rows = [{name: line[name] for name in kept_columns} for line in lines] * 4
    seen: list[float | None] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        workbench.reward("execution", pay="difficulty", undecided=0.0, timeout=0.5, workers=2) as reward,
    ):

        def rewarded(**columns: object) -> list[float | None]:
            found = reward(**columns)
            seen.extend(found)
            return found

        arguments = GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=8,
            num_generations=8,
            temperature=0.6,
            top_p=0.95,
            epsilon=0.20,
            epsilon_high=0.30,
            learning_rate=1e-6,
            max_completion_length=1,
            max_steps=2,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            seed=0,
        )
        torch.manual_seed(0)
        trainer = GRPOTrainer(
            GPT2LMHeadModel(config),
            reward_funcs=rewarded,
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        trainer.train()
        steps = [entry for entry in trainer.state.log_history if "reward" in entry]
        texts = [[{"role": "assistant", "content": one}] for one in SOLUTIONS]
        columns = {name: [rows[0][name]] * len(texts) for name in kept_columns[1:]}
        exact = reward(prompts=[rows[0]["prompt"]] * len(texts), completions=texts, **columns)
    undecided = [f"{reward.name}/undecided" in step for step in steps]
    print(
        json.dumps(
            {
                "steps": len(steps),
                "rewarded": len(seen),
                "kinds": sorted(set(seen), key=str),
                "rewards": exact,
                "logged": undecided,
                "reward_is_finite": [step["reward"] == step["reward"] for step in steps],
            }
        )
    )


if __name__ == "__main__":
    main()
