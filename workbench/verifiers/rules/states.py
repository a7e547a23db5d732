"""Answers from a closed vocabulary, such as yes and no, also as sentences that repeat the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.conclusions import sentences
from workbench.verifiers.rules.patterns import Lexicon, resolved
from workbench.verifiers.rules.sense import DIGIT, stem
from workbench.verifiers.rules.spelling import tidy

_RESTATING = Lexicon("restating")
_TOKEN = re.compile(r"[^\W_]+|[-+*/^=<>≤≥≠≡∈⊂⊆∪∩|]")
_CONTRACTED, _ELIDED = re.compile(r"n['’]t\b"), re.compile(r"\b(?:n|l|d|qu)['’](?=[^\W\d_])")
NEGATIONS = _RESTATING.words("negation")
"""Words that negate their clause."""
_LITTLE = _RESTATING.words("little")
_PRONOUNS = _RESTATING.words("pronoun")
_PHRASES = _RESTATING.words("prepositions")
"""Prepositions of phrases that a sentence may leave out: "after 3 years"."""
_LONGEST_PHRASE, _LONGEST_END = 2, 4
"""Maximum words of a phrase that may be omitted within a sentence, and at its end."""
_FUNCTIONS = frozenset(("sin", "cos", "tan", "log", "ln", "exp", "sqrt", "frac", "sum", "int", "infty"))
_ROOTS: dict[str, str] = _RESTATING.table("roots")
_OPPOSITES = [{stem(word) for word in pair.split("/")} for pair in _RESTATING.listed("opposites")]
"""Words of which one denies the other; denying one does not affirm the other."""
_PREFIX = re.compile(r"(?:un|in|im|ir|il|dis|non)(?=[^\W\d_]{4})")
_POSSIBLE = {"can", "could", "possibl", "impossibl", "able"}
_READ_OF_QUESTION, _LONGEST_CLAUSE = 1_500, 300
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


def question_words(question: str) -> frozenset[str]:
    return _word_set(question[-_READ_OF_QUESTION:])


@lru_cache(maxsize=256)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(clause_words(text))


def last_clauses(text: str, at: int = -1) -> list[str]:
    last = re.split("。(?=.)", sentences(text)[at])[at] if text else ""
    parts = [part for part in _RESTATING.parts.split(_RESTATING.linked.sub(r"\1", last)) if part.strip()]
    first = next((place for place, part in enumerate(parts) if place and _RESTATING.reason.match(part)), len(parts))
    return [part for part in parts[:first] if not _RESTATING.reason.match(part)]


def affirms(question: str, clause: str) -> bool | None:
    """Return whether a clause affirms or denies what a question asks; None if it states something else."""
    if len(clause) > _LONGEST_CLAUSE:
        return None
    said = _make_clause(clause)
    answers = (_compare_clauses(asked, said) for asked in _question_clauses(question[-_READ_OF_QUESTION:]))
    return next((answer for answer in answers if answer is not None), None)


@lru_cache(maxsize=256)
def _question_clauses(question: str) -> tuple[_Clause, ...]:
    return tuple(
        _make_clause(clause)
        for asked in _question_sentences(question)
        if _MIN_STEM_CHARACTERS <= len(asked.strip()) <= _LONGEST_CLAUSE
        for clause in _clauses_of(asked)
    )


def _clauses_of(asked: str) -> Iterator[str]:
    main = asked.rpartition(",")[2]
    if main != asked and _RESTATING.verb_first.match(main):
        yield main
    if not _RESTATING.open.match(asked):
        yield asked


def _question_sentences(question: str) -> Iterator[str]:
    ends = [(found.start(), found.end(), found[0]) for found in _END.finditer(question)]
    starts = [0, *(end for _, end, _ in ends)]
    stops = [*(start for start, _, _ in ends), len(question)]
    asked = [at for at, (_, _, sign) in enumerate(ends) if sign in "?？"]
    yield from (question[starts[at] : stops[at]] for at in asked[: -_LAST - 1 : -1])
    for found in list(_RESTATING.introduced.finditer(question))[: -_LAST - 1 : -1]:
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
    lists = said.count(",") > wanted.count(",") + 1
    if at is None or lists or not 1 < len(wanted) <= _SHORT or _make_clause(said).negated:
        return False
    asked = {stem(word) for word in question_words(question)}
    rest = clause_words(said[: at.start()] + " " + said[at.end() :])
    return bool(rest) and all(word in _LITTLE or stem(word) in asked for word in rest)


# -- Answers from a closed vocabulary: yes/no, proved/disproved/unknown, entailment/contradiction/neutral …


Vocabulary = dict[str, str]
"""Every accepted word or phrase, lower case, and its state."""


_DATA = Lexicon("states")


def _vocabulary(*states: str) -> Vocabulary:
    named = (resolved(state, "states").split("|") for state in states)
    return {word: known[0] for known in named for word in known}


VOCABULARIES: tuple[Vocabulary, ...] = tuple(_vocabulary(*states) for states in _DATA.table("vocabularies"))
"""The vocabularies in order of precedence."""
_TERMS = _vocabulary(*_DATA.table("terms"))
"""Values that are written in words as often as in signs."""
_READ, _SENTENCE, _LONGEST = 1_500, 160, 400
_NEAR = 3
"""Maximum words between a "not" and the state that it denies."""
_OFFER = 300
_YES_OR_NO = re.compile(r"(?:yes|no)\s*[,.;:—–](?!.*\b(?:yes|no|unknown|true|false)\b)")
_PHRASE = re.compile(r"[a-z'-]{2,30}(?: [a-z'-]{2,30}){0,3}")
_SENTENCES = re.compile(r"[?？\n]|[.。](?=\s|\Z)|[)）]")
_SEPARATOR = re.compile(r",?\s+or\s+|,\s+|(?<=[^\W\d_]{2})\s*/\s*(?=[^\W\d_]{2})|、|或|还是")
_QUOTES = " '\"“”«»"
_EITHER = re.compile(r"\bor\b|/|或|还是")
_OFFERED = re.compile(r"[^\W\d_][^\W\d_'-]+(?: [^\W\d_'-]+){0,3}")
"""A phrase of up to four words."""
_ARTICLE = re.compile(r"(?:an?|the|either)\s+")
_CLAUSE = re.compile(r"[,;.:—–]|\b(?:so|then|hence|therefore|and|but)\b")
_SHELL = re.compile(r"^[\s\"'“”‘’`*_.,:;!?。，：「」“”]+|[\s\"'“”‘’`*_.,:;!?。，：「」“”]+$")
_FONT = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|operatorname|boxed)\s*\{([^{}]*)\}")
_LETTERS = {"t": "true", "f": "false", "y": "yes", "n": "no"}
_STATEMENTS = _DATA.words("statement")
_OF_A_STATEMENT = re.compile(rf"\b(?:the|this|that)\s+(?:{'|'.join(_STATEMENTS)})\b[^,;]*\Z", re.IGNORECASE)
_SPOKEN_OF = _STATEMENTS | _DATA.words("spoken_of")
"""Words about the judged statement that don't judge it."""
_JUDGED: dict[str, str] = _DATA.table("judged")
"""Words for a true statement and for a false one -> the state."""
_HAN = re.compile("[一-鿿]")
_LIMITS = _DATA.words("limiting")
"""Words that qualify a statement, or leave it open."""


