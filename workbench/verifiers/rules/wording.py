"""Answers as words: the same string, word or sequence of words but for how it is set."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from workbench.verifiers.canonical import canonical_text
from workbench.verifiers.rules.spelling import tidy, unquoted

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
_WORD = re.compile(r"[^\W\d_]{3}")
_NO_DIGITS = re.compile(r"\D+")
_PLURALS = {"mice": "mouse", "geese": "goose", "men": "man", "women": "woman", "children": "child", "people": "person"}
_SEPARATORS = re.compile(r"[\s,;、，]+")
_MARKUP = "\\_₀₁₂₃₄₅₆₇₈₉"


def same_text(reference: str, candidate: str) -> str | None:
    """The rule by which two answers are the same text, if they are."""
    if reference == candidate:
        return "text.exact"
    if reference.isalnum() and candidate.isalnum():
        same = len(reference) > 2 and reference.casefold() == candidate.casefold() and _WORD.search(reference)
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
    return plain and _WORD.search(ours) is not None and ours.casefold() == theirs.casefold()


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
