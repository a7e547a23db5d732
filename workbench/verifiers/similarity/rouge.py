"""ROUGE-L (Lin 2004): F1 of the longest common subsequence of words, as rouge-score computes it."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from workbench.verifiers.similarity.verifier import Similarity, TooLongError, installed

MAX_PAIRS = 1_500_000
"""Maximum product of the numbers of words of both sides: the size of the subsequence's table (about 0.3 s)."""


class RougeL(Similarity):
    """ROUGE-L without stemming.

    The library's words are runs of a–z and 0–9 after lower-casing: signs, including the minus, and other scripts
    are ignored, so ``-4`` and ``4`` are equal, and a text without such a word scores 0.
    """

    description: ClassVar[str] = "Similarity: correct if ROUGE-L F1 (rouge-score) reaches a threshold"
    preload: ClassVar[tuple[str, ...]] = ("rouge_score.rouge_scorer",)
    name: str = "rouge-l"
    version: str = f"{installed('rouge-score')}+2"

    def score(self, reference: str, candidate: str) -> float:
        words = _tokenizer().tokenize
        if len(words(reference)) * len(words(candidate)) > MAX_PAIRS:
            raise TooLongError("the texts have too many words for ROUGE-L")
        return float(_scorer().score(reference, candidate)["rougeL"].fmeasure)


@cache
def _tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=False)


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_tokenizer())
