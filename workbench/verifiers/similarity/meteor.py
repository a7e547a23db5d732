"""METEOR (Denkowski and Lavie 2014) by nltk, with exact and stem matches but without synonyms.

nltk looks synonyms up in WordNet, which is a separate download; nothing is downloaded here.
"""

from __future__ import annotations

import re
from typing import ClassVar

from workbench.verifiers.similarity.verifier import Similarity, TooLongError, installed

MAX_WORDS = 20_000
"""Maximum words and signs of both sides together; nltk's alignment is linear in them (about 0.1 s), its stemmer slow.
"""

_WORD = re.compile(r"\w+|[^\w\s]")


class MeteorNoSyn(Similarity):
    """METEOR with nltk's parameters (α 0.9, β 3, γ 0.5) and Porter's stemmer; words are runs of letters and digits.

    The penalty for fragments is nltk's: one equal word scores 0.5, two in a row 0.94.
    """

    description: ClassVar[str] = "Similarity: correct if METEOR (nltk) without synonyms reaches a threshold"
    preload: ClassVar[tuple[str, ...]] = ("nltk.translate.meteor_score",)
    name: str = "meteor-nosyn"
    version: str = f"{installed('nltk')}+2"

    def score(self, reference: str, candidate: str) -> float:
        from nltk.translate.meteor_score import single_meteor_score

        expected, given = _WORD.findall(reference), _WORD.findall(candidate)
        if len(expected) + len(given) > MAX_WORDS:
            raise TooLongError("the texts have too many words for METEOR")
        return float(single_meteor_score(expected, given, wordnet=_NoSynonyms()))


class _NoSynonyms:
    def synsets(self, word: str) -> list[object]:
        return []
