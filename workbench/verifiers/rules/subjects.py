"""Sentences about another thing than their question asks for: the diameter, or the person who was second."""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.verifiers.rules.conclusions import conclusion_of, sentences, without_means
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.sense import STATES, Around, stem, unknown_words, words

_DATA = Lexicon("subjects")
_SLOTS: dict[str, set[tuple[int, int]]] = {}
for _kind, _names in enumerate(_DATA.table("siblings")):
    for _slot, _alike in enumerate(_names.split(",")):
        for _word in _alike.split():
            _SLOTS.setdefault(stem(_word), set()).add((_kind, _slot))
_OPERATION = re.compile(
    r"[\d₀-₉]\s*(?:(?P<sum>\+)|(?P<difference>\s[-−–]\s)|(?P<product>×|\*|\\times|\\cdot)|(?P<quotient>÷|/|\\div))"
)
_AXIS = re.compile(r"\b([a-z])\$?[-‐‑\s](intercept|coordinate|component|axis|direction)", re.IGNORECASE)
_A_FIGURE = re.compile(r"\W*\d+\s*")
_LABELS = " :：*$\\(["
_REACH_BEHIND = 60
_BARE = re.compile(r"\A\W*(?P<name>[A-Z][a-z]{2,}(?<!ing))\s+\Z")
_NAME_BEHIND_OF = re.compile(r"\b(?:of|in)\s+(?:the\s+)?([A-Z][a-z]{2,})")
_RELATED = re.compile(r"\b(?:is|was)\s+the\s+(\w+)\s+of\s*\Z")
"""Text before a name that is related to the value's: "Ann is the mother of"."""
_OF_THE = re.compile(r"\bof\s+the\s+([a-z]{3,})\b")
_OWNED = re.compile(r"\b[A-Z][a-z]+['’]s?\s+([a-z]+)\s*\Z")
_COUNTED = re.compile(r"\bnumber\s+of\s+(?:\w+\s+)?(\w+)")
_ANY_NOUN = frozenset(map(stem, _DATA.words("any_noun")))
_HAS_LIMIT = re.compile(r"\\to\b|→|\\?\blim|converge|\btend|approach|sequence|series")
_SUPERLATIVE = re.compile(r"\b[Tt]he\s+(?!closest)(?:[a-z]{3,}est\b(?<!rest)(?<!test)|most\b|least\b)")
_ANY_SUPERLATIVE = re.compile(r"[a-z]est\b|\b(?:most|least|max|min)")
_ABSTRACT = frozenset({"way", "possibilit", "arrangement", "outcom", "cas", "solution"})
"""Words that may refer to any counted thing."""


def is_about_another(around: Around, value: str, question: TypedQuestion) -> bool:
    """Return whether the clause that gives a value is about something which the question doesn't mention.

    Args:
        around: The text before and after the value in its sentence.
        value: The value.
        question: The question. What it asks for decides, and other words that the clause shares with it.
    """
    before = _DATA.boundary.split(without_means(conclusion_of(around.before)).rstrip(_LABELS))[-1]
    behind = _DATA.boundary.split(around.behind[:_REACH_BEHIND], maxsplit=1)[0]
    known = _words_of(question.text)
    if any(sign.isdigit() for sign in value):
        behind = f"{value} {behind}"
    else:
        known += tuple(words(value))
    if not (before.strip() or behind.strip()):
        return False
    clause = f"{before} {behind}"
    if _names_sibling(clause, question, set(known)) or _names_axis(clause, question):
        return True
    return _has_another_subject(before, question, known)


@lru_cache(maxsize=256)
def _question_sentence(text: str) -> str:
    found = sentences(text)
    return next((sentence for sentence in reversed(found) if "?" in sentence), found[-1])


@lru_cache(maxsize=256)
def _operations(text: str) -> frozenset[str]:
    return frozenset(stem(str(sign.lastgroup)) for sign in _OPERATION.finditer(text))


@lru_cache(maxsize=256)
def _words_of(question: str) -> tuple[str, ...]:
    return tuple(words(question))


@lru_cache(maxsize=256)
def _stems_of(question: str) -> frozenset[str]:
    return frozenset(map(stem, _words_of(question)))


def _slots(said: set[str]) -> set[tuple[int, int]]:
    return {place for word in said for place in _SLOTS.get(stem(word), ())}


def _names_sibling(clause: str, question: TypedQuestion, known: set[str]) -> bool:
    given = _slots(set(words(clause)))
    if not given:
        return False
    asks = _question_sentence(question.text)
    signs = _operations(asks)
    asked, named = _slots({*words(asks), *signs}), _slots(known | signs)
    return any(kind == its and (its, slot) not in given for kind, _ in given - named for its, slot in asked)


def _names_axis(clause: str, question: TypedQuestion) -> bool:
    given, asked = ({found.lower() for found in map(" ".join, _AXIS.findall(text))} for text in (clause, question.text))
    return bool(given and asked) and given.isdisjoint(asked)


def _has_another_subject(before: str, question: TypedQuestion, known: tuple[str, ...]) -> bool:
    if any(found[0] not in question.text for found in _DATA.at_another_time.finditer(before)):
        return True
    if any(_is_reversed_pair(found, question.text.lower()) for found in _DATA.paired.finditer(before)):
        return True
    if (related := _RELATED.search(before)) and f"{related[1]} of".lower() in question.text.lower():
        return True
    verbs = list(STATES.finditer(before))
    if not verbs:
        return False
    subject = before[: verbs[-1].start()]
    if _A_FIGURE.fullmatch(subject) and _operations(_question_sentence(question.text)):
        return True
    if _SUPERLATIVE.search(subject) and not _ANY_SUPERLATIVE.search(question.text):
        return True
    if (some := _DATA.only_some.search(subject)) and some[1].lower() not in known:
        return True
    subjects = _subjects(subject, question)
    return any(noun[0] == "?" for noun in subjects[-1:]) or bool(unknown_words(" ".join(subjects), known))


def _subjects(subject: str, question: TypedQuestion) -> list[str]:
    found = [name[1] for name in (_BARE.match(subject + " "), _OWNED.search(subject)) if name]
    found += _NAME_BEHIND_OF.findall(subject)
    if _OF_THE.search(_question_sentence(question.text)):
        found += _OF_THE.findall(subject)
    if question.counted and stem(question.counted.lower()) not in _ABSTRACT:
        found += [noun for noun in _COUNTED.findall(subject) if stem(noun) not in _ABSTRACT]
    head = _DATA.head.match(subject.rstrip() + " ")
    if head and _DATA.asks_for_noun.search(_question_sentence(question.text)):
        nouns = words(head[1])
        known = _stems_of(question.text) | _operations(question.text)
        if _HAS_LIMIT.search(question.text):
            known |= {"limit"}
        if stem(nouns[-1]) not in known and not any(stem(noun) in _ANY_NOUN for noun in nouns):
            found += [f"?{noun}" if stem(noun) in _SLOTS else noun for noun in nouns]
    return found


def _is_reversed_pair(pair: re.Match[str], question: str) -> bool:
    one, other = pair[1].lower(), pair[2].lower()
    return (
        one != other
        and re.search(rf"\b{other}\s+(?:to|from|per|minus|over)\s+(?:the\s+)?{one}\b", question) is not None
    )
