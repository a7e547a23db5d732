"""Run by a Python that has pandas, pyarrow, numpy and openai: files as TRL, verl, RewardBench and a batch write them.

python logs_peer.py trl ROWS FOLDER TRL              TRL, VERL, REWARDBENCH: folders with the unpacked wheels
python logs_peer.py verl ROWS FOLDER VERL
python logs_peer.py rewardbench ROWS FOLDER REWARDBENCH
python logs_peer.py batch ROWS FOLDER
python logs_peer.py fields ROWS FOLDER               xVerify and VerifierBench: by their documented fields alone

The writing code is each library's own, extracted from its source by ast: importing them needs GPU libraries. xVerify
and CompassVerifier have no library.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

SHORT = 40


def chosen(source: str, questions: int) -> list[dict[str, Any]]:
    """Return both completions of questions with a short answer."""
    rows = [json.loads(line) for line in Path(source).read_text().splitlines()]
    short = sorted({row["question_id"] for row in rows if len(row["answer"]) <= SHORT})[:questions]
    return [row for row in rows if row["question_id"] in short]


def has_answer(row: dict[str, Any]) -> float:
    """A typical custom reward function: the reference must be at the end of the answer."""
    return float(row["answer"].strip("$ .") in row["completion"][-80:])


def function_in(file: Path, name: str) -> ast.FunctionDef:
    nodes = ast.walk(ast.parse(file.read_text()))
    return next(node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name)


def run(node: ast.stmt, names: dict[str, Any]) -> dict[str, Any]:
    """Return the names defined by a statement of a library."""
    module = ast.fix_missing_locations(ast.Module(body=[node], type_ignores=[]))
    exec(compile(module, "<library>", "exec"), names)
    return names


def trl(rows: list[dict[str, Any]], folder: Path, wheel: Path) -> None:
    """Write what ``GRPOTrainer.log`` writes at the end of a step, with two reward functions and an extra column."""
    log = function_in(wheel / "trl/trainer/grpo_trainer.py", "log")
    node = next(one for one in log.body if isinstance(one, ast.If) and "to_parquet" in ast.unparse(one))
    (folder / "completions").mkdir(exist_ok=True)
    rewards = [has_answer(row) for row in rows]
    logs = {
        "prompt": [
            [{"role": "system", "content": "Think first."}, {"role": "user", "content": row["question"]}]
            for row in rows
        ],
        "completion": [[{"role": "assistant", "content": row["completion"]}] for row in rows],
        "rewards": {
            "has_answer": rewards,
            # It checks only thinking models: for others it returns None, which the trainer turns into NaN.
            "brevity": [float("nan") if "<think>" in row["completion"] else 0.25 for row in rows],
        },
        "extra": {"solution": [row["answer"] for row in rows]},
        "advantages": [reward - sum(rewards) / len(rewards) for reward in rewards],
        "images": [],
    }
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(is_main_process=True),
        log_completions=True,
        args=SimpleNamespace(output_dir=str(folder), report_to=[], log_unique_prompts=False),
        state=SimpleNamespace(global_step=10),
        num_completions_to_print=0,
        wandb_log_unique_prompts=False,
        _logs=logs,
    )
    names = {"self": trainer, "pd": pd, "os": os, "is_rich_available": lambda: False}
    names["strip_images_from_messages"] = lambda messages: messages
    run(node, names)


def verl(rows: list[dict[str, Any]], folder: Path, wheel: Path) -> None:
    """Write what ``_write_generations`` writes for a step, and a data set with responses of its generation server."""
    node = function_in(wheel / "verl/trainer/ppo/v1/trainer_base.py", "_write_generations")
    node.decorator_list = []
    write = run(node, {"os": os, "json": json, "np": np})["_write_generations"]
    correct = [has_answer(row) for row in rows]
    scores = [2 * one - 1 for one in correct]
    extra = {
        "reward": scores,
        "acc": [bool(one) for one in correct],
        "overlong_reward": [np.float32(-0.5) if len(row["completion"]) > 1000 else float("nan") for row in rows],
        "uid": [f"{row['question_id'][:8]}_{number}_0" for number, row in enumerate(rows)],
    }
    prompts = [f"user\n{row['question']}\nassistant\n" for row in rows]
    answers = [row["completion"] for row in rows]
    write(prompts, answers, [row["answer"] for row in rows], scores, extra, str(folder), 20)
    rows_by_question = {row["question_id"]: row for row in rows}
    frame = pd.DataFrame(
        {
            "data_source": ["sample/puzzles" for _ in rows_by_question],
            "prompt": [[{"role": "user", "content": row["question"]}] for row in rows_by_question.values()],
            "ability": ["math" for _ in rows_by_question],
            "reward_model": [{"style": "rule", "ground_truth": row["answer"]} for row in rows_by_question.values()],
            "extra_info": [{"split": "test", "index": number} for number in range(len(rows_by_question))],
        }
    )
    frame["responses"] = [[row["completion"] for row in rows if row["question_id"] == key] for key in rows_by_question]
    frame.to_parquet(folder / "responses.parquet")


def rewardbench(rows: list[dict[str, Any]], folder: Path, wheel: Path) -> None:
    """Write what ``save_jsonl`` of the ``rewardbench`` command writes: pairs with the scores of a reward model."""
    node = function_in(wheel / "rewardbench/rewardbench.py", "save_jsonl")
    for argument in node.args.args:
        argument.annotation = None
    write = run(node, {"os": os, "json": json})["save_jsonl"]
    pairs = []
    for question_id in dict.fromkeys(row["question_id"] for row in rows):
        same = [row for row in rows if row["question_id"] == question_id]
        right = [row for row in same if row["gold_correct"]]
        wrong = [row for row in same if not row["gold_correct"]]
        pairs += list(zip(right, wrong, strict=False))
    scores = [[row["completion"].count("=") / 4 for row in pair] for pair in pairs]
    template = "<|user|>\n{question}\n<|assistant|>\n{completion}"
    table = {
        "prompt": [right["question"] for right, _ in pairs],
        "results": [int(right > wrong) for right, wrong in scores],
        "scores_chosen": [right for right, _ in scores],
        "scores_rejected": [wrong for _, wrong in scores],
        "text_chosen": [template.format(**right) for right, _ in pairs],
        "text_rejected": [template.format(**wrong) for _, wrong in pairs],
        "chosen": [right["completion"] for right, _ in pairs],
        "chosen_model": [right["completion_model"] for right, _ in pairs],
        "rejected": [wrong["completion"] for _, wrong in pairs],
        "rejected_model": [wrong["completion_model"] for _, wrong in pairs],
        "subset": ["sample-math" for _ in pairs],
        "id": list(range(len(pairs))),
    }
    write(str(folder / "sample-equations-rm_outputs.jsonl"), table)


def batch(rows: list[dict[str, Any]], folder: Path, _wheel: Path | None = None) -> None:
    """Write a batch's input and output; the openai library's own classes create and check the bodies."""
    from openai.types.chat import ChatCompletion  # type: ignore[import-not-found]
    from openai.types.responses import Response  # type: ignore[import-not-found]

    rows_by_question = list({row["question_id"]: row for row in rows}.values())
    requests, answers = [], []
    for number, row in enumerate(rows_by_question):
        same = [one["completion"] for one in rows if one["question_id"] == row["question_id"]]
        by_responses = number == len(rows_by_question) - 1
        body: dict[str, Any] = {"model": "sample-mini", "metadata": {"reference": row["answer"]}}
        body |= (
            {"input": row["question"]}
            if by_responses
            else {
                "messages": [{"role": "user", "content": row["question"]}],
                "n": len(same),
            }
        )
        url = "/v1/responses" if by_responses else "/v1/chat/completions"
        requests.append({"custom_id": f"request-{number}", "method": "POST", "url": url, "body": body})
        answered = _response(number, same[0]) if by_responses else _chat(number, same)
        checked = (Response if by_responses else ChatCompletion).model_validate(answered)
        answers.append(_line(number, {"status_code": 200, "request_id": f"r{number}", "body": checked.to_dict()}))
    failed = {"error": {"message": "Rate limit reached.", "type": "tokens", "code": "rate_limit_exceeded"}}
    answers.append(_line(len(rows_by_question), {"status_code": 429, "request_id": "r-last", "body": failed}))
    for name, lines in (("requests", requests), ("output", answers)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)


def _line(number: int, response: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"batch_req_{number}", "custom_id": f"request-{number}", "response": response, "error": None}


def _chat(number: int, completions: list[str]) -> dict[str, Any]:
    choices = [
        {"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        for index, text in enumerate(completions)
    ]
    made = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_700_000_000, "model": "sample-mini-1"}
    return {**made, "choices": choices}


def _response(number: int, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    output = [
        {"type": "reasoning", "id": f"rs_{number}", "summary": []},
        {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": [part]},
    ]
    made = {"id": f"resp_{number}", "object": "response", "created_at": 1_700_000_000, "model": "sample-mini-1"}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "completed"}
    return {**made, **settings, "output": output}


def fields(rows: list[dict[str, Any]], folder: Path, _wheel: Path | None = None) -> None:
    """Write a report of xVerify's evaluator, and rows of VerifierBench with the verifier's judgments."""
    results = []
    for row in rows:
        words = "Correct" if has_answer(row) else "Incorrect"
        results.append(
            {
                "setting": "0_shot_cot",
                "model_name": row["completion_model"],
                "dataset": "sample",
                "key_answer_type": "math",
                "standard_answer_range": "a(n) number / set / expression",
                "question": row["question"],
                "correct_answer": row["answer"],
                "llm_output": row["completion"],
                "GPT_4o_final_judgment_result": words,
                "human_judgment_result": "Correct" if row["gold_correct"] else "Incorrect",
                "prompt": "You are a diligent and precise assistant ...",
                "xVerify-0.5B-I_judgment_result": " correct" if len(row["completion"]) < 1000 else words,
            }
        )
    # One reply was truncated: the evaluation counts that as no valid judgment.
    results[0] |= {"xVerify-0.5B-I_judgment_result": "The answer", "judge_valid": "False"}
    info = {"llm": {"model_name": "xVerify-0.5B-I", "temperature": 0.1}, "dataset": "sample", "data_num": len(rows)}
    report = {"info": info, "stat_info": {"Valid_num": len(rows) - 1}, "results": results}
    (folder / "xverify.json").write_text(json.dumps(report, ensure_ascii=False, indent=4))
    judged = []
    for number, row in enumerate(rows):
        cut = number == len(rows) - 1
        letter = "A" if has_answer(row) else "B"
        judged.append(
            {
                "question": row["question"],
                "gold_answer": row["answer"],
                "llm_response": row["completion"][: 60 if cut else None],
                "gold_judgment": "C" if cut else "A" if row["gold_correct"] else "B",
                "data_source": "sample",
                "domain": "Math",
                "answer_type": "Set",
                "ori_judgment": f"Analysis step by step:\n...\n\nFinal Judgment: \\boxed{{{letter}}}",
            }
        )
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in judged)
    (folder / "verifierbench.jsonl").write_text(text)


def main() -> None:
    verb, source, folder, *wheel = sys.argv[1:]
    tools: dict[str, Callable[..., None]] = {"trl": trl, "verl": verl, "rewardbench": rewardbench, "batch": batch}
    tools["fields"] = fields
    tools[verb](chosen(source, 6), Path(folder), *map(Path, wheel))


if __name__ == "__main__":
    main()
