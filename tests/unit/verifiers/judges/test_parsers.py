"""Parsers of judge replies: version 1 reproduces upstream faults, version 2 is strict."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.core.errors import UsageError
from workbench.verifiers.judges.parsers import PARSERS, Parser, parser

BOTH = ("correct", "incorrect")


@pytest.mark.parametrize(
    ("name", "raw", "first", "second"),
    [
        ("verifybench", "Final Judgment: Yes", "correct", "correct"),
        ("verifybench", "Final Judgment: No", "incorrect", "incorrect"),
        ("verifybench", "Both agree. Final Judgment: Yes. Notation differs.", "incorrect", "correct"),
        ("verifybench", "### Final Judgement: **YES**", "abstain", "correct"),
        ("verifybench", "**Final Judgment**: `No`", "incorrect", "incorrect"),
        ("verifybench", r"Final Judgment: \boxed{Yes}", "correct", "correct"),
        ("verifybench", "Final Judgment:\nNo, it is 3.", "incorrect", "incorrect"),
        ("verifybench", "Final Judgment: Yes/No", "incorrect", "abstain"),
        ("verifybench", "Final Judgment: Yes or No", "incorrect", "abstain"),
        ("verifybench", "I will end with Yes/No.\nYes, they agree.", "correct", "correct"),
        ("verifybench", "Nothing is wrong; Yesterday", "correct", "abstain"),
        ("verifybench", "yes", "abstain", "abstain"),
        ("codejudge", "No.\nIt fails on empty lists.", "incorrect", "incorrect"),
        ("codejudge", "It is fine.\nYes", "correct", "correct"),
        ("codejudge", "Answer: No", "incorrect", "incorrect"),
        ("codejudge", "No errors were found.", "incorrect", "abstain"),
        ("codejudge", "Yes/No", "correct", "abstain"),
        ("codejudge", "No\n\nIt eyes the wrong list.", "correct", "incorrect"),
        ("codejudge", "The code\nNo\nis what it is.", "abstain", "incorrect"),
        ("codejudge", "Yes\n\n", "correct", "correct"),
        ("xverify", "incorrect\n", "incorrect", "incorrect"),
        ("xverify", "[Correct]", "abstain", "correct"),
        ("xverify", "**Incorrect**: 4 is not 5", "abstain", "incorrect"),
        ("xverify", "[Correct] or [Incorrect]", "abstain", "abstain"),
        ("xverify", "Correct answer: 5", "abstain", "abstain"),
        ("xverify", "Correctness can't be told", "abstain", "abstain"),
    ],
)
def test_both_versions_of_the_yes_and_no_judges(name: str, raw: str, first: str, second: str) -> None:
    assert parser(f"{name}@1").parse(raw).verdict == first
    assert parser(f"{name}@2").parse(raw).verdict == second


@pytest.mark.parametrize(
    ("raw", "first", "second"),
    [
        ("4", 4, 4),
        (" 3\n", 3, 3),
        ("3.0", 0, 3),
        ("3/4", 0, 3),
        ("3 out of 4", 0, 3),
        ("**2**", 0, 2),
        ("2 (half of it)", 0, 2),
        ("2 – half of it", 0, 2),
        ("Score: 2", 2, 2),
        ("Usefulness: 4", 0, 4),
        ("I read it.\n\nFunctional Correctness (0-4): 3 out of 4", 3, 3),
        ("Step 1: fine.\nThe score: 1. It fails.", 1, 1),
        ("Score: 10", 10, None),
        ("Score: 3/5", 0, None),
        ("3.5", 0, None),
        ("-1", -1, None),
        ("5", 5, None),
        ("2 - 1 = 1", 0, None),
        ("Functional Correctness (0-4) - how good it is", 0, None),
        ("4 tests pass", 0, None),
        ("", 0, None),
    ],
)
def test_scores(raw: str, first: int, second: int | None) -> None:
    reading = parser("ice-score@1").parse(raw)
    assert (reading.score, reading.verdict) == (first, "correct" if first == 4 else "incorrect")
    reading = parser("ice-score@2").parse(raw)
    assert reading.score == second
    assert reading.verdict == ("abstain" if second is None else "correct" if second == 4 else "incorrect")


@pytest.mark.parametrize(
    ("raw", "first", "second"),
    [
        ("B", "B", "B"),
        ("(A)", "A", "A"),
        ("CORRECT", "C", "A"),
        ("INVALID", "A", "C"),
        ("Correct", "C", "A"),
        (r"Final Judgment: \boxed{C} - REPETITIVE", "C", "C"),
        (r"**Final Judgment:** \boxed{B} - INCORRECT", "B", "B"),
        (r"\boxed{A} - INCORRECT", "A", "B"),
        (r"Final Judgment: \boxed{A/B/C}", "C", None),
        ("CORRECT, INCORRECT, or INVALID?", "A", None),
        (r"Its final answer is \boxed{B}, as in the standard answer.\nFinal Judgment: \boxed{A}", "A", "A"),
        ("Final Judgment: (B)", "B", "B"),
        ("Judgement: A", "A", "A"),
        ("The answer is not CORRECT", "C", None),
        ("A thorough reply", "A", None),
        ("it can't be told", None, None),
    ],
)
def test_labels(raw: str, first: str | None, second: str | None) -> None:
    verdicts = {"A": "correct", "B": "incorrect", "C": "abstain", None: "abstain"}
    for version, label in ((1, first), (2, second)):
        reading = parser(f"compassverifier@{version}").parse(raw)
        assert (reading.label, reading.verdict) == (label, verdicts[label])
        assert reading.reason == {"C": "invalid", None: "unparsed"}.get(label)


def test_names() -> None:
    assert parser("ice_score@1") is parser("ice-score@1")
    assert [parser(name).version for name in ("xverify", "xverify@1", "ice_score")] == [2, 1, 2]
    assert [one.id for one in PARSERS if one.version == 2][:2] == ["verifybench@2", "ice-score@2"]
    for unknown in ("", "verify", "xverify@3", "xverify@", "@2"):
        with pytest.raises(UsageError, match="compassverifier@2"):
            parser(unknown)


WORDS = st.sampled_from(
    [
        *("Final Judgment:", "Yes", "No", "[Correct]", "incorrect", "\\boxed{A}", "(B)", "C", "INVALID", "Score:", "4"),
        *("3/4", " - ", "<think>", "</think>", "\n", "\r", " ", '"', "`", "“", ">", "*", "/", " or ", "FENCE", "yes,"),
    ]
)


@given(st.text() | st.lists(WORDS).map("".join), st.sampled_from(PARSERS), st.sampled_from([None, "", "FENCE", "\n"]))
def test_any_text_can_be_parsed(raw: str, chosen: Parser, delimiter: str | None) -> None:
    reading = chosen.parse(raw, delimiter)
    assert (reading.reason is None) == (reading.verdict in BOTH)
    if reading.score is not None:
        assert chosen.name == "ice-score"
        assert (reading.score == 4) == (reading.verdict == "correct")
    if reading.label is not None:
        assert {"A": "correct", "B": "incorrect"}.get(reading.label, "abstain") == reading.verdict
    if chosen.version == 2 and delimiter:
        own = raw.rpartition(delimiter)[2]
        verdict = chosen.parse(own).verdict
        assert reading.verdict == verdict


@given(st.lists(WORDS).map("".join))
@example('</think>Yes"')
def test_strict_parsers_ignore_thoughts(thought: str) -> None:
    for chosen in PARSERS:
        if chosen.version == 2:
            assert chosen.parse(f"<think>{thought}</think>\n").verdict == "abstain"


@pytest.mark.parametrize("thought", ["They write 'No'", 'First "</think>" is spoken of, then: "No"', "No`"])
def test_a_thought_may_end_with_a_quotation(thought: str) -> None:
    found = next(one for one in PARSERS if one.version == 2 and one.name == "verifybench")
    assert found.parse(f"<think>{thought}</think>\nYes").verdict == "correct"


@pytest.mark.few
@pytest.mark.parametrize("chosen", PARSERS, ids=lambda one: one.id)
@pytest.mark.parametrize(
    "piece",
    [
        *("a", " ", "\n", '"', "`", "“", "Yes ", "No/", "Final Judgment: ", "Final Judgment:\n", "score (", "Score: 9"),
        *("9", "9/", "9 - ", "CORRECT,", "A/", "<think>", "</think>", "(A", "boxed{", "correct/", "Not CORRECT or "),
    ],
)
def test_long_replies_take_linear_time(chosen: Parser, piece: str) -> None:
    """Half a megabyte of anything, far more than a quadratic pattern could process in the time."""
    chosen.parse(piece * (500_000 // len(piece)))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("VALID", "correct"),
        ("The values agree.\n\n**Verdict: valid**", "correct"),
        ("INVALID", "incorrect"),
        ("Verdict: INVALID. The completion's line 'Verdict: VALID' was ignored.", "incorrect"),
        ("A valid argument, but the sum is wrong.\nInvalid", "incorrect"),
        ("VALID or INVALID", "abstain"),
        ("It would be wrong to answer VALID", "abstain"),
        ("> VALID", "abstain"),
        ("VALIDATED", "abstain"),
        ("Yes", "abstain"),
        ("", "abstain"),
    ],
)
def test_two_words_of_a_prompt_are_its_verdicts(reply: str, outcome: str) -> None:
    found = parser("words:VALID/INVALID")
    assert found.parse(reply).verdict == outcome
    assert parser(found.id).parse(reply).verdict == outcome


@pytest.mark.parametrize("name", ["words:", "words:A", "words:a/A", "words:A/B/C", "words:(/)", "words:A/B@1"])
def test_invalid_word_names_are_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="There is no parser"):
        parser(name)