def vocabulary_of(reference: str, question: str) -> Vocabulary | None:
    """Return the vocabulary of a reference answer.

    The alternatives that the question offers ("acute, right or obtuse?") take precedence; else the known vocabulary
    with most states named in the question.
    """
    word = _normalise(reference)
    fitting = [vocabulary for vocabulary in VOCABULARIES if word in vocabulary]
    if not fitting and " " not in word and not word.replace("-", "").isalpha():
        return None
    asked, named = question[-_READ:].lower(), question_words(question)
    if word in _LETTERS and named.issuperset(("true", "false") if word in "tf" else ("yes", "no")):
        return VOCABULARIES[0]
    is_asked_for = any(_rank_vocabulary(vocabulary, word, named)[0] > 1 for vocabulary in fitting)
    if not is_asked_for and len(offered := _offered_alternatives(asked)) > 1:
        alternatives = {state: state for state in offered}
        known = any(all(state in vocabulary for state in offered) for vocabulary in VOCABULARIES)
        if (
            not known
            and find_stated_state(reference, alternatives, whole=_PHRASE.fullmatch(word) is not None) in offered
        ):
            return alternatives
    if not fitting and _YES_OR_NO.match(word):
        return VOCABULARIES[0]
    if not fitting and " " in word:
        asked_for = [vocabulary for vocabulary in VOCABULARIES if _rank_vocabulary(vocabulary, "", named)[0] > 1]
        fitting = [vocabulary for vocabulary in asked_for if find_stated_state(reference, vocabulary) is not None]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    return max(fitting, key=lambda vocabulary: _rank_vocabulary(vocabulary, word, named))


