"""Selection, ranking metrics, saturation, pass@k and histograms from scripts: documents and exit codes."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.evolving import ActingSandbox, executed, limited, own_project, tops
from tests.scored_code import put_scores, scored_project
from workbench.coding.ranking import scores
from workbench.core.code import CodeTest
from workbench.data.store import tests

OUTCOMES = {"t": {"a": "pppp|", "b": "ppff|", "c": "ffff|"}, "none": {"d": "ffff|"}}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Run ``workbench code …`` in this process; gives exit code, stdout and stderr."""
    return partial(in_process(monkeypatch, capfd), "code")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    project = scored_project(tmp_path, OUTCOMES)
    put_scores(project, "judge", {"t/a": 1.0, "t/b": 0.0, "t/c": 0.5, "none/d": 0.5})
    project.close()
    return project.path


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "rows.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def candidates(*rows: tuple[Any, float, int], task_id: Any = "t") -> dict[str, Any]:
    return {
        "task_id": task_id,
        "candidates": [
            {"id": id, "average_test_score": score, "average_time_taken": 1, "rank": rank} for id, score, rank in rows
        ],
    }


def scored(score: Any, rank: int = 1, dataset: str = "HE_plus") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "task_id": 1,
        "rank": rank,
        "ground_average_test_score": 1 / rank,
        "average_test_score": score,
    }


def test_select_from_a_file_prints_ids_as_they_are(call: Call, tmp_path: Path) -> None:
    path = written(tmp_path, candidates((7, 1, 1), ("x", 0.5, 2)), candidates((1, 0.5, 2), task_id=3))
    code, out, err = call("select", "--from", path)
    first, second = map(json.loads, out.splitlines())
    assert (code, first["task_id"], first["selected"], first["reason"]) == (0, "t", [7, "x"], "few_scores")
    assert (second["task_id"], second["selected"], second["reason"]) == (3, [], "no_ground_truth")
    assert "1 problem with fewer than 5: no solution is marked as the ground truth" in err


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (candidates((1, 1, 1), (2, 1, 1), task_id="two best"), "candidates.rank: two best: two candidates"),
        (candidates((1, 1, 1), (1, 0.5, 2)), "candidates[1].id:"),
        ({"task_id": "t", "candidates": [{"id": 1, "average_test_score": 1}]}, "candidates[0].average_time_taken:"),
        (candidates((1, float("nan"), 1)), "candidates[0].average_test_score:"),
        ("not JSON", "line:"),
    ],
    ids=["two-best", "same-id", "missing", "nan", "no-json"],
)
def test_select_refuses_bad_lines_with_line_and_field(call: Call, tmp_path: Path, line: Any, place: str) -> None:
    path = written(tmp_path, candidates((1, 1, 1), task_id="good"), line)
    code, out, err = call("select", "--from", path)
    assert (code, len(out.splitlines())) == (3, 1)
    assert f"rows.jsonl:2:{place}" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["select", "metrics"])
def test_an_empty_file_is_an_error(call: Call, tmp_path: Path, command: str) -> None:
    code, out, err = call(command, "--from", written(tmp_path))
    assert (code, out) == (1, "")
    assert "rows.jsonl" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("select",),
        ("select", "p.db", "--from", __file__),
        ("select", "--from", __file__, "--truth", "x"),
        ("select", "--from", __file__, "--k", "0"),
        ("passk", "p.db", "--k", "1,x"),
        ("passk", "DB", "--verifier", "a", "--truth", "b"),
        ("saturation", "p.db", "--k", "16"),
        ("metrics", "--from", __file__, "--verifier", "x"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments)).replace(__file__, "FILE"),
)
def test_wrong_usage_ends_with_2(call: Call, database: Path, arguments: tuple[str, ...]) -> None:
    code, out, _ = call(*(database if argument == "DB" else argument for argument in arguments))
    assert (code, out) == (2, "")


