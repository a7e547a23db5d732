"""Qualifiers: words and signs next to a value that make another answer of it: "at least 24", "half of 24", "24 dozen".

They are read once, into a set of marks: the words and signs themselves, with ``?`` before a word of unknown effect. A
candidate's value counts if it has no mark that both the reference and the question lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.numbers import NUMBER_WORDS, names_place
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.units import unit

_DATA = Lexicon("sense")
_DENYING = _DATA.words("denying")
"""Words that deny the value next to them, or leave open which is meant."""
_SCALING = _DATA.words("scaling")
"""Words that make another value, or a bound, of the number next to them."""
_COMPUTING = _DATA.words("computing")
"""Those of them that state by which operation."""
_CONTRACTED = re.compile(r"n['’]t\b")
_HAN_REACH_BEFORE, _HAN_REACH_BEHIND = 7, 9
_KNOWN = _DATA.words("generic") | NUMBER_WORDS
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MACRO = re.compile(r"\\[A-Za-z]+")
_TEX = re.compile(r"\\(?!text|math|left|right|mbox|quad|qquad|boxed|displaystyle|%|\$)[A-Za-z]+")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_HAN_PLAIN = frozenset(
    "个只本人元米秒分钟天年月日小时张条件块位名种支棵头匹辆杯瓶袋盒组次是为共有的答案最终等于一总计约得到所以因此故选项정답은입니다이는개명원正解はですだえ"
)
_CLAUSE = re.compile(r"[,;:：，；.!?。！？\n=()]")
STATES = _DATA.states
"""A verb or sign that is followed by a value."""
TOWARDS = _DATA.towards
"""Words that lead to a value if no number is before them: "arrives at 15:30"."""
_BRACKETED = re.compile(r"\s*[(（]([^()（）]*)")
_SIGN_BETWEEN = re.compile(r"[:：=≈$\\€£¥]")
_NEAR_BEFORE, _NEAR_BEHIND = 5, 4
_SIGN_BEFORE = re.compile(
    r"(?:[-+−*/^<>≤≥≠±¬~√]|\\(?:leq?|geq?|neq?|lt|gt|pm|neg|lnot|not|sqrt|x?cancel|times|cdot|leqslant|geqslant))[\s{]*\Z"
)
_SIGN_BEHIND = re.compile(
    r"[\s}]*(?:[-+−*/^<>≤≥≠±?!]|\\(?:times|cdot|pm|leq?|geq?|lt|gt)(?![A-Za-z]))(?!\s*[A-Za-z]{2}|\*)"
)
_CONGRUENT = re.compile(r"(?:\\equiv|≡)\s*\Z")
_MODULO = re.compile(r"\s*\(?\s*\\?(?:pmod|bmod|mod)\b")
DIGIT = re.compile(r"\d")
_PROSE, _HAN_PROSE = 5, 8
_LISTED = re.compile(r"[,;、，]|\band\b")
LONG_WORD = re.compile(r"[^\W\d_]{2,}")
_MAY_BE_PLACE = re.compile(r"[A-Za-zºª№#\u0400-\u04ff\u3000-\u9fff\uac00-\ud7af]")
_MAY_BE_ROUGH = re.compile(r"[~∼〜～≈≃≅≒约約大差약]|\\[acdst]|[a-zа-я]{3}|c\.|およそ|左|上", re.IGNORECASE)
_PRIMED = re.compile(r"\A[^'′\"″]*\d\s?['′\"″]\Z")

NOTHING: frozenset[str] = frozenset()
ROUGH, PLACE, SIGN, UNREADABLE = "≈", "#", "±", "?"
"""Marks of an approximate number, of a place in an order, of a sign of a larger formula, of illegible characters."""


_ADVERBS = _DATA.words("adverb")
_CURRENCY = re.compile(r"[$€£¥₹¢₽₩元円]")
_CURRENCY_REACH = 3
_BROKEN = re.compile("[\ud800-\udfff]")


class Around(NamedTuple):
    """The text before and after a value in its phrase."""

    before: str
    behind: str


_DIRECTIONS = {
    word: f"{sign}{group[0].split()[0]}"
    for group in _DATA.table("opposites")
    for sign, side in zip("+-", group, strict=True)
    for word in side.split()
}
"""Words that state on which of two sides a value is -> the mark of that side."""
_OTHER_SIDE = str.maketrans("+-", "-+")


def directions(text: str) -> frozenset[str]:
    """Return the marks of the sides that a text names (profit, north ...), unless it names the opposite side, too."""
    found = {_DIRECTIONS[word] for word in words(text) if word in _DIRECTIONS}
    return frozenset(mark for mark in found if mark.translate(_OTHER_SIDE) not in found)


def are_opposed(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two answers are on opposite sides, by their marks: a profit and a loss."""
    sides = {mark for mark in one if mark[0] in "+-" and mark.translate(_OTHER_SIDE) not in one}
    return any(mark.translate(_OTHER_SIDE) in other and mark not in other for mark in sides)


