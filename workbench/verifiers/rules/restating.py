"""Sentences that answer in the question's own words: "Is 91 prime?", "So 91 is not prime."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.conclusions import sentences
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import stem
from workbench.verifiers.rules.spelling import tidy

_DATA = Lexicon("restating")
_TOKEN = re.compile(r"[^\W_]+|[-+*/^=<>≤≥≠≡∈⊂⊆∪∩|]")
_CONTRACTED, _ELIDED = re.compile(r"n['’]t\b"), re.compile(r"\b(?:n|l|d|qu)['’](?=[^\W\d_])")
NEGATIONS = _DATA.words("negation")
"""Words that negate their clause."""
_LITTLE = _DATA.words("little")
_PRONOUNS = _DATA.words("pronoun")
_PHRASES = _DATA.words("prepositions")
"""Prepositions of phrases that a sentence may leave out: "after 3 years"."""
_LONGEST_PHRASE, _LONGEST_END = 2, 4
"""Maximum words of a phrase that may be omitted within a sentence, and at its end."""
_FUNCTIONS = frozenset(("sin", "cos", "tan", "log", "ln", "exp", "sqrt", "frac", "sum", "int", "infty"))
_ROOTS: dict[str, str] = _DATA.table("roots")
_OPPOSITES = [{stem(word) for word in pair.split("/")} for pair in _DATA.listed("opposites")]
"""Words of which one denies the other; denying one does not affirm the other."""
_PREFIX = re.compile(r"(?:un|in|im|ir|il|dis|non)(?=[^\W\d_]{4})")
_POSSIBLE = {"can", "could", "possibl", "impossibl", "able"}
_READ, _LONGEST = 1_500, 300
_END = re.compile(r"[?？\n!;。]|[.:](?!\d)")
"""The end of a sentence in a question."""
_MIN_STEM_CHARACTERS = 3
_SHORT, _TELLING, _LAST = 40, 8, 2


class _Clause(NamedTuple):
    """A question or statement.

    Attributes:
        words: The stems of its words without function words, in order.
        omissible: For each of ``words``, whether it begins a phrase that may be left out.
        negated: Whether it is negated.
        tokens: All of its words and signs.
    """

    words: list[str]
    omissible: list[bool]
    negated: bool
    tokens: list[str]

    @property
    def has_pronoun(self) -> bool:
        said = [token for token in self.tokens if token not in NEGATIONS]
        return bool(said) and (said[0] in _PRONOUNS or self.tokens[0] != said[0])


def clause_words(text: str) -> list[str]:
    """Return the words and signs of a clause in lower case, with "not" as a separate word."""
    return _TOKEN.findall(_ELIDED.sub("", _CONTRACTED.sub(" not", text.replace("can't", "cannot"))).lower())


@lru_cache(maxsize=256)
def question_words(question: str) -> frozenset[str]:
    return frozenset(clause_words(question[-_READ:]))


def last_clauses(text: str, at: int = -1) -> list[str]:
    last = re.split("。(?=.)", sentences(text)[at])[at] if text else ""
    parts = [part for part in _DATA.parts.split(_DATA.linked.sub(r"\1", last)) if part.strip()]
    first = next((place for place, part in enumerate(parts) if place and _DATA.reason.match(part)), len(parts))
    return [part for part in parts[:first] if not _DATA.reason.match(part)]


def affirms(question: str, clause: str) -> bool | None:
    """Return whether a clause affirms or denies what a question asks; None if it states something else."""
    if len(clause) > _LONGEST:
        return None
    said = _make_clause(clause)
    answers = (_compare_clauses(asked, said) for asked in _question_clauses(question[-_READ:]))
    return next((answer for answer in answers if answer is not None), None)


@lru_cache(maxsize=256)
def _question_clauses(question: str) -> tuple[_Clause, ...]:
    return tuple(
        _make_clause(clause)
        for asked in _question_sentences(question)
        if _MIN_STEM_CHARACTERS <= len(asked.strip()) <= _LONGEST
        for clause in _clauses_of(asked)
    )


def _clauses_of(asked: str) -> Iterator[str]:
    main = asked.rpartition(",")[2]
    if main != asked and _DATA.verb_first.match(main):
        yield main
    if not _DATA.open.match(asked):
        yield asked


def _question_sentences(question: str) -> Iterator[str]:
    ends = [(found.start(), found.end(), found[0]) for found in _END.finditer(question)]
    starts = [0, *(end for _, end, _ in ends)]
    stops = [*(start for start, _, _ in ends), len(question)]
    asked = [at for at, (_, _, sign) in enumerate(ends) if sign in "?？"]
    yield from (question[starts[at] : stops[at]] for at in asked[: -_LAST - 1 : -1])
    for found in list(_DATA.introduced.finditer(question))[: -_LAST - 1 : -1]:
        behind = next(at for at, stop in enumerate(stops) if stop > found.end() or at + 1 == len(stops))
        yield question[max(starts[behind], found.end()) : stops[behind]].lstrip(" ,:;.\n")
        before = question[: found.start()].rstrip(" ,:;.\n(—–-")
        yield before[max((before.rfind(sign) for sign in "?？\n!;。:"), default=-1) + 1 :].rpartition(". ")[2]


def _make_clause(text: str) -> _Clause:
    tokens = clause_words(tidy(text))
    content, omissible, in_phrase = [], [], False
    for token in tokens:
        if token in _LITTLE or token in NEGATIONS:
            in_phrase = token in _PHRASES or (in_phrase and token in _LITTLE)
            continue
        content.append(_ROOTS.get(token, stem(token)))
        omissible.append(in_phrase or token in _PHRASES)
        in_phrase = False
    return _Clause(content, omissible, sum(token in NEGATIONS for token in tokens) % 2 == 1, tokens)


def _compare_clauses(asked: _Clause, said: _Clause) -> bool | None:
    if len(together := "".join(said.words)) >= _TELLING and together == "".join(asked.words):
        return asked.negated == said.negated
    turned, contrary, found = False, False, []
    for word in said.words:
        if word in _POSSIBLE and _POSSIBLE.intersection(asked.tokens):
            turned ^= word == "impossibl"
            continue
        if word not in asked.words:
            opposite = _find_opposite(word, asked.words)
            if opposite is None:
                return None
            turned, contrary = not turned, contrary or not _is_prefixed(word, opposite)
            word = opposite
        found.append(word)
    if not _is_in_same_order(asked, found, said) or (contrary and said.negated):
        return None
    return (asked.negated ^ said.negated ^ turned) is False


def _find_opposite(word: str, asked: list[str]) -> str | None:
    for other in asked:
        if _is_prefixed(word, other) or {word, other} in _OPPOSITES:
            return other
    return None


def _is_prefixed(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return _PREFIX.sub("", longer, count=1) == shorter != longer


def _is_in_same_order(asked: _Clause, found: list[str], said: _Clause) -> bool:
    if not found:
        return False
    if "such" in said.tokens:
        return all(word in asked.words for word in found)
    at = last = -1
    for word in found:
        if word not in asked.words[at + 1 :]:
            return False
        last, at = at, asked.words.index(word, at + 1)
        if last < 0 and at and not said.has_pronoun:
            return False
        if last >= 0 and not _may_be_omitted(asked, last + 1, at):
            return False
    left = len(asked.words) - (at + 1)
    return not left or (asked.omissible[at + 1] and left <= _LONGEST_END)


def _may_be_omitted(asked: _Clause, start: int, end: int) -> bool:
    missing = asked.words[start:end]
    formula = all(len(word) <= 1 or not word.isalpha() or word in _FUNCTIONS for word in missing)
    is_named = asked.words[start - 1].isalpha()
    return not missing or (formula and is_named) or (asked.omissible[start] and len(missing) <= _LONGEST_PHRASE)


def completes(question: str, sentence: str, answer: str) -> bool:
    """Return whether a sentence is the question's own words with a short answer inserted: "Who sang?", "Ann sang."."""
    said, wanted = tidy(sentence[:400]).lower(), tidy(answer).lower()
    at = re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", said)
    if at is None or not 1 < len(wanted) <= _SHORT or _make_clause(said).negated:
        return False
    asked = {stem(word) for word in question_words(question)}
    rest = clause_words(said[: at.start()] + " " + said[at.end() :])
    return bool(rest) and all(word in _LITTLE or stem(word) in asked for word in rest)
