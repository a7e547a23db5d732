"""The command line's JSON shapes and exit codes: scripts depend on them."""

from __future__ import annotations

import json
import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered

ROOT = Path(__file__).resolve().parents[4]
SAMPLE = ROOT / "sample_data"


def document(*arguments: object, code: int = 0) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("contract") / "p.db"
    document("import", path, SAMPLE / "tuples.jsonl", "--dataset", "sample")
    document("labels", path, "import", SAMPLE / "labels.jsonl")
    document("verify", path, "exact")
    return path


def test_import(tmp_path: Path) -> None:
    found = document("import", tmp_path / "p.db", SAMPLE / "tuples.jsonl")
    assert {key: found[key] for key in ("dataset", "format", "read", "imported", "unchanged", "quarantined")} == {
        "dataset": "tuples",
        "format": "verifybench",
        "read": 79,
        "imported": 79,
        "unchanged": 0,
        "quarantined": 0,
    }
    assert found["swapped_types"] is True


def test_status(database: Path) -> None:
    found = document("status", database)
    assert (found["items"], found["questions"], found["runs"]) == (79, 39, 1)
    assert list(found["states"]) == ["unlabelled", "labelled", "conflict", "final", "excluded"]
    assert sum(found["states"].values()) == 79


def test_status_lists_open_work_with_its_commands(database: Path) -> None:
    briefing = document("status", database)["briefing"]
    assert {tuple(matter) for matter in briefing} == {("kind", "sentence", "about", "size", "screen", "command")}
    assert [matter["kind"] for matter in briefing] == ["conflicts", "weakest-cell", "agreement"]
    text = " ".join(run("status", database).stdout.split())
    for number, matter in enumerate(briefing, 1):
        command = [str(database) if word == "DB" else word for word in shlex.split(matter["command"])[1:]]
        assert f"{number}. {matter['sentence']} {shlex.join(['workbench', *command])}" in text
        if command[0] != "open":
            assert run(*command).returncode == 0, command


def test_annotators_and_assign(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(4)).path
    assert document("annotators", path, "add", "ann", "bob", "cy") == document("annotators", path, "list")
    document("annotators", path, "add", "di")
    found = document("assign", path, "--annotators", "ann,bob,cy", "--per-item", "2", "--adjudicator", "di")
    assert found["assigned"] == 8
    names = [person["name"] for person in document("annotators", path, "list")]
    assert names == ["ann", "bob", "cy", "di"]


def test_labels(database: Path, tmp_path: Path) -> None:
    again = document("labels", database, "import", SAMPLE / "labels.jsonl")
    assert (again["imported"], again["unchanged"], again["refused"]) == (0, 138, 0)
    assert document("labels", database, "export", tmp_path / "out.jsonl") == {"written": 138}
    line = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert {"completion_id", "annotator", "verdict", "uuid", "dataset"} <= set(line)


def test_rejected_label_lines_exit_with_3(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"completion_id": "c0", "annotator": "a", "verdict": "correct"}\nnonsense\n')
    found = document("labels", path, "import", bad, code=3)
    assert (found["imported"], found["refused"]) == (1, 1)


