"""Run by a Python that has lm-eval, never imported here: evaluates scripted models on tasks made of sample_data.

python lm_eval_peer.py SAMPLE_DATA OUT    three tasks, two models; the harness's own code grades and writes
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM  # type: ignore[import-not-found]
from lm_eval.evaluator import simple_evaluate  # type: ignore[import-not-found]
from lm_eval.loggers import EvaluationTracker  # type: ignore[import-not-found]
from lm_eval.tasks import TaskManager  # type: ignore[import-not-found]

NUMBERS = ("a94dd6", "8d8190", "24e6ca", "920c27", "91dbc4")
STATES = {
    "90c50c": ["proved", "disproved", "unknown"],
    "9aed0f": ["valid", "invalid"],
    "509f9e": ["operational", "degraded", "down"],
}
BOXED = {"function": "regex", "regex_pattern": r"\\boxed\{(.*)\}"}
LAST = {"function": "regex", "group_select": -1, "regex_pattern": "(-?[0-9.,]{2,})|(-?[0-9]+)"}
FIRST = {"function": "take_first"}
MAJORITY = {"function": "majority_vote"}


def tasks() -> list[dict[str, Any]]:
    def task(name: str, data: str, **more: Any) -> dict[str, Any]:
        files = {"test": f"{data}.jsonl"}
        dataset = {"dataset_path": "json", "dataset_kwargs": {"data_files": files}, "test_split": "test"}
        return {"task": name, **dataset, "doc_to_text": "Question: {{question}}\nAnswer:", **more}

    exact = [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}]
    written = {"output_type": "generate_until", "doc_to_target": "{{answer}}", "metric_list": exact}
    return [
        task(
            "sample_numbers",
            "numbers",
            **written,
            num_fewshot=1,
            filter_list=[
                {"name": "strict-match", "filter": [BOXED, FIRST]},
                {"name": "flexible-extract", "filter": [LAST, FIRST]},
            ],
        ),
        task(
            "sample_repeats",
            "repeats",
            **written,
            repeats=3,
            filter_list=[
                {"name": "score-first", "filter": [BOXED, FIRST]},
                {"name": "maj@3", "filter": [BOXED, MAJORITY, FIRST]},
            ],
        ),
        task(
            "sample_states",
            "states",
            output_type="multiple_choice",
            doc_to_choice="{{choices}}",
            doc_to_target="{{choices.index(answer)}}",
            metric_list=[{"metric": name, "aggregation": "mean"} for name in ("acc", "acc_norm")],
        ),
    ]


class Scripted(LM):  # type: ignore[misc]
    """Return the sample's completions of a question in turn, starting with one of them."""

    def __init__(self, rows: list[dict[str, Any]], first: int) -> None:
        super().__init__()
        self._rows = rows
        self._turn = first

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        replies = []
        for number, request in enumerate(requests):
            asked_question = request.args[0].rpartition("Question: ")[2].removesuffix("\nAnswer:")
            known = [row["completion"] for row in self._rows if row["question"] == asked_question]
            repeated = [earlier.args[0] for earlier in requests[:number]].count(request.args[0])
            replies.append(known[(self._turn + repeated) % len(known)])
        return replies

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Longer options are less likely, and a second model prefers later ones."""
        return [(-1.5 - len(one.args[1]) * (1 - 0.35 * self._turn * one.idx), False) for one in requests]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


def documents(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    def of(starts: tuple[str, ...]) -> list[dict[str, Any]]:
        first = {row["question_id"][:6]: row for row in reversed(rows)}
        chosen = [first[start] for start in starts]
        return [{"id": row["question_id"], "question": row["question"], "answer": row["answer"]} for row in chosen]

    return {
        "numbers": [{**row, "answer": row["answer"].rpartition("#### ")[2]} for row in of(NUMBERS)],
        "repeats": of(("24e6ca", "920c27")),
        "states": [{**row, "choices": STATES[row["id"][:6]]} for row in of(tuple(STATES))],
    }


def main() -> None:
    sample, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    rows = [json.loads(line) for line in (sample / "tuples.jsonl").read_text().splitlines()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        for stem, docs in documents(rows).items():
            (folder / f"{stem}.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
        for turn, model in enumerate(("sample/model-a", "sample/model-b")):
            tracker = EvaluationTracker(output_path=str(out))
            tracker.general_config_tracker.log_experiment_args("scripted", f"model={model}", None, None, False)
            found = simple_evaluate(
                model=Scripted(rows, turn),
                tasks=tasks(),
                task_manager=TaskManager(),
                evaluation_tracker=tracker,
                bootstrap_iters=0,
            )
            samples = found.pop("samples")
            tracker.general_config_tracker.log_experiment_args("scripted", f"model={model}", None, None, False)
            tracker.save_results_aggregated(results=found, samples=samples)
            for task, of_task in samples.items():
                tracker.save_results_samples(task_name=task, samples=of_task)


if __name__ == "__main__":
    main()
