"""BLEU (Papineni et al. 2002) and chrF (Popović 2015) as sacrebleu computes them for one sentence."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from workbench.verifiers.similarity.verifier import Similarity, installed

_VERSION = f"{installed('sacrebleu')}+2"


class Bleu(Similarity):
    """Sentence BLEU: the ``13a`` tokens, exponential smoothing, and orders no longer than the completion."""

    description: ClassVar[str] = "Similarity: correct if sentence BLEU (sacrebleu) reaches a threshold"
    preload: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    name: str = "bleu"
    version: str = _VERSION

    def score(self, reference: str, candidate: str) -> float:
        return float(_bleu().sentence_score(candidate, [reference]).score) / 100


class ChrF(Similarity):
    """Sentence chrF: character n-grams up to six without spaces, recall counted twice."""

    description: ClassVar[str] = "Similarity: correct if sentence chrF (sacrebleu) reaches a threshold"
    preload: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    name: str = "chrf"
    version: str = _VERSION

    def score(self, reference: str, candidate: str) -> float:
        return float(_chrf().sentence_score(candidate, [reference]).score) / 100


@cache
def _bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


@cache
def _chrf() -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()
