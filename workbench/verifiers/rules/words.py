"""Numbers written in English words, and answers that are words: "twenty-one", "two thirds"."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from workbench.verifiers.rules.spelling import tidy, unquoted
from workbench.verifiers.text import canonical_text

_SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""The words that multiply what stands before them."""
_ORDINALS = {
    word: value
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        start=1,
    )
}
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
PARTS |= {word + plural: value for word, value in _ORDINALS.items() if 3 <= value <= 12 for plural in ("", "s")}
PARTS |= {"hundredth": 100, "hundredths": 100, "thousandth": 1000, "thousandths": 1000}
"""The words that divide what stands before them."""
_STARTS = {*_SMALL, *_TENS, *PARTS, *_ORDINALS, "a", "an", "minus", "negative"}
NUMBER_WORDS = frozenset({*_SMALL, *_TENS})
"""The words of whole numbers below a hundred."""
_SIGNS = ("minus", "negative")
_WORD = re.compile(r"[ -]?([A-Za-z]+)")
_PLACE_WORD = re.compile(r"[^\W\d_]+")
_LONGEST_PLACE = 80
_MAX_WORDS = 20


def leading_number(text: str) -> tuple[Fraction, str] | None:
    """The number a text begins with, in words, and the text after it; None when it begins with no number word.

    "twenty-one apples" gives 21 and "apples". A lone ordinal ("third") is its place (3), after a cardinal it is a part
    ("one third" is 1/3, "twenty-third" is 23).
    """
    words = _words(text)
    if not words or words[0][0] not in _STARTS:
        return None
    negative = words[0][0] in _SIGNS
    at = 1 if negative else 0
    names = [word for word, _ in words]
    value, used = _value(names, at)
    if used == at:
        return None
    end = words[used - 1][1]
    if text[end : end + 1] == "-" or names[used : used + 1] == ["point"]:
        return None
    return (-value if negative else value), text[end:].lstrip()


def names_place(text: str) -> bool:
    """Whether a text is a place in an order in words: "twenty-fourth", "the third"; "one third" is a part."""
    names = _PLACE_WORD.findall(text.lower()[:_LONGEST_PLACE])
    if not names or names[-1] not in _ORDINALS:
        return False
    before = names[-2] if len(names) > 1 else "the"
    return before in ("the", "is", "and") or before in _TENS or before in SCALES


def _words(text: str) -> list[tuple[str, int]]:
    """The words a text begins with, in lower case, each with the offset where it ends."""
    words: list[tuple[str, int]] = []
    at = 0
    while len(words) < _MAX_WORDS and (word := _WORD.match(text, at)):
        words.append((word[1].lower(), word.end()))
        at = word.end()
    return words


def _value(words: list[str], at: int) -> tuple[Fraction, int]:
    """The value of the number words from ``at`` on, and the index of the first word that is not part of it."""
    if (first := words[at : at + 1]) and first[0] in _ORDINALS and first[0] != "second":
        return Fraction(_ORDINALS[first[0]]), at + 1
    if words[at:] == ["second"]:
        return Fraction(2), at + 1
    if first in (["half"], ["quarter"]):
        return Fraction(1, PARTS[first[0]]), at + 1
    whole, used = _cardinal(words, at)
    if used == at:
        return Fraction(0), at
    following = words[used] if used < len(words) else ""
    if whole % 10 == 0 and 20 <= whole < 100 and 1 <= _ORDINALS.get(following, 0) <= 9:
        return Fraction(whole + _ORDINALS[following]), used + 1
    if following in PARTS:
        return Fraction(whole, PARTS[following]), used + 1
    if following == "and":
        part, end = _part(words, used + 1)
        if end:
            return whole + part, end
    return (Fraction(whole), used) if words[at] not in ("a", "an") or used > at + 1 else (Fraction(0), at)


def _part(words: list[str], at: int) -> tuple[Fraction, int]:
    """A fraction below one after "and" ("a half", "two thirds") and where it ends; 0 when there is none."""
    above, used = _cardinal(words, at)
    below = PARTS.get(words[used], 0) if used < len(words) else 0
    return (Fraction(above, below), used + 1) if used > at and 0 < above < below else (Fraction(0), 0)


def _cardinal(words: list[str], at: int) -> tuple[int, int]:
    """The whole number from ``at`` on ("one hundred and five"; "a" is one) and where it ends."""
    total = group = 0
    last = 10**15
    used = at
    room = 100  # what may still be added to the group: "twenty" leaves room below ten
    for index in range(at, len(words)):
        word = words[index]
        if word in _TENS and room == 100:
            group, room = group + _TENS[word], 10
        elif word in _SMALL and _SMALL[word] < max(room, 1) and (_SMALL[word] or index == at):
            group, room = group + _SMALL[word], 0
        elif word in ("a", "an") and index == at:
            group, room = 1, 0
        elif word == "hundred" and 0 < group < 100 and used > at:
            group, room = group * 100, 100
        elif word in SCALES and word != "hundred" and group and SCALES[word] < last:
            total, last = total + group * SCALES[word], SCALES[word]
            group, room = 0, 100
        elif word == "and" and used == index and index > at and room == 100 and _goes_on(words, index + 1):
            continue
        else:
            break
        used = index + 1
    return total + group, used


