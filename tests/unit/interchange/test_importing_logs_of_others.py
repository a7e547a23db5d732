"""Importing logs of OpenAI's tools, reward benchmarks, verifier datasets and trainers: accuracy of their graders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.unit.data.formats.logs.documented_logs import FILES
from tests.unit.interchange.labelling_logs import GOLD, labelled

FAMILIES: dict[str, str] = {
    "rewardbench/sample-equations-rm_outputs.jsonl": "rewardbench/sample-equations-rm",
    "fields/xverify.json": "xverify/xVerify-0.5B-I",
    "fields/verifierbench.jsonl": "compassverifier",
    "trl/completions/completions_00010.parquet": "trl/has_answer",
    "verl/20.jsonl": "verl/score",
}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def imported(call: Call, *arguments: object) -> dict[str, Any]:
    code, out, err = call("import", *arguments, "--json")
    assert code in (0, 3), err
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.mark.few(5)
@pytest.mark.parametrize("name", FAMILIES)
def test_one_import_and_some_labels_say_how_good_a_grader_is(call: Call, tmp_path: Path, name: str) -> None:
    database, verifier = tmp_path / "p.db", FAMILIES[name]
    report = imported(call, database, FILES / name)
    assert report["quarantined"] == 0
    assert verifier in report["verifiers"]
    again = imported(call, database, FILES / name)
    assert (again["imported"], again["unchanged"], again["verdicts"]) == (0, report["read"], 0)
    assert again["verdicts_unchanged"] == report["verdicts"]
    if "fields" not in name and "rewardbench" not in name:
        labelled(call, database, tmp_path)
    code, out, _ = call("accuracy", database, "--verifier", verifier, "--json")
    assert code == 0
    row = next(row for row in json.loads(out)["rows"] if row["verifier"] == verifier)
    assert row["n"] == expected(name)[0]
    assert row["accuracy"] == pytest.approx(expected(name)[1])


def expected(name: str) -> tuple[int, float]:
    """Return the number of items with gold and the grader's accuracy, computed from the file."""
    pairs = _pairs(FILES / name)
    return len(pairs), sum(gold is verdict_choice for gold, verdict_choice in pairs) / len(pairs)


