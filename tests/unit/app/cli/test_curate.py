"""``workbench curate`` as typed by a user, from a question pool of the sample to a frozen draw."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.documents import in_background, shown_commands
from tests.servers.scripted import Received, ScriptedServer, scripted

QUESTIONS = Path(__file__).resolve().parents[4] / "sample_data" / "questions.jsonl"
SUBTYPES = ("A1", "B1", "C1", "D1")


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    def reply(received: Received) -> str:
        asked = received.body["messages"][0]["content"]
        return "Answer type: OPEN" if "poem" in asked else f"Answer type: {SUBTYPES[len(asked) % 4]}"

    with scripted(reply) as made:
        yield made


def test_the_whole_way(call: Call, server: ScriptedServer, tmp_path: Path) -> None:
    assert "66 imported" in call("import", "p.db", QUESTIONS, "--dataset", "pool")[1]
    candidates = json.loads(call("curate", "p.db", "exclude", "--candidates", "--json")[1])
    assert {one["reason"] for one in candidates} == {"proof", "open_ended", "bad_reference"}
    code, said, _ = call("curate", "p.db", "exclude", "--candidates", "--accept", "--by", "amira")
    assert (code, said) == (0, f"{len(candidates)} excluded, 0 included again, 0 unchanged\n")
    proofs = json.loads(call("curate", "p.db", "exclude", "--list", "--reason", "proof", "--json")[1])
    assert {one["question_id"] for one in proofs} == {
        one["question_id"] for one in candidates if one["reason"] == "proof"
    }
    longer = json.loads(call("curate", "p.db", "duplicates", "--dry-run", "--shingle", "9", "--json")[1])
    assert (longer["shingle"], longer["duplicates"]) == (9, 0)
    planned = json.loads(call("curate", "p.db", "duplicates", "--dry-run", "--pairs", "--json")[1])
    found = json.loads(call("curate", "p.db", "duplicates", "--pairs", "--json")[1])
    assert (planned["excluded"], planned["pairs"]) == (0, found["pairs"])
    assert {pair["question_id"] for pair in found["pairs"]} == {"sq-22", "sq-57"}
    options = ("--model", "m", "-o", f"base_url={server.url}")
    proposed = json.loads(call("curate", "p.db", "types", *options, "--json")[1])
    inside = 66 - len(candidates) - 2
    assert (proposed["asked"], sum(proposed["proposed"].values())) == (inside, inside)
    assert json.loads(call("curate", "p.db", "types", *options, "--json")[1])["asked"] == 0
    call("curate", "p.db", "types", "--set", "sq-01=A1")
    call("curate", "p.db", "types", "--accept")
    others = json.loads(call("curate", "p.db", "types", *options, "--name", "other", "--untyped", "--json")[1])
    assert others["asked"] == inside - 1
    drawn = json.loads(call("curate", "p.db", "draw", "--name", "pool-20", "--per-type", "5", "--json")[1])
    assert (drawn["name"], drawn["version"], drawn["questions"], drawn["kind"]) == ("pool-20", 1, 20, "draw")
    assert {"strata", "shortfall", "excluded", "seed", "tuples"} <= drawn.keys()
    assert call("curate", "p.db", "draw", "--name", "pool-20", "--per-type", "5")[1].startswith("pool-20@1 (draw, unch")
    assert call("curate", "p.db", "draw", "--name", "pool-20", "--per-type", "6")[0] == 2
    status = json.loads(call("curate", "p.db", "status", "--json")[1])
    assert status["total"]["drawn"] == {"pool-20": 20}
    assert {one["licence"] for one in status["sources"]} >= {None, "MIT"}


def test_tables_are_for_reading(call: Call) -> None:
    call("import", "p.db", QUESTIONS, "--dataset", "pool")
    code, said, _ = call("curate", "p.db", "status")
    lines = said.splitlines()
    assert (code, lines[0].split()[:3], lines[9].split()[0]) == (0, ["source", "licence", "questions"], "all")
    assert "unknown" in said
    said = call("curate", "p.db", "duplicates", "--pairs", "--by", "amira")[1]
    assert "2 duplicates (shingles of 2, 0.7), 0 of them of a question of another source; 2 excluded" in said
    assert "sq-22 (math_reasoning/sample-arithmetic) is similar to sq-01" in " ".join(said.split())
    assert "duplicate amira like sq-01 (0.789)" in " ".join(call("curate", "p.db", "exclude", "--list")[1].split())
    assert call("curate", "p.db", "duplicates", "--undo")[1] == "2 duplicates are included again\n"
    assert "0 found" not in call("curate", "p.db", "exclude", "--candidates")[1]
    assert call("curate", "p.db", "exclude", "sq-01", "--reason", "proof", "--by", "amira")[0] == 0
    assert call("curate", "p.db", "exclude", "--undo", "sq-01")[1] == "0 excluded, 1 included again, 0 unchanged\n"
    assert call("curate", "p.db", "types", "--set", "sq-01=A1", "--by", "amira")[1].startswith("1 set")
    lines = call("curate", "p.db", "types")[1].splitlines()
    assert lines[:2] == ["66 questions; the types of 0 count: none", "others: none 65, one person 1"]
    assert lines[2].endswith(": workbench curate DB types --accept")
    assert call("curate", "p.db", "types", "--accept", "--set", "sq-01=A1")[0] == 2
    assert call("curate", "p.db", "types", "--accept")[1] == "1 accepted: they count from now on.\n"
    assert call("curate", "p.db", "types")[1].startswith("66 questions; the types of 1 count: people 1\n")


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("exclude",), "Name the questions", id="nothing"),
        pytest.param(("exclude", "sq-01"), "Name the questions", id="no reason"),
        pytest.param(("exclude", "--accept", "sq-01", "--reason", "proof"), "--accept requires", id="accept alone"),
        pytest.param(("exclude", "--candidates", "sq-01"), "Leave the ids out", id="both"),
        pytest.param(("exclude", "--list", "--undo"), "Give one of", id="two verbs"),
        pytest.param(("exclude", "nobody", "--reason", "proof"), "no question 'nobody'", id="unknown"),
        pytest.param(("exclude", "sq-01", "--reason", "other"), "note", id="no note"),
        pytest.param(("duplicates", "--source", "nowhere"), "There are no questions of that", id="no source"),
        pytest.param(("types", "--list"), "No model has proposed", id="no proposals"),
        pytest.param(("types", "--set", "sq-01"), "KEY=VALUE", id="no pair"),
        pytest.param(("types", "--set", "sq-01=A"), "'A' is not a valid subtype", id="a letter"),
        pytest.param(("types", "--set", "sq-01=A1", "--set", "sq-01=A2"), "given twice", id="a type twice"),
        pytest.param(("duplicates", "--threshold", "nan"), "'nan' is not a number", id="no number"),
        pytest.param(("types", "--set", "a=A1", "--list"), "Give one of", id="set and list"),
        pytest.param(("draw",), "--per-type", id="no number"),
        pytest.param(("draw", "--per-type", "3"), "There are no items for the set 'pool'", id="no types"),
        pytest.param(("draw", "--per-type", "3", "--types", "A1"), "not letters of answer types", id="subtypes"),
    ],
)
def test_impossible_requests_show_an_error(call: Call, arguments: tuple[str, ...], message: str) -> None:
    call("import", "p.db", QUESTIONS, "--dataset", "pool")
    code, said, error = call("curate", "p.db", *arguments)
    assert (code, said) == (2, "")
    assert message in error
    assert "Traceback" not in error


def test_a_pool_is_imported_with_its_licence(call: Call, tmp_path: Path) -> None:
    (tmp_path / "gsm8k.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n')
    done = call("import", "p.db", "gsm8k.jsonl", "--source", "math_reasoning/GSM8K", "--licence", "MIT")
    assert done[0] == 0
    assert "Questions without completions" in done[1]
    row = json.loads(call("curate", "p.db", "status", "--json")[1])["sources"][0]
    assert (row["source"], row["domain"], row["licence"]) == ("math_reasoning/GSM8K", "math_reasoning", "MIT")
    for said, stored in (("GPL-3.0", "GPL-3.0"), ("/", None)):
        done = call("curate", "p.db", "licence", "math_reasoning/GSM8K", said, "--json")
        assert json.loads(done[1]) == {"source": "math_reasoning/GSM8K", "licence": stored}
        row = json.loads(call("curate", "p.db", "status", "--json")[1])["sources"][0]
        assert row["licence"] == stored
    assert call("curate", "p.db", "licence", "nowhere", "MIT")[0] == 2
    assert call("status", "p.db")[1].startswith("0 items, 1 question, 0 runs")
    for command in (["accuracy", "p.db"], ["tables", "p.db", "--paper"], ["labels", "p.db", "export", "l.jsonl"]):
        assert "Traceback" not in call(*command)[2], command


@pytest.mark.soak
def test_the_shown_commands_work(call: Call, tmp_path: Path) -> None:
    shutil.copytree(QUESTIONS.parent, tmp_path / "sample_data")
    replay, *commands = shown_commands("docs/curation.md")
    assert len(commands) > 15
    with in_background(replay[1:-1], tmp_path):
        for command in commands:
            code, said, error = call(*command[1:])
            assert code == 0, f"{command}: {error}"
    assert json.loads(said)["total"]["drawn"] == {"pool-40": 40}
