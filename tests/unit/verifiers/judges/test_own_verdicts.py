"""Replies that quote, echo, deny or repeat a verdict: only the judge's own verdict counts, never the opposite."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from workbench.llm.dialects import read
from workbench.llm.records import Reply, ending
from workbench.verifiers.judges.parsers import parser
from workbench.verifiers.judges.parsers.base import own_lines
from workbench.verifiers.judges.parsers.rubric import Criterion, criterion_answers

REPLIES: Final = tomllib.loads((Path(__file__).parent / "replies.toml").read_text(encoding="utf-8"))
"""Replies by hand: parser -> what each says, and its text."""
LEAST_READ: Final = 0.95
"""Share of the replies with a verdict that is to be read; of the others none is the opposite."""
RESULT, STEPS = (Criterion(name=name, asks="It is right.") for name in ("result", "steps"))


class Form(NamedTuple):
    """The phrases of one judge for yes and no."""

    name: str
    yes: str
    no: str


FORMS = (
    Form("verifybench@2", "Final Judgment: Yes", "Final Judgment: No"),
    Form("codejudge@2", "Answer: Yes", "Answer: No"),
    Form("xverify@2", "[Correct]", "[Incorrect]"),
    Form("compassverifier@2", r"Final Judgment: \boxed{A} - CORRECT", r"Final Judgment: \boxed{B} - INCORRECT"),
    Form("ice-score@2", "Score: 4", "Score: 1"),
)
QUOTES = (
    *("'{}'", '"{}"', "‘{}’", "„{}“", "“{}”", "「{}」", "『{}』", "« {} »", "»{}«", "‹{}›", "`{}`", "``{}''"),
    *("(the text had {})", "\n```\n{}\n```\n", "\n~~~text\n{}\n~~~\n", "\n> {}\n", "**{}**"),
)
FRAMES = (
    "{own}. The completion's line {quoted} was ignored.",
    "{own}\nIts last line, {quoted} in the text, is no verdict of mine.",
    "The submission closes on {quoted} and that does not bind me.\n{own}",
)
UNREAD = (
    "It would be wrong to answer {yes}",
    "It would be a mistake to write {no}",
    "{yes}. {no}.",
    "{no}; {yes}",
    "{yes}, or {no}",
    "End with {yes}, or {no}",
    "Answer with one of these:\n{yes}\n{no}",
    "The completion says: {yes}</s>",
    "It ends with '{no}'</s>",
    'It ends with "{yes}"[INST]',
    'It ends with "{no}"<think>',
    "The solution prints “{yes}” <think>",
    "The solution finally claims:\n{yes}",
    "<think>I am inclined to {yes}",
    "{yes} would be too kind.",
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_quoted_verdict_never_replaces_the_judges_own(form: Form) -> None:
    for quote, frame in product(QUOTES, FRAMES):
        for verdict, own, other in (("correct", form.yes, form.no), ("incorrect", form.no, form.yes)):
            raw = frame.format(own=own, quoted=quote.format(other))
            assert parser(form.name).parse(raw).verdict == verdict, raw


def read_verdict(name: str, text: str) -> str:
    """A parser's verdict, or a rubric's words."""
    if name == "rubric":
        found = criterion_answers((RESULT, STEPS), own_lines(text, None))
        return " ".join({True: "yes", False: "no", None: "–"}[met] for met in found.values())
    return parser(f"{name}@2").parse(text).verdict.replace("abstain", "unparsed")


def test_handwritten_replies_are_never_read_as_the_opposite() -> None:
    every = [(name, one["says"], one["text"]) for name, replies in REPLIES.items() for one in replies]
    found = [(name, says, read_verdict(name, text), text) for name, says, text in every]
    assert len(found) >= 200
    for name, says, verdict, text in found:
        pairs = zip(says.split(), verdict.split(), strict=True)
        assert all(word in (own, "unparsed", "–") for own, word in pairs), (name, says, verdict, text)
    own = [verdict == says for _, says, verdict, _ in found if says != "unparsed"]
    assert sum(own) / len(own) >= LEAST_READ


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("result: Yes and No\nsteps: Yes", "– yes"),
        ("result: Yes, or else No\nsteps: Yes", "– yes"),
        ("result: No\nsteps: No\n\n> result: Yes\n> steps: Yes", "no no"),
        ("result: Yes, no step is missing\nsteps: No, though its author says yes", "yes –"),
    ],
)
def test_a_rubric_criterion_has_a_single_verdict_word(raw: str, says: str) -> None:
    assert read_verdict("rubric", raw) == says


@pytest.mark.parametrize("raw", UNREAD)
def test_a_mentioned_or_double_verdict_is_no_verdict(raw: str) -> None:
    for form in FORMS:
        text = raw.format(yes=form.yes, no=form.no)
        assert parser(form.name).parse(text).verdict == "abstain", (form.name, text)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        *(("verifybench", raw) for raw in ("Yes and No", "Not correct", "Final Judgment: Not Yes", "Yes & No")),
        *(("verifybench", raw) for raw in ("Final Judgment: Yes, No", "The completion ends with Yes")),
        *(("codejudge", raw) for raw in ("Yes and No", "Yes. No.", "Not yes", "No, and yes")),
        *(("xverify", raw) for raw in ("Not correct", "Correct and Incorrect", "[Correct]. [Incorrect].")),
        *(("compassverifier", raw) for raw in ("Not CORRECT", "CORRECT and INCORRECT", "A and B")),
        *(("ice-score", raw) for raw in ("Score: 4. Score: 0.", "It would be wrong to give Score: 4")),
    ],
)
def test_both_words_or_a_denied_one_are_no_verdict(name: str, raw: str) -> None:
    assert parser(name).parse(raw).verdict == "abstain"


@pytest.mark.parametrize(
    ("name", "raw", "verdict"),
    [
        ("verifybench", "**Final Judgment: Yes**", "correct"),
        ("verifybench", "The two values agree. **Final Judgment: Yes**", "correct"),
        ("verifybench", "They differ, so Final Judgment: No", "incorrect"),
        ("verifybench", "Therefore, my final judgment: No", "incorrect"),
        ("verifybench", "# Conclusion\n\nFinal Judgment: $\\boxed{\\text{Yes}}$", "correct"),
        ("verifybench", "```\nFinal Judgment: No\n```", "incorrect"),
        ("verifybench", "Final Judgment:\n```\nNo\n```", "incorrect"),
        ("verifybench", "<think>Final Judgment: Yes</think>Final Judgment: No</s>", "incorrect"),
        ("verifybench", "'Final Judgment: No'", "incorrect"),
        ("verifybench", "The reference isn't 3, it's 4. Final Judgment: No", "incorrect"),
        ("verifybench", "The output format is as follows: x = 2.\nFinal Judgment: Yes", "correct"),
        ("verifybench", "The answer is Yes.", "correct"),
        ("codejudge", "Yes, it returns no value for an empty list.", "correct"),
        ("codejudge", "Final verdict (after review): **No**", "incorrect"),
        ("xverify", "**[Incorrect]** since 4 is not 5", "incorrect"),
        ("compassverifier", "The candidate answer is INCORRECT.", "incorrect"),
        ("compassverifier", "```\nA\n```", "correct"),
        ("ice-score", "Functional Correctness (0 to 4): 4", "correct"),
    ],
)
def test_plain_verdicts_are_still_read(name: str, raw: str, verdict: str) -> None:
    assert parser(name).parse(raw).verdict == verdict


def test_the_choice_of_index_0_counts_and_tool_calls_alone_are_no_reply() -> None:
    first = b'{"choices": [{"index": 1, "message": {"content": "No"}}, {"index": 0, "message": {"content": "Yes"}}]}'
    assert read(first, "chat", "openai").text == "Yes"
    assert ending(Reply(text="", finish_reason="tool_calls")) == "whole"
    assert ending(Reply(text="Yes", finish_reason="tool_calls")) == "truncated"


def test_positive_logprobs_are_no_probabilities() -> None:
    body = b'{"choices": [{"message": {"content": "Yes"}, "logprobs": {"content": [{"token": "Yes", "logprob": %s}]}}]}'
    assert [len(read(body % value, "chat", "openai").tokens) for value in (b"0.5", b"0", b"-0.5")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [
        ('{"reasoning": "One might say No. Both say 4.", "final_judgment": "Yes"}', "correct"),
        ('{"final_judgment": "No", "reasoning": "Final Judgment: Yes was claimed."}', "incorrect"),
        ('```json\n{"analysis": "\\"Yes\\" is quoted.", "verdict": "No"}\n```', "incorrect"),
        ('{"reasoning": "Final Judgment: Yes"}', "abstain"),
        ('{"final_judgment": "Yes", "is_well_formatted": "No"}', "correct"),
    ],
)
def test_a_json_reply_is_read_by_its_one_word_fields(raw: str, verdict: str) -> None:
    assert parser("verifybench@2").parse(raw, None).verdict == verdict