def computes_another(marks: frozenset[str]) -> bool:
    """Return whether marks may turn a value into another that a number can state: "the square root of 2", "a loss of
    40"."""
    return not _COMPUTING.isdisjoint(marks) or "-profit" in marks


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without TeX macros."""
    return [word.casefold() for word in _WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text)]


def word_count(text: str) -> int:
    """Return the number of words of at least two letters in an answer, without TeX macros."""
    return len(LONG_WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text))


def is_prose(text: str) -> bool:
    """Return whether an answer is a sentence; a list of words is not."""
    if len(text) > 20 and any(word_count(part) >= _PROSE for part in _LISTED.split(text)):
        return True
    return not text.isascii() and len(_HAN.findall(text)) >= _HAN_PROSE


def has_denial(text: str, meant: Iterable[str] = ()) -> bool:
    """Return whether a text denies the value next to it, or leaves open which of several answers is meant.

    Args:
        text: The text.
        meant: Words that belong to the answer, such as those of the reference.
    """
    return bool(_denials(text).difference(meant))


def _denials(text: str) -> set[str]:
    found = _DENYING.intersection(words(text))
    if ("'" in text or "’" in text) and _CONTRACTED.search(text):
        found |= {"n't"}
    if not text.isascii() and _DATA.han_denies.search(text):
        found |= {"不"}
    return set(found)


def has_change_word(text: str, meant: Iterable[str] = ()) -> bool:
    """Return whether a text contains a word that changes the meaning of the value next to it."""
    return bool(change_marks(text).difference(meant))


def change_marks(text: str) -> set[str]:
    return _denials(text) | _SCALING.intersection(words(text))


def marks_near(around: Around, scaling_only: bool = False) -> frozenset[str]:
    """Return the marks right before or after a value, in its clause.

    Args:
        around: Its surroundings.
        scaling_only: Whether to ignore denials, whose scope only a whole sentence shows.
    """
    clause = _CLAUSE.split(around.before)[-1]
    verbs = list(_DATA.verb.finditer(clause))
    near = " ".join(clause[verbs[-1].end() if verbs else 0 :].split()[-_NEAR_BEFORE:])
    after = " ".join(_CLAUSE.split(around.behind, maxsplit=1)[0].split()[:_NEAR_BEHIND])
    found = _SCALING.intersection(words(_DATA.power_of_unit.sub("", f"{near} | {after}")))
    if " of " in clause and _DATA.part_of.search(clause):
        found |= {"of"}
    if _DATA.range.match(around.behind):
        found |= {"…"}
    if _DATA.rate.match(around.behind):
        found |= {"?per"}
    if not scaling_only:
        found |= _denials(near) | _denials(after)
    if _DATA.alternative.match(around.behind):
        found |= {"or"}
    if not (around.before.isascii() and around.behind.isascii()) and (
        _DATA.han_before.search(clause[-_HAN_REACH_BEFORE:])
        or _DATA.han_behind.match(around.behind.lstrip(" $*}")[:_HAN_REACH_BEHIND])
    ):
        found |= {"多"}
    return frozenset(found)


def qualifiers_of_phrase(phrase: str, value: str) -> frozenset[str]:
    at = phrase.rfind(value)
    if at < 0:
        return frozenset(UNREADABLE)
    directed = directions(phrase)
    around = Around(phrase[:at], phrase[at + len(value) :])
    if _CONGRUENT.search(around.before) and _MODULO.match(around.behind):
        return NOTHING
    found = set(marks_near(around)) | qualifiers_of_number(phrase, value)
    if _SIGN_BEFORE.search(around.before.rstrip(" $*")) or _SIGN_BEHIND.match(around.behind):
        found.add(SIGN)
    if _CURRENCY.search(around.before[-_CURRENCY_REACH:] + around.behind[:_CURRENCY_REACH]):
        found.add("¤")
    if _DATA.taken_back.search(around.behind):
        found.add("correction")
    if _BROKEN.search(phrase):
        found.add(UNREADABLE)
    found |= directed
    if (
        DIGIT.search(value)
        and (joined := _DATA.joins_unit.match(around.behind))
        and unit(joined[1])
        and not unit(value)
    ):
        found.add(f"?{stem(joined[1])}")
    if remark := _BRACKETED.match(around.behind):
        found |= qualifiers_after(remark[1])
    subject = _DATA.subject.split(around.before)
    if not phrase.isascii() and subject[1:] and (part := _DATA.han_part.search(subject[-2])):
        found.update(f"?{sign}" for sign in part[0] if sign.isalpha())
    if is_prose(phrase):
        lead = TOWARDS.split(_CLAUSE.split(subject[-1])[-1])[-1]
        about = _CLAUSE.split(" ".join(subject[-2:-1]))[-1]
        named = bool(subject[1:]) or not DIGIT.search(value)
        return frozenset(
            found | (_unknown_word_marks(lead) if named else set()) | {f"?{stem(word)}" for word in change_marks(about)}
        )
    found |= {f"?{stem(word)}" for word in change_marks(" ".join(subject[:-1]))}
    found |= change_marks(f"{subject[-1]} {around.behind}")
    found.update(_TEX.findall(f"{around.before} {around.behind}"))
    rest = f"{subject[-1]} {around.behind}"
    return frozenset(found | _unknown_word_marks(rest))


def qualifiers_after(text: str) -> set[str]:
    """Return the marks in the rest of a sentence after a value; "the next day" after a time is no change."""
    return change_marks(_DATA.next_day.sub(" ", text))


def qualifiers_of_number(phrase: str, value: str = "") -> frozenset[str]:
    """Return the marks that are part of a number: "24th", "about 24", "at least 24".

    Args:
        phrase: The whole answer.
        value: The extracted part; "" if the number is the whole answer.
    """
    found: set[str] = set()
    if not value and not is_prose(phrase) and (first := DIGIT.search(phrase)):
        before = phrase[: first.start()]
        found |= change_marks(before)
        if before.isascii() and not _SIGN_BETWEEN.search(before):
            found |= _unknown_word_marks(before)
    if _MAY_BE_PLACE.search(phrase) and (_DATA.place.search(phrase) or names_place(phrase)):
        found.add(PLACE)
    if (_MAY_BE_ROUGH.search(phrase) and _DATA.rough.search(phrase)) or _PRIMED.search(phrase):
        found.add(ROUGH)
    return frozenset(found)


def qualifiers_of_noun(noun: str) -> frozenset[str]:
    """Return the marks of text after a number that is not a known unit: "24 too many", "24以上", "24 each"."""
    found = change_marks(noun)
    if not noun.isascii() and _DATA.han_behind.match(noun[:_HAN_REACH_BEHIND]):
        found |= {"多"}
    if _DATA.by_courtesy.search(noun):
        found.add("only")
    first = noun.split()[0].casefold()
    return frozenset(found | ({f"?{stem(first)}"} if first in _ADVERBS else set()))


def is_rough_before(text: str) -> bool:
    """Return whether a text ends with a word or sign that makes the following number approximate."""
    return _DATA.rough_before.search(text) is not None


def _unknown_word_marks(text: str) -> set[str]:
    found = {
        f"?{stem(word)}"
        for word in words(text)
        if not _HAN.search(word) and len(word) > 1 and word not in _KNOWN and not (unit(word) or unit(word.upper()))
    }
    if not text.isascii():
        found |= {f"?{sign}" for sign in _HAN.findall(text) if sign not in _HAN_PLAIN}
    return found


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    said = [word for word in words(text) if len(word) > 1 and word not in _KNOWN]
    stems = {stem(word) for word in known} if said else set()
    return [word for word in said if stem(word) not in stems]


def explained_by(text: str) -> frozenset[str]:
    """Return the marks that need no explanation after a text: its words, each also as a word of unknown effect."""
    found = words(text)
    signs = {f"?{sign}" for sign in _HAN.findall(text)} if not text.isascii() else set()
    return frozenset({*found, *(f"?{stem(word)}" for word in found), *signs})


_STEM_ENDINGS = ("ings", "ing", "ied", "ies", "ed", "es", "s", "e")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a word without its ending of plural or tense."""
    if not word.endswith(_STEM_ENDINGS):
        return word
    for ending in _STEM_ENDINGS:
        if len(word) - len(ending) > 2 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
