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
CODE = [
    {"question": "Double x.", "answer": one["tests"], **one}
    for one in json.loads(Path(sys.argv[1]).with_name("code.json").read_text())
]

UTILS = """
from workbench.training.lm_eval import judged

process_results = judged(question="question", reference="answer")
"""
BY_TESTS = """
from workbench.training.lm_eval import judged

process_results = judged("question", "tests", verifier="execution", pay="share")
"""
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer[0]}}}}"
process_results: !function {utils}.process_results
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
    """Return each question's completion for every request."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        rows = CODE if requests[0].task_name == "judged_code" else CASES
        return [rows[request.doc_id]["completion"] for request in requests]

    def loglikelihood(self, requests: list[Any]) -> Any:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1"}
        data = Path(folder) / "cases.jsonl"
        data.write_text("".join(json.dumps(one) + "\n" for one in CASES))
        (Path(folder) / "utils.py").write_text(UTILS)
        code = Path(folder) / "code.jsonl"
        code.write_text("".join(json.dumps(one) + "\n" for one in CODE))
        (Path(folder) / "by_tests.py").write_text(BY_TESTS)
        for name, of, utils, more in (
            ("judged_once", data, "utils", ""),
            ("judged_twice", data, "utils", REPEATED),
            ("judged_code", code, "by_tests", ""),
        ):
            (Path(folder) / f"{name}.yaml").write_text(TASK.format(name=name, data=of, utils=utils) + more)
        tasks = TaskManager(include_path=folder, include_defaults=False)
        found = simple_evaluate(Scripted(), tasks=["judged_once", "judged_twice"], task_manager=tasks)
        solved = simple_evaluate(Scripted(), tasks=["judged_code"], task_manager=tasks)["samples"]["judged_code"]
    metrics = ("acc", "undecided")
    results = found["results"]
    filtered = (("judged_once", "none"), ("judged_twice", "each"))
    printed = {
        "rows": [{name: row[name] for name in metrics} for row in found["samples"]["judged_once"]],
        "tests": [{name: row[name] for name in metrics} for row in solved],
        "figures": [{name: results[task][f"{name},{by}"] for name in metrics} for task, by in filtered],
    }
    print(json.dumps(printed))


if __name__ == "__main__":
    main()
