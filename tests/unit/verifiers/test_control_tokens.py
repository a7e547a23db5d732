"""Control tokens of known vocabularies and forms are broken; other text is unchanged."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.unit.verifiers.snippets import snippets
from workbench.verifiers.control_tokens import BREAK, count_breaks, join_parts, neutralised

VOCABULARY = json.loads((ROOT / "workbench/verifiers/control_tokens.json").read_text(encoding="utf-8"))

TOKENS = {
    "Llama": "<s> </s> [INST] [/INST] <<SYS>> <</SYS>> <unk> <|begin_of_text|> <|end_of_text|> <|start_header_id|> "
    "<|eot_id|> <|eom_id|> <|python_tag|> <|finetune_right_pad_id|> <|reserved_special_token_247|> <|header_start|> "
    "<|header_end|> <|eot|> <|image|> <|text_post_train_reserved_special_token_3|> <|vision_reserved_special_token_1|>",
    "CodeLlama": "▁<PRE> ▁<SUF> ▁<MID> ▁<EOT> <FILL_ME>",
    "Qwen": "<|im_start|> <|im_end|> <|endoftext|> <tool_call> </tool_call> <tool_response> <think> </think> "
    "<|object_ref_start|> <|quad_end|> <|vision_pad|> <|fim_prefix|> <|repo_name|> <|file_sep|> <tts_text_bos> "
    "<|audio_pad|> <|box_start|> /no_think",
    "DeepSeek": "<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜User｜> <｜Assistant｜> <｜▁pad▁｜> <|EOT|> "
    "<｜tool▁calls▁begin｜> <｜tool▁sep｜> <｜place▁holder▁no▁12｜> <｜fim▁hole｜> ｜DSML｜ </｜DSML｜invoke> "
    "<｜DSML｜function_calls> <｜search▁begin｜> <｜latest_reminder｜>",
    "GLM": "[gMASK] [sMASK] [MASK] <sop> <eop> <|system|> <|user|> <|observation|> <|begin_of_box|> <arg_key> "
    "</arg_value> /nothink <|begin_of_transcription|> <|reminder|>",
    "Kimi": "<|im_middle|> <|im_user|> <|tool_calls_section_begin|> <|tool_call_argument_begin|> <|media_pad|> [BOS] "
    "[EOS] [EOT] [UNK] [PAD] [start_header_id] [end_header_id] ◁think▷ ◁/think▷ <osagent_mode> <|end_of_msg|>",
    "MiniMax": "]~b] ]~!b[ [e~[ ]!p~[ ]!d~[ ]<]image[>[ ]<]speech[>[ <minimax:tool_call> </minimax:tool_call> "
    "<mm:think> <fim_prefix> <reponame> <gh_stars> <jupyter_code> <commit_before> <code_interpreter> <edit_file>",
    "Seed": "<seed:bos> <seed:eos> <seed:pad> <seed:think> </seed:think> <seed:cot_budget_reflect> <seed:tool_call> "
    "<[begin▁of▁sentence]> <[end▁of▁sentence]> <[PAD▁TOKEN]> <[SEP▁TOKEN]> <[fim-prefix]> <[PLHD0_never_used]>",
    "Mistral": "[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CONTENT] [ARGS] "
    "[CALL_ID] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [THINK] [/THINK] [IMG] [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] "
    "[SUFFIX] [AUDIO] [BEGIN_AUDIO] [MODEL_SETTINGS] <SPECIAL_20> <pad>",
    "Gemma": "<bos> <eos> <pad> <mask> <2mass> [@BOS@] <start_of_turn> <end_of_turn> <unused12> <start_of_image> "
    '[toxicity=0] <|turn> <turn|> <|channel> <channel|> <|tool_call> <tool_call|> <|"|> <|think|> <ctrl99>',
    "Phi": "<|system|> <|end|> <|placeholder1|> <|dummy_12|> <|im_sep|> <|tool|> <|/tool|> <|tag|> <|endofprompt|>",
    "harmony": "<|start|> <|channel|> <|message|> <|constrain|> "
    "<|return|> <|call|> <|startoftext|> <|reserved_200018|>",
    "Command": "<PAD> <UNK> <CLS> <SEP> <MASK_TOKEN> <BOS_TOKEN> <EOS_TOKEN> <EOP_TOKEN> <|START_OF_TURN_TOKEN|> "
    "<|CHATBOT_TOKEN|> <|START_THINKING|> <|END_ACTION|> <|START_RESPONSE|> <|NEW_FILE|> <|YES_TOKEN|>",
    "Granite": "<|start_of_role|> <|end_of_role|> <|tool_call|> <fim_pad> <issue_start> <empty_output> <think_on> "
    "<|start_of_cite|> <|start_of_plugin|>",
    "Nemotron": "<extra_id_0> <extra_id_1> <SPECIAL_12> "
    "<AVAILABLE_TOOLS> </AVAILABLE_TOOLS> <TOOLCALL> <TOOL_RESPONSE>",
    "Hunyuan": "<｜hy_begin▁of▁sentence｜> <｜hy_User｜> <|hy_place▁holder▁no▁2|> <answer> </answer> <|extra_0|> "
    "<｜hy_place▁holder▁no▁17｜>",
    "ERNIE": "<|begin_of_sentence|> <|end_of_sentence|> <|IMAGE_PLACEHOLDER|> "
    "<|LOC_0|> <mask:1> <response> </response>",
    "InternLM": "<|action_start|> <|action_end|> <|interpreter|> <|plugin|> "
    "[UNUSED_TOKEN_145] <eoh> <eoa> <TOKENS_UNUSED_0>"
    " <img> <IMG_CONTEXT> <quad> <ref> <box> <SMILES>",
    "Yi": "<|startoftext|> <|Human|> <|Assistant|> <|unused999|> <fim_suffix>",
    "Baichuan": "<reserved_106> <reserved_107> <B_SYSTEM> <H_> <C_Q>",
    "EXAONE": "[|system|] [|user|] [|assistant|] [|endofturn|] [|tool|] [BOS] <|tool_declare|>",
    "Falcon": ">>TITLE<< >>ABSTRACT<< >>QUESTION<< >>ANSWER<< >>SUFFIX<<",
    "OLMo": "|||IP_ADDRESS||| |||EMAIL_ADDRESS||| <|padding|> <|extra_id_0|> <functions> <function_calls>",
    "Ling": "<role> </role> <|role_end|> <|arithmetic_start|> <function-name> <|number_end|>",
    "LongCat": "<longcat_user> <longcat_think> </longcat_think> <longcat_s> <longcat_tool_call>",
    "K2": "<ifm|think> </ifm|think> <ifm|tool_call> <|ifm|im_start|>",
    "others": "[unused9] [unused17] [CLS] [SEP] <|plamo:bos|> <|plamo:reserved:0x1E|> <_user> <_bot> <_end> <用户> "
    "<AI> "
    "<|endofuserprompt|> <|userprompt|> <|inner_prefix|> <|sim_end|> <|mask:0|> <|0.00|> <end_of_utterance> "
    "<fake_token_around_image> <human> <bot> <|prompter|> <|END_OF_TURN_TOKEN|> <eod> <cls> <ret> <|mimo_audio_eod|> "
    "<image> <file_sep> <repo_name> <|bom|> <|tool_list_start|> <|extratoken_12|> <|CLEAN|>",
}
ALL = [
    *(token for text in TOKENS.values() for token in text.split()),
    *("]<]start of image[>[", "]<]end of speech[>[", "]<]vision pad[>["),
]


def holds(text: str, token: str) -> bool:
    """Whether a tokenizer finds the token in what it "
    "reads: as it is, without invisible characters, width or escapes."""

    def lenient(text: str) -> str:
        seen = "".join(one for one in html.unescape(html.unescape(text)) if unicodedata.category(one)[0] != "C")
        return unicodedata.normalize("NFKC", seen)

    return token in text or lenient(token) in lenient(text)