def _pairs(file: Path) -> list[tuple[bool, bool]]:
    """Gold and the grader's word for it; undecided ones are wrong."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(file).to_pylist()
        return [(GOLD[row["completion"][-1]["content"]], row["has_answer"] == 1) for row in rows]
    if file.suffix == ".json":
        rows = json.loads(file.read_text())["results"]
        verdict_choice = [row["xVerify-0.5B-I_judgment_result"].strip().lower() == "correct" for row in rows]
        return [(row["human_judgment_result"] == "Correct", one) for row, one in zip(rows, verdict_choice, strict=True)]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    if "sample_id" in rows[-1]:
        events = {kind: {row["sample_id"]: row["data"] for row in rows if row.get("type") == kind} for kind in KINDS}
        first = {row["sample_id"]: row["data"] for row in reversed(rows) if row.get("type") == "sampling"}
        graded = events["match"] or events["metrics"]
        return [
            (GOLD[first[sample]["sampled"][0]], bool(data.get("correct", data.get("score") == 1)))
            for sample, data in graded.items()
        ]
    if "chosen" in rows[0]:
        ahead = [row["scores_chosen"] - row["scores_rejected"] for row in rows]
        return [pair for one in ahead for pair in ((True, one > 0), (False, one <= 0))]
    if "gold_judgment" in rows[0]:
        judged = [row for row in rows if row["gold_judgment"] != "C"]
        return [(row["gold_judgment"] == "A", "{A}" in row["ori_judgment"]) for row in judged]
    return [(GOLD[row["output"]], row["score"] == 1) for row in rows]


KINDS = ("match", "metrics")


def test_a_batch_is_imported_once_its_requests_are_next_to_it(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    folder.mkdir()
    output = Path(shutil.copy(FILES / "openai_batch" / "output.jsonl", folder))
    first = imported(call, tmp_path / "p.db", output)
    assert (first["imported"], first["reasons"]) == (0, {"failed_request": 1, "unknown_request": 6})
    shutil.copy(FILES / "openai_batch" / "requests.jsonl", folder)
    second = imported(call, tmp_path / "p.db", output)
    assert (second["imported"], second["reasons"]) == (11, {"failed_request": 1})
    third = imported(call, tmp_path / "p.db", output)
    assert (third["imported"], third["unchanged"], third["quarantined"]) == (0, 11, 1)


def test_training_data_of_verl_is_a_pool_of_questions(call: Call, tmp_path: Path) -> None:
    row = {"data_source": "sample/sums", "prompt": [{"role": "user", "content": "3 + 4?"}], "ability": "math"}
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps({**row, "reward_model": {"ground_truth": "7"}}) + "\n")
    report = imported(call, tmp_path / "p.db", file)
    assert (report["format"], report["imported"]) == ("verl-dataset", 1)


def test_predictions_of_label_studio_are_verdicts(call: Call, tmp_path: Path) -> None:
    def verdict_choice(verdict: str) -> list[dict[str, Any]]:
        return [{"from_name": "verdict", "to_name": "completion", "type": "choices", "value": {"choices": [verdict]}}]

    tasks = []
    for number, verdict in enumerate(("correct", "incorrect", "unsuitable", "perhaps")):
        texts = {"question": f"{number} + 4?", "reference": "7", "completion": "It is 7."}
        prediction = {"model_version": "judge v1", "score": 0.75, "result": verdict_choice(verdict)}
        tasks.append({"id": number, "data": texts, "annotations": [], "predictions": [prediction, "noise"]})
    tasks.append({"id": 9, "data": {**texts, "completion": "8"}, "annotations": [], "predictions": None})
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps(tasks))
    report = imported(call, tmp_path / "p.db", file)
    assert (report["imported"], report["verdicts"]) == (5, 4)
    assert list(report["verifiers"]) == ["label-studio/judge-v1"]
    _, out, _ = call("verdicts", tmp_path / "p.db", "--verifier", "label-studio/judge-v1")
    rows = [json.loads(line) for line in out.splitlines()]
    assert sorted((row["verdict"], row["reason"], row["detail"]) for row in rows) == [
        ("abstain", "invalid", "confidence 0.75"),
        ("abstain", "unparsed", "perhaps"),
        ("correct", None, "confidence 0.75"),
        ("incorrect", None, "confidence 0.75"),
    ]


def test_another_reward_model_or_judge_of_the_same_answers_adds_its_verdicts(call: Call, tmp_path: Path) -> None:
    pairs = FILES / "rewardbench" / "sample-equations-rm_outputs.jsonl"
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    scored = [{**row, "results": 0, "scores_chosen": 0, "scores_rejected": 1.5} for row in rows]
    (tmp_path / "other-rm_outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored))
    first = imported(call, tmp_path / "p.db", pairs, "--dataset", "pairs")
    second = imported(call, tmp_path / "p.db", tmp_path / "other-rm_outputs.jsonl", "--dataset", "pairs")
    assert (second["unchanged"], second["quarantined"], second["verdicts"]) == (first["imported"], 0, 12)
    assert list(second["verifiers"]) == ["rewardbench/other-rm"]
    report = json.loads((FILES / "fields" / "xverify.json").read_text())["results"]
    judged = [{key.replace("0.5B-I", "9B-C"): value for key, value in row.items()} for row in report]
    (tmp_path / "other.json").write_text(json.dumps(judged))
    imported(call, tmp_path / "p.db", FILES / "fields" / "xverify.json", "--dataset", "var")
    again = imported(call, tmp_path / "p.db", tmp_path / "other.json", "--dataset", "var")
    assert (again["unchanged"], again["quarantined"], again["verdicts"]) == (12, 0, 12)
    assert "xverify/xVerify-9B-C" in again["verifiers"]
