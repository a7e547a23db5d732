"""Tests as a reward: every form that data sets have, what outcomes pay, and nothing that runs outside the sandbox."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.evolving_served import need_a_sandbox
from tests.parts import ROOT
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.training import verl
from workbench.training.pay import SuitePay, SuiteVerdict
from workbench.training.reward import Reward
from workbench.verifiers.execution.given import MAX_TESTS, problem_in, problem_of

RIGHT = "Here it is:\n```python\ndef double(x):\n    return 2 * x\n```\n"
HALF = "```python\ndef double(x):\n    return 2 * x if x > 0 else 1\n```"
WRONG = "```python\ndef double(x):\n    return None\n```"
ENDLESS = "```python\ndef double(x):\n    while x < 0: pass\n    return 2 * x\n```"
READS = "```python\nprint(2 * int(input()))\n```"
SUITE = ["assert double(1) == 2", "assert double(3) == 6", "assert double(-1) == -2", "assert double(5) == 10"]
TRUTH = {"entry_point": "double", "setup": "", "tests": SUITE}
PAIRS = {"inputs": ["1\n", "-2\n"], "outputs": ["2\n", "-4\n"]}
CALLS = {"fn_name": "double", "inputs": [[1], [-2]], "outputs": [2, -4]}
HUMANEVAL = "def check(candidate):\n    assert candidate(1) == 2\n\ncheck(double)\n"


@pytest.fixture(scope="module")
def tests() -> Iterator[Reward]:
    need_a_sandbox()
    with workbench.reward("execution", workers=2) as made:
        yield made


def paid(reward: Reward, completions: list[str], **columns: Any) -> list[float | None]:
    return reward(prompts=["Double it."] * len(completions), completions=completions, **columns)


@pytest.mark.parametrize(
    ("given", "solution"),
    [
        (json.dumps(TRUTH), RIGHT),
        (json.dumps(SUITE), RIGHT),
        ("\n".join(SUITE), RIGHT),
        (HUMANEVAL, RIGHT),
        (json.dumps({"task_id": "t", "prompt": "p", "tests": SUITE, "origins": []}), RIGHT),
        (json.dumps({"reward_model": {"style": "rule", "ground_truth": json.dumps(TRUTH)}}), RIGHT),
        (json.dumps({"assert_case": SUITE}), RIGHT),
        (json.dumps({**TRUTH, "plus_tests": None, "suites": None, "inputs": None}), RIGHT),
        (json.dumps({**CALLS, "tests": None, "setup": None}), RIGHT),
        (json.dumps(CALLS), RIGHT),
        (json.dumps(PAIRS), READS),
        (json.dumps([{"input": "1\n", "output": "2\n"}]), READS),
        (json.dumps({"plus_tests": SUITE[:1], "whole_test": SUITE[0]}), None),
    ],
)
def test_every_form_of_tests_is_run(tests: Reward, given: str, solution: str | None) -> None:
    if solution is None:
        # Tests of suites that the verifier is not asked for say nothing.
        assert tests.compute_score("d", RIGHT, given)["verdict"] == "abstain"
        return
    assert tests.compute_score("d", solution, given)["score"] == 1.0
    assert tests.compute_score("d", WRONG, given)["score"] == 0.0


@pytest.mark.parametrize(
    "columns",
    [
        {"tests": [SUITE, SUITE], "entry_point": ["double", None], "setup": ["", ""]},
        {"ground_truth": [json.dumps(TRUTH)] * 2},
        {"ground_truth": [TRUTH] * 2},
        {"reward_model": [{"style": "rule", "ground_truth": json.dumps(TRUTH)}] * 2},
        {"test_list": [SUITE] * 2},
        {"input_output": [json.dumps(CALLS)] * 2, "answer": ["42"] * 2},
    ],
)
def test_trl_s_columns(tests: Reward, columns: Mapping[str, Any]) -> None:
    assert paid(tests, [RIGHT, HALF], **columns) == [1.0, 0.0]


def test_a_row_without_tests_has_no_reward(tests: Reward) -> None:
    assert paid(tests, [RIGHT, RIGHT], tests=[None, SUITE]) == [None, 1.0]
    with pytest.raises(UsageError, match="tests is missing"):
        paid(tests, [RIGHT], question=["q"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("[", "not valid JSON"),
        ("{}", "There are no tests"),
        ("", "There are no tests"),
        ("what is (", "neither JSON nor Python"),
        ('{"tests": [1]}', "can't be read"),
        ('{"inputs": ["1"], "outputs": []}', "as many outputs as inputs"),
        ('{"tests": ["assert f(1)"], "pass_rates": []}', "0 pass_rates for 1 tests"),
        ('{"tests": ["assert f(1)"], "pass_rates": [2]}', "can't be read"),
        ('{"tests": ["assert f(1)"], "seconds": 0}', "can't be read"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_tests_that_cannot_be_read_are_named_with_their_row(tests: Reward, given: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"Completion 2: .*{message}"):
        paid(tests, [RIGHT, RIGHT], ground_truth=[json.dumps(TRUTH), given])


def test_rewards_of_passed_tests() -> None:
    need_a_sandbox()
    rates = [0.9, 0.9, 0.2, 0.8]
    columns = {"tests": [SUITE] * 3, "entry_point": ["double"] * 3, "pass_rates": [rates] * 3}
    for pay, half in (("all", 0.0), ("share", 0.75), ("difficulty", 0.4 / 1.2)):
        with workbench.reward("execution", pay=pay, workers=1) as reward:  # type: ignore[arg-type]
            assert paid(reward, [RIGHT, HALF, WRONG], **columns) == [1.0, pytest.approx(half), 0.0]
    with workbench.reward("execution", own_score=True, workers=1) as reward:
        assert paid(reward, [HALF], tests=[SUITE]) == [0.75]
    with pytest.raises(UsageError, match="is not one of all, share, difficulty"):
        workbench.reward("execution", pay="half")  # type: ignore[arg-type]


@pytest.mark.soak
def test_late_solutions_are_wrong_or_undecided() -> None:
    need_a_sandbox()
    for timeouts, expected in (("wrong", 0.0), ("undecided", None)):
        with workbench.reward("execution", timeouts=timeouts, timeout=0.2, workers=1) as reward:  # type: ignore[arg-type]
            assert paid(reward, [ENDLESS, WRONG], tests=[SUITE] * 2) == [expected, 0.0]


def test_passes_that_could_be_forged_are_told_apart() -> None:
    """A statement's word comes from inside the sandbox; a value is compared outside."""
    need_a_sandbox()
    forgeable = ["x = double(1)\nassert x == 2", *SUITE[:3]]
    columns = {"tests": [forgeable] * 2, "entry_point": ["double"] * 2}
    for word, all_tests, share in (("pays", 1.0, 1.0), ("nothing", 0.0, 0.75), ("undecided", None, None)):
        with workbench.reward("execution", forgeable=word, workers=1) as reward:  # type: ignore[arg-type]
            assert paid(reward, [RIGHT, WRONG], **columns) == [all_tests, 0.0]
            verdict = reward.verdicts(
                [VerifierInput(item=0, question="", reference=json.dumps({"tests": forgeable}), completion=RIGHT)]
            )[0]
            assert isinstance(verdict, SuiteVerdict)
            assert (verdict.passed, verdict.total, verdict.forgeable) == (4, 4, 1)
        with workbench.reward("execution", forgeable=word, pay="share", workers=1) as reward:  # type: ignore[arg-type]
            assert paid(reward, [RIGHT], tests=[forgeable], entry_point=["double"])[0] == share


