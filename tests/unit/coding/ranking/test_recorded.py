"""Sets in the released format: their scores and ranks are the truth, without execution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr

from tests.auditing.auditing import audit
from tests.commands import Call, done, in_process
from tests.evolving_served import need_a_sandbox
from tests.helpers import copy_database
from workbench.core.project import open_project

HE: list[dict[str, Any]] = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n    '''Add {number}.'''\n",
        "entry_point": f"f{number}",
        "canonical_solution": f"    return x + {number}\n",
        "contract": "",
        "base_input": [[1], [2]],
        "plus_input": [[0.5], [-7]],
        "atol": 0,
        "all_solutions": [
            {
                "rank": rank,
                "average_test_score": score,
                "average_time_taken": 0.01 * rank,
                "unit_test_scores": [],
                "solution": {
                    "prompt": f"def f{number}(x):\n",
                    "canonical_solution": f"def f{number}(x):\n    return {body}\n",
                },
            }
            for rank, (score, body) in enumerate(
                [
                    (1.0, f"x + {number}"),
                    (0.75, f"x + {number} + (x == -7)"),
                    (0.5, f"{number} + abs(int(x))"),
                    (0.0, "x"),
                ]
                if number
                else [(1.0, "x"), (0.0, "None")],
                1,
            )
        ],
    }
    for number in range(4)
]
MBPP: list[dict[str, Any]] = [
    {
        "task_id": "Mbpp/2",
        "prompt": '"""\nWrite a function to find the shared elements from the given two lists.\n"""\n',
        "entry_point": "similar_elements",
        "canonical_solution": "def similar_elements(a, b):\n    return tuple(set(a) & set(b))\n",
        "base_input": [[[3, 4, 5, 6], [5, 7, 4, 10]]],
        "plus_input": [[[], []], [[1], [2]]],
        "atol": 0,
        "all_solutions": [
            {
                "rank": 1,
                "average_test_score": 1.0,
                "solution": "def similar_elements(a, b):\n    return set(a) & set(b)\n",
            },
            {"rank": 2, "average_test_score": 0.67, "solution": "def similar_elements(a, b):\n    return ()\n"},
            {"rank": 3, "average_test_score": 0.0, "solution": "def similar_elements(a, b):\n    return a + [0]\n"},
        ],
    },
    {
        "task_id": "Mbpp/115",
        "prompt": '"""\nWrite a function to check whether all dictionaries in the given list are empty.\n"""\n',
        "entry_point": "empty_dit",
        "canonical_solution": "def empty_dit(some):\n    return all(not one for one in some)\n",
        "base_input": [[[[1], []]]],
        "plus_input": [[[[], []]]],
        "atol": 0,
        "all_solutions": [
            {"rank": 1, "average_test_score": 1.0, "solution": "def empty_dit(some):\n    return not any(some)\n"},
            {"rank": 2, "average_test_score": 0.5, "solution": "def empty_dit(some):\n    return True\n"},
        ],
    },
]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    made = folder / "p.db"
    for name, rows in (("HE-R+", HE), ("MBPP-R+", MBPP)):
        done("import", made, lines(folder / f"{name}.jsonl", rows), "--dataset", name)
    done("verify", made, "chrf")
    return made


@pytest.fixture
def database(imported: Path, tmp_path: Path) -> Path:
    return copy_database(imported, tmp_path / "p.db")


def test_table_2_has_its_shape_and_nothing_was_executed(call: Call, database: Path) -> None:
    code, out, err = call("code", "metrics", database, "--truth", "recorded", "--paper", "--format", "csv")
    assert code == 0, err
    code, out, err = call("code", "metrics", database, "--truth", "recorded", "--paper")
    assert code == 0, err
    head = next(line for line in out.splitlines() if "Top-1" in line and "verifier" in line)
    assert head.split() == [
        "verifier",
        *["HE-R+", "Top-1", "Spearman", "Bottom-1", "MAE", "MBPP-R+", "Top-1", "Spearman", "Bottom-1", "MAE"],
    ]
    assert "truth: recorded; problems: HE-R+ 4, MBPP-R+ 2" in " ".join(out.split())
    report = json.loads(call("code", "metrics", database, "--truth", "recorded", "--json")[1])
    assert (report["truth"], report["truth_runs"]) == ("recorded", {})
    rows = {row["dataset"]: row for row in report["rows"]}
    assert (rows["HE-R+"]["solutions"], rows["MBPP-R+"]["solutions"]) == (14, 5)
    assert "execution" not in call("runs", database)[1]
    assert audit(open_project(database)).differences == []


def test_metrics_equal_the_released_ranks_and_scores(call: Call, database: Path, tmp_path: Path) -> None:
    """As ``evaluate.py`` has them from a file of the same scores, where no two true scores are the same."""
    code, out, _ = call("code", "metrics", database, "--truth", "recorded", "--json", "--where", "dataset=HE-R+")
    (row,) = json.loads(out)["rows"]
    given = [json.loads(line) for line in call("verdicts", database, "--verifier", "chrf")[1].splitlines()]
    scores = {one["completion_id"]: one["score"] for one in given}
    file = [
        {
            "dataset": "HE_plus",
            "task_id": problem["task_id"],
            "rank": one["rank"],
            "ground_average_test_score": one["average_test_score"],
            "average_test_score": scores[f"{problem['task_id']}/{number}"],
        }
        for problem in HE
        for number, one in enumerate(problem["all_solutions"])
    ]
    released = json.loads(call("code", "metrics", "--from", lines(tmp_path / "e.jsonl", file), "--json")[1])
    (other,) = [one for one in released["rows"] if one["dataset"] == "HE_plus"]
    for name in ("top1", "bottom1", "spearman", "kendall", "mae", "r2"):
        assert row[name] == pytest.approx(other[name], abs=1e-12), name
    by_hand = [
        spearmanr(
            [one["rank"] for one in problem["all_solutions"]],
            [-scores[f"{problem['task_id']}/{number}"] for number in range(len(problem["all_solutions"]))],
        ).statistic
        for problem in HE
    ]
    assert row["spearman"] == pytest.approx(sum(by_hand) / len(by_hand))
    assert code == 0


def test_the_rank_of_the_row_counts_even_against_its_score(call: Call, tmp_path: Path) -> None:
    rows = json.loads(json.dumps(HE[1:2]))
    first, second = rows[0]["all_solutions"][:2]
    first["average_test_score"], second["average_test_score"] = 0.75, 1.0
    made = tmp_path / "odd.db"
    call("import", made, lines(tmp_path / "odd.jsonl", rows), "--dataset", "odd")
    call("verify", made, "exact-match", "--name", "same")
    call("verify", made, "chrf")
    (line,) = map(json.loads, call("code", "select", made, "--truth", "recorded")[1].splitlines())
    assert (line["selected"], line["scores"], line["ground_truth"]) == (["0", "1", "2", "3"], [0.75, 1.0, 0.5, 0], "0")


def test_selections_and_histograms_use_the_recorded_scores(call: Call, database: Path) -> None:
    code, out, err = call("code", "select", database)
    assert (code, "Scores by recorded." in err) == (0, True), err
    selected = [json.loads(line) for line in out.splitlines()]
    assert [one["selected"][0] for one in selected] == ["0"] * 6
    assert {one["ground_truth_from"] for one in selected} == {"flag"}
    histograms = json.loads(call("code", "histograms", database, "--truth", "recorded", "--json")[1])["histograms"]
    assert [(one["dataset"], one["problems"], one["solutions"]) for one in histograms] == [
        ("HE-R+", 4, 14),
        ("MBPP-R+", 2, 5),
    ]
    assert [one["mean_tests"] for one in histograms] == [4, 2.5]
    by_chrf = json.loads(call("code", "histograms", database, "--verifier", "chrf", "--json")[1])["histograms"]
    assert [one | {"given": []} for one in by_chrf] == histograms
    scores = [json.loads(line)["score"] for line in call("verdicts", database, "--verifier", "chrf")[1].splitlines()]
    given = [one["given"][0] for one in by_chrf]
    assert [(one["solutions"], one["without"]) for one in given] == [(14, 0), (5, 0)]
    assert sum(one["mean_score"] * one["solutions"] for one in given) == pytest.approx(sum(scores))


@pytest.mark.parametrize("words", [("--truth", "recorded", "--suite", "base"), ("--suite", "base")])
def test_recorded_sets_have_no_suites(call: Call, database: Path, words: tuple[str, ...]) -> None:
    code, out, err = call("code", "metrics", database, *words)
    assert (code, out) == (2, "")
    assert "suite" in err


def test_without_recorded_scores_it_is_an_error(call: Call, tmp_path: Path) -> None:
    row = {"task_id": "a", "prompt": "A", "tests": ["assert a(1) == 1"]}
    call("import", tmp_path / "q.db", lines(tmp_path / "q.jsonl", [row]))
    code, _, err = call("code", "select", tmp_path / "q.db", "--truth", "recorded")
    assert (code, "No solution came with a score" in err) == (2, True)


def test_mbpp_inputs_are_converted_as_in_evalplus(call: Call, database: Path) -> None:
    """Some lists are tuples or sets, and some results are compared as sets; outcomes equal the recorded ones."""
    need_a_sandbox()
    assert call("verify", database, "execution", "-o", "suite=base,plus")[0] == 0
    results = [json.loads(line) for line in call("code", "results", database)[1].splitlines()]
    found: dict[str, str] = {}
    for one in results:
        found[one["completion_id"]] = found.get(one["completion_id"], "") + one["outcomes"]
    assert {key: letters for key, letters in found.items() if key.startswith("Mbpp/")} == {
        "Mbpp/2/0": "ppp",
        "Mbpp/2/1": "fpp",
        "Mbpp/2/2": "eee",  # a tuple and a list are not added
        "Mbpp/115/0": "pp",
        "Mbpp/115/1": "fp",
    }
    for number, row in enumerate(HE):
        for place, one in enumerate(row["all_solutions"]):
            letters = found[f"HumanEval/{number}/{place}"]
            assert letters.count("p") / len(letters) == pytest.approx(one["average_test_score"], abs=0.01), letters


def test_a_written_set_carries_tests_and_truth_and_reads_back(call: Call, tmp_path: Path) -> None:
    need_a_sandbox()
    problems: list[dict[str, Any]] = [
        {
            "task_id": "own/1",
            "entry_point": "inc",
            "prompt": "def inc(x):\n    '''One more.'''\n",
            "canonical_solution": "def inc(x):\n    return x + 1\n",
            "setup": "candidate = inc",
            "seconds": 2.5,
            "tests": ["assert candidate(1) == 2", "assert candidate(-1) == 0"],
            "plus_tests": ["assert candidate(0.5) == 1.5", "assert candidate(10) == 11"],
            "whole_test": "assert inc(3) == 4",
        },
        {
            "task_id": "own/2",
            "prompt": "Echo it.",
            "canonical_solution": "print(input())",
            "tests": [{"input": "a\n", "output": "a\n"}, {"input": "b\n", "output": "b\n"}],
        },
    ]
    solutions = [
        {"task_id": "own/1", "solution_id": "a", "code": "    return x + 1 if x > 0 else 9", "form": "continuation"},
        {
            "task_id": "own/1",
            "solution_id": "b",
            "code": "So:\n```python\ndef inc(x):\n    return 2\n```",
            "form": "reply",
        },
        {"task_id": "own/2", "solution_id": "a", "code": "input()\nprint('a')"},
    ]
    one, other, file = tmp_path / "a.db", tmp_path / "b.db", tmp_path / "set.jsonl"
    call("import", one, lines(tmp_path / "p.jsonl", problems), lines(tmp_path / "s.jsonl", solutions))
    assert call("verify", one, "execution", "-o", "suite=base,plus")[0] == 0
    code, out, err = call("code", "select", one, "--write", file)
    assert code == 0, err
    first = [json.loads(line) for line in out.splitlines()]
    # No solution is the reference: it is run, and has rank 1.
    assert [(line["selected"], line["scores"], line["ground_truth_from"]) for line in first] == [
        (["reference", "a", "b"], [1.0, 0.75, 0.25], "reference"),
        (["reference", "a"], [1.0, 0.5], "reference"),
    ]
    assert call("import", other, file, "--dataset", "set")[0] == 0
    recorded = [json.loads(line) for line in call("code", "select", other, "--truth", "recorded")[1].splitlines()]
    assert call("verify", other, "execution", "-o", "suite=base,plus,whole")[0] == 0
    again = [json.loads(line) for line in call("code", "select", other)[1].splitlines()]
    for mine, theirs in ((recorded, first), (again, first)):
        for name in ("task_id", "selected", "scores", "ranks", "ground_truth"):
            assert [line[name] for line in mine] == [line[name] for line in theirs], name
    whole = [json.loads(line) for line in call("code", "results", other, "--suite", "whole")[1].splitlines()]
    assert [line["outcomes"] for line in whole if line["total"]] == ["p", "p", "f"]


@pytest.mark.soak
def test_in_every_selection_of_the_shared_problems_the_reference_has_rank_1(
    call: Call, tmp_path: Path, shared_data: Path
) -> None:
    need_a_sandbox()
    code_folder = shared_data / "code"
    made = tmp_path / "p.db"
    assert call("import", made, code_folder / "problems.jsonl", code_folder / "solutions.jsonl")[0] == 0
    assert call("verify", made, "execution", "-o", "suite=base,plus", "-o", "timeout=1")[0] == 0
    for k in (5, 2):
        code, out, err = call("code", "select", made, "--k", k)
        assert code == 0, err
        found = [json.loads(line) for line in out.splitlines()]
        assert len(found) == 40
        assert all(line["selected"][0] == line["ground_truth"] for line in found)
        assert {line["ground_truth_from"] for line in found} <= {"reference", "canonical"}
        assert {line["scores"][0] for line in found} == {1.0}
    assert "it has rank 1 in 10 of 40 problems" in call("code", "select", made, "--rules", "formula")[2]


@pytest.mark.soak
def test_references_rank_first_and_table_2_needs_no_execution(call: Call, shared_data: Path, tmp_path: Path) -> None:
    """The real problems with some of their solutions: selected, written in the released shape, read back, measured."""
    need_a_sandbox()
    rows = [json.loads(line) for line in (shared_data / "code" / "solutions.jsonl").read_text("utf-8").splitlines()]
    by_outcomes = {(row["task_id"], row["per_test"]): row for row in rows if "t" not in row["plus"]}
    some = [row for _, row in sorted(by_outcomes.items())]
    taken = [
        row for place, row in enumerate(some) if [one["task_id"] for one in some[:place]].count(row["task_id"]) < 3
    ]
    made, again = tmp_path / "p.db", tmp_path / "again.db"
    assert call("import", made, shared_data / "code" / "problems.jsonl", "--dataset", "shared")[0] == 0
    assert call("import", made, lines(tmp_path / "solutions.jsonl", taken), "--dataset", "shared")[0] == 0
    assert call("verify", made, "execution", "-o", "suite=base,plus")[0] == 0
    for words in ((), ("--k", "2"), ("--suite", "base"), ("--filter", "stderr", "--exact")):
        code, out, err = call("code", "select", made, *words)
        assert code == 0, err
        found = [json.loads(line) for line in out.splitlines()]
        assert len(found) == 40
        firsts = {(one["selected"][0], one["ground_truth"], one["ranks"][0], one["scores"][0]) for one in found}
        assert firsts == {("reference", "reference", 1, 1.0)}, words
    assert call("code", "select", made, "--write", tmp_path / "set.jsonl")[0] == 0
    assert call("import", again, tmp_path / "set.jsonl", "--dataset", "HE-R+")[0] == 0
    assert call("import", again, lines(tmp_path / "MBPP-R+.jsonl", MBPP), "--dataset", "MBPP-R+")[0] == 0
    assert call("verify", again, "chrf")[0] == 0
    code, out, err = call("code", "metrics", again, "--truth", "recorded", "--paper")
    assert code == 0, err
    assert "truth: recorded; problems: HE-R+ 40, MBPP-R+ 2" in " ".join(out.split())
    assert "execution" not in call("runs", again)[1]
