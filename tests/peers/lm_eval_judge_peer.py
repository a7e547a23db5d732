"""Run by a Python that has lm-eval and this package: scripted replies to a task whose results `judge` makes.

python lm_eval_judge_peer.py CASES   prints what the harness made of the verdicts: no network, no model
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
from lm_eval.tasks import TaskManager  # type: ignore[import-not-found]

CASES = json.loads(Path(sys.argv[1]).read_text())

UTILS = """
from workbench.training.lm_eval import judged

process_results = judged(question="question", reference="answer")
"""
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer[0]}}}}"
process_results: !function utils.process_results
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: undecided, aggregation: mean, higher_is_better: false}}
"""
REPEATED = """
repeats: 2
filter_list:
  - name: each
    filter: [{function: take_first_k, k: 2}]
"""


class Scripted(LM):  # type: ignore[misc]
    """Gives each question its completion, however often it is asked."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [CASES[request.doc_id]["completion"] for request in requests]

    def loglikelihood(self, requests: list[Any]) -> Any:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1"}
        data = Path(folder) / "cases.jsonl"
        data.write_text("".join(json.dumps(one) + "\n" for one in CASES))
        (Path(folder) / "utils.py").write_text(UTILS)
        for name, more in (("judged_once", ""), ("judged_twice", REPEATED)):
            (Path(folder) / f"{name}.yaml").write_text(TASK.format(name=name, data=data) + more)
        tasks = TaskManager(include_path=folder, include_defaults=False)
        found = simple_evaluate(Scripted(), tasks=["judged_once", "judged_twice"], task_manager=tasks)
    metrics = ("acc", "undecided")
    results = found["results"]
    filtered = (("judged_once", "none"), ("judged_twice", "each"))
    told = {
        "rows": [{name: row[name] for name in metrics} for row in found["samples"]["judged_once"]],
        "figures": [{name: results[task][f"{name},{by}"] for name in metrics} for task, by in filtered],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
