"""A judge's confidence in its verdict: the probability of Yes among the likely tokens at the verdict's position.

Source: Zhang et al., "Generative Verifiers: Reward Modeling as Next-Token Prediction" (arXiv 2408.15240): the score is
P(Yes) / (P(Yes) + P(No)), each the sum over its spellings.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import TokenChoice
from workbench.verifiers.judges.parsers.base import JUDGMENT, MARKUP

WORDS: Final[dict[str, tuple[str, str]]] = {
    "verifybench": ("yes", "no"),
    "codejudge": ("yes", "no"),
    "xverify": ("correct", "incorrect"),
    "compassverifier": ("a", "b"),
}
"""Name of a parser -> the words of its verdicts "correct" and "incorrect"."""
NO_LOGPROBS: Final = "no_logprobs"
"""The reason of an abstention if the server reported no probabilities for the verdict."""
_LABEL = re.compile(JUDGMENT, re.IGNORECASE)
_BLANKS = " \r\n\tĠ▁"
_AROUND = MARKUP + "\"'“”‘’«»\r\nĠ▁"


def probability(tokens: Sequence[TokenChoice], said: str, words: tuple[str, str], *, correct: bool) -> float | None:
    """Return the probability of a verdict "correct" against "incorrect", or None if the tokens don't determine it.

    Args:
        tokens: The reply's tokens, each with the likeliest at its position.
        said: The reply without reasoning.
        words: The words of the two verdicts.
        correct: The parser's verdict; the probability is that at the place where the reply states it.
    """
    text = "".join(token.text for token in tokens)
    start = text.rfind(said.strip())
    place = _verdict_position(text, max(start, 0), words, correct=correct) if start >= 0 and said.strip() else None
    if place is None:
        return None
    ends = list(accumulate(len(token.text) for token in tokens))
    return word_probability(tokens[bisect_right(ends, place)], words)


def word_probability(token: TokenChoice, words: tuple[str, ...]) -> float | None:
    """Return the probability of the first word against the second at a token's position, or of a single word.

    A word's probability is the sum over its spellings: with surrounding blanks and quotes, in capitals, or begun by the
    token. Spellings that are not reported count as 0.

    Returns:
        None if neither word is among the likeliest tokens, whose probabilities alone are reported.
    """
    sums = [0.0] * len(words)
    for alternative, logprob in token.likeliest:
        if (side := _word_index(alternative, words)) is not None:
            sums[side] += math.exp(min(logprob, 0.0))
    if not any(sums):
        return None
    return sums[0] / sum(sums) if len(words) > 1 else min(sums[0], 1.0)


def _verdict_position(text: str, start: int, words: tuple[str, str], *, correct: bool) -> int | None:
    said = re.compile(rf"(?<![^\W_])(?:({words[0]})|{words[1]})(?![^\W_])", re.IGNORECASE)
    labels = [found.end() for found in _LABEL.finditer(text, start)]
    if labels:
        found = said.search(text, labels[-1])
        return found.start() if found and bool(found[1]) == correct else None
    places = [found for found in said.finditer(text, start) if bool(found[1]) == correct]
    leading = [found for found in places if not text[start : found.start()].strip(_AROUND)]
    return (leading or places)[-1].start() if places else None


def _word_index(token: str, words: tuple[str, ...]) -> int | None:
    # A word may be a mark itself, such as "-".
    if (whole := token.strip(_BLANKS).lower()) in words:
        return words.index(whole)
    bare = token.strip(_AROUND).lower()
    begun = [side for side, word in enumerate(words) if bare and word.startswith(bare)]
    return begun[0] if len(begun) == 1 else None


def by_score(verdict: Verdict, threshold: float | None = None) -> Verdict:
    if verdict.outcome not in (Outcome.CORRECT, Outcome.INCORRECT):
        return verdict
    if verdict.score is None:
        return structs.replace(verdict, outcome=Outcome.ABSTAIN, reason=NO_LOGPROBS)
    if threshold is None:
        return verdict
    return structs.replace(verdict, outcome=Outcome.CORRECT if verdict.score >= threshold else Outcome.INCORRECT)