def wide(token: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in token)


FORMS = {
    "alone": "{}",
    "behind a number": "25{}",
    "in prose": "The answer is 25. {} Yes",
    "in a line": "25\n{}\nassistant",
    "doubled": "{0}{0}",
    "in itself": "{1}{0}{2}",
    "in brackets": "<{}>[{}]",
}


SWITCHES = ("/no_think", "/nothink")
"""Words of their own, or they are a part of a path."""


@pytest.mark.parametrize("family", TOKENS)
def test_real_tokens_are_broken_in_every_disguise(family: str) -> None:
    for token in TOKENS[family].split():
        middle = len(token) // 2
        for form in ("alone", "in prose", "in a line") if token in SWITCHES else FORMS:
            if form == "in itself" and token in VOCABULARY["ambiguous"]:
                continue
            text = FORMS[form].format(token, token[:middle], token[middle:])
            for disguised in (
                text,
                text.replace(token, "\u200b".join(token)),
                text.replace(token, "\u2060\u00ad\ufe0f".join(token)),
                text.replace(token, wide(token)),
                html.escape(text),
                html.escape(html.escape(text)),
                "".join(f"&#{ord(one)};" if not one.isalnum() else one for one in text),
                "".join(f"&#x{ord(one):x};" if not one.isalnum() else one for one in text),
            ):
                found = neutralised(disguised)
                assert not holds(found, token), (token, disguised, found)
                assert found.replace(BREAK, "") == disguised
                assert neutralised(found) == found


