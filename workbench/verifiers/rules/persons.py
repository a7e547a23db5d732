"""Names of persons: family name only, initials, titles, an additional middle name; and the person a sentence names."""

from __future__ import annotations

import re

from workbench.verifiers.rules.lexicon import Lexicon
from workbench.verifiers.rules.strings import folded, spelled

_DATA = Lexicon("persons")
_TITLES = _DATA.words("titles")
_NAME_ENDS = re.compile(r"[\s.\-]+")
_FAMILY_FIRST = re.compile(r"([^\W\d_][\w'’-]+),\s+([^\W\d_][\w.'’ -]*)")
_ONE_NAME = r"[^\W\d_a-zß-ÿ](?:[^\W\d_]|['’-])*\.?"
_NAME = re.compile(rf"{_ONE_NAME}(?:\s+(?:(?:de|da|di|der|van|von|del|la)\s+)*{_ONE_NAME})*")
_TELLS = _DATA.pattern("tells")
_OPEN = _DATA.pattern("open")
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
    if len(said) > _LONGEST or _OPEN.search(said):
        return False
    told = [run[0] for run in _NAME.finditer(said) if _TELLS.search(said[: run.start()])]
    return len(told) == 1 and same_person(person, told[0].rstrip("."))
