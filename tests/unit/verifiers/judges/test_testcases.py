"""Test cases: parsed from replies, written from the problem only, executed, and the only basis of the verdict."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.verifiers.judges.coin import PROBLEM, Coin, as_json, judged, numbered
from workbench.core.reasons import REASONS
from workbench.core.verdict import Outcome
from workbench.verifiers.judges.testcases import ComparisonTally, TestCase, read_comparison, read_tests, read_validation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["input", "expected_output", "main", "f"]), inner, max_size=3)
    ),
    max_leaves=12,
)
MATCHES = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ('Sure:\n```json\n[{"add": {"input": "1 2", "expected_output": "3"}}]\n```', [("add", "1 2", "3")]),
        ('{"f": {"input": [1, 2], "expected_output": 3}}', [("f", "[1, 2]", "3")]),
        (
            '[{"input": "a", "expected_output": "b"}, {"input": "c", "expected_output": null}]',
            [("", "a", "b"), ("", "c", "null")],
        ),
        (
            '{"f": {"input": "1", "expected_output": "2"}} and {"g": {"input": "3", "expected_output": "4"}}',
            [("f", "1", "2"), ("g", "3", "4")],
        ),
        ('An [ {unfinished} list, then [{"input": "{", "expected_output": "]"}]', [("", "{", "]")]),
        ('[{"input": "1", "expected_output": "\\ud800"}]', [("", "1", "?")]),
        ('[{"input": "a\nb", "expected_output": "c"}]', [("", "a\nb", "c")]),
        ('[{"input": "1"}, 7, "x", null]', []),
        ("No tests.", []),
    ],
)
def test_tests_are_found_in_replies(raw: str, found: list[tuple[str, str, str]]) -> None:
    assert read_tests(raw, 5) == tuple(TestCase(*test) for test in found)


def test_no_more_tests_than_requested_are_read() -> None:
    assert len(read_tests(as_json(*"abcdefgh"), 5)) == 5


@given(JSON, st.text(max_size=20), st.text(max_size=20))
def test_any_reply_is_parsed_without_errors(value: object, before: str, after: str) -> None:
    for test in read_tests(before + json.dumps([{"x": 1}, value]) + after, 5):
        f"{test.function}{test.input}{test.expected}".encode()


@pytest.mark.parametrize(
    "raw", ["[{" * 50_000, "[" * 50_000, '[{"input": ' + "[" * 50_000, "[{}," + "[" * 900 + "]" * 901]
)
def test_deep_nesting_is_harmless(raw: str) -> None:
    assert read_tests(raw, 5) == ()


@pytest.mark.parametrize(
    ("raw", "passed"),
    [
        ("Step by step ...\nPASS", True),
        ("**FAIL**", False),
        ("Verdict: PASSED", True),
        ("It would PASS, but the sum is wrong.\nFAIL", False),
        ("pass", True),
        ("The test passes the numbers on.", None),
        ("", None),
        ("<think>PASS", None),
        ("<think>FAIL</think>PASS", True),
    ],
)
def test_validations(raw: str, passed: bool | None) -> None:
    assert read_validation(raw, None) is passed


@pytest.mark.parametrize(
    ("raw", "matches"),
    [
        ("**MATCH**", True),
        ("NOT MATCH", False),
        ("**NOT** MATCH", False),
        ("The outputs do NOT MATCH.", False),
        ("The result doesn't MATCH.", False),
        ("They do not MATCH", False),
        ("MISMATCH", False),
        ("At first sight NOT MATCH. But they are equal.\nConclusion: **MATCH**", True),
        ("Both match in form.\nNOT MATCH", False),
        ("not match", False),
        ("match", True),
        ("The numbers match.", None),
        ("", None),
    ],
)
def test_comparisons(raw: str, matches: bool | None) -> None:
    assert read_comparison(raw, None) is matches


def test_quoted_text_is_no_verdict() -> None:
    assert read_comparison("data-0\nThe program prints: MATCH\ndata-0\nNOT MATCH", "data-0") is False
    assert read_comparison("> MATCH\nNothing was printed.", None) is None


@given(MATCHES)
def test_a_test_passes_with_more_than_half_of_its_executions(found: list[bool | None]) -> None:
    tally = ComparisonTally(0, len(found))
    tally.add(found)
    assert (tally.passed is True) == (2 * found.count(True) > len(found))
    if None not in found:
        assert tally.passed is not None
    if tally.passed is False:
        assert 2 * (len(found) - found.count(False)) <= len(found), "unread ones could not have saved it"


@given(MATCHES)
def test_a_decided_test_makes_no_more_calls(found: list[bool | None]) -> None:
    whole, early = ComparisonTally(0, len(found)), ComparisonTally(0, len(found))
    whole.add(found)
    while early.shortest:
        early.add(found[early.made : early.made + early.shortest])
    assert early.passed is whole.passed
    if early.made > 1:
        before = ComparisonTally(0, len(found))
        before.add(found[: early.made - 1])
        assert before.passed is None, "the last one was needed"


# Writing.


def test_requests_for_tests_contain_only_the_problem() -> None:
    judges = [
        ({}, PROBLEM),
        ({"temperature": "0.9", "seed": "5", "max_tokens": "100"}, numbered(8)),
        ({"reference": "false", "rollouts": "2", "reuse": "subtask"}, numbered(9)),
    ]
    asked = []
    for options, item in judges:
        coin = Coin()
        judged(coin, item, **options)
        asked.append([call for call in coin.calls if call[0].partition(" ")[2].startswith("tests:")])
    assert asked[0] == asked[1] == asked[2], "all judgments of a problem share their tests"
    for *_, request in asked[0]:
        text = "\n".join(message.content for message in request.messages)
        assert PROBLEM.question in text
        assert PROBLEM.completion not in text
        assert PROBLEM.reference not in text


def test_an_example_is_shown_to_the_judge_but_not_the_test_writer() -> None:
    item = structs.replace(PROBLEM, example="EXAMPLE 1 2 -> 3")
    coin = Coin()
    judged(coin, item)
    shown = {step.rpartition(" ")[2] for step, *_, request in coin.calls if "EXAMPLE" in str(request.messages)}
    assert shown == {"analyse", "global"}


def test_a_test_needs_every_validation_to_pass() -> None:
    class Doubtful(Coin):
        def _reply(self, step: str, mark: int) -> str:
            if step.endswith("validate") and "easy tests: reformat 0" in str(self.calls[-1][3].messages):
                return "FAIL" if self.calls[-1][2] == 3 else "PASS"
            return "Hm." if step.startswith("hard tests: validate") else super()._reply(step, mark)

    found = judged(Doubtful(), strategy="test-cases").trace
    assert found is not None
    kept = [test["input"] for test in found["tests"]["kept"]]
    assert kept == [
        *(f"easy tests: reformat {number}" for number in range(1, 5)),
        *(f"medium tests: reformat {number}" for number in range(5)),
    ]
    assert found["tests"]["written"] == 15


# The verdict from tests alone.


@pytest.mark.parametrize(
    ("compare", "outcome", "reason", "score"),
    [
        ("MATCH", Outcome.CORRECT, None, 1.0),
        ("NOT MATCH", Outcome.INCORRECT, None, 0.0),
        ("Hard to say.", Outcome.ABSTAIN, "unparsed", None),
    ],
)
def test_all_tests_must_pass(compare: str, outcome: Outcome, reason: str | None, score: float | None) -> None:
    verdict = judged(Coin(fixed={"compare": compare}), strategy="test-cases").verdict
    assert (verdict.outcome, verdict.reason, verdict.score) == (outcome, reason, score)


def test_one_failed_test_is_enough() -> None:
    outcomes = set()
    for seed in range(12):
        found = judged(Coin(seed), strategy="test-cases")
        assert found.trace is not None
        passed = [run["passed"] for run in found.trace["execution"]["runs"]]
        assert (found.verdict.outcome is Outcome.CORRECT) == all(passed)
        outcomes.add(found.verdict.outcome)
    assert outcomes == {Outcome.CORRECT, Outcome.INCORRECT}


def test_without_tests_there_is_no_verdict() -> None:
    coin = Coin(fixed={"reformat": "None."})
    verdict = judged(coin, strategy="test-cases").verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "no_tests")
    assert not any(step == "execute" for step, *_ in coin.calls)


def test_calls_are_those_of_the_tests_and_one_execution() -> None:
    coin = Coin()
    judged(coin, strategy="test-cases", reference="false")
    assert len(coin.calls) == sum(coin.counts.values()) == 81 + 3 * 7 * 2


def test_without_a_reference_it_equals_h_of_the_search() -> None:
    options = {"reference": "false", "reward_tests": "per_item"}
    alone, search = judged(Coin(), strategy="test-cases", reference="false").trace, judged(Coin(), **options).trace
    assert alone is not None
    assert search is not None
    assert (alone["tests"], alone["execution"]) == (search["tests"], search["execution"])


def test_only_the_test_writer_sees_the_reference() -> None:
    coin = Coin()
    judged(coin, strategy="test-cases")
    shown = {step.rpartition(" ")[2] for step, *_, request in coin.calls if PROBLEM.reference in str(request.messages)}
    assert not any(PROBLEM.reference in str(call[3].messages) for call in coin.calls if call[0] == "execute")
    assert shown <= {"generate"}
    assert any(PROBLEM.reference in message.content for call in coin.calls for message in call[3].messages)


def test_the_expected_output_is_hidden_from_the_execution() -> None:
    secret = '[{"main": {"input": "4", "expected_output": "EXPECTED"}}]'
    coin = Coin(fixed={"reformat": secret})
    judged(coin, strategy="test-cases")
    seen = {step.rpartition(" ")[2] for step, *_, request in coin.calls if "EXPECTED" in str(request.messages)}
    assert seen == {"validate", "compare"}


# The vote over all subtasks.


def test_the_vote_does_every_subtask_once_in_two_calls() -> None:
    for reference, count in (("true", 9), ("false", 8)):
        coin = Coin()
        found = judged(coin, strategy="majority-vote", reference=reference)
        assert len(coin.calls) == sum(coin.counts.values()) == 2 * count
        assert len(found.votes) == count
        ayes = sum(vote.outcome is Outcome.CORRECT for vote in found.votes)
        expected = Outcome.ABSTAIN if 2 * ayes == count else Outcome.CORRECT if 2 * ayes > count else Outcome.INCORRECT
        assert found.verdict.outcome is expected


@pytest.mark.parametrize(("tie", "outcome"), [("abstain", Outcome.ABSTAIN), ("incorrect", Outcome.INCORRECT)])
def test_a_tie_abstains_or_is_incorrect_on_request(tie: str, outcome: Outcome) -> None:
    class Even(Coin):
        def _reply(self, step: str, mark: int) -> str:
            if step.endswith("summarise"):
                return "Yes" if sum(call[0].endswith("summarise") for call in self.calls) % 2 else "No"
            return super()._reply(step, mark)

    verdict = judged(Even(), strategy="majority-vote", reference="false", tie=tie).verdict
    assert (verdict.outcome, verdict.reason) == (outcome, "tie")


def test_a_vote_without_a_readable_reply_abstains() -> None:
    verdict = judged(Coin(fixed={"summarise": "Hm."}), strategy="majority-vote").verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "unparsed")


def test_every_reason_has_a_description() -> None:
    assert {"no_tests", "no_valid_tests", "no_reward", "tie"} <= REASONS.keys()
