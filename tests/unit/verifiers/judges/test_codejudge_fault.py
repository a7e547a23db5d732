"""CodeJudge's list of faults: found anywhere in a reply, weighted by severity, never guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.judges.parsers import Reading, parser

READ = parser("codejudge-fault").parse
FENCE = "data-bcdfghjk"


def fault(severity: str | None, kind: str = "something") -> dict[str, str]:
    return {"inconsistency": kind} | ({} if severity is None else {"severity": severity})


def listed(*severities: str) -> str:
    return json.dumps([fault(one) for one in severities])


@pytest.mark.parametrize(
    ("severities", "score"),
    [
        ((), 1.0),
        (("Negligible",), 1.0),
        (("none",), 1.0),
        (("negligible", "SMALL"), 0.95),
        (("minor",), 0.95),
        (("Small",) * 3, 0.85),
        (("Major",), 0.5),
        (("Major", "Small"), 0.45),
        (("Major", "Major"), 0.0),
        (("Major", "Major", "Small"), 0.0),
        (("Fatal",), 0.0),
        (("Fatal", "Fatal"), 0.0),
    ],
)
def test_the_score_and_that_only_one_is_correct(severities: tuple[str, ...], score: float) -> None:
    reading = READ(listed(*severities))
    assert (reading.score, reading.verdict) == (score, "correct" if score == 1 else "incorrect")


@given(st.lists(st.sampled_from(("Fatal", "Major", "Small", "Negligible")), max_size=30))
def test_the_formula(severities: list[str]) -> None:
    lost = 100 * severities.count("Fatal") + 50 * severities.count("Major") + 5 * severities.count("Small")
    assert READ(listed(*severities)).score == max(0, 100 - lost) / 100


@pytest.mark.parametrize(
    ("kind", "score"),
    [
        ("It uses a different algorithm: recursion.", 1.0),
        ("Different methods or algorithms", 1.0),
        ("Missing import statements", 1.0),
        ("No error messages for unexpected input", 1.0),
        ("Inefficiency: it sorts twice", 1.0),
        ("None", 1.0),
        ("Edge case not handled: the empty list", 0.95),
        ("Logic error: the sign is wrong", 0.5),
        ("Function or variable not defined: foo", 0.0),
        ("Code not completed; the code is incomplete", 0.0),
        ("It is ugly", None),
    ],
)
def test_a_missing_severity_follows_from_the_kind(kind: str, score: float | None) -> None:
    for severity in (None, ""):
        reading = READ(json.dumps([fault(severity, kind)]))
        assert reading.score == score
        assert reading.reason == ("unparsed" if score is None else None)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "There are no inconsistencies.",
        '[{"inconsistency": "x", "severity": "Terrible"}]',
        '[{"inconsistency": "x", "severity": "Major"}, {"inconsistency": "y", "severity": "Bad"}]',
        '[{"fault": "x", "severity": "Major"}]',
        '{"correct": true}',
        '[{"inconsistency": "x", "severity": "Major"',
        "[1, 2, 3]",
        "An empty list [] is what it returns.",
        "x = []",
        f"{FENCE}\n[]\n{FENCE}\nI can't tell.",
    ],
)
def test_no_list_and_unknown_severities_are_no_verdict(raw: str) -> None:
    assert READ(raw, FENCE) == Reading("abstain", reason="unparsed")


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "Here is the list:\n\n```json\n{}\n```\nThat is all.",
        "Inconsistencies: {}",
        "<think>[]</think>{}",
        "[]\nOn reflection:\n{}",
        "The code has `a[0]`, `{{x}}` and [odd] brackets.\n[1]\n{}",
        "data-bcdfghjk\n[]\ndata-bcdfghjk\n{}",
        "[[[[[[[[\n{}",
    ],
)
def test_the_last_list_on_lines_of_its_own_counts(frame: str) -> None:
    for text in (listed("Major", "Small"), json.dumps([fault("Major"), fault("Small")], indent=2)):
        assert READ(frame.format(text), FENCE).score == 0.45


def test_an_object_around_the_list_and_a_fault_alone() -> None:
    assert READ(json.dumps({"inconsistencies": [fault("Small")]})).score == 0.95
    assert READ(json.dumps(fault("Major"))).score == 0.5


def test_a_list_truncated_within_a_thought_has_no_verdict() -> None:
    assert READ("<think>Let me see").reason == "truncated"


@pytest.mark.soak
def test_very_long_and_very_deep_replies_end() -> None:
    for raw in ("[" * 1_000_000, "[\n" * 200_000, '{"a":' * 100_000, "[1,\n" * 100_000 + listed("Major")):
        READ(raw)


@given(st.text(alphabet='[]{}":,\n ainconsisty0', max_size=200))
def test_any_reply_gives_a_reading(raw: str) -> None:
    assert READ(raw).verdict in ("correct", "incorrect", "abstain")


def test_the_label_counts_faults_by_severity() -> None:
    assert READ(listed("Small", "Major", "small")).label == "1 major, 2 small"
    assert READ("[]").label == "no inconsistency"
