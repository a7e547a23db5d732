"""Terms, nouns and lists of words that are the same except for their form: "cosine rule" and "law of cosines"."""

from __future__ import annotations

import re

from workbench.verifiers.rules.numberwords import ORDINALS
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.strings import folded, same_wording, spelled

_DATA = Lexicon("terms")
_PLURALS: dict[str, str] = _DATA.table("plurals")
_SEPARATORS = re.compile(r"(?:[\s,;、，\[\]\"“”]|(?<!\w)'|'(?!\w))+")
_APART = re.compile(r"[\s,;-]+")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_GENERIC: dict[str, str] = _DATA.table("generic")
"""Generic nouns of terms that may replace each other -> one of them."""
_COMPASS = {"n": "north", "e": "east", "s": "south", "w": "west"}
_COMPASS |= {a + b: _COMPASS[a] + _COMPASS[b] for a in "ns" for b in "ew"}
_STRAND = re.compile(r"(?:([53])['′’]?[\s-]*)?([ACGTUN][ACGTUN\s-]{2,}?)(?:[\s-]*([53])['′’]?)?")
_SENTENCE = re.compile(r"[.:!?«»“”\"()\n]")
_LEAST_COMPOUND, _LONGEST_SENTENCE = 3, 400
_MAX_CHARACTERS = 200
"""Maximum characters of a term."""
_LEAST_CONTEXT = 2


def same_words_of(reference: str, candidate: str, question: TypedQuestion) -> str | None:
    if same_wording(reference, candidate, raised=question.type == "D"):
        return "text.wording"
    if (question.type == "D" or question.ordered) and _same_letters(reference, candidate):
        return "text.words"
    if question.type not in (None, "D"):
        return None
    if _same_sequence(reference, candidate) or _fills_gap(reference, candidate, question):
        return "text.words"
    if question.asks_who and same_person(reference, candidate):
        return "text.words"
    if question.subtype == "D2":
        alike = _WORD.findall(spelled(reference).casefold()) == _WORD.findall(spelled(candidate).casefold())
        if alike and ("?" in reference) == ("?" in candidate):
            return "text.words"
        return "text.noun" if _same_noun(reference, candidate) else None
    if question.strands and (ours := _parse_strand(reference)) is not None and ours == _parse_strand(candidate):
        return "text.words"
    return "text.noun" if not question.of_words and _same_term(reference, candidate, question) else None


def _same_noun(reference: str, candidate: str) -> bool:
    ours, theirs = (spelled(text).casefold() for text in (reference, candidate))
    return ours.isalpha() and theirs.isalpha() and len(ours) > 2 and singular(ours) == singular(theirs)


