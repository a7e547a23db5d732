"""Run by a Python that has inspect-ai, never imported here: evaluates its mock model on tasks made of sample_data.

python inspect_peer.py SAMPLE_DATA OUT    answers and options as .eval and .json, and one with its samples in chunks

Inspect's own code grades and writes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task, task  # type: ignore[import-not-found]
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample  # type: ignore[import-not-found]
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log  # type: ignore[import-not-found]
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked  # type: ignore[import-not-found]
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # type: ignore[import-not-found]
from inspect_ai.scorer import Score, accuracy, answer, includes, mean, pattern, scorer  # type: ignore[import-not-found]
from inspect_ai.solver import Generate, TaskState, generate, multiple_choice, solver  # type: ignore[import-not-found]

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(sys.argv[1]) / "tuples.jsonl").read_text().splitlines()
]
NUMBERS = ("a94dd6", "24e6ca", "920c27", "91dbc4", "8d8190")
OPTIONS = {
    "90c50c": ["proved", "disproved", "unknown"],
    "9aed0f": ["valid", "invalid"],
}


@scorer(metrics={"short": [mean()], "boxed": [mean()], "words": [mean()]})  # type: ignore[untyped-decorator]
def form() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        text = state.output.completion
        value = {"short": len(text) < 1000, "boxed": 1.0 if "\\boxed" in text else 0.0, "words": len(text.split())}
        return Score(value=value, explanation="Looks at the form alone.")

    return score


@scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
def doubtful() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        last = state.output.completion[-60:]
        if "\\boxed" not in last:
            return Score.unscored(reason="invalid_response_format", explanation="There is no box.")
        return Score(value="P" if "text" in last else "N" if "frac" in last else "C", answer=last)

    return score


@solver  # type: ignore[untyped-decorator]
def breaks_on(start: str) -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if str(state.sample_id).startswith(start):
            raise RuntimeError("The tool of this sample is not there.")
        return state

    return solve


def samples(rows: list[dict[str, Any]], starts: tuple[str, ...]) -> list[Sample]:
    first = {row["question_id"][:6]: row for row in reversed(rows)}
    return [
        Sample(
            id=start,
            input=first[start]["question"],
            target=[first[start]["answer"].rpartition("#### ")[2], "thirty"][: 1 + (start == "8d8190")],
            metadata={"subtype": first[start]["answer_type"]},
        )
        for start in starts
    ]


@task  # type: ignore[untyped-decorator]
def sample_answers() -> Task:
    return Task(
        dataset=samples(ROWS, NUMBERS),
        solver=[breaks_on("8d8190"), generate()],
        scorer=[includes(), pattern(r"\\boxed\{(.*)\}"), form(), doubtful()],
        epochs=2,
        fail_on_error=False,
    )


@task  # type: ignore[untyped-decorator]
def sample_options() -> Task:
    options = [
        Sample(id=one.id, input=one.input, choices=OPTIONS[str(one.id)], target="B")
        for one in samples(ROWS, tuple(OPTIONS))
    ]
    return Task(dataset=options, solver=multiple_choice(), scorer=answer("letter"))


def model_output(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/sample", text)
    output.usage = ModelUsage(input_tokens=100, output_tokens=300, total_tokens=400)
    return output


def replies() -> list[ModelOutput]:
    """Return the sample's completions in the order of requests: every question once per epoch."""
    known = [[row["completion"] for row in ROWS if row["question_id"].startswith(start)] for start in NUMBERS[:-1]]
    return [model_output(texts[epoch % len(texts)]) for epoch in range(2) for texts in known]


def bare(log: EvalLog) -> EvalLog:
    """Return the log without long parts and machine-specific values."""
    log.eval.task_file = log.eval.revision = None
    log.eval.model_args = {}
    for sample in log.samples or []:
        sample.events, sample.attachments, sample.timelines, sample.events_data = [], {}, None, None
        if sample.error is not None:
            sample.error.traceback = sample.error.traceback_ansi = ""
    return log


def main() -> None:
    out = Path(sys.argv[2])
    letters = [model_output(f"ANSWER: {letter}") for letter in "AB"]
    for one, outputs, name in ((sample_answers(), replies(), "answers"), (sample_options(), letters, "options")):
        model = get_model("mockllm/sample", custom_outputs=outputs)
        (log,) = evaluate(one, model=model, log_dir=str(out / "full"), display="none", max_samples=1)
        read = bare(read_eval_log(log.location))
        write_eval_log(read, str(out / f"{name}.eval"))
        write_eval_log(read, str(out / f"{name}.json"))
    convert_eval_logs_to_chunked(str(out / "answers.eval"), str(out / "chunked"))


if __name__ == "__main__":
    main()
