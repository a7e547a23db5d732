"""Answers that are words: the same name, noun, phrase or sequence of words except for typesetting."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.sense import has_denial, word_count, words
from workbench.verifiers.rules.spelling import LETTERS, tidy, unquoted
from workbench.verifiers.text import canonical_text

_DATA = Lexicon("strings")
_ACCENT = re.compile(r"\\(?:([\"'`^~=.])\s*(?:\{\s*\\?([A-Za-z])\s*\}|([A-Za-z]))|([uvHcrk])\s*\{\s*([A-Za-z])\s*\})")
_COMBINING = {
    "\"": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "r": "\u030a", "k": "\u0328",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([#$%&_{}])")
_TYPED = re.compile(r"\\(?:texttt|verb|mathtt|mathcal|underline|emph|textsf|textsc)\s*(?:\{([^{}]*)\}|\|([^|]*)\|)")
_MARKS = 4
_NEGATED = re.compile(r"(?<![\w)}\]\\.,;:])\s*~(?=\s?[A-Za-z(])")
"""A tilde that negates a letter or formula; between words it is a blank."""
_LITERALS = re.compile(r"[\s({\[\\$]*~?[A-Za-z](?:\s?,\s?~?\s?[A-Za-z])+[\s)}\]\\$]*")
_INDEX = re.compile(r"(?<!\d)_\{?(\w{1,4})\}?")
_ARTICLE = re.compile(r"\A(?:the|an?)\s(?=[^\W\d_]{4})", re.IGNORECASE)
_RAISED = re.compile(r"\^\{?([\w+-]{1,3})\}?")
_DASHES = str.maketrans("–—−‐‑", "-----")
_NO_DIGITS = re.compile(r"\D+")
_UMLAUTS = str.maketrans({"ö": "oe", "ü": "ue", "ä": "ae", "ø": "oe", "å": "aa"})
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_MARKUP = "\\_"
_EXPLAINS = re.compile(r"[\s*_\"'”’`]{0,5}(?:[–—:;]|\.\s|\s-\s)")
# One colon or equals sign follows a label, and a comma a capitalised gloss: "Capital: Paris", "Paris, France".
_SEPARATORS = (
    (re.compile(r"\s*[:：=]+\s*"), 3, 2),
    (re.compile(r",(?!\s*(?:[A-Z]|the\b|an?\b))"), 2, 1),
    (re.compile(r"\s*[;|]+\s*|\s+[-–—/]\s+"), 2, 2),
)
_HAN_CLAUSE = re.compile("[\u4e00-\u9fff]{5}")
_HAN_NAME = re.compile("[\u4e00-\u9fff·]+")
_HAN_IS = re.compile("[是为叫](?:[^,，。;；]{0,6}[人家者手员师的：“])?\\Z")
"""Text before a name in a Chinese sentence: "is", "is the poet"."""
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_UNSEEN = re.compile(r"[\s'\"`“”‘’]+")
_TOKEN = re.compile(r"[^\W_]+")
_STATES = frozenset({"yes", "no", "true", "false", "am", "pm"})
_CONTAINED, _SENTENCE, _SHORT = 60, 400, 40
_NEAR = 40
_FEW, _SHORT_SYMBOL = 3, 4


def same_text(reference: str, candidate: str) -> str | None:
    if reference == candidate:
        return "text.exact"
    if reference.isalnum() and candidate.isalnum():
        alike = len(reference) > 2 and reference.isalpha() and reference.casefold() == candidate.casefold()
        return "text.canonical" if alike else None
    # Typesetting changes no digit, and digits are compared much faster.
    if _NO_DIGITS.sub("", reference) != _NO_DIGITS.sub("", candidate):
        return None
    if canonical(reference) != canonical(candidate):
        return None
    if "~" in reference + candidate and _count_negations(reference) != _count_negations(candidate):
        return None
    # "12, 345" is a list, 12,345 a number.
    same = (", " in reference) == (", " in candidate) or not re.search(r"\d,\s*\d", f"{reference} {candidate}")
    return "text.canonical" if same else None


def may_differ_by_negation(reference: str, candidate: str) -> bool:
    """Return whether only one of two lists of letters has a tilde after a comma, which may negate a letter or be a
    blank."""
    if reference.count("~") == candidate.count("~") or not any(",~" in text for text in (reference, candidate)):
        return False
    return all(map(_LITERALS.fullmatch, (reference, candidate)))


def _count_negations(text: str) -> int:
    return len(_NEGATED.findall(text))


def same_wording(reference: str, candidate: str, raised: bool = False) -> bool:
    """Return whether two strings are the same except for quotation marks, TeX's signs and, in words, upper case.

    Args:
        reference: The reference's answer.
        candidate: The completion's answer.
        raised: Whether to ignore superscripts, too: ``Na^+`` is the string Na+, but ``x^2`` is not x2.
    """
    if reference.endswith("...") != candidate.endswith("..."):
        return False
    ours, theirs = (_ARTICLE.sub("", spelled(text)) for text in (reference, candidate))
    if raised:
        ours, theirs = (_RAISED.sub(r"\1", text) for text in (ours, theirs))
    if ours == theirs:
        return bool(ours)
    if "\\" in ours or any(sign in ours for sign in "^=+") or LETTERS.search(ours) is None:
        return False
    return ours.casefold() == theirs.casefold() or (
        ours.isascii() != theirs.isascii() and bool(folded(ours).intersection(folded(theirs)))
    )


@lru_cache(maxsize=512)
def folded(text: str) -> frozenset[str]:
    """Return the ASCII spellings of a name with diacritics: Godel and Goedel for Gödel."""
    text = text.casefold()
    umlauts = text.translate(_UMLAUTS)
    spellings = (unicodedata.normalize("NFKD", one) for one in (text, umlauts))
    bare = {"".join(sign for sign in one if not unicodedata.combining(sign)).translate(_LIGATURES) for one in spellings}
    return frozenset(one for one in bare if one.isascii())


@lru_cache(maxsize=1024)
def spelled(text: str) -> str:
    """Return the visible characters of an answer: accents, escapes and indices resolved, quotation marks removed."""
    text = tidy(text)
    if any(sign in text for sign in _MARKUP):
        text = _ACCENT.sub(lambda found: (found[2] or found[3] or found[5]) + _COMBINING[found[1] or found[4]], text)
        text = _TYPED.sub(lambda found: found[1] or found[2] or "", text)
        text = _ESCAPED.sub(r"\1", text)
        text = _INDEX.sub(r"\1", text)
    shown = unicodedata.normalize("NFC", " ".join(text.split())).translate(_DASHES)
    bare = unquoted(shown)
    # .72 is not 72.
    return f".{bare}" if bare[:1].isdigit() and f".{bare}" in shown[: len(bare) + _MARKS] else bare


canonical = lru_cache(maxsize=512)(canonical_text)


# -- A sentence that gives a name, and what turns it into another name.


def leads_sentence(sentence: str, answer: str) -> bool:
    """Return whether a sentence begins with an answer and explains it after a dash, colon or full stop."""
    rest = sentence.casefold().removeprefix(answer.casefold())
    return len(answer) > 1 and len(rest) < len(sentence) and _EXPLAINS.match(rest) is not None


def enumerates(text: str) -> bool:
    """Return whether a text is only short names side by side, any of which may be meant: "red : orange : green"."""
    if _HAN_CLAUSE.search(text):
        return False
    for separator, fewest_members, most_words in _SEPARATORS:
        members = separator.split(text.strip(" .$*"))
        if len(members) >= fewest_members and all(1 <= word_count(member) <= most_words for member in members):
            return True
    return False


def contains(sentence: str, answer: str) -> bool:
    """Return whether a sentence gives a short answer as a separate clause: "... is ANSWER, because".

    The answer must not be retracted, one of several, or part of a longer name: "North ANSWER", "ANSWER-in-law".
    """
    if len(answer) > _CONTAINED or len(answer) < 2 or len(sentence) > _SENTENCE:
        return False
    if _HAN_NAME.fullmatch(answer):
        said = sentence.rstrip(" 。.！!”")
        return (
            said.endswith(answer) and _HAN_IS.search(said.removesuffix(answer)) is not None and not has_denial(sentence)
        )
    said, wanted = canonical_text(sentence).casefold(), canonical_text(answer).casefold()
    at = said.rfind(wanted)
    if (
        enumerates(sentence)
        or at < 0
        or _count_negations(sentence) != _count_negations(answer)
        or _DATA.blocking.search(said.replace(wanted, " "))
        or said.count(",") > wanted.count(",") + 1
    ):
        return False
    return _DATA.begins.search(said[:at]) is not None and _DATA.ends.match(said[at + len(wanted) :]) is not None


def contains_any(sentence: str, answers: list[str]) -> bool:
    if not 1 < word_count(sentence) <= _SHORT:
        return False
    said = spelled(sentence).casefold()
    return any(
        (wanted := spelled(text).casefold()) and re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w.]\w)", said)
        for text in answers
    )


def same_print(reference: str, candidate: str) -> bool:
    """Return whether two texts show the same signs, without blanks and quotation marks."""
    ours, theirs = (_UNSEEN.sub("", spelled(text)) for text in (reference, candidate))
    return ours == theirs


def other_case(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Return whether two texts differ in upper and lower case where that distinguishes symbols: CO and Co, MW and
    mW."""
    if reference == answer:
        return False
    ours, theirs = spelled(reference), spelled(answer)
    if question.of_code and ours != theirs and ours not in theirs and ours.casefold() in theirs.casefold():
        return ours.casefold() not in _STATES or question.of_output
    if ours == theirs or len(ours) > 2 * _SHORT or ours.casefold() not in theirs.casefold() or len(words(ours)) >= _FEW:
        return False
    asked = question.symbols
    given = set(_TOKEN.findall(theirs))
    alike = {token.casefold(): token for token in given}
    return any(
        _is_symbol(token, alike[token.casefold()], asked)
        for token in _TOKEN.findall(ours)
        if token not in given and token.casefold() in alike
    )


def _is_symbol(one: str, other: str, asked: bool) -> bool:
    if one.casefold() in _STATES:
        return asked
    inner = _INNER_CAPITAL.search(one) is not None or _INNER_CAPITAL.search(other) is not None
    return len(one) <= _FEW - (not asked) or inner or (asked and len(one) <= _SHORT_SYMBOL)


def extends_name(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Return whether an answer extends the reference's text to another name: "Paris, Texas", "Ann's brother"."""
    ours, theirs = spelled(reference), spelled(answer)
    at = theirs.casefold().rfind(ours.casefold())
    if at < 0 or not ours:
        return False
    before, behind = theirs[:at], theirs[at + len(ours) :]
    found = _DATA.goes_on.match(behind)
    if found is not None:
        name = found["name"]
        return name is None or name.casefold() not in question.text.casefold()
    return has_denial(behind.split(".")[0][:_NEAR], words(reference)) or has_denial(before[-_NEAR:], words(reference))
