"""What a reply makes of an item: correct, incorrect, or why there is no verdict. Never a silent "incorrect"."""

from __future__ import annotations

from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.judges.case import DelimitedReply
from workbench.verifiers.judges.parsers import Parser, Reading
from workbench.verifiers.judges.parsers.base import NoVerdict
from workbench.verifiers.judges.parsers.refusal import declined
from workbench.verifiers.judges.parsers.reply import is_cut_off, own_lines

_LONGEST_DETAIL = 200


def verdict_of(heard: DelimitedReply, parser: Parser) -> Verdict:
    """The verdict in a reply: what the parser reads; a reply that ended before its verdict says how it ended."""
    reading = parser.parse(heard.reply.text, heard.fence, heard.ended)
    reason: str | None = reading.reason
    if reason == "unparsed" and heard.ended != "whole":
        reason = heard.ended
    return Verdict(
        outcome=Outcome.of(reading.verdict),
        score=reading.score,
        reason=reason,
        detail=_words(heard, parser, reading),
    )


def silent(heard: DelimitedReply) -> Verdict:
    """There is none in a reply that says nothing, so that nothing can be made of it."""
    return Verdict(outcome=Outcome.ABSTAIN, reason=unusable(heard) or "unparsed")


def unusable(heard: DelimitedReply) -> NoVerdict | None:
    """Why nothing may be built on a reply, such as the summary of an analysis; None where something may."""
    if heard.ended != "whole":
        return heard.ended
    if is_cut_off(heard.reply.text):
        return "truncated"
    if declined(own_lines(heard.reply.text, heard.fence)) == "refused":
        return "refused"
    return None if heard.said.strip() else "unparsed"


def _words(heard: DelimitedReply, parser: Parser, reading: Reading) -> str | None:
    """The judge's own words the verdict rests on: the last line that says the same alone, else the last one."""
    lines = [line.strip() for line in own_lines(heard.reply.text, heard.fence)]
    if not lines:
        return None
    line = next((line for line in reversed(lines) if parser.parse(line) == reading), reading.label or lines[-1])
    return line if len(line) <= _LONGEST_DETAIL else f"{line[: _LONGEST_DETAIL - 1]}…"
