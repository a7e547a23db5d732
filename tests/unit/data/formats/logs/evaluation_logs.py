"""Evaluation logs made for tests: lm-eval samples, and Inspect logs as documents and archives."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.unit.data.formats.logs.documented_logs import FILES

MODEL_A = FILES / "lm_eval" / "sample__model-a"
HEADER = {"version": 2, "status": "success", "eval": {"eval_id": "e1", "task": "sums", "model": "m"}}
SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "input": "What is 3 + 4?",
    "target": "7",
    "output": {"choices": [{"message": {"role": "assistant", "content": "It is 7."}}]},
    "scores": {"match": {"value": "C", "answer": "7"}},
}


def samples(task: str, folder: Path = MODEL_A) -> Path:
    (path,) = folder.glob(f"samples_{task}_*.jsonl")
    return path


def rows(task: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in samples(task).read_text(encoding="utf-8").splitlines()]


def written(folder: Path, *given: dict[str, Any], name: str = "samples_t_2026-01-02T03-04-05.6.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


def row(**fields: Any) -> dict[str, Any]:
    usual = {
        "doc_id": 3,
        "doc": {"question": "What is 3 + 4?", "answer": "7"},
        "target": "7",
        "arguments": {"gen_args_0": {"arg_0": "Question: What is 3 + 4?\nAnswer:", "arg_1": {"until": ["\n"]}}},
        "resps": [["It is 7."]],
        "filtered_resps": ["7"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    return {key: value for key, value in {**usual, **fields}.items() if value is not ...}


def options(*texts: str, likelihoods: list[float], **fields: Any) -> dict[str, Any]:
    prompt = "Question: What is 3 + 4?\nAnswer:"
    given = {
        "arguments": {f"gen_args_{n}": {"arg_0": prompt, "arg_1": f" {text}"} for n, text in enumerate(texts)},
        "resps": [[[str(likelihood), "False"]] for likelihood in likelihoods],
        "filtered_resps": [[str(likelihood), "False"] for likelihood in likelihoods],
        "exact_match": ...,
    }
    return row(**{**given, **fields})


def document(folder: Path, *samples: Any, **header: Any) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**HEADER, **header, "samples": list(samples)}))
    return path


def archive(folder: Path, members: Mapping[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, value in members.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def members(*samples: Any) -> dict[str, Any]:
    named = {f"samples/{number}_epoch_1.json": one for number, one in enumerate(samples, 1)}
    return {"_journal/start.json": HEADER, **named}


def changed(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in {**SAMPLE, **fields}.items() if value is not ...}