def _offered_alternatives(question: str) -> list[str]:
    for sentence in reversed(_SENTENCES.split(question[-_OFFER:])):
        if not _EITHER.search(sentence):
            continue
        first, *others = [_ARTICLE.sub("", part.strip(_QUOTES), count=1) for part in _SEPARATOR.split(sentence)]
        while others and not all(map(_OFFERED.fullmatch, others)):
            first, *others = others
        # "... and 8 acute, right or obtuse": the text before them belongs to the first, and has no more words.
        longest = max((len(part.split()) for part in others), default=0)
        first = " ".join(re.split("[:：(（]", first)[-1].split()[-longest:])
        first = _ARTICLE.sub("", first.strip(_QUOTES), count=1)
        if others and _OFFERED.fullmatch(first):
            return [first, *others]
    return []


def _rank_vocabulary(vocabulary: Vocabulary, word: str, asked: frozenset[str]) -> tuple[int, bool]:
    return len({state for name, state in vocabulary.items() if name in asked}), word in vocabulary.values()


def state(text: str, vocabulary: Vocabulary) -> str | None:
    r"""Return the state that an answer consists of (``**Yes.**``, ``\text{not valid}``, ``F``), or None.

    "not X" is the other state if there are two, else ``"not X"`` itself, which equals no state.
    """
    word = _normalise(text)
    return _state_of_word(_LETTERS.get(word, word), vocabulary)


def _state_of_word(word: str, vocabulary: Vocabulary) -> str | None:
    found = vocabulary.get(word)
    return found or (_stems(tuple(vocabulary.items())).get(stem(word)) if word.isalpha() else None)