@pytest.mark.parametrize(
    "attack",
    [
        "import os\nos.system('touch {place}')",
        "open({place!r}, 'w').write('x')",
        "import subprocess; subprocess.run(['touch', {place!r}])",
        "import ctypes; ctypes.CDLL(None).creat({place!r}.encode(), 0o644)",
    ],
)
def test_neither_solutions_nor_tests_run_outside(tests: Reward, tmp_path: Path, attack: str) -> None:
    place = tmp_path / "escaped"
    harm = attack.format(place=str(place))
    broken = f"```python\n{harm}\ndef double(x):\n    return 2 * x\n```"
    paid(tests, [broken, RIGHT], tests=[SUITE, [harm, *SUITE]])
    paid(tests, [RIGHT], ground_truth=[f"{harm}\n{SUITE[0]}\n"])
    assert not place.exists()


def test_equality_that_lies_pays_nothing(tests: Reward) -> None:
    liar = "```python\nclass Any:\n    def __eq__(self, other): return True\ndef double(x):\n    return Any()\n```"
    leaves = "```python\nimport os\ndef double(x):\n    os._exit(0)\n```"
    assert paid(tests, [leaves], tests=[SUITE], entry_point=["double"]) == [0.0]
    liars = "class Liar(list):\n    def __iter__(self): return iter((1, 2))"
    disguised = f"```python\n{liars}\ndef double(x):\n    return Liar()\n```"
    honest = "```python\ndef double(x):\n    return [2, 1]\n```"
    tests_of_lists = [["assert sorted(double(1)) == [1, 2]", "assert sorted(double(2)) == [1, 2]"]] * 2
    for pay in ("all", "share", "difficulty"):
        with workbench.reward("execution", forgeable="nothing", pay=pay, workers=1) as strict:
            assert paid(strict, [liar], tests=[SUITE], entry_point=["double"]) == [0.0]
            columns = {"tests": tests_of_lists, "entry_point": ["double"] * 2, "pass_rates": [[0.5, 0.5]] * 2}
            assert paid(strict, [disguised, honest], **columns) == [0.0, 1.0]


