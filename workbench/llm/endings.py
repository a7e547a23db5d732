"""How a reply ended: by itself, or before it was through."""

from __future__ import annotations

from typing import Final, Literal

from workbench.llm.records import Reply

Ending = Literal["whole", "truncated", "refused", "content_filter"]

REFUSAL: Final = "refusal"
"""The finish reason of a reply whose server says that its model refused."""

_WHOLE: Final = frozenset(
    {"stop", "end_turn", "stop_sequence", "stop_token", "eos", "eos_token", "complete", "completed", "done", "finished"}
)
_FILTERED: Final = frozenset({"content_filter", "content_filtered", "safety", "recitation", "prohibited_content"})


def ending(reply: Reply) -> Ending:
    """How a reply ended, as its server says; one whose server says nothing is taken for whole.

    Words that nobody knows (an abort, a call of a tool) are no end of a reply: what was to follow isn't there.
    """
    reason = (reply.finish_reason or "stop").lower()
    if reason in _WHOLE:
        return "whole"
    if reason == REFUSAL:
        return "refused"
    return "content_filter" if reason in _FILTERED else "truncated"
