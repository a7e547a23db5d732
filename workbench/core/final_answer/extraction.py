"""Finds a text's final answer, for all verifiers and for the annotators' card.

The rules are tried in a fixed order (see `completion_answer` and `reference_answer`); the whole text is never scanned
for letters or numbers. Offsets are characters of the stored text, which is never changed. Everything is linear in the
text.
"""

from __future__ import annotations

import re
import tomllib
from collections import deque
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

How = Literal["boxed", "hashes", "cue", "bold", "math", "number", "last_line", "last_sentence", "whole", "none"]
HOW: dict[How, str] = {
    "boxed": "last \\boxed",
    "hashes": "after ####",
    "cue": "“answer is”",
    "bold": "bold in the last line",
    "math": "last math",
    "number": "last number",
    "last_line": "last line",
    "last_sentence": "last sentence",
    "whole": "whole text",
    "none": "no final answer found",
}
"""How the card describes the rule that found an answer, by rule."""
MAX_ANSWER = 200
"""Most characters of a last line or of a sentence after "answer is" that count as an answer."""
SHORT_REFERENCE = 120
"""Most characters of a reference that is its own final answer."""
_THOUGHT = (
    r"[<\[◁](?:(?<=<){slash}(?:[a-z]{{1,12}}[:_-])?(?:think|thinking|thoughts?|reasoning|scratchpad)\s{{0,3}}>"
    r"|(?<=<)\|{word}_of_thought\|>|(?<=[\[◁]){slash}think[\]▷])"
)
"""A mark of reasoning as models write it: ``<think>``, ``<seed:think>``, ``<|begin_of_thought|>``, ``[THINK]``,
``◁think▷``."""
_OPEN_THOUGHT = re.compile(_THOUGHT.format(slash="", word="begin"), re.IGNORECASE)
_THOUGHT_END = re.compile(_THOUGHT.format(slash="/", word="end"), re.IGNORECASE)
_THOUGHT_ENDS = ("</", "<|", "[/", "◁/")
_BOXES = ("\\boxed", "\\fbox", "\\framebox")
_BRACE = re.compile(
    r"\\(?:boxed|fbox|framebox)\s*(?:\{|(?P<bare>-?\d+(?:\.\d+)?|\\[dt]?frac\s*\d\s*\d|[A-Z])(?=\s*(?:[$.;!]|,(?!\d)|\\[)\]]|\n|\Z)))"
    r"|\\.|[{}]",
    re.DOTALL,
)
r"""Braces and boxes; TeX also takes one sign without braces: ``\boxed 7``."""
_PRICE = re.compile(r"(?<=[=+−×*/ -])\$\d")
_UNIT_VECTOR = re.compile(r"[-+−\d ]\*\*[ijk]\Z")
_CUE_WORDS = ("nswer", "NSWER", "答案")
_CUE_REACH = 40
_HEADING = re.compile(r"^[#*\ \t]{0,20}final\s{1,5}answer[*\ \t]{0,20}\n", re.IGNORECASE | re.MULTILINE)
_CUE = re.compile(
    r"""
    (?<!reference\ )\banswers?\b (?:\s+(?:choice|option|here|to\s+(?:the|this)\s+(?:question|problem)))?
      \*{0,2}\s*
      (?: [:：] | \b(?:is|are|was|would\s+be|should\s+be|must\s+be)\b\s*:? )
    | 答案\s*(?:是|为：|为|：|:)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"(?:[.?]|(?<!\d)!)(?=\s|$)|[。！？]")
_REPEATING = re.compile(r"\d\.\d{1,40}\.\.\.[\s$*.]*\Z")
_NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?(?:/\d+)?")
_BLANK = " \t\r\n"
_SURROUND = _BLANK + "*_`"
_AFTER_CUE = re.compile(r"[\s:：]*(?:[*_`]{1,3}(?=\s|$))?[\s:：]*")
_WRAPPED = re.compile(r"\$\$?([^$]+)\$\$?|\\\(((?:(?!\\\)).)+)\\\)", re.DOTALL)
_MATH = (("\\[", "\\]"), ("\\(", "\\)"), ("$$", "$$"), ("$", "$"))
_ENVIRONMENT_END = re.compile(r"\s*\\end\{((?:align|gather|equation|eqnarray|multline|displaymath)\*?)\}[\s.]*")
_JOINED_BOLD = re.compile(r"\*\*[^*\n]{1,80}\*\*\s{0,3}(?:,|and|&|,\s?and)\s{0,3}\Z")
_PROSE = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{2,},? ){3,}")


class FinalAnswer(NamedTuple):
    """A final answer and its position in its text.

    Attributes:
        text: The answer as written, which is ``text[start:end]`` of the source. Several boxes on one line are one span.
        start: Offset of its first character.
        end: Offset after its last character.
        how: The rule that found it; "none" if none did: the answer is then the empty text at the source's end.
    """

    text: str
    start: int
    end: int
    how: How

    @property
    def found(self) -> bool:
        return self.how != "none"

    @property
    def marked(self) -> bool:
        """Return whether the text marks the answer, or consists of it; otherwise the answer is a guess."""
        return self.how in ("boxed", "hashes", "cue", "whole")


def completion_answer(text: str) -> FinalAnswer:
    r"""Return a completion's final answer, which is searched for after its reasoning; none if that is never closed.

    Order: the last ``\boxed`` or ``\fbox`` (with the others on its line), "answer is" and similar, bold in the last
    line, math in the last line, the last line itself if short ("whole" if there is nothing else).
    """
    start = reply_start(text)
    found = _boxed_answer(text, start) or answer_after_cue(text, start) or _in_last_line(text, start)
    return FinalAnswer("", len(text), len(text), "none") if found is None or is_all_thought(text) else found


@lru_cache(maxsize=8)
def reply_start(completion: str) -> int:
    """Return the offset at which a completion's reply begins: after its last closed thought."""
    return max(_end_of_last_thought(completion, opening) for opening in _THOUGHT_ENDS)


def _end_of_last_thought(completion: str, opening: str) -> int:
    at = completion.rfind(opening)
    while at >= 0:
        if (closing := _THOUGHT_END.match(completion, at)) is not None:
            return closing.end()
        at = completion.rfind(opening, 0, at)
    return 0


@lru_cache(maxsize=8)
def is_all_thought(completion: str) -> bool:
    """Return whether a completion's reply has a thought that is never closed."""
    if not any(sign in completion for sign in "<[◁"):
        return False
    return _OPEN_THOUGHT.search(completion, reply_start(completion)) is not None


def reference_answer(text: str, subtype: str | None = None) -> FinalAnswer:
    r"""Return a reference's final answer.

    Order: the last ``\boxed`` (with the others on its line), the line after the last ``####``, "answer is" and similar,
    the whole text if it is short; then for numeric subtypes the last number in the last 300 characters, for all other
    subtypes the last math in the last 400; for an unknown subtype the math, or else the number.

    Args:
        text: The reference as stored.
        subtype: The answer subtype's code, such as ``"A1"``, if known.
    """
    found = (
        _boxed_answer(text, 0) or _answer_after_hashes(text) or answer_after_cue(text, 0) or _whole_text_answer(text)
    )
    if found is None:
        found = _unmarked_answer(text, subtype)
    return found or FinalAnswer("", len(text), len(text), "none")


def _unmarked_answer(text: str, subtype: str | None) -> FinalAnswer | None:
    if subtype is not None and subtype.startswith("A"):
        return _last_number(text)
    found = _last_math(text, max(len(text) - 400, 0), len(text))
    return _last_number(text) if found is None and subtype is None else found


def boxed_spans(text: str) -> list[tuple[int, int]]:
    r"""Return the offsets of the content of each closed ``\boxed{..}`` or ``\fbox{..}``, outermost boxes only."""
    return [(inside, end) for _, inside, end in _boxes(text, 0)]


def _boxes(text: str, start: int) -> list[tuple[int, int, int]]:
    first = min((at for at in (text.find(name, start) for name in _BOXES) if at >= 0), default=-1)
    if first < 0:
        return []
    opened: list[tuple[int, int] | None] = []
    boxes: list[tuple[int, int, int]] = []
    for match in _BRACE.finditer(text, first):
        token = match[0]
        if token == "{":
            opened.append(None)
        elif token == "}":
            box = opened.pop() if opened else None
            if box is not None:
                while boxes and boxes[-1][0] > box[0]:
                    boxes.pop()
                boxes.append((*box, match.start()))
        elif match["bare"] and not any(opened):
            boxes.append((match.start(), *match.span("bare")))
        elif token[-1] == "{" and len(token) > 2:
            opened.append(match.span())
    return boxes


def _boxed_answer(text: str, start: int) -> FinalAnswer | None:
    last = max(text.rfind(name, start) for name in _BOXES)
    if last < 0:
        return None
    # The last line with a box is enough, unless a box before it may still be open.
    line = max(text.rfind("\n", start, last) + 1, start)
    is_closed_before = text.count("{", start, line) == text.count("}", start, line)
    boxes = (_filled_boxes(text, line) if is_closed_before else []) or _filled_boxes(text, start)
    if not boxes:
        return None
    macro, inside, end = boxes[-1]
    line = text.rfind("\n", start, macro) + 1
    group = [box for box in boxes if box[0] >= max(line, start)]
    if len(group) > 1:
        return strip_answer(text, group[0][0], end + (text[end : end + 1] == "}"), "boxed", surround=_BLANK)
    return strip_answer(text, inside, end, "boxed", surround=_BLANK)


def _filled_boxes(text: str, start: int) -> list[tuple[int, int, int]]:
    return [box for box in _boxes(text, start) if text[box[1] : box[2]].strip()]


def _answer_after_hashes(text: str) -> FinalAnswer | None:
    """Find the rest of the line after the last ``####`` (gsm8k)."""
    start = text.rfind("####") + 4
    return strip_answer(text, start, _line_end(text, start), "hashes") if start >= 4 else None


def _line_end(text: str, start: int) -> int:
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline


def last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    last = deque(pattern.finditer(text, start), maxlen=1)
    return last[0] if last else None


def _whole_text_answer(text: str) -> FinalAnswer | None:
    answer = strip_answer(text, 0, len(text), "whole", surround=_BLANK)
    return answer if answer is not None and len(answer.text) <= SHORT_REFERENCE else None


def answer_after_cue(text: str, start: int) -> FinalAnswer | None:
    """Return the answer after the last "answer is" or similar."""
    behind = _end_of_last_cue(text, start)
    return None if behind is None else _sentence_answer(text, behind)


def _end_of_last_cue(text: str, start: int) -> int | None:
    places = {word: text.rfind(word, start) for word in _CUE_WORDS}
    while True:
        at, word = max((at, word) for word, at in places.items())
        if at < 0:
            return None
        # Only the word that was just tried is searched for again, so that a missing word costs only one search.
        places[word] = text.rfind(word, start, at)
        line = text.rfind("\n", max(at - _CUE_REACH, start), at) + 1
        heading = _HEADING.match(text, line or max(at - _CUE_REACH, start))
        if heading is not None and heading.end() > at:
            return heading.end()
        cue = _CUE.match(text, at if text[at] == "答" else max(at - 1, start))
        if cue is not None:
            return cue.end()


def _sentence_answer(text: str, start: int) -> FinalAnswer | None:
    while start < len(text):
        gap = _AFTER_CUE.match(text, start)
        start = gap.end() if gap is not None else start
        if text.startswith(("\\[", "$$"), start):
            return _last_math(text, start, _end_of_display(text, start))
        line_end = _line_end(text, start)
        stop = _SENTENCE_END.search(text, start, line_end)
        end = stop.start() if stop is not None else line_end
        if not text[start:end].rstrip(_SURROUND).endswith((":", "：")):
            return _without_delimiters(text, start, end) if end - start <= MAX_ANSWER else None
        start = end
    return None


def _without_delimiters(text: str, start: int, end: int) -> FinalAnswer | None:
    answer = strip_answer(text, start, end, "cue")
    formula = None if answer is None else _WRAPPED.fullmatch(answer.text)
    if answer is None or formula is None:
        return answer
    inside, behind = formula.span(formula.lastindex or 0)
    return strip_answer(text, answer.start + inside, answer.start + behind, "cue", surround=_BLANK)


def _end_of_display(text: str, start: int) -> int:
    closer = "\\]" if text.startswith("\\[", start) else "$$"
    at = text.find(closer, start + 2)
    return len(text) if at < 0 else at + 2


def _in_last_line(text: str, reply: int) -> FinalAnswer | None:
    end = len(text.rstrip())
    if end <= reply:
        return None
    start = max(text.rfind("\n", reply, end) + 1, reply)
    if text[start:end].rstrip(".") in ("$$", "\\]"):
        return _last_math(text, reply, end)
    if (closing := _ENVIRONMENT_END.fullmatch(text, start, end)) is not None:
        opening = f"\\begin{{{closing[1]}}}"
        at = text.rfind(opening, reply, start)
        return strip_answer(text, at + len(opening), start, "math", surround=_BLANK) if at >= 0 else None
    how: How = "last_line" if text[reply:start].strip() else "whole"
    return _bold_answer(text, start, end) or _last_math(text, start, end) or _last_line(text, start, end, how)


def _bold_answer(text: str, start: int, end: int) -> FinalAnswer | None:
    """Find the last bold span, with the bold spans before it that only "and" or a comma separates; a label (with a
    colon) doesn't count.
    """
    close = text.rfind("**", start, end)
    opening = text.rfind("**", start, close) if close > start else -1
    if (
        opening < 0
        or text[opening + 2 : close].rstrip().endswith((":", "："))
        or _UNIT_VECTOR.search(text, opening - 1, close)
    ):
        return None
    first = opening
    while (before := _JOINED_BOLD.search(text, start, first)) is not None:
        first = before.start()
    if first < opening:
        return strip_answer(text, first, close + 2, "bold", surround=_BLANK)
    return strip_answer(text, opening + 2, close, "bold")


def _last_math(text: str, start: int, end: int) -> FinalAnswer | None:
    best: tuple[int, int, int] | None = None
    for opener, closer in _MATH:
        close = text.rfind(closer, start, end)
        opening = text.rfind(opener, start, close) if close > start else -1
        behind = close + len(closer)
        if opener == "$" and opening >= 0 and (_PROSE.search(text, opening, close) or _PRICE.match(text, close)):
            continue
        if opening >= 0 and (best is None or behind > best[0]):
            best = (behind, opening + len(opener), close)
    return None if best is None else strip_answer(text, best[1], best[2], "math", surround=_BLANK)


def _last_number(text: str) -> FinalAnswer | None:
    number = last_match(_NUMBER, text, max(len(text) - 300, 0))
    return None if number is None else strip_answer(text, *number.span(), "number", surround=",")


def _last_line(text: str, start: int, end: int, how: How) -> FinalAnswer | None:
    return strip_answer(text, start, end, how) if end - start < MAX_ANSWER else None


def strip_answer(text: str, start: int, end: int, how: How, surround: str = _SURROUND) -> FinalAnswer | None:
    """Return the span as an answer, without surrounding marks and a final full stop; None if nothing is left.

    Marks that also occur inside the span (``**B** and **D**``) are kept, so that no pair is split.
    """
    part = text[start:end]
    if surround == _SURROUND:
        part = part[: len(part.rstrip(_SURROUND + ".。"))] + ("..." if _REPEATING.search(part) else "")
        if any(mark in part.strip(_SURROUND) for mark in ("**", "`")):
            part, surround = text[start:end].rstrip(_BLANK + ".。"), _BLANK
    part = part.rstrip(surround)
    start += len(part) - len(part.lstrip(surround))
    part = part.lstrip(surround)
    return FinalAnswer(part, start, start + len(part), how) if part else None


# -- Ends of texts: courtesies, sentences that name an answer, truncated sentences.


Stretch = tuple[int, int]
"""Offsets of a part of a text."""
LONGEST_SENTENCE = 360
"""Most characters of a last sentence that is a guess at the answer."""
_MAX_COURTESIES = 5
"""Most sentences of courtesy at a text's end that are skipped."""
_SENTENCE_GAP = re.compile(r"[.!?…][\"'”’)*_]{0,3}\s+(?=[^\s\d.,a-z])|[。！？]\s*")
_ENDINGS = tomllib.loads(Path(__file__).with_name("endings.toml").read_text(encoding="utf-8"))
_COURTESY, _NAMES, _CONCLUDES, _THUS, _ADVICE, _LEADS_ON = (
    re.compile(_ENDINGS[name], re.IGNORECASE | re.VERBOSE | re.DOTALL)
    for name in ("courtesy", "names", "concludes", "thus", "advice", "leads_on")
)
_CLOSING = frozenset(".!?…。！？;:)]}>」』”’\"'`*$|%")


def is_closed(text: str) -> bool:
    return text.rstrip()[-1:] in _CLOSING


def substance_end(text: str, start: int) -> int:
    """Return the offset at which a text's content ends: before closing courtesies, but after ``start``."""
    end = len(text)
    for _ in range(_MAX_COURTESIES):
        last = last_sentence(text, start, end)
        if last is None or _COURTESY.match(text[slice(*last)]) is None or not text[start : last[0]].strip():
            break
        end = last[0]
    return end


def last_sentence(text: str, start: int, end: int) -> Stretch | None:
    """Return the offsets of the last sentence in the last line between two offsets; None if there is none, or it is too
    long to show."""
    return next(iter(last_sentences(text, start, end)), None)


def last_sentences(text: str, start: int, end: int) -> list[Stretch]:
    """Return the offsets of the sentences in the last line between two offsets, the last one first, as many as fit on
    the card."""
    end = start + len(text[start:end].rstrip())
    begin = max(text.rfind("\n", start, end) + 1, start)
    near = max(begin, end - LONGEST_SENTENCE - 1)
    begins = [begin] if near == begin else []
    begins += [gap.end() for gap in _SENTENCE_GAP.finditer(text, near, end) if gap.end() < end]
    stretches = pairwise([*begins, end]) if begins else ()
    return [(first, last) for first, last in stretches if first < last][::-1]


def names_an_answer(sentence: str) -> bool:
    """Return whether a sentence names something that could be an answer, and is neither a question nor advice."""
    if sentence.rstrip().endswith(("?", "？")) or _ADVICE.search(sentence) is not None:
        return False
    return any(
        found is not None
        for found in (
            _NAMES.search(sentence),
            _CONCLUDES.match(sentence),
            _THUS.search(sentence),
        )
    )


def breaks_off(text: str, sentence: str) -> bool:
    """Return whether a text stops within its last sentence: without closing punctuation or a conclusion."""
    if is_closed(text):
        return False
    words = sentence.split()
    if not words or sentence.rstrip()[-1] in ",;:-–—(+=*/<>&，、" or _LEADS_ON.fullmatch(words[-1]) is not None:
        return True
    return _CONCLUDES.match(sentence) is None
