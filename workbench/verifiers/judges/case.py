"""One item before a judge: its texts, and the requests built from a template's calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, structs

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask, Chat, Ending, PromptMessage, Reply, Request, ending
from workbench.verifiers.control_tokens import join_parts, neutralised
from workbench.verifiers.judges.grading import WORDS, probability
from workbench.verifiers.judges.parsers import Parser, Reading
from workbench.verifiers.judges.parsers.base import NoVerdict, find_decline, own_lines
from workbench.verifiers.judges.parsers.thoughts import is_cut_off, spoken
from workbench.verifiers.judges.template import (
    BROKEN_NOTICE,
    ITEM_NAMES,
    LATE_NOTICE,
    NOTICE,
    NOTICE_MARK,
    WORD_NAMES,
    TemplateCall,
    delimiter,
    fill,
    find_placeholders,
    pieces,
    put_in_fence,
)


class PreparedPrompt(Struct, frozen=True):
    """A request, and the delimiter around the texts in it (None without delimiters)."""

    chat: Chat
    fence: str | None


class DelimitedReply(Struct, frozen=True):
    """A reply, and the delimiter around the texts in its request (None without delimiters)."""

    reply: Reply
    fence: str | None

    @property
    def ended(self) -> Ending:
        return ending(self.reply)

    @property
    def answer(self) -> str:
        """Return the reply without its reasoning; "" if the reasoning never ended."""
        start, end = spoken(self.reply.text, self.fence)
        return self.reply.text[start:end]


class JudgeCase(Struct, frozen=True, kw_only=True):
    """An item as a judge may see it.

    Attributes:
        item: The completion's row id.
        texts: The text of each placeholder; without the reference if it is switched off.
        secret: Delimiters are derived from it; None for no delimiters.
        neutralise: Whether control tokens are broken.
        examples: The few-shot examples for requests that include the completion.
        reward: The criterion for rewarding a search's trajectories, from the item's field; None if it has none.
    """

    item: int
    texts: Mapping[str, str]
    secret: bytes | None
    neutralise: bool
    examples: str = ""
    reward: str | None = None

    def prepare(self, call: TemplateCall, made: Mapping[str, str] = {}) -> PreparedPrompt:
        """Build the request of a call; it depends only on the texts.

        Args:
            call: A call of a template.
            made: Texts produced during judging, by placeholder, such as earlier replies.
        """
        given = {name: made.get(name, self.texts.get(name, "")) for name in sorted(call.names)}
        texts = {name: neutralised(text) for name, text in given.items()} if self.neutralise else given
        fence = delimiter(self.secret, texts.values()) if self.secret is not None else None
        shown = self.examples if "completion" in call.names else ""
        notice, written = _insert_notice(call, fence, broken=texts != given, examples=bool(shown))

        def dress(text: str) -> str:
            # The few-shot examples have their own fences.
            return text if fence is None or (shown and text is shown) else put_in_fence(text, fence)

        put_in = {**texts, _EXAMPLES: shown} if shown else texts
        bare = {name for name in WORD_NAMES & texts.keys() if _ONE_WORD.fullmatch(texts[name])}
        filled = [pieces(content, put_in, dress, is_plain=call.is_plain, bare=bare) for content in written]
        # The end of a text and what follows it may form a token together.
        contents = [join_parts(parts) if self.neutralise else "".join(part for part, _ in parts) for parts in filled]
        contents[0] = notice + contents[0]
        roles = [role for role, _ in call.messages]
        messages = tuple(PromptMessage(role, content) for role, content in zip(roles, contents, strict=True))
        shared = "".join(contents).find(fence) if fence else 0
        return PreparedPrompt(Chat(messages=messages, sampling=call.sampling, shared=shared), fence)

    async def ask(
        self,
        ask: Ask,
        call: TemplateCall,
        made: Mapping[str, str] = {},
        *,
        step: str | None = None,
        role: str = "judge",
        sample: int = 0,
    ) -> DelimitedReply:
        """Make a call; the step's name is by default the call's. Raises as `Ask` does."""
        prepared = self.prepare(call, made)
        reply = await ask(prepared.chat, step=step or call.name, role=role, sample=sample)
        return DelimitedReply(reply, prepared.fence)


_ONE_WORD: Final = re.compile(r"[A-Za-z][\w+#.-]{0,39}")
"""A bare word such as the name of a language: it can't carry instructions, so it needs no fence."""
_EXAMPLES: Final = "settled_examples"
"""The placeholder for the few-shot examples."""


