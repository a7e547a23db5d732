"""How a text ends: with courtesies, with a sentence that names an answer, or in the middle of one."""

from __future__ import annotations

import re
from itertools import pairwise

Stretch = tuple[int, int]
"""Offsets of a part of a text."""

LONGEST_SENTENCE = 360
"""A last sentence is a guess at the answer up to so many characters."""

_COURTESIES = 5
"""So many sentences of courtesy at a text's end are passed over."""

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_]{0,3}\s+(?=[^\s\d.,a-z])|[。！？]\s*")
_COURTESY = re.compile(
    r"""[\s*_>(-]{0,8}(?:
        (?:i\s+)?(?:really\s+)?hope\s+(?:this|that|it|my)\b .{0,80}\b(?:help|clear|useful|makes\s+sense|answer)
      | (?:please\s+)?(?:let\s+me\s+know|feel\s+free|don['’]t\s+hesitate|do\s+not\s+hesitate)\b
      | if\s+you\s+(?:have|need|would\s+like|['’]d\s+like|want)\b .{0,80}
        \b(?:question|help|ask|know|clarif|explanation|else)
      | (?:is|was)\s+(?:there|this)\b .{0,60}\b(?:help|clear|else) .{0,40}\?
      | would\s+you\s+like\b | (?:i['’]m|i\s+am)\s+(?:happy|glad|here)\s+to\b | happy\s+to\s+help | glad\s+(?:i|to)\b
      | good\s+luck | best\s+(?:of\s+luck|wishes|regards) | thank\s+you | thanks\b | you['’]re\s+welcome | cheers\b
      | have\s+a\s+(?:nice|great|good)\b | happy\s+(?:learning|studying|coding|solving) | keep\s+(?:up|practi)
      | 希望 .{0,30}(?:帮|有用) | 如[果有] .{0,30}(?:问题|疑问|需要) | 祝你?您? .{0,12} | 谢谢 | 请(?:随时)?告诉我
      | j['’]esp[eè]re\s+que\b | espero\s+que\b | ich\s+hoffe\b | n['’]h[eé]sitez\s+pas\b | no\s+dudes\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_NAMES = re.compile(
    r"""\d | \$ | \\\( | \\\[ | \*\*\S | ` | [“”"«»「『] | (?<!\w)['‘]\w
      | (?<!\w)\([A-Za-z]\)(?!\w) | \b(?:option|choice|answer|statement|case|letter)s?\s+\(?[A-Z]\b
      | \b(?:true|false|yes|no|none|impossible|unknown|undefined|disproved|proved|proven|neutral)\b
      | \b(?:entail|contradict)
      | [是为]\s*\S
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONCLUDES = re.compile(
    r"[\s*_#>-]{0,6}(?:therefore|thus|hence|so|consequently|accordingly|in\s+(?:conclusion|summary|short)|to\s+conclude"
    r"|overall|finally|ultimately|we\s+conclude|it\s+follows|the\s+(?:final|correct)|donc|ainsi|por\s+lo\s+tanto|así|also"
    r"|daher|somit|所以|因此|故|综上|于是)(?!\w)",
    re.IGNORECASE,
)
_THUS = re.compile(r"\b(?:thus|therefore|hence|consequently)\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\b(?:i\s+(?:recommend|suggest|hope|would|will|can|could)|let\s+(?:me|us)|let['’]s|please)\b", re.I
)
_LEADS_ON = re.compile(
    r"(?:an?|the|th(?:is|at|ese|ose|en|an|us)|wh(?:ich|om?|ose|at|en|ere|ile)|if|because|since|as|and|or|but|nor|of|in|on"
    r"|at|to|from|by|with|for|into|onto|over|under|about|between|among|through|without|within|per|via|is|are|was|were|be"
    r"|been|being|has|have|had|do|does|did|will|would|can|could|should|may|might|must|shall|not|very|more|most|each|every"
    r"|some|any|all|both|its|their|our|your|his|her|my|we|i|it|they|s?he|you|let|next|also|so)",
    re.IGNORECASE,
)
_CLOSING = frozenset(".!?…。！？;:)]}>」』”’\"'`*$|%")


def is_closed(text: str) -> bool:
    """Whether a text ends in punctuation that may end it."""
    return text.rstrip()[-1:] in _CLOSING


def substance_end(text: str, start: int) -> int:
    """Where what a text says behind an offset ends: before the sentences at its end that are mere courtesy."""
    end = len(text)
    for _ in range(_COURTESIES):
        last = last_sentence(text, start, end)
        if last is None or _COURTESY.match(text[slice(*last)]) is None or not text[start : last[0]].strip():
            break
        end = last[0]
    return end


def last_sentence(text: str, start: int, end: int) -> Stretch | None:
    """The last sentence of the last line between two offsets; None when there is none, or too long to be shown."""
    return next(iter(last_sentences(text, start, end)), None)


def last_sentences(text: str, start: int, end: int) -> list[Stretch]:
    """The sentences of the last line between two offsets, the last one first, as far as they can be shown together."""
    end = start + len(text[start:end].rstrip())
    begin = max(text.rfind("\n", start, end) + 1, start)
    near = max(begin, end - LONGEST_SENTENCE - 1)
    begins = [begin] if near == begin else []
    begins += [gap.end() for gap in _SENTENCE_END.finditer(text, near, end) if gap.end() < end]
    stretches = pairwise([*begins, end]) if begins else ()
    return [(first, last) for first, last in stretches if first < last][::-1]


def names_an_answer(sentence: str) -> bool:
    """Whether a sentence names something that could be an answer, and asks or advises nothing."""
    if sentence.rstrip().endswith(("?", "？")) or _ADVICE.search(sentence) is not None:
        return False
    return any(
        found is not None for found in (_NAMES.search(sentence), _CONCLUDES.match(sentence), _THUS.search(sentence))
    )


def breaks_off(text: str, sentence: str) -> bool:
    """Whether a text stops within its last sentence: no punctuation ends it, and it leads on or concludes nothing."""
    if is_closed(text):
        return False
    words = sentence.split()
    if not words or sentence.rstrip()[-1] in ",;:-–—(+=*/<>&，、" or _LEADS_ON.fullmatch(words[-1]) is not None:
        return True
    return _CONCLUDES.match(sentence) is None
