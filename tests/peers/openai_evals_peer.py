"""Run by a Python that has evals, never imported here: two of its evals over our rows, recorded by its own recorder.

OPENAI_API_KEY=none EVALS_THREADS=4 python openai_evals_peer.py ROWS FOLDER

Nothing is asked of any server: completions come from the rows, and the grading model answers by a rule of thumb.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evals.base import RunSpec  # type: ignore[import-not-found]
from evals.elsuite.basic.includes import Includes  # type: ignore[import-not-found]
from evals.elsuite.modelgraded.classify import ModelBasedClassify  # type: ignore[import-not-found]
from evals.record import LocalRecorder, record_sampling  # type: ignore[import-not-found]
from evals.registry import Registry  # type: ignore[import-not-found]

SHORT = 40
BEGINNING = 25
"""Characters of a question that tell it: evals doubles the braces of what it asks."""


class Said:
    """What a completion function gives back."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_completions(self) -> list[str]:
        return [self.text]


class Model:
    """Answers with the completion of the row whose question it is asked."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def __call__(self, prompt: Any, **_settings: Any) -> Said:
        asked = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        row = next(row for row in self._rows if row["question"][:BEGINNING] in asked)
        record_sampling(prompt=prompt, sampled=[row["completion"]], model=row["completion_model"])
        return Said(row["completion"])


class Grader:
    """Says Y where the reference stands in what it is shown more than once: in the criterion, and in the answer."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def __call__(self, prompt: Any, **_settings: Any) -> Said:
        shown = prompt[-1]["content"]
        row = next(row for row in self._rows if row["question"][:BEGINNING] in shown)
        reply = "The criterion is met.\nY" if shown.count(row["answer"]) > 1 else "It is not met.\nN"
        record_sampling(prompt=prompt, sampled=[reply], model="sample-grader")
        return Said(reply)


def chosen(source: str) -> list[dict[str, Any]]:
    """One completion a question, of questions with a short answer, right and wrong ones in turn."""
    rows = [json.loads(line) for line in Path(source).read_text().splitlines()]
    short = {row["question_id"]: row for row in rows if len(row["answer"]) <= SHORT}
    picked = []
    for number, question_id in enumerate(sorted(short)[:7]):
        same = [row for row in rows if row["question_id"] == question_id]
        picked.append(next((row for row in same if row["gold_correct"] is (number % 2 == 0)), same[0]))
    return picked


def spec(base: str, name: str, *models: str) -> Any:
    return RunSpec(
        completion_fns=list(models), eval_name=name, base_eval=base, split="test", run_config={}, created_by="sample"
    )


def main() -> None:
    source, folder = sys.argv[1], Path(sys.argv[2])
    rows = chosen(source)
    samples = folder / "samples.jsonl"
    chats = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": row["question"]}] for row in rows]
    closed = [
        {"input": chat, "ideal": row["answer"], "criteria": f"It comes to {row['answer']}."}
        for chat, row in zip(chats, rows, strict=True)
    ]
    samples.write_text("".join(json.dumps(sample) + "\n" for sample in closed))
    over: dict[str, Any] = {"samples_jsonl": str(samples), "eval_registry_path": folder}
    includes = Includes([Model(rows)], **over, name="sample-includes.test", ignore_case=True)
    matched = spec("sample-includes", "sample-includes.test", "sample-7b")
    recorder = LocalRecorder(str(folder / "includes.jsonl"), matched)
    recorder.record_final_report(includes.run(recorder))
    recorder.flush_events()
    judged = ModelBasedClassify(
        "closedqa",
        [Model(rows), Grader(rows)],
        **over,
        eval_type="cot_classify",
        name="sample-closedqa.test",
        registry=Registry(),
    )
    graded = spec("sample-closedqa", "sample-closedqa.test", "sample-7b", "sample-grader")
    recorder = LocalRecorder(str(folder / "closedqa.jsonl"), graded)
    recorder.record_final_report(judged.run(recorder))
    recorder.flush_events()
    samples.unlink()


if __name__ == "__main__":
    main()