def numbered(token: str) -> str:
    return token.replace("#", "17")


@pytest.mark.parametrize("family", VOCABULARY["families"], ids=lambda family: family["family"])
def test_every_token_of_the_vocabulary_is_broken_and_has_a_source(family: dict[str, Any]) -> None:
    assert family["source"].startswith("https://")
    assert len({*family["tokens"]}) == len(family["tokens"])
    for token in map(numbered, family["tokens"]):
        for form in ("{}", "The answer is 25. {}", "25\n{}\nassistant", "{}[INST]", "<|im_end|> {}", "{} {}"):
            sent = neutralised(form.format(token, token))
            assert token not in sent, form
            assert sent.replace(BREAK, "") == form.format(token, token)


@pytest.mark.parametrize("example", [text for one in VOCABULARY["names_in_code"] for text in one["examples"]])
def test_names_in_code_are_unchanged(example: str) -> None:
    assert neutralised(example) == example


def test_ambiguous_tokens_are_tokens_of_a_family() -> None:
    assert {*VOCABULARY["ambiguous"]} <= {token for family in VOCABULARY["families"] for token in family["tokens"]}


def test_consecutive_tokens_are_all_broken() -> None:
    for text in ("".join(ALL), "".join(reversed(ALL)), "".join(a + b for a, b in pairwise(ALL))):
        found = neutralised(text)
        assert not [token for token in ALL if token in found]
        assert found.replace(BREAK, "") == text


UNTOUCHED = [
    *(
        "|x| < |y|",
        "|x|<|y|",
        r"\left<|x\right|>",
        r"\langle\psi|\phi\rangle",
        "⟨ψ|φ⟩",
        "N ◁ G",
        "0 < x < 1",
        "a<b and c>d",
    ),
    *("x <|> y <$> z <*> w </> v <> u <=> t <-> s", "f <| g |> h", "a <- b; c<-d>e", "i<=j>k", "<3", "->", "a <~> b"),
    *("cat <in >out 2>&1", "cmd <<EOF >f", "std::map<int, char> m; f<T*>(x)", "a[i][j], x[~i], List[int], d[key]"),
    *("[1, 2) and [a, b]", "[Correct]", "[A-Za-z0-9_]+", r"\begin{tabular}[t]{ll} \sqrt[3]{8}", "A || B && C", "a|b|c"),
    *(
        "| a | b |\n|---|---|",
        '<a href="x">link',
        "<!DOCTYPE html>",
        "https://x.org/think",
        "and/think of",
        "R&D, a &b; c",
    ),
    *(
        "2≪3≫1",
        "「甲」",
        "e.g. <x, y>",
        "(a<b)>(c)",
        "x^{<2>}",
        "1 &lt; 2 &amp; 3 &gt; 2",
        "dp[i]~b",
        "not[0]",
        "a ] ~ b [",
    ),
    *(
        "if x<s>y: pass",
        "vector<vector<int>> v",
        "<html><p>1</p></html>",
        "1<<n>>1",
        "dp[MAX_N]",
        "Vec<u8>",
        "a[max_i]",
    ),
    *("std::map<std::string, T>", "<td>1</td>", "Vec<s> v; f::<s>()", "mask[MASK] = 1", "ids = [BOS] + ids + [EOS]"),
    *("f([PAD])", "return [EOS]", "<s>12</s> 9", '<s class="old">1</s>', "<answer>7</answer>", "<|> <||x||>"),
    *("x[PAD][EOS]", "/api/no_think", "/no_think/", "x/think", "List<pad> xs", "[0x0A]", "bitset<0x0A>", "[|x|]"),
    *("List[int], list[T]", "a[max_i]", "<- ->", "<T,>", "<K extends keyof T>", "<2>", "[!NOTE]", "[x](y)", "[ ]"),
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_mathematics_and_code_without_a_token_are_unchanged(text: str) -> None:
    assert neutralised(text) == text


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("a<|b|>c", "a<~|b|>c"),
        ("List<think> xs", "List<~think> xs"),
        ("<s>[INST] 1 [/INST] 2</s>", "<~s>[~INST] 1 [~/INST] 2<~/s>"),
        ("2</s><s>[INST] x", "2<~/s><~s>[~INST] x"),
        ("a <s>1 <s>2</s>", "a <~s>1 <~s>2<~/s>"),
        ("</think>\n<answer>7</answer>", "<~/think>\n<~answer>7<~/answer>"),
        ("x[EOS]<|im_user|>", "x[~EOS]<~|im_user|>"),
        ('["<pad>", "<unk>"]', '["<~pad>", "<~unk>"]'),
        ("correct<eos>\n", "correct<~eos>\n"),
        ("25[EOS]", "25[~EOS]"),
        ("7 /no_think", "7 /~no_think"),
    ],
)
def test_ambiguous_tokens_are_recognised_by_their_context(text: str, broken: str) -> None:
    assert neutralised(text) == broken.replace("~", BREAK)
    assert count_breaks(neutralised(text)) == broken.count("~")


