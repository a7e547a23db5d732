"""A few lines of plain Python over exported verdicts and gold reproduce ``workbench accuracy``."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.commands import run
from tests.conftest import ROOT

Row = dict[str, str]
Rates = dict[str, float | None]
csv.field_size_limit(1 << 27)


def recomputed(items: Iterable[Row], verdicts: Iterable[Row], protocol: str) -> dict[str, Rates]:
    """Every verifier's counts and rates, from both exported tables alone."""
    gold = {(row["question_id"], row["completion_id"]): row["gold_correct"] for row in items if row["gold_correct"]}
    counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in verdicts:
        truth = gold.get((row["question_id"], row["completion_id"]))
        said = {"correct": "true", "incorrect": "false"}.get(row["verdict"], "")
        if not said and protocol != "decided":
            said = "true" if protocol == "strict" and truth == "false" else "false"
        if truth and said:
            counts[row["verifier"]][truth, said] += 1
    words = (("true", "true"), ("false", "true"), ("false", "false"), ("true", "false"))
    return {verifier: rates(*(count[pair] for pair in words)) for verifier, count in counts.items()}


def rates(tp: int, fp: int, tn: int, fn: int) -> Rates:
    parts = {"accuracy": (tp + tn, tp + fp + tn + fn), "precision": (tp, tp + fp), "recall": (tp, tp + fn)}
    parts["f1"] = (2 * tp, 2 * tp + fp + fn)
    return {name: part / whole if whole else None for name, (part, whole) in parts.items()} | {
        "tp": tp,
        "fp": fp,
        "tn": tn,
        "fn": fn,
    }


def command(*words: object) -> str:
    found = run(*map(str, words))
    assert found.returncode == 0, found.stderr
    return found.stdout


def imported(database: Path, lines: Iterable[dict[str, object]]) -> None:
    """Verdicts that came in a file."""
    file = database.with_suffix(".jsonl")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command("verdicts", database, "import", file)


def silent(database: Path) -> None:
    """A verifier that abstains on all, and one that fails on every other item and else abstains."""
    items = table(database, "items")
    imported(
        database,
        (
            {
                "question_id": row["question_id"],
                "completion_id": row["completion_id"],
                "verifier": name,
                "verdict": said,
            }
            for place, row in enumerate(items)
            for name, said in (("silent", "abstain"), ("failing", ("error", "abstain")[place % 2]))
        ),
    )


def table(database: Path, name: str) -> list[Row]:
    """One exported table."""
    file = database.with_name(f"{name}.csv")
    command("export", database, file, "--table", name, "--force")
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    database = tmp_path / "p.db"
    command("import", database, ROOT / "sample_data" / "tuples.jsonl", "--dataset", "sample")
    command("labels", database, "import", ROOT / "sample_data" / "labels.jsonl")
    for name in ("rules", "math-verify", "exact"):
        command("verify", database, name)
    return database


@pytest.fixture
def real(judged_rows: Path, tmp_path: Path) -> Path:
    """The 108 rows with the runs that other tests share."""
    database = tmp_path / "p.db"
    database.write_bytes(judged_rows.read_bytes())
    return database


@pytest.fixture
def code(shared_data: Path, tmp_path: Path) -> Path:
    """40 problems with 20 solutions each; what a model said of them, where a bare 4 is correct and prose is nothing."""
    database, folder = tmp_path / "p.db", shared_data / "code"
    command("import", database, folder / "problems.jsonl", folder / "solutions.jsonl", "--dataset", "code")
    rows = [json.loads(line) for line in (folder / "solutions.jsonl").read_text("utf-8").splitlines()]
    said = {**dict.fromkeys("0123", "incorrect"), "4": "correct"}
    names = ("gpt35_no_step_no_ref", "gpt35_no_step_with_ref")
    imported(
        database,
        (
            {
                "completion_id": f"{row['task_id']}/{row['solution_id']}",
                "verifier": name,
                "verdict": said.get(row[name], "abstain"),
            }
            for row in rows
            for name in names
        ),
    )
    return database


@pytest.mark.few(2)
@pytest.mark.parametrize("data", ["sample", pytest.param("real", marks=pytest.mark.soak), "code"])
def test_exports_recomputed_in_a_few_lines_give_the_same_metrics(data: str, request: pytest.FixtureRequest) -> None:
    database: Path = request.getfixturevalue(data)
    silent(database)
    items, verdicts = table(database, "items"), table(database, "verdicts")
    for protocol in ("strict", "forced", "decided"):
        asked = () if protocol == "strict" else ("--protocol", protocol)
        report = json.loads(command("accuracy", database, "--json", *asked))
        assert report["protocol"] == protocol
        shown = {row["verifier"]: row for row in report["rows"] if row["kind"] == "verifier" and row["group"] is None}
        plain = recomputed(items, verdicts, protocol)
        assert set(plain) == {name for name, row in shown.items() if row["n"]}
        for name, found in plain.items():
            row = shown[name]
            assert rates(row["tp"], row["fp"], row["tn"], row["fn"]) == found, (protocol, name)
            assert row["accuracy"] == found["accuracy"]
        assert (
            shown["silent"]["accuracy"]
            == {"strict": 0, "forced": pytest.approx(1 - share(items)), "decided": None}[protocol]
        )
        assert shown["silent"]["abstain"] == len([row for row in items if row["gold_correct"]])


def share(items: list[Row]) -> float:
    """Return the share of correct gold."""
    gold = [row["gold_correct"] == "true" for row in items if row["gold_correct"]]
    return sum(gold) / len(gold)
