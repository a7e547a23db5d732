"""`judge` within other harnesses: recorded results of each library, and new ones where it is installed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import workbench
from tests.parts import CORE, ROOT, read_project, require_index
from tests.peers.judging import DATA, HARNESSES, PEERS, installed, results_of
from workbench.training.judging import judging_by
from workbench.training.lm_eval import judged

DOCUMENT = (ROOT / "docs" / "harnesses.md").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
FOLDER = os.environ.get("WORKBENCH_PEERS")


@pytest.fixture(params=HARNESSES)
def written(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the recorded results of a library."""
    return read(request.param)


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_the_cases_are_of_every_kind() -> None:
    words = [workbench.judge(one["answer"], one["completion"], one["question"]).outcome.word for one in CASES]
    assert {"correct", "incorrect", "abstain"} == set(words)


def test_every_library_gets_the_verdicts_of_judge(written: dict[str, Any]) -> None:
    verdicts = [workbench.judge(one["answer"], one["completion"], one["question"]) for one in CASES]
    assert written["rows"] == [judging_by("rules").figures([verdict]) for verdict in verdicts]


def test_every_library_has_solutions_run_against_tests(written: dict[str, Any]) -> None:
    assert written["tests"] == [{"acc": 1.0, "undecided": 0.0}, {"acc": 0.5, "undecided": 0.0}]


@pytest.mark.parametrize("name", ["inspect_ai", "verifiers"])
def test_library_logs_have_the_comparison_and_reason(name: str) -> None:
    written = read(name)
    assert written["answers"][:3] == ["42", "43", None]
    assert written["reasons"][:3] == ["text_equal", "number", "no_answer_found"]


def test_inspect_choices_are_in_the_question_and_all_targets_count() -> None:
    assert [row["acc"] for row in read("inspect_ai")["options"]] == [1.0, 1.0, 0.0]


def test_every_library_counts_undecided_items_and_never_as_correct(written: dict[str, Any]) -> None:
    undecided = [row for row in written["rows"] if row["undecided"]]
    assert len(undecided) > 1
    assert {row["acc"] for row in undecided} == {0.0}
    for found in written["figures"]:
        for name in ("acc", "undecided"):
            assert found[name] == pytest.approx(fmean(row[name] for row in written["rows"]))


def test_rollouts_of_verifiers_succeed_for_any_reply() -> None:
    assert read("verifiers")["ok"] == [True] * len(CASES)


def test_trl_skips_undecided_rewards_by_default() -> None:
    written = read("trl")
    assert written["rewards"] == ["1.0", "0.0", "0.0", "nan"]
    assert written["logged"] == [["rewards/workbench:rules/mean", "rules/undecided"]] * 2


def test_trl_trains_two_steps_on_an_evolved_set_and_pays_by_difficulty() -> None:
    written = read("trl_tests")
    lines = [json.loads(line) for line in (DATA / "evolved.jsonl").read_text(encoding="utf-8").splitlines()]
    columns = {name: [lines[0][name]] * 2 for name in ("tests", "entry_point", "setup", "pass_rates")}
    solutions = ["def double(x):\n    return 2 * x", "def double(x):\n    return 2 * x if x > 0 else 1"]
    with workbench.reward("execution", pay="difficulty", undecided=0.0) as reward:
        assert reward(prompts=["Double it."] * 2, completions=solutions, **columns) == written["rewards"][:2]
    assert written["rewards"][2:] == [0.0] * 3
    assert set(written["kinds"]) <= set(written["rewards"])
    assert (written["steps"], written["rewarded"], written["logged"]) == (2, 16, [True, True])
    assert written["reward_is_finite"] == [True, True]


def test_every_manager_of_verl_sees_the_same() -> None:
    managers = read("verl")["managers"]
    assert len(managers) == 3
    assert [one["scores"] for one in managers.values()] == [[1.0, 0.0, -1.0]] * 3
    extras = [one["extra"] for one in managers.values() if "extra" in one]
    assert [(one["acc"], one["undecided"]) for one in extras] == [(["1.0", "0.0", "0.0"], ["0.0", "0.0", "1.0"])] * 2


def test_a_document_s_several_completions_are_averaged() -> None:
    process_results = judged(question="q", reference="a")
    doc = {"q": "1+1?", "a": ["2", "two"]}
    assert process_results(doc, [r"\boxed{2}"]) == {"acc": 1.0, "undecided": 0.0}
    assert process_results(doc, [[r"\boxed{2}", r"\boxed{3}", "", "Two."]]) == {"acc": 0.5, "undecided": 0.25}


@pytest.mark.parametrize("document", ["docs/harnesses.md", "README.md"])
def test_the_shown_call_answers_as_shown(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    example = next(one for one in examples if "workbench.judge(" in one)
    exec(compile(example, document, "exec"), {})
    assert capsys.readouterr().out == example.rsplit("# ", 1)[1]


def test_the_documented_code_is_the_code_that_was_run() -> None:
    for name in PEERS:
        assert read(name)["made_with"] == PEERS[name]
        assert f"{PEERS[name][0].replace('==', ' ').replace('[math]', '')}" in DOCUMENT.replace("\n", " ")
    for name in HARNESSES:
        peer = (ROOT / "tests" / "peers" / f"{name}_judge_peer.py").read_text(encoding="utf-8")
        (shown,) = re.findall(rf"workbench\.training\.{name}(?: import |:)judged", DOCUMENT)
        assert shown in peer
    (utils,) = re.findall(r"```python\n(from workbench.training.lm_eval.*?)```", DOCUMENT, re.DOTALL)
    (task,) = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    peer = (ROOT / "tests" / "peers" / "lm_eval_judge_peer.py").read_text(encoding="utf-8")
    assert utils in peer
    assert task in peer.replace("{utils}", "utils").replace("{{", "{").replace("}}", "}")
    points = read_project(CORE)["entry-points"]
    assert points["inspect_ai"] == {"workbench": "workbench.training.inspect_ai"}


@pytest.mark.skipif(FOLDER is None, reason="WORKBENCH_PEERS names no folder for environments of the libraries")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PEERS)
def test_the_library_itself_says_so(name: str) -> None:
    require_index()
    written = read(name)
    assert results_of(installed(Path(str(FOLDER)), name), name) | {"made_with": PEERS[name]} == written
