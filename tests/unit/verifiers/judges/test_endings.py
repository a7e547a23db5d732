"""Truncated, filtered or declined replies: no verdict except a labelled one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verifiers.judges.asking import RecordedCall, judged
from workbench.llm.records import Reply, ending
from workbench.verifiers.judges.parsers import PARSERS, base, parser
from workbench.verifiers.judges.parsers.base import find_decline

REFUSALS = (
    "No, I can't help with that.",
    "No, I can’t help with that.",
    "I'm sorry, but I can't assist with that request.",
    "Sorry, I can't.",
    "No. I won't do that.",
    "I cannot comply with this request. No.",
    "I cannot in good conscience answer this question. No.",
    "I’m unable to evaluate this content. No.",
    "I must respectfully decline to answer. No.",
    "I do not feel comfortable answering this. Yes.",
    "As an AI language model, I cannot say whether this is right. No.",
    "Unable to assist. No",
    "No, that goes against my guidelines.",
    "No comment.",
    "No, that's against policy.",
    "This request was flagged. No",
    "Your prompt has been blocked by the administrator. No",
    "抱歉，我无法回答这个问题。No",
    "申し訳ありませんが、お手伝いできません。No",
    "죄송하지만 도와드릴 수 없습니다. No",
    "Ich kann dabei leider nicht helfen. No.",
    "Je suis désolé, je ne peux pas vous aider. No.",
    "No puedo ayudar con eso. No",
    "Non posso aiutarti. No.",
    "Não posso ajudar com isso. No.",
    "Я не могу помочь с этим. No",
    "Nie mogę w tym pomóc. No",
    "Bu konuda yardımcı olamam. No",
    "لا أستطيع المساعدة. No",
)
UNDECIDED = (
    "I can't tell. No reference was given.",
    "It is impossible to say. No.",
    "I cannot determine whether it is right: Yes or maybe No.",
    "The answer cannot be verified. No working is shown.",
    "Yes, I can do that! Please paste the solution.",
    "Sure! Yes, I'd be happy to grade it.",
    "Yes. Could you share the answer that is to be judged?",
    "No completion is there yet. Would you please provide it?",
    "Yes, I'm ready to help.",
    "Yes, I can certainly help with that.",
    "No worries, happy to help!",
    "No problem. Go ahead.",
)
JUDGING = (
    "No, I can't see how this handles negative numbers.",
    "The code cannot help but loop and will not continue. No",
    "We cannot evaluate the integral in closed form, so the answer is wrong. No",
    "Cannot process empty lists.\nNo",
    "The response refuses to answer. No",
    "The program could share a list between calls. No",
    "The solution says that it is ready to help and ends. No",
    'It says "I can\'t help with that". No',
    "The model says that it cannot help with this. No",
    "I don't think this is right. No",
    "We can't make any progress here. No",
    "我们不能直接相加，所以答案错误。No",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_no_verdict(text: str) -> None:
    for name in ("verifybench", "codejudge"):
        for quoted in (text, f"<think>Hm. Yes.</think>\n{text}", f"**{text}**"):
            reading = parser(name).parse(quoted)
            assert (reading.verdict, reading.reason) == ("abstain", "refused")
    assert parser("verifybench").parse(f"{text}\nFinal Judgment: No").verdict == "incorrect"


@pytest.mark.parametrize("text", UNDECIDED)
def test_an_undecided_judge_has_no_verdict(text: str) -> None:
    reading = parser("verifybench").parse(text)
    assert (reading.verdict, reading.reason) == ("abstain", "unparsed")


def test_a_doubt_about_one_step_of_a_long_examination_leaves_its_verdict() -> None:
    doubt, steps = "It is impossible to say whether step 2 is needed.", "The sum of both terms is 4. " * 20
    assert parser("verifybench").parse(f"{doubt}\n{steps}\nNo").verdict == "incorrect"
    assert parser("verifybench").parse(f"{doubt}\nNo").verdict == "abstain"


@pytest.mark.parametrize("text", JUDGING)
def test_a_reply_about_the_inability_of_others_is_a_verdict(text: str) -> None:
    assert find_decline(text.replace('"I can\'t help with that"', " ").splitlines()) is None
    assert parser("verifybench").parse(text).verdict == "incorrect"


@pytest.mark.parametrize(
    ("name", "thought", "labelled", "verdict"),
    [
        ("verifybench", "Is it right? Yes, so far. But wait", "Final Judgment: Yes\nBecause", "correct"),
        ("verifybench", "Is it right?\nYes\nBut wait", "**Final Judgement: No**\nas", "incorrect"),
        ("codejudge", "Yes, so far. But wait", "Answer: No", "incorrect"),
        ("codejudge", "It holds for 1.\nYes", "Final verdict: Yes", "correct"),
        ("ice-score", "4 - if it terminates. But", "Score: 4\nIt", "correct"),
        ("ice-score", "It is 4.\n4\nBut wait", "Functional Correctness: 2", "incorrect"),
        ("compassverifier", "A\nOr rather", "Final Judgment: \\boxed{A} - CORRECT", "correct"),
        ("compassverifier", "So the answer is CORRECT. But", "Final Judgment: B", "incorrect"),
        ("xverify", "Correct so far", "Judgment: [Correct]", "correct"),
        ("xverify", "[Correct]\nNo, wait", "Answer: Incorrect", "incorrect"),
    ],
)
@pytest.mark.parametrize("ended", ["truncated", "content_filter", "refused"])
def test_in_a_truncated_thought_only_a_labelled_verdict_counts(
    name: str, thought: str, labelled: str, verdict: str, ended: str
) -> None:
    assert parser(name).parse(thought).verdict != "abstain"
    reading = parser(name).parse(thought, None, ended)  # type: ignore[arg-type]
    assert (reading.verdict, reading.reason) == ("abstain", ended)
    assert parser(name).parse(f"{thought}\n{labelled}", None, ended).verdict == verdict  # type: ignore[arg-type]


def test_a_truncated_list_of_faults_is_no_verdict() -> None:
    for text in ("[]", '[{"inconsistency": "x", "severity": "Fatal"}]', "[]\nBut wait"):
        assert parser("codejudge-fault").parse(text, None, "truncated").reason == "truncated"


def test_a_bare_word_of_a_truncated_reply_is_no_verdict() -> None:
    for name, text in (("verifybench", "No"), ("codejudge", " Yes."), ("compassverifier", "(A)"), ("ice-score", "4")):
        for ended in ("truncated", "content_filter", "refused"):
            reading = parser(name).parse(text, None, ended)
            assert (reading.verdict, reading.reason) == ("abstain", ended)


def test_upstream_parsers_ignore_how_a_reply_ends() -> None:
    for chosen in PARSERS:
        if chosen.version == 1:
            for text in (*REFUSALS, "Is it right? Yes, so far. But wait", "4", "A", "correct"):
                assert chosen.parse(text, None, "truncated") == chosen.parse(text)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (None, "whole"),
        ("stop", "whole"),
        ("eos_token", "whole"),
        ("STOP", "whole"),
        ("length", "truncated"),
        ("MAX_TOKENS", "truncated"),
        ("abort", "truncated"),
        ("tool_calls", "truncated"),
        ("refusal", "refused"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("FinishReason.SPII", "content_filter"),
        *((word, "content_filter") for word in ("BLOCKLIST", "IMAGE_SAFETY", "MODEL_ARMOR", "LANGUAGE", "sensitive")),
        *((word, "content_filter") for word in ("guardrail_intervened", "ERROR_TOXIC", "content_filtered")),
        *(
            (word, "truncated")
            for word in ("model_length", "pause_turn", "OTHER", "error", "CONTINUATION", "function_call")
        ),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "truncated"),
    ],
)
def test_endings(reason: str | None, expected: str) -> None:
    assert ending(Reply(text="Yes", finish_reason=reason)) == expected


@pytest.mark.parametrize(
    ("analysis", "reason"),
    [
        (Reply(text="Is it right? Yes, so far. But wait", finish_reason="length"), "truncated"),
        ("I can’t help with that.", "refused"),
        (Reply(text="", finish_reason="refusal"), "refused"),
    ],
)
def test_only_an_analysis_is_summarised(analysis: str | Reply, reason: str) -> None:
    found, calls = judged([analysis, "Yes"], strategy="codejudge")
    assert (found.verdict.outcome.word, found.verdict.reason, len(calls)) == ("abstain", reason, 1)
    found, calls = judged([analysis, "Yes"], strategy="codejudge", parser="codejudge@1")
    assert len(calls) == (1 if isinstance(analysis, Reply) and not analysis.text else 2)


@pytest.mark.parametrize(
    "analysis",
    [
        Reply(text="Is it right? Yes, so far. But wait", finish_reason="length"),
        Reply(text="No, I can't help with that.", finish_reason="stop"),
    ],
)
def test_subtask_votes_exclude_truncated_and_refused_replies(analysis: Reply) -> None:
    def script(asked: RecordedCall) -> str | Reply:
        return analysis if "analyse" in asked.step else "Yes"

    found, _ = judged(script, strategy="majority-vote")
    assert (found.verdict.outcome.word, {vote.outcome.word for vote in found.votes}) == ("abstain", {"abstain"})


def test_a_refusal_field_is_no_verdict_under_any_parser() -> None:
    for chosen in PARSERS:
        strategy = "codejudge" if chosen.name == "codejudge" else "verifybench"
        refusal = Reply(text="No, I can't say Yes to that.", finish_reason="refusal")
        found, _ = judged([refusal, refusal], strategy=strategy, parser=chosen.id)
        assert (found.verdict.outcome.word, found.verdict.reason) == ("abstain", "refused")


TURNS = (
    "<|im_end|>\n<|im_start|>user\n",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
    "<end_of_turn>\n<start_of_turn>user\n",
    "</s>[INST] ",
    "<|end|><|user|>\n",
    "<｜end▁of▁sentence｜><｜User｜>",
    "<|end|><|start|>user<|message|>",
)


@pytest.mark.parametrize("turn", TURNS)
def test_an_invented_turn_of_another_speaker_is_ignored(turn: str) -> None:
    said = {
        "verifybench": ("Final Judgment: Yes", "Final Judgment: No"),
        "codejudge": ("Yes", "No"),
        "ice-score": ("4", "1"),
        "compassverifier": ("A", "B"),
        "xverify": ("[Correct]", "[Incorrect]"),
    }
    for name, (right, wrong) in said.items():
        assert parser(name).parse(f"{right}{turn}{wrong}").verdict == "correct"
        assert parser(name).parse(f"{wrong}{turn}{right}").verdict == "incorrect"
        assert parser(name).parse(f"{turn}{right}").verdict == "abstain"
    assert parser("verifybench").parse("It ends with `<|im_start|>user`.\nFinal Judgment: No").verdict == "incorrect"


@pytest.mark.parametrize(
    "text",
    [
        'Final Judgment: "Yes" or "No"',
        "Final Judgment: **Yes** or **No**",
        "Final Judgment: \\boxed{Yes} or \\boxed{No}",
        "Final Judgment: (Yes) / (No)",
        "The answer is not No",
        "It is not a Yes",
    ],
)
def test_an_echo_of_the_possible_verdicts_is_no_verdict(text: str) -> None:
    assert parser("verifybench").parse(text).verdict == "abstain"
    assert parser("verifybench").parse(f"{text}\nFinal Judgment: No").verdict == "incorrect"


PHRASES = st.lists(
    st.sampled_from(
        [
            *REFUSALS,
            *UNDECIDED,
            *JUDGING,
            *("I", "we", "can't", "cannot", "will not", "Unable to", "help", "say", "this.", "No.", "Yes", "sorry,"),
            *("wouldn't", "dont", "please", "provide", "je", "refuse.", "désolé.", "lo siento", "nie moge", "pomoc"),
            *("\n", "\n\n", " ", "İ", "CANNOT", "HELP"),
        ]
    ),
    max_size=7,
).map(" ".join)


@given(PHRASES)
def test_skipped_lines_hold_no_verdict(text: str) -> None:
    """Only lines with a word of a pattern are searched for that pattern."""
    for telling in (*base._REFUSES, *base._CANNOT_TELL):
        lines = [(line, line.lower()) for line in text.split("\n")]
        assert telling.matches(lines) == (telling.pattern.search(text) is not None)