def _insert_notice(call: TemplateCall, fence: str | None, *, broken: bool, examples: bool) -> tuple[str, list[str]]:
    """Return the notice about the delimiter that begins a request, and the request's messages.

    The notice is "" if a message has a place for it; it is then inserted there.

    Examples come before the notice, since they are the same for other items; else it precedes the first text of an
    item.
    """
    written = [content for _, content in call.messages]
    if call.is_plain:
        return "", written
    marked = [place for place, content in enumerate(written) if NOTICE_MARK in content]
    known = fence is not None and bool(marked)
    if examples:
        place = next(
            iter(marked or [place for place, content in enumerate(written) if find_placeholders(content, ITEM_NAMES)])
        )
        before, mark, after = written[place].partition(NOTICE_MARK) if marked else ("", "", written[place])
        written[place] = f"{before}{{{_EXAMPLES}}}{mark}{after}"
    more = BROKEN_NOTICE if broken else ""
    late = LATE_NOTICE.format(fence=fence) + more if known else ""
    early = NOTICE.format(fence=fence) + more if fence and not known else ""
    return early, [content.replace(NOTICE_MARK, late) for content in written]


# -- Filling a template's call with trusted words, before an item's texts are inserted with fences.


def fill_call(call: TemplateCall, **words: str) -> TemplateCall:
    """Fill placeholders of a call with trusted words, without a fence.

    Args:
        call: A call of a template.
        words: The text of each placeholder; "" hides its section. Never a text of an item or of a model.
    """
    return structs.replace(
        call,
        messages=tuple((role, fill(content, words, str, is_plain=call.is_plain)) for role, content in call.messages),
        names=call.names - words.keys(),
        required=call.required - words.keys(),
    )


# -- Counting an item's calls.


class Numbered:
    """Makes calls and counts them: a call's number is its index in the list of calls behind the verdict.

    Attributes:
        count: Number of calls made, and the number of the next one.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.count = 0

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        self.count += 1
        return await self._ask(request, step=step, role=role, sample=sample)


# -- The verdict from a reply: correct, incorrect, or the reason for none; never silently "incorrect".


_MAX_DETAIL_CHARACTERS = 200


def verdict_of(heard: DelimitedReply, parser: Parser) -> Verdict:
    if heard.ended == "refused" and not parser.is_strict:
        # Upstream's parsers don't detect refusals, and would parse their words.
        return abstention_on(heard)
    reading = parser.parse(heard.reply.text, heard.fence, heard.ended)
    reason: str | None = reading.reason
    if reason == "unparsed" and heard.ended != "whole":
        reason = heard.ended
    return Verdict(
        outcome=Outcome(reading.verdict),
        score=_parsed_score(heard, parser, reading) if heard.reply.tokens else reading.score,
        reason=reason,
        detail=_verdict_line(heard, parser, reading),
    )


def _parsed_score(heard: DelimitedReply, parser: Parser, reading: Reading) -> float | None:
    words = WORDS.get(parser.name)
    if words is None or reading.verdict == "abstain":
        return reading.score
    return probability(heard.reply.tokens, heard.answer, words, correct=reading.verdict == "correct")


def abstention_on(heard: DelimitedReply) -> Verdict:
    return Verdict(outcome=Outcome.ABSTAIN, reason=unusable(heard) or "unparsed")


def unusable(heard: DelimitedReply, *, strict: bool = True) -> NoVerdict | None:
    """Return why no later step may use a reply, such as the summary of an analysis; None if it may.

    Args:
        strict: Whether truncated replies are rejected; upstream's judges reject only refusals.
    """
    if not strict and heard.ended != "refused":
        return None
    if heard.ended != "whole":
        return heard.ended
    if is_cut_off(heard.reply.text, heard.fence):
        return "truncated"
    if find_decline(own_lines(heard.reply.text, heard.fence)) == "refused":
        return "refused"
    return None if heard.answer.strip() else "unparsed"


def _verdict_line(heard: DelimitedReply, parser: Parser, reading: Reading) -> str | None:
    lines = [line.strip() for line in own_lines(heard.reply.text, heard.fence)]
    if not lines:
        return None
    line = next((line for line in reversed(lines) if parser.parse(line) == reading), reading.label or lines[-1])
    return line if len(line) <= _MAX_DETAIL_CHARACTERS else f"{line[: _MAX_DETAIL_CHARACTERS - 1]}…"
