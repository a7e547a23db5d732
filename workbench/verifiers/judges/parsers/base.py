"""What a parser is and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from workbench.llm.endings import Ending
from workbench.verifiers.judges.parsers.refusal import declined
from workbench.verifiers.judges.parsers.reply import MARKUP, is_cut_off, own_lines

ParsedVerdict = Literal["correct", "incorrect", "abstain"]
NoVerdict = Literal["unparsed", "truncated", "refused", "content_filter", "invalid"]
"""Why there is none: nothing in the judge's form; the reply never came to its end; the judge declines to judge; a
filter has taken its words; the judge calls the completion invalid."""

Read = Callable[[str, str | None], "Reading"]
"""Takes a reply and the fence around untrusted text in its request."""


class Reading(Struct, frozen=True):
    """What a judge's reply says.

    Attributes:
        score: ICE-Score's number as the parser read it, from 0 to 4; a fault list's, from 0 to 1.
        label: CompassVerifier's A (correct), B (incorrect) or C (invalid); what a fault list holds, in words.
        reason: Why the verdict is "abstain"; None with a verdict.
    """

    verdict: ParsedVerdict
    score: float | None = None
    label: str | None = None
    reason: NoVerdict | None = None


class Parser(Struct, frozen=True):
    """One version of one family's parser.

    Attributes:
        read: What a whole reply says.
        labelled: What a verdict behind its label says, in a reply of which nothing else counts: it was cut short, or
            its author declines to judge. None for upstream's parsers, which read all replies alike.
        in_words: Whether a verdict may be a word of a sentence, so that "I can't tell. No working is shown." is none.
    """

    name: str
    version: int
    read: Read
    labelled: Read | None = None
    in_words: bool = False

    @property
    def id(self) -> str:
        """Name and version, as results state it."""
        return f"{self.name}@{self.version}"

    @property
    def is_strict(self) -> bool:
        """Whether it tells replies apart by how they end; upstream's parsers don't."""
        return self.labelled is not None

    def parse(self, raw: str, delimiter: str | None = None, ended: Ending = "whole") -> Reading:
        """Read one reply.

        Args:
            raw: The reply as recorded.
            delimiter: The fence that stood around untrusted text in the request. Strict parsers read only what follows
                its last echo; upstream's parsers know no fences.
            ended: How the reply ended. Of one that didn't come to its end, or says that there will be no verdict,
                strict parsers take a verdict behind its label alone.
        """
        if self.labelled is None:
            return self.read(raw, delimiter)
        lines = own_lines(raw, delimiter)
        why: NoVerdict | None = None if ended == "whole" else ended
        if why is None:
            says = declined(lines)
            why = "refused" if says == "refused" else "unparsed" if says and self.in_words else None
        if why is None or (why == "truncated" and _is_one_word(lines)):
            return self.read(raw, delimiter)
        reading = self.labelled(raw, delimiter)
        if reading.reason in (None, "invalid") or why == "unparsed":
            return reading
        return Reading("abstain", reason=why)


def _is_one_word(lines: list[str]) -> bool:
    """Whether nothing is said but one word: a limit of a token or two lets no judge say more."""
    return len(lines) == 1 and len(lines[0].strip(MARKUP).split()) == 1


def said(correct: bool | None, raw: str) -> Reading:
    """The reading of a yes, a no, or neither in ``raw``."""
    if correct is None:
        return Reading("abstain", reason="truncated" if is_cut_off(raw) else "unparsed")
    return Reading("correct" if correct else "incorrect")