def test_code_snippets_are_unchanged() -> None:
    found = snippets()
    assert (len(found), len({language for language, _ in found})) == (300, 10)
    assert [code for _, code in found if neutralised(code) != code] == []


def test_real_solutions_are_unchanged(shared_data: Path) -> None:
    lines = (shared_data / "code/solutions.jsonl").read_text(encoding="utf-8").splitlines()
    codes = [json.loads(line)["code"] for line in lines]
    assert [code for code in codes if neutralised(code) != code] == []


@pytest.mark.parametrize("end", [0x10000, pytest.param(0x110000, marks=pytest.mark.soak)])
def test_every_character_that_tokenizers_fold_or_drop_is_handled(end: int) -> None:
    passed = [one for one in map(chr, range(0x80, end)) if neutralised(f"<{one}|im_end|>") == f"<{one}|im_end|>"]
    dropped = [one for one in passed if unicodedata.category(one)[0] == "C"]
    folded = [one for one in passed if unicodedata.normalize("NFKC", one) == ""]
    assert not dropped + folded
    kept = [one for one in map(chr, range(0xFF01, 0xFF5F)) if (token := f"＜{one}im_end{one}＞") == neutralised(token)]
    assert "｜" not in kept


def test_existing_gaps_are_not_counted() -> None:
    for text in ("1 <\u2009 2", "a[\u2009i]", "x\u2009y", "plain", "f(\u2009[EOS])"):
        assert count_breaks(text) == 0


PIECES = st.sampled_from(
    [
        *"<>[]|｜/~!◁▷＜＞&;_@=#▁ \n\u200b\u2009abAB01s",
        "&lt;",
        "&gt",
        "&amp;",
        "&#60;",
        "think",
        "INST",
        "no_",
        "|||",
        *ALL,
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text())
def test_breaking_is_idempotent_and_adds_only_gaps(text: str) -> None:
    found = neutralised(text)
    assert neutralised(found) == found
    assert found.replace(BREAK, "") == text.replace(BREAK, "")
    if not re.search(r"[<>\[|/&◁｜\]]|[^\x00-\x7f]", text):
        assert found == text


@given(st.lists(st.tuples(st.lists(PIECES, max_size=6).map("".join), st.booleans()), max_size=6))
def test_partial_tokens_form_no_token_with_their_neighbours(parts: list[tuple[str, bool]]) -> None:
    parts = [(neutralised(part) if is_foreign else part, is_foreign) for part, is_foreign in parts]
    text = "".join(part for part, _ in parts)
    found = join_parts(parts)
    assert found.replace(BREAK, "") == text.replace(BREAK, "")
    if not any(is_foreign and part for part, is_foreign in parts):
        assert found == text
    if all(is_foreign for _, is_foreign in parts):
        assert "<|im_end|>" not in found
        assert "[INST]" not in found


def test_template_tokens_stay_unless_completed_by_a_text() -> None:
    def sent(*parts: tuple[str, bool]) -> str:
        return join_parts([(neutralised(part) if is_foreign else part, is_foreign) for part, is_foreign in parts])

    assert sent(("<answer>", False), ("<s>", True), ("</answer>", False)) == f"<answer><{BREAK}s></answer>"
    assert sent(("<", False), ("|im_end|>", True)) == f"<{BREAK}|im_end|>"
    assert sent(("&lt", False), (";|im_end|>", True)) == f"&lt;{BREAK}|im_end|>"
    assert sent(("<|im_", True), ("end|>", True)) == f"<{BREAK}|im_end|>"
    assert sent(("<|im_", True), ("", False), ("end|>", True)) == f"<{BREAK}|im_end|>"
    assert sent(("<|im_start|>", False), ("a", True), ("<|im_end|>", False)) == "<|im_start|>a<|im_end|>"
