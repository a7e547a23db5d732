"""Run by a Python that has trl, never imported here: trains two steps on our files, as their readers would.

python training_files_peer.py SFT PAIRS FOLDER     files of `export --format sft` and `--format pairs`, a place to work

Models and tokenizer are made here, tiny and random: nothing is fetched.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

import torch
from datasets import load_dataset  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    PreTrainedTokenizerFast,
)
from trl import (  # type: ignore[import-not-found]
    DPOConfig,
    DPOTrainer,
    RewardConfig,
    RewardTrainer,
    SFTConfig,
    SFTTrainer,
)

TEMPLATE = """{% for message in messages %}<|{{ message['role'] }}|>
{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}<eos>{% endgeneration %}{% else %}\
{{ message['content'] }}{% endif %}
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""


def tokenizer(texts: list[str]) -> Any:
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=512, special_tokens=["<unk>", "<pad>", "<eos>"]))
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    wrapped.chat_template = TEMPLATE
    return wrapped


def model(kind: Any, size: int, **more: Any) -> Any:
    torch.manual_seed(0)
    return kind(
        LlamaConfig(
            vocab_size=size,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            pad_token_id=1,
            **more,
        )
    )


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "output_dir": str(folder),
        "max_steps": 2,
        "per_device_train_batch_size": 2,
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "max_length": 4096,
        "logging_steps": 1,
        "save_strategy": "no",
        **more,
    }


def finished(trainer: Any) -> str:
    loss = trainer.train().training_loss
    assert 0 < loss < float("inf"), loss
    return f"{trainer.state.global_step} steps, loss {loss:.3f}"


def conversations(rows: Any, words: Any, folder: Path) -> None:
    for assistant_only in (False, True):
        config = SFTConfig(**settings(folder / "sft", assistant_only_loss=assistant_only))
        trainer = SFTTrainer(
            model(LlamaForCausalLM, len(words)), args=config, train_dataset=rows, processing_class=words
        )
        print("SFTTrainer", "assistant_only_loss" if assistant_only else "", finished(trainer))


def preferences(rows: Any, words: Any, folder: Path) -> None:
    prompted = rows.rename_column("question", "prompt")
    dpo = DPOTrainer(
        model(LlamaForCausalLM, len(words)),
        ref_model=model(LlamaForCausalLM, len(words)),
        args=DPOConfig(**settings(folder / "dpo")),
        train_dataset=prompted,
        processing_class=words,
    )
    print("DPOTrainer", finished(dpo))
    reward = RewardTrainer(
        model(LlamaForSequenceClassification, len(words), num_labels=1),
        args=RewardConfig(**settings(folder / "reward")),
        train_dataset=prompted,
        processing_class=words,
    )
    print("RewardTrainer", finished(reward))


def main() -> None:
    files, folder = sys.argv[1:3], Path(sys.argv[3])
    sft, pairs = (
        load_dataset("json", data_files=file, split="train", cache_dir=str(folder / "cache")) for file in files
    )
    print("sft", len(sft), sft.column_names)
    print("pairs", len(pairs), pairs.column_names)
    assert {tuple(turn["role"] for turn in row["messages"][-2:]) for row in sft} == {("user", "assistant")}
    words = tokenizer([turn["content"] for row in sft for turn in row["messages"]])
    conversations(sft, words, folder)
    preferences(pairs, words, folder)


if __name__ == "__main__":
    main()