def test_verdicts_are_those_of_a_run_and_threads_get_their_own(tests: Reward) -> None:
    def ask(number: int) -> float | None:
        wanted = [f"assert double({number}) == {2 * number}"]
        return paid(tests, [RIGHT if number % 2 else WRONG], tests=[wanted])[0]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(24))) == [float(number % 2) for number in range(24)]


def test_trl_and_verl_are_told_how_it_stands(tests: Reward) -> None:
    logged: dict[str, float] = {}
    paid(tests, [RIGHT, WRONG], tests=[SUITE] * 2, log_metric=logged.__setitem__)
    assert logged == {"execution/undecided": 0.0, "execution/forgeable": 0.0}
    scores = tests.compute_scores(["d"] * 2, [RIGHT, HALF], [TRUTH, json.dumps(TRUTH)])
    assert [one["score"] for one in scores] == [1.0, 0.0]
    assert scores[1]["reason"] == "assertion"


def test_verl_s_managers_pay_by_difficulty_from_an_export() -> None:
    """The rows as verl reads them from the file, and the calls that its managers make of them."""
    row = json.loads((ROOT / "tests" / "data" / "harnesses" / "evolved.jsonl").read_text(encoding="utf-8"))
    given = {"data_source": row["data_source"], "ground_truth": row["reward_model"]["ground_truth"]}
    kwargs = {"verifier": "execution", "pay": "difficulty", "num_examine": 0}
    solutions = ["def double(x):\n    return 2 * x", "def double(x):\n    return 2 * x if x > 0 else 1", "no code ("]
    each = [
        verl.compute_score(solution_str=one, extra_info=row["extra_info"], **given, **kwargs)["score"]
        for one in solutions
    ]
    # Tests that all pass weigh .01, those that half of the pool passes .5.
    assert each == [1.0, pytest.approx(0.02 / 1.02), 0.0]
    batch = verl.compute_scores(
        data_sources=[given["data_source"]] * 3,
        solution_strs=solutions,
        ground_truths=[given["ground_truth"]] * 3,
        extra_infos=[row["extra_info"]] * 3,
        **kwargs,
    )
    assert [one["score"] for one in batch] == each


def test_a_copy_works_elsewhere_and_a_deadline_holds(tests: Reward) -> None:
    copy = pickle.loads(pickle.dumps(tests))
    with copy:
        assert paid(copy, [RIGHT], tests=[SUITE]) == [1.0]
    with workbench.reward("execution", deadline=1.0, undecided=0.5, workers=1) as reward:
        sleeps = "```python\nimport time\ntime.sleep(30)\n```"
        assert paid(reward, [sleeps] * 3, tests=[SUITE] * 3) == [0.5] * 3


def test_several_seeds_are_for_runs() -> None:
    need_a_sandbox()
    with (
        pytest.raises(UsageError, match="A reward has no option hash_seeds"),
        workbench.reward("execution", options={"hash_seeds": "3"}) as reward,
    ):
        paid(reward, [RIGHT], tests=[SUITE])


def test_pay_without_running_anything() -> None:
    verdict = SuiteVerdict(outcome=Outcome.CORRECT, passed=3, total=3, forgeable=1)
    assert SuitePay(forgeable="nothing").reward(verdict, -1.0) == 0.0
    assert SuitePay(forgeable="undecided").reward(verdict, -1.0) == -1.0
    assert SuitePay().reward(SuiteVerdict(outcome=Outcome.ABSTAIN), -1.0) == -1.0
    late = SuiteVerdict(outcome=Outcome.INCORRECT, passed=1, total=2, late=True)
    assert SuitePay(pay="share").reward(late, None) == 0.5
    assert SuitePay(pay="share", timeouts="undecided").reward(late, None) is None


def test_tests_are_parsed_in_linear_time_and_bounded() -> None:
    def parse(count: int) -> float:
        began = time.process_time()
        given = problem_of("\n".join(f"assert double({number}) == {2 * number}" for number in range(count)))
        assert len(given.problem.suites["base"]) == count
        return time.process_time() - began

    # Eight times the tests took 64 times as long where each looked through all of the text.
    assert parse(4_000) < 24 * parse(500)
    for given in (
        "assert f(1)\n" * (MAX_TESTS + 1),
        json.dumps({"tests": ["assert f(1)"] * (MAX_TESTS + 1)}),
        "assert f(1) == 1\n" * 80_000,
    ):
        with pytest.raises(UsageError, match="at most"):
            problem_of(given)


def test_assertions_of_a_text_are_a_test_each() -> None:
    (suite,) = problem_in("\n".join(SUITE)).problem.suites.values()
    assert [test.form for test in suite] == ["expression"] * 4
    (suite,) = problem_in(HUMANEVAL).problem.suites.values()
    assert [test.form for test in suite] == ["program"]