def test_select_from_a_database_and_write_the_set(call: Call, database: Path, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    code, out, err = call("select", database, "--write", path)
    first, second = map(json.loads, out.splitlines())
    assert (code, first["selected"], first["ground_truth_from"]) == (0, ["a", "b", "c"], "stand_in")
    assert (second["task_id"], second["reason"]) == ("none", "no_ground_truth")
    assert "the fastest perfect solution replaces the ground truth" in err
    assert "Scores by execution on base (run 1)." in err
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert call("select", database, "--write", path)[0] == 1
    assert call("select", database, "--write", path, "--force")[0] == 0


def test_select_accepts_suites_rules_and_conditions(call: Call, database: Path) -> None:
    code, out, err = call(
        "select", database, "--suite", "base", "--rules", "formula", "--exact", "--where", "question_id=t"
    )
    assert "--rules formula keeps no ground truth: it has rank 1 in 0 of 1 problem." in err
    assert "keeps no ground truth" not in call("select", database)[2]
    assert "which had rank 1 in only 10 of 40 real problems" in " ".join(call("select", "--help")[1].split())
    (line,) = map(json.loads, out.splitlines())
    assert (code, line["rules"], line["exact"], line["selected"]) == (0, "formula", True, ["b", "c"])
    assert call("select", database, "--suite", "other")[0] == 2


def test_metrics_of_a_database(call: Call, database: Path) -> None:
    code, out, _ = call("metrics", database, "--json", "--bootstrap", 20)
    document = json.loads(out)
    (row,) = document["rows"]
    wanted = {"verifier", "dataset", "problems", "top1", "bottom1", "spearman", "kendall", "mae", "r2"}
    assert code == 0
    assert wanted < set(row)
    assert (row["verifier"], row["problems"], row["top1"], row["bottom1"]) == ("judge", 2, 1, 0.5)
    assert document["problems"] == []
    assert len(json.loads(call("metrics", database, "--json", "--by", "problem")[1])["problems"]) == 2
    assert "judge" in call("metrics", database)[1]


def test_metrics_of_a_file_quarantine_bad_rows(call: Call, tmp_path: Path) -> None:
    path = written(tmp_path, scored(0.9), scored(float("nan"), 2), scored(None, 2), scored(0.1, 2))
    code, out, err = call("metrics", "--from", path, "--json")
    rows = json.loads(out)["rows"]
    assert code == 3
    assert [(row["dataset"], row["problems"], row["solutions"], row["top1"]) for row in rows] == [
        ("HE_plus", 1, 2, 1),
        ("HE_base", 0, 0, None),
        ("MBPP_plus", 0, 0, None),
        ("MBPP_base", 0, 0, None),
    ]
    assert "rows.jsonl:2:average_test_score:" in err
    assert "rows.jsonl:3:average_test_score:" in err


def test_metrics_report_an_unknown_dataset(call: Call, tmp_path: Path) -> None:
    code, out, err = call("metrics", "--from", written(tmp_path, scored(1), scored(1, dataset="Other")), "--json")
    assert (code, out) == (1, "")
    assert "rows.jsonl:2:dataset: 'Other'" in err


def test_the_golden_file_through_the_command(call: Call, shared_data: Path) -> None:
    folder = shared_data / "code"
    code, out, _ = call("metrics", "--from", folder / "evaluate_case.jsonl", "--json")
    golden = json.loads((folder / "evaluate_case.expected.json").read_text(encoding="utf-8"))
    rows = {(row["verifier"], row["dataset"]): row for row in json.loads(out)["rows"]}
    assert (code, len(rows)) == (0, 8)
    for verifier, datasets in golden.items():
        for dataset, expected in datasets.items():
            row = rows[verifier, dataset]
            for ours, theirs in (("top1", "top1_accuracy"), ("mae", "total_MAE"), ("r2", "total_R2")):
                value = expected[theirs]
                assert row[ours] == (None if value is None else pytest.approx(value, abs=1e-12))


def test_passk_by_tests_and_by_a_verifier(call: Call, database: Path) -> None:
    (row,) = json.loads(call("passk", database, "--k", "1", "--json")[1])["rows"]
    assert row["value"] == pytest.approx(1 / 6)
    assert "judge (run 2)" in call("passk", database, "--verifier", "judge")[1]
    assert call("passk", database, "--verifier", "nobody")[0] == 2


def test_saturation_and_histograms_print_one_document(call: Call, database: Path) -> None:
    document = json.loads(call("saturation", database, "--json", "--k", "2,1")[1])
    assert (document["rows"], document["few_tests"], document["definition"]) == ([], 2, "workbench-1")
    assert "No metrics: no problem is left." in call("saturation", database)[1]
    document = json.loads(call("histograms", database, "--json")[1])
    assert (document["histograms"][0]["sizes"], len(document["shares"])) == ({"3": 1}, 1)
    _, out, err = call("histograms", database)
    assert "Outcomes of tests" in out
    assert "Ground truth not known: " in err


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three problems of which no solution is known to be right, run on their tests and on two weak suites."""
    monkeypatch.setattr(scores, "opened_sandbox", lambda *_, **__: nullcontext(ActingSandbox()))
    project = own_project(tmp_path)
    with project.database.write() as connection:
        # The right solutions are out, so that only the reference solution passes everything.
        connection.execute(
            "INSERT INTO item_states (completion_id, state) SELECT id, 'excluded' FROM completions "
            "WHERE key LIKE '%/0' OR key LIKE '%/1'"
        )
        for (question,) in connection.execute("SELECT id FROM questions").fetchall():
            top = tops(3)[question - 1]
            for suite, numbers in (("plus", (-5, 0, top, top + 9)), ("weak", (0, -1))):
                dataset = connection.execute("SELECT dataset_id FROM questions").fetchone()[0]
                known = tests.find_suite(connection, dataset, suite)
                number = tests.add_suite(connection, dataset, suite, "imported", "{}") if known is None else known.id
                lines = [f"assert candidate({one}) == {limited(one, top)}" for one in numbers]
                made = [CodeTest(form="statement", source=line) for line in lines]
                tests.put_tests(connection, "question", number, {question: made})
    executed(project, "execution", "base", "plus")
    executed(project, "by-weak", "weak")
    project.close()
    return project.path


def test_paper_metrics_run_the_reference_and_rank_it_first(call: Call, raw: Path) -> None:
    code, out, err = call("metrics", raw, "--paper", "--json", "--bootstrap", "0", "--truth", "execution")
    assert code == 0, err
    report = json.loads(out)
    assert (report["k"], report["selected"]["problems"], report["selected"]["stand_ins"]) == (5, 3, 0)
    (row,) = report["rows"]
    assert (row["verifier"], row["problems"], row["coverage"]) == ("by-weak", 3, 1.0)
    sets = [json.loads(line) for line in call("select", raw, "--truth", "execution")[1].splitlines()]
    assert row["solutions"] == sum(len(one["selected"]) for one in sets)
    assert {(one["selected"][0], one["ground_truth_from"]) for one in sets} == {("reference", "reference")}
    scores = json.loads(call("histograms", raw, "--json", "--truth", "execution")[1])["histograms"][0]
    assert (scores["solutions"], scores["scores"]["counts"][-1]) == (row["solutions"], 3)
    assert json.loads(call("metrics", raw, "--json", "--bootstrap", "0", "--truth", "execution")[1])["k"] is None
