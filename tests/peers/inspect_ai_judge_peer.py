"""Run by a Python that has inspect-ai and this package: scripted replies are evaluated, and scored again by name.

python inspect_ai_judge_peer.py CASES   prints what Inspect made of the verdicts: no network, no model
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task  # type: ignore[import-not-found]
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample  # type: ignore[import-not-found]
from inspect_ai.log import EvalLog, EvalSample, read_eval_log  # type: ignore[import-not-found]
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # type: ignore[import-not-found]
from inspect_ai.scorer import Score, match  # type: ignore[import-not-found]

from workbench.training.inspect_ai import judged

CASES = json.loads(Path(sys.argv[1]).read_text())


def reply(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


OPTIONS = [
    {"question": "Which is prime?", "choices": ["4", "7"], "answer": ["B"], "completion": "\\boxed{7}"},
    {"question": "Which are prime?", "choices": ["4", "7", "5"], "answer": ["B", "C"], "completion": "ANSWER: C, B"},
    {"question": "Which are prime?", "choices": ["4", "7", "5"], "answer": ["B", "C"], "completion": "ANSWER: B"},
]


BY_TESTS: dict[str, Any] = {"verifier": "execution", "settings": {"pay": "share"}}
CODE = [
    {"question": "Double x.", "answer": one["tests"], "completion": one["completion"]}
    for one in json.loads(Path(sys.argv[1]).with_name("code.json").read_text())
]


def evaluated(scorer: Any, cases: list[dict[str, Any]] = CASES, epochs: int = 1) -> EvalLog:
    samples = [
        Sample(input=one["question"], target=one["answer"], choices=one.get("choices"), id=place)
        for place, one in enumerate(cases)
    ]
    replies = [reply(one["completion"]) for _ in range(epochs) for one in cases]
    (log,) = evaluate(
        Task(dataset=samples, scorer=scorer, epochs=epochs),
        model=get_model("mockllm/model", custom_outputs=replies),
        display="none",
        max_samples=1,
    )
    return log


def rated(sample: EvalSample) -> Score:
    (score,) = sample.scores.values()
    return score


def figures(log: EvalLog) -> dict[str, float]:
    means = {"acc": "accuracy", "undecided": "mean"}
    return {one.name: one.metrics[means[one.name]].value for one in log.results.scores}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        log = evaluated(judged())
        scores = [rated(sample) for sample in log.samples]
        other = evaluated(match()).location
        command = [Path(sys.executable).with_name("inspect"), "score", other, "--scorer", "workbench/judged"]
        subprocess.run([*command, "--action", "overwrite", "--overwrite"], stdout=subprocess.DEVNULL, check=True)
        found = {
            "rows": [one.value for one in scores],
            "answers": [one.answer for one in scores],
            "reasons": [one.metadata["reason"] for one in scores],
            "tests": [rated(sample).value for sample in evaluated(judged(**BY_TESTS), CODE).samples],
            "options": [rated(sample).value for sample in evaluated(judged(), OPTIONS).samples],
            "figures": [figures(one) for one in (log, evaluated(judged(), epochs=2), read_eval_log(other))],
        }
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
