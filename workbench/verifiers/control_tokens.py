"""Control tokens in texts that others wrote: broken, so that no tokenizer takes a part of a text for the end of a turn.

Chat formats mark turns, thoughts and tool calls by strings that their tokenizers read as one token wherever they
stand. New models bring new ones every month; they are told by their shape. What is broken has a thin space behind its
first bracket: a model still reads the same mathematics and code, a reader sees the gap, and nothing that strips
invisible characters, folds widths or unescapes HTML mends it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

BREAK: Final = "\u2009"
"""What stands in a broken token: a thin space, which no vocabulary has inside one."""

_LETTER = r"[^\W\d]"
_BAR = "[|｜]"
_INNER = r"[^\s<>()\[\]{},;&+*^$%!?\\\"'`]"
# Behind these, what looks like a tag is an operator: a<-b>c, a<=b>c.
_FIRST = rf"(?![-=~.:]){_INNER}"

_SHAPES: Final = "|".join(
    (
        # <s> </think> <tool_call> <seed:bos> <0x0A> <|im_end|> <｜User｜> <|turn> <turn|> <ifm|think>
        rf"<(?=[^<>]{{0,80}}{_LETTER}){_FIRST}{_INNER}{{0,79}}>",
        # <|"|>
        rf"<{_BAR}(?!{_BAR})(?=[^<>]{{0,80}}[\w\"])[^\s<>\\]{{1,80}}{_BAR}>",
        # <[end▁of▁sentence]>
        r"<\[[^\s<>\[\]]{1,80}\]>",
        # [|endofturn|]
        rf"\[{_BAR}(?=[^\[\]]{{0,80}}{_LETTER})[^\s\[\]]{{1,80}}{_BAR}\]",
        # <| im_end |> [| end_of_turn |]; not f <| g |> h, nor [| 1 |]
        rf"[<\[]{_BAR}[ \t]{{0,2}}\w{{1,40}}[_▁]\w{{1,40}}[ \t]{{0,2}}{_BAR}[>\]]",
        # [/INST] [/think]
        rf"\[/{_LETTER}[\w▁.-]{{0,63}}\]",
        # [INST] [gMASK] [start_header_id] [@BOS@] [toxicity=0] [unused17]; not List[int], x[1], [Correct]
        r"\[(?=[^\[\]]{0,64}[^\W\d_])(?=[^\[\]]{0,64}(?:[A-Z]{2}|[_@=]|[^\W\d_]{5}\d+\]))[\w▁@=]{2,64}\]",
        # ]~b] ]~!b[ ]!p~[ [e~[ ]<]start of image[>[
        r"\][~!]{1,2}\w{1,8}~?[\[\]]",
        r"\[\w{1,8}~\[",
        r"\]<\][^\[\]<>\n]{1,40}\[>\[",
        # ◁/think▷ ｜DSML｜ >>QUESTION<< |||IP_ADDRESS|||
        r"◁[^\s◁▷]{1,40}▷",
        r"｜[^\s｜]{1,40}｜",
        r">>[A-Z][A-Z_]{1,40}<<",
        r"\|\|\|[A-Z][A-Z_]{1,40}\|\|\|",
        # /no_think /nothink /think, which switch a model's thinking
        r"(?i:/no_?think)",
        # The closing tag is broken once, as a tag.
        r"(?<![\w./<])(?<!<[ \t])(?i:/think)(?i:_on|_off)?(?!\w)",
    )
)
# They may overlap, so each is looked for at every place.
_SHAPE = re.compile(rf"(?=({_SHAPES}))")
_OPENING = re.compile(r">>|\|\|\||.", re.DOTALL)

_SIGNS: Final = "<>[]|/&"
"""Every token of ASCII has one of these."""
_ODD = re.compile(
    r"&(?:amp;?)*(?:\#\d{1,7};?|\#x[\da-f]{1,6};?|[lg]t;?|[a-z]{2,24};)"
    r"|[^\x00-\x7f]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]",
    re.IGNORECASE,
)
_KEPT = {"｜", "\t", "\n", "\r"}


def neutralised(text: str) -> str:
    """A text whose control tokens are broken by `BREAK`; one without any is the same text.

    Nothing is left to break in what comes back, however the tokens stood: in each other, across each other, with
    invisible characters in them, in full-width letters, or as HTML writes them.
    """
    return neutralised_within([(text, True)])


def neutralised_within(parts: Sequence[tuple[str, bool]]) -> str:
    """A text of several parts, with the control tokens broken that a part from others has a share in.

    Args:
        parts: Each with whether others wrote it; a token of our own words alone is left.
    """
    text = "".join(part for part, _ in parts)
    if text.isascii() and not any(sign in text for sign in _SIGNS):
        return text
    plain, ends = _plain(text)
    foreign = _foreign(parts)
    broken: list[str] = []
    at = 0
    for found in _SHAPE.finditer(plain):
        first, last = found.span(1)
        begin = ends[first - 1] if first else 0
        if any(begin < end and start < ends[last - 1] for start, end in foreign):
            opening = _OPENING.match(plain, first)
            assert opening
            place = ends[opening.end() - 1]
            broken.append(text[at:place])
            at = place
    return BREAK.join([*broken, text[at:]])


def _foreign(parts: Sequence[tuple[str, bool]]) -> list[tuple[int, int]]:
    """Where in the whole text the parts stand that others wrote."""
    found, at = [], 0
    for part, is_foreign in parts:
        if is_foreign and part:
            found.append((at, at + len(part)))
        at += len(part)
    return found


def _plain(text: str) -> tuple[str, list[int]]:
    """A text as the most lenient reader has it, and where in the text each of its characters ends."""
    parts: list[str] = []
    ends: list[int] = []
    at = 0
    for odd in _ODD.finditer(text):
        parts.append(text[at : odd.start()])
        ends.extend(range(at + 1, odd.start() + 1))
        read = _read(odd[0])
        parts.append(read)
        ends.extend([odd.end()] * len(read))
        at = odd.end()
    parts.append(text[at:])
    ends.extend(range(at + 1, len(text) + 1))
    return "".join(parts), ends


@lru_cache(maxsize=4096)
def _read(unit: str) -> str:
    """A character or an HTML entity without escapes, width and style; "" for what is invisible."""
    while unit != (read := html.unescape(unit)):
        unit = read
    return "".join(
        one if one in _KEPT else unicodedata.normalize("NFKC", one)
        for one in unit
        if one in _KEPT or not (unicodedata.category(one).startswith("C") or one in _INVISIBLE)
    )


# Default_Ignorable_Code_Point beyond the category C; the replacement character is dropped by some tokenizers, too.
_INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        (0x34F, 0x34F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xFFFD, 0xFFFD),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)