def singular(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    for ending, replaced in (("ves", "f"), ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + replaced
    return noun.removesuffix("s") if not noun.endswith("ss") else noun


def _same_term(reference: str, candidate: str, question: TypedQuestion) -> bool:
    if max(len(reference), len(candidate)) > _MAX_CHARACTERS:
        return False
    ours, theirs = _words_of_term(reference, question), _words_of_term(candidate, question)
    if not ours or not theirs or spelled(reference).casefold() == spelled(candidate).casefold():
        return False
    if ours == theirs:
        return True
    closed, apart = sorted((ours, theirs), key=len)
    compound = len(closed) == 1 and len(apart) == 2 and min(map(len, apart)) >= _LEAST_COMPOUND
    return compound and closed[0] == "".join(apart)


def _words_of_term(text: str, question: TypedQuestion) -> list[str]:
    shown = spelled(text).casefold().removeprefix("the ")
    if (inverted := _DATA.of.fullmatch(shown)) is not None and inverted[1] in _GENERIC:
        words = inverted[2].split()
        shown = " ".join([*words[:-1], singular(words[-1]), inverted[1]])
    words = [
        _DATA.place.sub(r"\1.", f"{ORDINALS[word]}th" if word in ORDINALS else word) for word in _APART.split(shown)
    ]
    if not shown.replace(" ", "").replace("-", "").replace("'", "").isalnum():
        return []
    if len(words) > 1 and singular(words[-1]) in question.nouns:
        return words[:-1]
    if question.directions:
        words = [_COMPASS.get(word, word) for word in words if word != "due"]
    kind = _GENERIC.get(words[-1], "") if words else ""
    if len(words) < 2 or not kind:
        return words
    return words[:-1] if any(_GENERIC.get(noun) == kind for noun in question.nouns) else [*words[:-1], kind]


def _same_letters(reference: str, candidate: str) -> bool:
    ours, theirs = (_APART.split(spelled(text)) for text in (reference, candidate))
    spelt = all(len(sign) == 1 for sign in max(ours, theirs, key=len))
    return len(ours) != len(theirs) and spelt and 1 in (len(ours), len(theirs)) and "".join(ours) == "".join(theirs)


def _same_sequence(reference: str, candidate: str) -> bool:
    ours, theirs = (
        [word for word in _SEPARATORS.split(spelled(text).casefold()) if word] for text in (reference, candidate)
    )
    return len(ours) > 1 and ours == theirs


def _parse_strand(text: str) -> tuple[bool, str] | None:
    """Parse a strand of nucleotides, and whether it is written from its 3' end."""
    found = _STRAND.fullmatch(tidy(text))
    if found is None or (found[1] or "") == (found[3] or "-"):
        return None
    return found[1] == "3" or found[3] == "5", "".join(sign for sign in found[2] if sign.isalpha())


def _fills_gap(answer: str, sentence: str, question: TypedQuestion) -> bool:
    gap = question.gap
    if gap is None or len(sentence) > _LONGEST_SENTENCE:
        return False
    before, behind, filled, said = (
        _WORD.findall(text.casefold())
        for text in (_SENTENCE.split(gap[0])[-1], _SENTENCE.split(gap[1])[0], spelled(answer), spelled(sentence))
    )
    wanted = [*before, *filled, *behind]
    return len(before) + len(behind) >= _LEAST_CONTEXT and bool(filled) and said[-len(wanted) :] == wanted


# -- Persons: a family name for a full name, and sentences that tell who.


_PERSONS = Lexicon("persons")
_TITLES = _PERSONS.words("titles")
_NAME_ENDS = re.compile(r"[\s.\-]+")
_FAMILY_FIRST = re.compile(r"([^\W\d_][\w'’-]+),\s+([^\W\d_][\w.'’ -]*)")
_ONE_NAME = r"[^\W\d_a-zß-ÿ](?:[^\W\d_]|['’-])*\.?"
_NAME = re.compile(rf"{_ONE_NAME}(?:\s+(?:(?:de|da|di|der|van|von|del|la)\s+)*{_ONE_NAME})*")
_SENTENCE_END = re.compile(r"(?<=[^\W_]{3})[.!?]\s+(?=[A-ZÀ-Þ])")
_NAMESAKES = frozenset({("john", "adams"), ("george", "bush"), ("johann", "bach"), ("johann", "strauss")})
"""Given and family names of several famous persons, who are distinguished only by their middle names."""
_MOST_NAMES, _LONGEST = 6, 400


def same_person(reference: str, candidate: str) -> bool:
    """Return whether two names may be one person's: family name only, initials, a title, an additional middle name.

    A missing middle name or an additional initial may mean another person.
    """
    ours, theirs = _names_of(reference), _names_of(candidate)
    ours, theirs = _split_initials(ours, theirs), _split_initials(theirs, ours)
    # George V is not George VI, whose number would pass for an initial.
    if len(ours) < 2 or not theirs or not folded(ours[-1]) & folded(theirs[-1]):
        return False
    if len(theirs) == 1:
        return len(theirs[0]) > 2
    if len(theirs) > len(ours) and min(map(len, (*ours, *theirs))) > 1:
        middle = theirs[1:-1]
        known = (ours[0].casefold(), ours[-1].casefold()) in _NAMESAKES
        theirs = [theirs[0], *(name for name in middle if name in ours), theirs[-1]] if not known else theirs
    return len(ours) == len(theirs) and all(_same_name(one, other) for one, other in zip(ours, theirs, strict=True))


def _same_name(one: str, other: str) -> bool:
    if len(one) == 1 or len(other) == 1:
        return bool({name[:1] for name in folded(one)} & {name[:1] for name in folded(other)})
    return bool(folded(one) & folded(other))


def _names_of(text: str) -> list[str]:
    text = _FAMILY_FIRST.sub(r"\2 \1", spelled(text))
    names = [name for name in _NAME_ENDS.split(text) if name and name.casefold() not in _TITLES]
    capital = all(name[:1].isupper() and name.replace("'", "").isalpha() for name in names)
    return names if capital and len(names) <= _MOST_NAMES else []


def _split_initials(names: list[str], others: list[str]) -> list[str]:
    initials = sum(len(name) == 1 for name in others)
    together = len(names) > 1 and 1 < len(names[0]) == initials and names[0].isupper()
    return [*names[0], *names[1:]] if together else names


def tells_person(sentence: str, person: str) -> bool:
    """Return whether a sentence identifies a person as the answer: "It was painted by PERSON in 1937."."""
    said = _SENTENCE_END.split(spelled(sentence))[-1]
    if len(said) > _LONGEST or _PERSONS.open.search(said):
        return False
    told = [run[0] for run in _NAME.finditer(said) if _PERSONS.tells.search(said[: run.start()])]
    return len(told) == 1 and same_person(person, told[0].rstrip("."))
