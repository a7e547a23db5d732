"""The training settings of EvolveCoder as documented for TRL and verl."""

from __future__ import annotations

import json
import re

from tests.documents import ROOT

PAPER = {"n": 8, "temperature": 0.6, "top_p": 0.95, "low": 0.2, "high": 0.3, "lr": 1e-6, "response": 32_768}


def test_the_documented_settings_equal_the_paper() -> None:
    page = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    trl = json.loads(re.findall(r"```json\n(\{\"num_generations.*?)```", page, re.DOTALL)[0])
    names = ("num_generations", "temperature", "top_p", "epsilon", "epsilon_high", "learning_rate")
    assert [trl[name] for name in (*names, "max_completion_length")] == list(PAPER.values())
    text = re.findall(r"```text\n(algorithm.*?)```", page, re.DOTALL)[0]
    verl = {key.rpartition(".")[2]: value for key, _, value in (line.partition("=") for line in text.splitlines())}
    shown = ("n", "temperature", "top_p", "clip_ratio_low", "clip_ratio_high", "lr", "max_response_length")
    assert [float(verl[name]) for name in shown] == list(PAPER.values())
    assert (verl["adv_estimator"], verl["verifier"]) == ("grpo", "execution")