def _goes_on(words: list[str], at: int) -> bool:
    """Whether a number word that is no part ("and a half", "and two thirds") follows "and"."""
    if at >= len(words) or not (words[at] in _TENS or words[at] in _SMALL):
        return False
    return at + 1 >= len(words) or words[at + 1] not in PARTS


# -- Answers as words: the same string, word or sequence of words but for how it is set.


_ACCENT = re.compile(r"\\(?:([\"'`^~=.])\s*(?:\{\s*\\?([A-Za-z])\s*\}|([A-Za-z]))|([uvHcrk])\s*\{\s*([A-Za-z])\s*\})")
_COMBINING = {
    "\"": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "r": "\u030a", "k": "\u0328",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([#$%&_{}])")
_TYPED = re.compile(r"\\(?:texttt|verb|mathtt|mathcal|underline|emph|textsf|textsc)\s*(?:\{([^{}]*)\}|\|([^|]*)\|)")
_MARKS = 4
_INDEX = re.compile(r"_\{?(\w{1,4})\}?")
_ARTICLE = re.compile(r"\A(?:the|an?)\s(?=[^\W\d_]{4})", re.IGNORECASE)
_RAISED = re.compile(r"\^\{?([\w+-]{1,3})\}?")
_DASHES = str.maketrans("–—−‐‑", "-----")
_LOW_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_THREE_LETTERS = re.compile(r"[^\W\d_]{3}")
_NO_DIGITS = re.compile(r"\D+")
_PLURALS = {"mice": "mouse", "geese": "goose", "men": "man", "women": "woman", "children": "child", "people": "person"}
_SEPARATORS = re.compile(r"[\s,;、，]+")
_MARKUP = "\\_₀₁₂₃₄₅₆₇₈₉"


def same_text(reference: str, candidate: str) -> str | None:
    """The rule by which two answers are the same text, if they are."""
    if reference == candidate:
        return "text.exact"
    if reference.isalnum() and candidate.isalnum():
        same = len(reference) > 2 and reference.casefold() == candidate.casefold() and _THREE_LETTERS.search(reference)
        return "text.canonical" if same else None
    # Typesetting changes no digit, and digits are compared much faster.
    if _NO_DIGITS.sub("", reference) != _NO_DIGITS.sub("", candidate):
        return None
    if canonical(reference) != canonical(candidate):
        return None
    # "12, 345" is a list, 12,345 a number.
    return (
        "text.canonical"
        if (", " in reference) == (", " in candidate) or not _has_digit_list(reference + " " + candidate)
        else None
    )


def same_wording(reference: str, candidate: str, raised: bool = False) -> bool:
    """Whether two strings are the same but for quotation marks, TeX's spelling of signs and, in words, upper case.

    Args:
        reference: The reference's answer.
        candidate: The completion's.
        raised: Whether to read over superscripts as well: ``Na^+`` is the string Na+, but ``x^2`` no number x2.
    """
    ours, theirs = (_ARTICLE.sub("", spelled(text)) for text in (reference, candidate))
    if raised:
        ours, theirs = (_RAISED.sub(r"\1", text) for text in (ours, theirs))
    if ours == theirs:
        return bool(ours)
    plain = "\\" not in ours and not any(sign in ours for sign in "^=+")
    return plain and _THREE_LETTERS.search(ours) is not None and ours.casefold() == theirs.casefold()


def same_noun(reference: str, candidate: str) -> bool:
    """Whether two answers are one noun, in the singular or the plural: mouse and mice, wolf and wolves."""
    ours, theirs = (spelled(text).casefold() for text in (reference, candidate))
    return ours.isalpha() and theirs.isalpha() and len(ours) > 2 and _singular(ours) == _singular(theirs)


def _singular(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    for ending, singular in (("ves", "f"), ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + singular
    return noun.removesuffix("s") if not noun.endswith("ss") else noun


def same_words(reference: str, candidate: str) -> bool:
    """Whether two lists of words are the same in the same order, whatever separates them."""
    ours, theirs = (_SEPARATORS.split(spelled(text).casefold()) for text in (reference, candidate))
    return len(ours) > 1 and ours == theirs


def spelled(text: str) -> str:
    """The characters an answer shows: accents, escapes, typewriter and indices resolved, quotation marks taken off."""
    text = tidy(text)
    if any(sign in text for sign in _MARKUP):
        text = _ACCENT.sub(lambda found: (found[2] or found[3] or found[5]) + _COMBINING[found[1] or found[4]], text)
        text = _TYPED.sub(lambda found: found[1] or found[2] or "", text)
        text = _ESCAPED.sub(r"\1", text)
        text = _INDEX.sub(r"\1", text).translate(_LOW_DIGITS)
    shown = unicodedata.normalize("NFC", " ".join(text.split())).translate(_DASHES)
    bare = unquoted(shown)
    # .72 is no 72.
    return f".{bare}" if bare[:1].isdigit() and f".{bare}" in shown[: len(bare) + _MARKS] else bare


@lru_cache(maxsize=512)
def canonical(text: str) -> str:
    """`canonical_text`, remembered: an answer is compared with many others."""
    return canonical_text(text)


def _has_digit_list(text: str) -> bool:
    return re.search(r"\d,\s*\d", text) is not None
