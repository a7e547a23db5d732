"""``workbench export`` and ``workbench restore``: counts, documents, exit codes, and the commands of the guide."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from tests.commands import Call, in_process
from tests.documents import ROOT, shown_commands
from workbench.care import backups
from workbench.interchange.records import ExportReport, Restored


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


def test_the_commands_of_the_guide_work(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The doctor is here for the database; attacks on the sandbox take it seconds.
    monkeypatch.setattr(backups, "check_sandbox", list)
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    commands = shown_commands("docs/export.md")
    assert {"sft", "pairs", "workbench"} < {word for command in commands for word in command}
    for command in commands:
        code, _, error = call(*command[1:])
        assert code == 0, f"{command}: {error}"

    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_bytes().splitlines()]
    assert len({line["question_id"] for line in lines}) == len(lines) > 20
    assert {tuple(line["verifiers"]) for line in lines} == {("rules",)}


@pytest.fixture
def judged(call: Call, tmp_path: Path) -> str:
    rows = [
        {
            "question": f"q{n // 2}",
            "reference": "1",
            "completion": f"c{n}",
            "gold": n % 2 == 0,
            "completion_id": f"c{n}",
        }
        for n in range(6)
    ]
    verdicts = [
        {"completion_id": f"c{n}", "verifier": name, "verdict": "correct"} for name in ("a", "b") for n in range(4)
    ]
    for name, lines in (("rows", rows), ("verdicts", verdicts)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    assert call("import", "p.db", "rows.jsonl")[0] == 0
    assert call("verdicts", "p.db", "import", "verdicts.jsonl")[0] == 0
    return "p.db"


def test_filtered_items_are_reported(call: Call, judged: str) -> None:
    asked = ("export", judged, "o.jsonl", "--format", "sft", "--where", "verdict=correct", "--verifier", "a")
    code, out, error = call(*asked, "--per-question", 1, "--json")

    assert code == 0
    report = msgspec.json.decode(out, type=ExportReport)
    assert report.sft
    assert (report.written, report.sft.candidates, report.sft.chosen, report.sft.beyond) == (2, 6, 4, 2)
    assert "a on 6 candidates: 0 incorrect, 4 correct, 0 abstain, 0 error, 2 none" in error
    assert "2 beyond --per-question (seed 0)" in error
    code, out, error = call("export", judged, "all.jsonl", "--format", "sft")
    assert (code, out) == (0, "6 rows written to all.jsonl\n")
    assert "3 of the 6 written are incorrect by gold: --where gold=correct leaves these out." in error
    code, out, error = call("export", judged, "right.jsonl", "--format", "sft", "--where", "gold=correct", "--json")
    report = msgspec.json.decode(out, type=ExportReport)
    assert report.sft
    assert report.sft.gold == {"correct": 3, "incorrect": 0, "none": 0}
    assert "incorrect by gold" not in error
    code, out, error = call("export", judged, "p.jsonl", "--format", "pairs")
    assert (code, out) == (0, "3 rows written to p.jsonl\n")
    assert (
        "3 of 3 questions make pairs by gold: at most 1 each (--per-question), drawn by seed 0 of 3 possible" in error
    )


def test_several_verifiers_need_a_name(call: Call, judged: str) -> None:
    code, out, error = call("export", judged, "o.jsonl", "--format", "sft", "--where", "verdict=correct", "--json")
    assert (code, out) == (2, "")
    assert "a, b" in error


def test_an_archive_goes_there_and_back(call: Call, judged: str) -> None:
    code, out, _ = call("export", judged, "a.db", "--format", "workbench", "--without-calls", "--json")
    assert code == 0
    report = msgspec.json.decode(out, type=ExportReport)
    assert report.archive
    assert report.archive.rows["items"] > 0

    code, out, _ = call("restore", "new.db", "a.db", "--json")
    assert code == 0
    assert msgspec.json.decode(out, type=Restored).rows == report.archive.rows
    assert call("restore", "other.db", "rows.jsonl")[0] == 1
    assert call("export", judged, "b.db", "--format", "workbench", "--where", "gold=correct")[0] == 2


def test_items_left_out_of_an_export_are_reported(call: Call, judged: str) -> None:
    assert call("checks", judged, "add", "--where", "completion_id=c0")[0] == 0
    _, _, error = call("export", judged, "a.db", "--format", "workbench")
    assert "Left out: 1 checks." in error
    assert "--checks" in error
    assert "Left out" not in call("export", judged, "b.db", "--format", "workbench", "--checks")[2]