@lru_cache(maxsize=64)
def _stems(items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {stem(word): state for word, state in items if word.isalpha()}


def _negated_state(found: str | None, vocabulary: Vocabulary) -> str | None:
    if found is None:
        return None
    others = set(vocabulary.values()) - {found, "unknown"}
    return others.pop() if len(others) == 1 else f"not {found}"


def term(text: str) -> str | None:
    """Return the value that a text names without digits (infinity, no solution …); None for any other text."""
    return None if DIGIT.search(text) else _TERMS.get(_normalise(text))


def find_stated_state(text: str, vocabulary: Vocabulary, question: str = "", whole: bool = False) -> str | None:
    """Return the state a text begins with ("No, because …") or concludes with ("Thus, the claim is disproved.").

    Args:
        text: An answer.
        vocabulary: The possible states.
        question: The question, which the last sentence may affirm or deny in its own words.
        whole: Whether the text is the whole answer: its only state then counts at any position.
    """
    if "¬" in text or "\\neg" in text or "\\lnot" in text:
        return None
    found = state(text, vocabulary)
    if found is not None:
        return found
    shown = _DATA.idiom.sub(" ", _without_markup(text))
    named = {
        _state_of_clause(clause, vocabulary)
        for clause in (*last_clauses(shown[:_LONGEST], 0)[:1], *last_clauses(shown))
    }
    named |= {_concluded_state(shown[-_LONGEST:], vocabulary, question)}
    named -= {None}
    if not named and whole:
        return _only_state(shown.lower(), vocabulary)
    return named.pop() if len(named) == 1 else None


def is_qualified(text: str, question: str) -> bool:
    """Return whether words at an answer's end, which the question lacks, qualify it, leave it open or only report
    it."""
    said = {word for clause in last_clauses(text[-_LONGEST:]) for word in clause_words(clause)}
    return bool((_LIMITS & said).difference(question_words(question)))


def _state_of_clause(clause: str, vocabulary: Vocabulary) -> str | None:
    word = _normalise(clause)
    return _state_of_word(word, vocabulary) if word in vocabulary else None


def _concluded_state(text: str, vocabulary: Vocabulary, question: str) -> str | None:
    clauses = last_clauses(text) or [found[0] for found in _OF_A_STATEMENT.finditer(text)]
    if not clauses:
        return None
    clause = clauses[-1]
    if _HAN.search(clause):
        return vocabulary.get(_DATA.han_spoken_of.sub("", _normalise(clause)))
    tokens = clause_words(_DATA.beside.sub("", clause))
    said = [token for token in tokens if token in vocabulary or token not in _SPOKEN_OF | NEGATIONS]
    denials = sum(token in NEGATIONS and token not in said for token in tokens)
    if said[1:] and said[0] == "no":
        said, denials = said[1:], denials + 1
    found = _state_of_neither_nor(said, vocabulary) or _state_of_word(" ".join(said), vocabulary)
    if (
        found is None
        and "true" in vocabulary
        and len(said) == 1
        and (_STATEMENTS.intersection(tokens) or "hold" in said[0])
    ):
        found = vocabulary.get(_JUDGED.get(stem(said[0]), ""))
    if found is None and "no" in vocabulary and (is_so := affirms(question, clause)) is not None:
        return vocabulary["yes" if is_so else "no"]
    return _negated_state(found, vocabulary) if denials % 2 else found


def _state_of_neither_nor(said: list[str], vocabulary: Vocabulary) -> str | None:
    if said[:1] != ["neither"] or "nor" not in said:
        return None
    denied = {_state_of_word(word, vocabulary) for word in said[1:] if word != "nor"}
    left = {one for one in vocabulary.values() if not one.startswith("non-") and one != "unknown"} - denied
    return left.pop() if len(left) == 1 and None not in denied else None


def _only_state(sentence: str, vocabulary: Vocabulary) -> str | None:
    if len(sentence) > _SENTENCE:
        return None
    named = {vocabulary[word]: word for word in sorted(vocabulary, key=len) if _has_word(sentence, word)}
    if len(named) != 1:
        # "not valid" contains "valid": the longest name takes precedence over those it contains.
        longest = max(named.values(), key=len, default="")
        if not longest or any(word not in longest for word in named.values()):
            return None
        named = {vocabulary[longest]: longest}
    [(found, word)] = named.items()
    clause = clause_words(_CLAUSE.split(sentence[: sentence.find(word)])[-1])[-_NEAR:]
    return _negated_state(found, vocabulary) if NEGATIONS.intersection(clause) else found


def _has_word(sentence: str, word: str) -> bool:
    return word in sentence and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence) is not None


def _normalise(text: str) -> str:
    return " ".join(_without_markup(text).lower().split())


def _without_markup(text: str) -> str:
    text = text.replace("$", " ").replace("’", "'")
    if "\\" in text:
        text = _FONT.sub(r"\1", text).replace("\\ ", " ")
    return _SHELL.sub("", text)
