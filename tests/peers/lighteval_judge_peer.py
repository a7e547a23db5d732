"""Run by a Python that has lighteval and this package: its pipeline over scripted replies, with `judge` as the metric.

python lighteval_judge_peer.py CASES   prints what lighteval made of the verdicts: no network, no model
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

CASES = json.loads(Path(sys.argv[1]).read_text())
TASKS = """
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from workbench.training.lighteval import judged


def prompt(line, task_name=None):
    golds = list(range(len(line["answer"])))
    return Doc(query=line["question"], choices=line["answer"], gold_index=golds, task_name=task_name)


TASKS_TABLE = [
    LightevalTaskConfig(
        name="cases",
        prompt_function=prompt,
        hf_repo=FOLDER,
        hf_subset="default",
        evaluation_splits=["test"],
        metrics=[judged],
        generation_size=32,
    )
]
"""


def main(folder: Path) -> None:
    from lighteval.logging.evaluation_tracker import EvaluationTracker  # type: ignore[import-not-found]
    from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig  # type: ignore[import-not-found]
    from lighteval.models.model_output import ModelResponse  # type: ignore[import-not-found]
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters  # type: ignore[import-not-found]
    from lighteval.tasks.registry import Registry  # type: ignore[import-not-found]

    # Some of lighteval's own tasks ask the network when they are imported: only ours is loaded.
    Registry._load_from_files = Registry._load_from_subdirs = staticmethod(lambda *_: {})

    class Scripted(DummyModel):  # type: ignore[misc]
        def greedy_until(self, docs: list[Any]) -> list[ModelResponse]:
            return [ModelResponse(text=[CASES[int(doc.id)]["completion"]]) for doc in docs]

    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CASES))
    (folder / "my_tasks.py").write_text(f"FOLDER = {str(folder / 'data')!r}\n{TASKS}")
    tracker = EvaluationTracker(output_dir=str(folder / "out"))
    parameters = PipelineParameters(ParallelismManager.NONE, custom_tasks_directory=str(folder / "my_tasks.py"))
    pipeline = Pipeline("cases|0", parameters, tracker, model=Scripted(DummyModelConfig()))
    pipeline.evaluate()
    (details,) = tracker.details_logger.details.values()
    results = pipeline.get_results()["results"]["all"]
    found = {
        "rows": [one.metric for one in sorted(details, key=lambda one: int(one.doc.id))],
        "figures": [{name: results[name] for name in ("acc", "undecided")}],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"HF_HOME": name, "HF_HUB_OFFLINE": "1"}
        main(Path(name))