def test_many_refusals_are_counted_and_a_few_spelled_out(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    bad = tmp_path / "bad.jsonl"
    bad.write_text("nonsense\n" * 1_000)
    assert len(document("labels", path, "import", bad, code=3)["refusals"]) == 1_000
    told = run("labels", path, "import", bad).stderr.splitlines()
    assert len(told) < 30
    assert "980 more" in told[-1]


def test_verify_and_runs(database: Path) -> None:
    found = document("verify", database, "exact")
    assert set(found) >= {"run", "verifier", "items", "verdicts", "seconds", "reused"}
    assert (found["items"], found["reused"]) == (79, 79)
    assert list(found["verdicts"]) == ["correct", "incorrect", "abstain", "error"]
    assert sum(found["verdicts"].values()) == 79
    (run,) = document("runs", database, "list")
    assert {key: run[key] for key in ("run", "verifier", "state", "items", "done")} == {
        "run": found["run"],
        "verifier": "exact",
        "state": "complete",
        "items": 79,
        "done": 79,
    }
    assert {"pid", "heartbeat"} <= set(run)
    shown = document("runs", database, "show", found["run"])
    assert set(shown["attempts"]) == {"unsent", "sent", "failed", "done"}
    assert shown["ambiguous"] == []


def test_verdicts_are_one_line_an_item(database: Path) -> None:
    done = run("verdicts", database, "--verifier", "exact")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({line["completion_id"] for line in lines}) == len(lines) == 79
    assert all(
        {"question_id", "completion_id", "verifier", "verdict", "score", "reason", "ms"} <= set(line) for line in lines
    )


def test_accuracy(database: Path) -> None:
    found = document("accuracy", database, "--by", "type")
    assert found["protocol"] == "strict"
    assert set(found["gold"]) == {"adjudicated", "agreed", "imported", "conflict", "none"}
    groups = [row["group"] for row in found["rows"] if row["verifier"] == "exact"]
    assert groups == [None, "A", "B", "C", "D"]
    keys = ["verifier", "group", "n", "accuracy", "ci", "balanced_accuracy", "mcc", "fpr", "fnr", "coverage"]
    assert all(set(keys) <= set(row) for row in found["rows"])
    assert len(found["rows"][0]["ci"]) == 2


def test_accuracy_by_reason(database: Path) -> None:
    rows = [row for row in document("accuracy", database, "--by", "reason")["rows"] if row["verifier"] == "exact"]
    reasons = {row["group"]: row for row in rows}
    assert list(reasons) == [None, "no_answer_found", "text_differs", "text_equal"]
    assert sum(row["n"] for row in rows[1:]) == rows[0]["n"]
    assert reasons["text_equal"]["fn"] == reasons["text_differs"]["fp"] == 0
    assert all(row["auroc"] is None for row in rows)
    assert "AUROC" not in run("accuracy", database).stdout


def test_compare(database: Path) -> None:
    found = document("compare", database, "exact", "always-incorrect", "--examples", "2")
    keys = ["n", "both_right", "only_a", "only_b", "both_wrong", "mcnemar_p", "difference", "ci"]
    assert list(found)[: len(keys)] == keys
    assert (found["a"], found["b"], found["protocol"]) == ("exact", "always-incorrect", "strict")
    assert found["n"] == sum(found[key] for key in keys[1:5]) == 76
    assert found["difference"] == pytest.approx((found["only_a"] - found["only_b"]) / 76)
    assert found["ci"][0] < found["difference"] < found["ci"][1]
    assert [(item["gold"], item["a"], item["b"]) for item in found["examples"]["only_a"]] == [
        ("correct", "correct", "incorrect")
    ] * 2
    accuracies = {row["verifier"]: row["accuracy"] for row in document("accuracy", database)["rows"]}
    assert found["accuracy_a"] == pytest.approx(accuracies["exact"])
    assert found["accuracy_b"] == pytest.approx(accuracies["always-incorrect"])
    text = run("compare", database, "exact", "always-incorrect", "--protocol", "strict", "--examples", "1")
    assert text.returncode == 0
    assert all(words in text.stdout for words in ("protocol strict, gold final", "B wrong", "McNemar", "only A right"))


def test_compare_a_family(database: Path) -> None:
    found = document("compare", database, "--all")
    keys = ["n", "both_right", "only_a", "only_b", "both_wrong", "mcnemar_p", "difference", "ci"]
    names = [member["verifier"] for member in found["members"]]
    assert {(pair["a"], pair["b"]) for pair in found["family"]} == set(combinations(names, 2))
    assert all(set(pair) >= {*keys, "permutation_p", "holm_p", "q"} for pair in found["family"])
    assert all("letters" in member for member in found["members"])
    against = document("compare", database, "--all", "--against", "always-incorrect")
    assert {pair["b"] for pair in against["family"]} == {"always-incorrect"}


def test_compare_errors_in_common(database: Path) -> None:
    found = document("compare", database, "--errors", "exact", "always-incorrect")
    (pair,) = found["errors"]
    assert (pair["a"], pair["b"]) == ("exact", "always-incorrect")
    keys = {"n", "agreement", "kappa", "kappa_ci", "errors", "on_correct", "on_incorrect", "either_right"}
    assert set(pair) >= keys
    assert set(pair["errors"]) >= {"n", "wrong_a", "wrong_b", "both_wrong", "expected", "phi", "phi_ci", "yules_q"}


def test_compare_by_group(database: Path) -> None:
    found = document("compare", database, "exact", "always-incorrect", "--by", "type")
    assert found["by"] == "type"
    assert sum(group["n"] for group in found["groups"]) == found["n"]
    assert [metric["metric"] for metric in found["metrics"]] == ["accuracy", "balanced_accuracy", "mcc"]
    text = run("compare", database, "exact", "always-incorrect", "--by", "type", "--format", "markdown")
    assert "Wins and losses by type" in text.stdout


def test_export_and_backup(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "back.jsonl"
    assert document("export", database, out, "--format", "verifybench", "--gold", "imported")["written"] == 79
    assert out.read_bytes() == (SAMPLE / "tuples.jsonl").read_bytes()
    assert run("export", database, out, "--format", "verifybench").returncode == 1
    assert document("backup", database, tmp_path / "copy.db")["bytes"] > 0
    assert document("doctor", tmp_path / "copy.db")["ok"] is True


def test_verifiers(database: Path) -> None:
    names = {kind["name"] for kind in document("verifiers", database)}
    assert {"exact", "normalized-exact", "always-incorrect", "math-verify"} <= names


@pytest.mark.parametrize(
    "arguments",
    [
        ("accuracy", "{db}", "--where", "colour=red"),
        ("accuracy", "{db}", "--where", "nonsense"),
        ("accuracy", "{db}", "--where", "verdict:nobody=correct"),
        ("verify", "{db}", "exact", "--where", "verdict:nobody=correct"),
        ("assign", "{db}", "--annotators", "a,b", "--where", "verdict:nobody=correct"),
        ("accuracy", "{db}", "--where", "state=unknown"),
        ("accuracy", "{db}", "--by", "colour"),
        ("accuracy", "{db}", "--verifier", "nobody"),
        ("verdicts", "{db}", "--verifier", "nobody"),
        ("compare", "{db}", "exact", "nobody"),
        ("compare", "{db}", "nobody", "exact"),
        ("compare", "{db}", "exact", "exact"),
        ("compare", "{db}", "exact"),
        ("compare", "{db}"),
        ("compare", "{db}", "--all", "exact"),
        ("compare", "{db}", "--all", "--by", "type"),
        ("compare", "{db}", "--errors", "--all"),
        ("compare", "{db}", "--errors", "exact"),
        ("compare", "{db}", "exact", "--against", "nobody"),
        ("compare", "{db}", "exact", "always-incorrect", "--by", "colour"),
        ("compare", "{db}", "exact", "always-incorrect", "--where", "gold=none"),
        ("compare", "{db}", "exact", "always-incorrect", "--where", "verdict:nobody=correct"),
        ("compare", "{db}", "exact", "always-incorrect", "--protocol", "loose"),
        ("compare", "{db}", "exact", "always-incorrect", "--examples", "-1"),
        ("verify", "{db}", "nothing-like-it"),
        ("verify", "{db}", "exact", "-o", "speed=high"),
        ("assign", "{db}", "--annotators", "one"),
        ("annotators", "{db}", "add"),
        ("open", "{db}", "--as", "nobody"),
        ("verify", "{db}", "exact", "--limit", "9" * 30),
        ("accuracy", "{db}", "--run", "9" * 30),
        ("runs", "{db}", "show", "9" * 30),
        ("no-such-command",),
    ],
)
def test_wrong_usage_exits_with_2_and_lists_the_choices(database: Path, arguments: tuple[str, ...]) -> None:
    done = run(*(argument.replace("{db}", str(database)) for argument in arguments))
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 6


@pytest.mark.parametrize("command", ["status", "accuracy", "doctor", "verifiers", "runs"])
def test_a_database_that_is_not_there_exits_with_1_and_is_not_made(command: str, tmp_path: Path) -> None:
    done = run(command, tmp_path / "no.db")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_hostile_values_are_bound_never_executed(database: Path) -> None:
    for field in ("model", "completion_id", "subtype", "verdict:rules"):
        done = run("accuracy", database, "--where", f"{field}=x'; DROP TABLE completions; --")
        assert done.returncode == 2, done.stderr
    assert document("status", database)["items"] == 79


def test_demo_without_a_terminal_prints_the_best_verifier_and_its_weakness(tmp_path: Path) -> None:
    found = json.loads(run("demo", "--json", cwd=tmp_path).stdout)
    assert {row["verifier"] for row in found["rows"]} == {
        "rules",
        "exact",
        "normalized-exact",
        "math-verify",
        "always-incorrect",
        "always-correct",
        "majority-by-type",
    }
    assert len({row["group"] for row in found["rows"]}) == 19
    text = run("demo", cwd=tmp_path)
    assert text.returncode == 0
    assert len((text.stdout + text.stderr).splitlines()) <= 30
    assert "rules is the most accurate: 92.1 % [78.4, 98.4] of 76 items. " in text.stdout
    assert "The weakest cell of the table is math-verify's on D - String: 44.4 % [" in " ".join(text.stdout.split())
    assert "workbench open workbench-demo.db" in text.stdout
