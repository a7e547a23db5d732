"""Reasoning within a reply, recognised by the marks that models put around it.

Sources: the reasoning parsers of vLLM and SGLang (2026), OpenAI's harmony format, model cards.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_KIND = r"(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|monologue|deliberation|cot)"
_WORD = rf"(?:(?:[^\W_]{{1,20}}[:_|-]){{1,3}}|ant)?{_KIND}(?:[-_:]\w{{1,60}})?"
# A tag's angles, also as a page or Markdown has them.
_LT, _GT = "(?:<|&lt;)", r"(?:\\?>|&gt;)"
_QUOTE = "\"'`“‘«"
# A quoted mark, or one after a word as in "the <think> tag", is only mentioned.
_SPOKEN_OF = rf"(?<![{_QUOTE}(])(?<![\w,;)] )"
_OPENING: Final = "|".join(
    (
        # <think> <Thinking> <seed:think> <longcat_think> <ifm|think_fast> <inner-monologue> [THINK] ◁think▷
        rf"{_LT}{_WORD}(?:[ \t][^<>\n]{{0,80}})?{_GT}",
        r"\[think(?:ing)?\]",
        r"◁think▷",
        # <|begin_of_thought|> <|START_THINKING|> <｜begin▁of▁thinking｜>
        rf"<[|｜](?:(?:begin|start)[_▁]?(?:of[_▁])?)?{_KIND}(?:_(?:start|begin))?[|｜]>",
        r"<\|(?:inner_prefix|content_thinking)\|>|<start_working_out>",
        # Gemma 4, MedGemma, Pangu, Kimi K3.
        r"<\|channel>[ \t]*(?:thought|analysis|commentary)|<unused94>|\[unused16\]|<\|open\|>think<\|sep\|>",
        # Harmony, and the same where a server has stripped its tokens: "analysisWe need ... assistantfinalYes".
        r"<\|channel\|>[ \t]*(?:analysis|commentary)\b",
        r"\A\s{0,40}(?:analysis|commentary)(?-i:(?=[A-Z]))",
        # Muse, and the same without its tokens.
        r"to=self<\|message\|>|\A\s{0,40}(?:assistant[ \t]*)?to=self",
        # Open WebUI.
        r"<details type=[\"']reasoning\b[^<>\n]{0,120}>",
        # Granite, Apriel, Ollama's command line.
        r"^here(?: is|['’]s) my thought process:",
        r"^here are my reasoning steps:",
        r"\AThinking\.\.\.[ \t]*$",
    )
)
_CLOSING: Final = "|".join(
    (
        rf"{_LT}/{_WORD}[ \t]{{0,4}}{_GT}",
        r"\[/think(?:ing)?\]",
        r"◁/think▷",
        rf"<[|｜](?:(?:/|end[_▁]?(?:of[_▁])?){_KIND}|{_KIND}_end)[|｜]>",
        r"<\|(?:inner_suffix|content_text)\|>|</?end_working_out>|</start_working_out>",
        r"<channel\|>|<unused95>|\[unused17\]|<\|close\|>think<\|sep\|>",
        r"<\|channel\|>[ \t]*final\b[^<\n]{0,40}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>",
        r"(?-i:assistantfinal)",
        r"to=user<\|message\|>|(?-i:assistant[ \t]*to=user)",
        r"</details>",
        r"^here(?: is|['’]s) my response:",
        r"\[begin final response\]",
        r"^\.\.\.done thinking\.[ \t]*$",
    )
)
_MARK: Final = re.compile(
    rf"(?P<closing>(?<![{_QUOTE}])(?:{_CLOSING})|(?:{_CLOSING})(?![{_QUOTE}]))"
    rf"|{_SPOKEN_OF}(?:{_OPENING})(?![{_QUOTE}])",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=4)
def spoken(raw: str, delimiter: str | None = None) -> tuple[int, int]:
    """Return the start and end of a model's answer: after its last closed thought, before a thought that is never
    closed.

    Marks in repeated data of the request are ignored.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    start, end = 0, len(raw)
    if not _may_hold_marks(raw):
        return start, end
    repeated = _repeated_data_spans(raw, delimiter)
    is_folded = False
    for mark in _MARK.finditer(raw):
        if any(first <= mark.start() < last for first, last in repeated):
            continue
        if mark[0].lower() == "</details>" and not is_folded:
            continue  # Any other fold is part of the reply.
        is_folded = mark[0].lower().startswith("<details")
        if mark["closing"]:
            start, end = mark.end(), len(raw)
        else:
            end = min(end, mark.start())
    return start, end


_SIGNS: Final = (
    *("<", "[", "◁", "&lt;", "assistantfinal", "thought process:", "reasoning steps:", "my response:"),
    *("thinking...", "done thinking.", "to=self", "to=user"),
)


def _may_hold_marks(raw: str) -> bool:
    small = raw.lower()
    return any(sign in small for sign in _SIGNS) or small.lstrip().startswith(("analysis", "commentary"))


def is_cut_off(raw: str, delimiter: str | None = None) -> bool:
    """Return whether a reply ends inside a thought; see `answer_span` for the arguments."""
    return spoken(raw, delimiter)[1] < len(raw)


def _repeated_data_spans(raw: str, delimiter: str | None) -> list[tuple[int, int]]:
    fences: list[int] = []
    while delimiter and (at := raw.find(delimiter, fences[-1] + len(delimiter) if fences else 0)) >= 0:
        fences.append(at)
    return list(zip(fences[::2], fences[1::2], strict=False))
