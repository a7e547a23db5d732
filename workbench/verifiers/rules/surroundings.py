"""The text around an answer in a completion, and whether it denies the answer or makes it another value."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.core.final_answer import FinalAnswer, last_match, reply_start
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.units import unit

_DATA = Lexicon("surroundings")
_REACH, _REACH_BEFORE = 300, 180
_MACRO = re.compile(r"\\f?boxed\s*\{\s*\Z|\\fbox\s*\{\s*\Z")
_MACRO_REACH = 24
_CLOSED = re.compile(r"\s*\}")
_SENTENCE = re.compile(r"(?:[.!?][\"”’')\]]*(?=[\s*])|[。！？；])[\s*_]*")
_OPENERS = re.compile(r"(?:\s|\$|\\[(\[]|\*\*|__|~|\\[,;:! ]|\\(?:displaystyle|text\w*\s*\{)|\{)*\Z")


_OTHERS_REACH = 160

_QUESTIONED = re.compile(r"[\s$*_}\])\\\"'”’]{0,8}(?:\([^()]{0,20}\))?[?？]")
_ASKED = re.compile(r"[^.!。！\n]{0,80}[?？]")

_LETTER_BEHIND = re.compile(r"([A-Za-z])(?![A-Za-z])")
_FACTOR = re.compile(
    r"\A(?:.*[=\s(])?(?:[\d.]+\s*|(?<![A-Za-z\\])[A-Za-z])\Z|[A-Za-z\d]\Z(?<![A-Za-z\\][A-Za-z])", re.DOTALL
)
_MATH_OPENERS = re.compile(
    r"(?:\$\$?|\\[(\[]|\\(?:displaystyle|left)(?![A-Za-z])|\\[,;:! ]|</?[A-Za-z]{1,12}>|[ \n~])*\Z"
)


class Surroundings(NamedTuple):
    """The text around an answer.

    Attributes:
        before: The sentence up to the answer, without box and math delimiters.
        left: Like ``before``, but with the text right before the answer unchanged.
        behind: The reply from the answer's end on, as far as it may still refer to it.
    """

    before: str
    left: str
    behind: str


def surroundings(completion: str, answer: FinalAnswer) -> Surroundings:
    start, end = answer.start, answer.end
    if answer.how == "boxed" and (macro := _MACRO.search(completion, max(start - _MACRO_REACH, 0), start)):
        start = macro.start()
        closed = _CLOSED.match(completion, end)
        end = closed.end() if closed else end
    left = completion[max(reply_start(completion), start - _REACH_BEFORE, 0) : start]
    cuts = [cut.end() for cut in _SENTENCE.finditer(left)]
    left = left[cuts[-1] if cuts else 0 :]
    return Surroundings(_OPENERS.sub("", left), left, completion[end : end + _REACH])


def is_denied(around: Surroundings) -> bool:
    """Return whether the text calls the answer wrong, doubts it, asks for it, or retracts it."""
    return (
        _DATA.left_open.search(around.before) is not None
        or _is_denied_before(around.before)
        or _is_denied_after(around.behind)
        or _is_attributed(around)
    )


def is_retracted_later(reference: str, answer: str) -> bool:
    """Return whether a sentence that contains an answer retracts it afterwards: "Ann. Wait, Bea"."""
    at = answer.casefold().rfind(reference.casefold())
    return at >= 0 and _is_denied_after(answer[at + len(reference) :])


def is_part_of_formula(around: Surroundings) -> bool:
    r"""Return whether the answer is part of a larger formula: ``-\boxed{12}``, ``\boxed{12}+1``."""
    letter = _LETTER_BEHIND.match(around.behind)
    if letter is not None and unit(letter[1]) is None:
        return True
    if _FACTOR.search(around.left.rpartition("$")[2]):
        return True
    left = _MATH_OPENERS.sub("", around.left)
    return _DATA.changed_before.search(left) is not None or _DATA.changed_behind.match(around.behind) is not None


def _is_denied_before(before: str) -> bool:
    if not before.strip():
        return False
    if _DATA.wrong_label.search(before):
        return True
    last = last_match(_DATA.negation, before)
    if last is None:
        return False
    between = before[last.end() :]
    if last["opinion"]:
        return _DATA.clause.search(between) is None
    pause = _DATA.breaks.search(between)
    if pause is not None:
        return _DATA.asserts.search(between, pause.start()) is None
    return _DATA.asserts.search(between) is None or _DATA.of_the_answer.search(between) is not None


def _is_attributed(around: Surroundings) -> bool:
    """Return whether an answer is only attributed to others: "some say 12", or "Ann got 12, but she miscounted"."""
    behind = around.behind[:_OTHERS_REACH]
    if _DATA.said_behind.match(behind):
        return _DATA.errs.search(behind) is not None
    said = last_match(_DATA.said_by, around.before) if around.before.strip() else None
    if said is None or _DATA.speaker.search(around.before, 0, said.start()):
        return False
    if _DATA.concludes.search(around.before, said.end()):
        return False
    return _DATA.by_others.search(around.before[: said.start()]) is not None or _DATA.errs.search(behind) is not None


def _is_denied_after(behind: str) -> bool:
    if not behind.strip():
        return False
    if _QUESTIONED.match(behind) or _DATA.or_else.match(behind) or _DATA.may_be.match(behind):
        return True
    parts = _SENTENCE.split(behind, maxsplit=4)
    first = parts[0].split("\n\n", 1)
    rest = _DATA.because.split(_DATA.aside.sub("", first[0]), maxsplit=1)[0]
    if _DATA.said_false.search(rest) or (_ASKED.match(behind) and len(parts[0]) < _SHORT_QUESTION):
        return True
    return any(_DATA.withdrawn.match(part) for part in [*first[0].split("\n")[1:], *first[1:], *parts[1:]])


_SHORT_QUESTION = 40
