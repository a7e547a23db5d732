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
CODE = [
    {"question": "Double x.", "answer": one["tests"], "completion": one["completion"]}
    for one in json.loads(Path(sys.argv[1]).with_name("code.json").read_text())
]
TASKS = """
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from workbench.training.lighteval import judged, judged_by


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
    ),
    LightevalTaskConfig(
        name="code",
        prompt_function=prompt,
        hf_repo=CODE,
        hf_subset="default",
        evaluation_splits=["test"],
        metrics=[judged_by("execution", pay="share")],
        generation_size=32,
    ),
]
"""


def main(folder: Path) -> None:
    from lighteval.logging.evaluation_tracker import EvaluationTracker  # type: ignore[import-not-found]
    from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig  # type: ignore[import-not-found]
    from lighteval.models.model_output import ModelResponse  # type: ignore[import-not-found]
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters  # type: ignore[import-not-found]
    from lighteval.tasks.registry import Registry  # type: ignore[import-not-found]

    # Some of lighteval's own tasks access the network when they are imported: only ours is loaded.
    Registry._load_from_files = Registry._load_from_subdirs = staticmethod(lambda *_: {})

    class Scripted(DummyModel):  # type: ignore[misc]
        def greedy_until(self, docs: list[Any]) -> list[ModelResponse]:
            return [ModelResponse(text=[self.rows[int(doc.id)]["completion"]]) for doc in docs]

    def evaluated(name: str, rows: list[dict[str, Any]]) -> tuple[list[dict[str, float]], dict[str, float]]:
        tracker = EvaluationTracker(output_dir=str(folder / "out"))
        parameters = PipelineParameters(ParallelismManager.NONE, custom_tasks_directory=str(folder / "my_tasks.py"))
        model = Scripted(DummyModelConfig())
        model.rows = rows
        pipeline = Pipeline(f"{name}|0", parameters, tracker, model=model)
        pipeline.evaluate()
        (details,) = tracker.details_logger.details.values()
        results = pipeline.get_results()["results"]["all"]
        figures = {name: results[name] for name in ("acc", "undecided")}
        return [one.metric for one in sorted(details, key=lambda one: int(one.doc.id))], figures

    for name, rows in (("cases", CASES), ("code", CODE)):
        (folder / name).mkdir()
        (folder / name / "test.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (folder / "my_tasks.py").write_text(f"FOLDER, CODE = {str(folder / 'cases')!r}, {str(folder / 'code')!r}\n{TASKS}")
    rows, figures = evaluated("cases", CASES)
    found = {"rows": rows, "figures": [figures], "tests": evaluated("code", CODE)[0]}
    print(json.dumps(found))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"HF_HOME": name, "HF_HUB_OFFLINE": "1"}
        main(Path(name))
