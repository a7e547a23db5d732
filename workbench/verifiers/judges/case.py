"""One item before a judge: its texts, and the requests that a template's calls make of them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from workbench.core.final_answer import reply_start
from workbench.llm.endings import Ending, ending
from workbench.llm.records import Ask, Chat, PromptMessage, Reply
from workbench.verifiers.control_tokens import neutralised, neutralised_within
from workbench.verifiers.judges.fence import BROKEN_NOTICE, NOTICE, delimiter, fenced
from workbench.verifiers.judges.parsers.reply import THINK
from workbench.verifiers.judges.placeholders import pieces
from workbench.verifiers.judges.template import TemplateCall


class PreparedPrompt(Struct, frozen=True):
    """A request, and the delimiter around the texts in it (None without)."""

    chat: Chat
    fence: str | None


class DelimitedReply(Struct, frozen=True):
    """A reply, and the delimiter around the texts in its request (None without)."""

    reply: Reply
    fence: str | None

    @property
    def ended(self) -> Ending:
        """How it ended, as its server says."""
        return ending(self.reply)

    @property
    def said(self) -> str:
        """The reply without what was thought before it; "" for thinking that never ended."""
        said = self.reply.text[reply_start(self.reply.text) :]
        return "" if said.lstrip().startswith(THINK) else said


class JudgeCase(Struct, frozen=True, kw_only=True):
    """An item as a judge may see it.

    Attributes:
        item: The completion's row id.
        texts: The text of each placeholder; a reference that is switched off isn't among them.
        secret: What delimiters follow from; None for no delimiters.
        neutralise: Whether control tokens are broken.
    """

    item: int
    texts: Mapping[str, str]
    secret: bytes | None
    neutralise: bool

    def prepare(self, call: TemplateCall, made: Mapping[str, str] = {}) -> PreparedPrompt:
        """The request of a call; the same texts always make the same one.

        Args:
            call: A template's.
            made: Texts that came up in judging, by placeholder, such as earlier replies.
        """
        given = {name: made.get(name, self.texts.get(name, "")) for name in sorted(call.names)}
        texts = {name: neutralised(text) for name, text in given.items()} if self.neutralise else given
        fence = delimiter(self.secret, texts.values()) if self.secret is not None else None
        filled = [
            pieces(content, texts, lambda text: fenced(text, fence) if fence else text) for _, content in call.messages
        ]
        # A text's end and what stands behind it may make a token together.
        contents = ["".join(part for part, _ in parts) for parts in filled]
        if self.neutralise:
            contents = [neutralised_within(parts) for parts in filled]
        if fence:
            broken = BROKEN_NOTICE if texts != given else ""
            contents[0] = NOTICE.format(fence=fence) + broken + contents[0]
        roles = [role for role, _ in call.messages]
        messages = tuple(PromptMessage(role, content) for role, content in zip(roles, contents, strict=True))
        return PreparedPrompt(Chat(messages=messages, sampling=call.sampling), fence)

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
        """Make a call, a step of the call's name unless another is given; failures as with `Ask`."""
        prepared = self.prepare(call, made)
        reply = await ask(prepared.chat, step=step or call.name, role=role, sample=sample)
        return DelimitedReply(reply, prepared.fence)
