"""Thoughts of a model are no verdict, however the server or its format marks them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.judges.parsers import PARSERS, parser
from workbench.verifiers.judges.parsers.thoughts import is_cut_off, spoken

FORMS = {
    "DeepSeek, Qwen": ("<think>", "</think>"),
    "no opening tag": ("", "</think>"),
    "in any case": ("<Thinking>", "</THINKING>"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Kimi K3": ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    "Seed-OSS": ("<seed:think>", "</seed:think>"),
    "MiniMax M3": ("<mm:think>", "</mm:think>"),
    "K2 Horizon": ("<ifm|think_fast>", "</ifm|think_fast>"),
    "LongCat": ("<longcat_think>", "</longcat_think>"),
    "Reka": ("<reasoning>", "</reasoning>"),
    "EXAONE, Gemini": ("<thought>", "</thought>"),
    "Sky-T1": ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
    "Command A": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Inkling": ("<|content_thinking|>", "<|end_message|><|message_model|><|content_text|>"),
    "Gemma 4": ("<|channel>thought\n", "<channel|>"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "harmony, constrained": ("<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    "harmony, stripped": ("analysisWe look. ", "assistantfinal"),
    "a monologue": ("<inner_monologue>", "</inner_monologue>"),
    "hyphens": ("<chain-of-thought>", "</chain-of-thought>"),
    "camels": ("<antThinking>", "</antThinking>"),
    "letters of a page": ("&lt;think&gt;", "&lt;/think&gt;"),
    "letters of Markdown": ("\\<think\\>", "\\</think\\>"),
    "DeepSeek's tokens": ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
    "the same in ASCII": ("<|begin_of_thinking|>", "<|end_of_thinking|>"),
    "a token": ("<|reasoning|>", "<|/reasoning|>"),
    "Gemma's channel of another name": ("<|channel>analysis\n", "<channel|>"),
    "Apriel": ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]"),
    "Ollama's command line": ("Thinking...\n", "\n...done thinking.\n"),
    "Doubao": (
        "<think_never_used_0123456789abcdef0123456789abcdef>",
        "</think_never_used_0123456789abcdef0123456789abcdef>",
    ),
    "Step-Audio": ("<|THINK_START|>", "<|THINK_END|>"),
    "Unsloth's GRPO": ("<start_working_out>", "<end_working_out>"),
    "Open WebUI": (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n> ',
        "\n</details>",
    ),
    "Hunyuan": ("<think:6124c78e>", "</think:6124c78e>"),
    "Muse": ("to=self<|message|>", "<|eom|><|start|>assistant to=user<|message|>"),
    "Muse, stripped": ("to=self", "assistant to=user"),
    "Granite": ("Here is my thought process:\n", "\nHere is my response:\n"),
}
SAID = {
    "verifybench": ("Final Judgment: Yes", "Final Judgment: No"),
    "ice-score": ("4", "1"),
    "codejudge": ("Yes", "No"),
    "codejudge-fault": ("[]", '[{"inconsistency": "Logic error", "severity": "Major"}]'),
    "compassverifier": ("A", "B"),
    "xverify": ("[Correct]", "[Incorrect]"),
}
JUDGES = [chosen.id for chosen in PARSERS if chosen.is_strict]
FENCE = "data-bcdfghjkqrstmnpl"
WORDS = st.lists(
    st.sampled_from(
        [
            *(word for pair in SAID.values() for word in pair),
            *("Yes", "No", "Final Judgment: Yes", "Score: 4", "Answer: No", "Judgment: [Correct]"),
            *("so far.", "But wait"),
            *("It closes with `</think>`.", "the <think> tag", FENCE, "\n", "\n\n", " "),
        ]
    ),
    max_size=8,
).map(" ".join)


@pytest.mark.few
@pytest.mark.parametrize("form", FORMS, ids=FORMS.keys())
@pytest.mark.parametrize("name", JUDGES)
@given(thought=WORDS)
def test_a_thought_is_no_verdict(form: str, name: str, thought: str) -> None:
    opening, closing = FORMS[form]
    for fence in (None, FENCE):
        for said, verdict in zip(SAID[name.partition("@")[0]], ("correct", "incorrect"), strict=True):
            raw = f"{opening}{thought}{closing}\n{said}"
            assert parser(name).parse(raw, fence).verdict == verdict, raw
            for nothing in (f"{opening}{thought}{closing}", f"{opening}{thought}{closing}\n\n"):
                assert parser(name).parse(nothing, fence).verdict == "abstain", nothing


@pytest.mark.few
@pytest.mark.parametrize("form", [form for form in FORMS if form != "no opening tag"])
@pytest.mark.parametrize("name", JUDGES)
@given(thought=WORDS)
def test_an_unclosed_thought_is_a_truncated_reply(form: str, name: str, thought: str) -> None:
    opening, _ = FORMS[form]
    for fence in (None, FENCE):
        reading = parser(name).parse(opening + thought, fence)
        assert (reading.verdict, reading.reason) == ("abstain", "truncated")
        if form in {"harmony, stripped", "Muse, stripped", "Ollama's command line"}:
            continue  # Their marks are ones at the start alone.
        again = parser(name).parse(f"{opening}Hm.{FORMS[form][1]}\n{opening}{thought}", fence)
        assert (again.verdict, again.reason) == ("abstain", "truncated")


@pytest.mark.parametrize(
    "raw",
    [
        "It leaves the <think> tag open, which is no fault.\nFinal Judgment: Yes",
        'Its "<think>" and `</think>` are a model\'s own.\nFinal Judgment: Yes',
        f"{FENCE}\n<think>\nIs it 5? No\n{FENCE}\nIt is.\nFinal Judgment: Yes",
        "The analysis is right.\nFinal Judgment: Yes",
        "analysis: it holds.\nFinal Judgment: Yes",
        "Final Judgment: Yes<|return|>",
        "<answer>\nFinal Judgment: Yes\n</answer>",
        "<details>\n<summary>Why</summary>\nFinal Judgment: Yes\n</details>",
    ],
)
def test_a_mentioned_thought_marker_is_no_thought(raw: str) -> None:
    assert parser("verifybench").parse(raw, FENCE).verdict == "correct"
    assert not is_cut_off(raw, FENCE)


def test_a_verdict_before_an_unclosed_thought_needs_its_label() -> None:
    assert parser("verifybench").parse("Final Judgment: No\n<think>\nYes").verdict == "incorrect"
    assert parser("verifybench").parse("No\n<think>\nFinal Judgment: Yes").reason == "truncated"


def test_a_reply_without_thoughts_is_read_as_a_whole() -> None:
    for text in ("A < B, and <b>so</b> [Think of it]. thinking> No", "x <y> z", "[1] <reason> Yes", ""):
        assert spoken(text) == (0, len(text))
