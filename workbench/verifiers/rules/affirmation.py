"""Yes-or-no questions answered with their own statement: "Does the owl fly?", "The owl does not fly."."""

from __future__ import annotations

import re

from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.states import Vocabulary

_ASKED = re.compile(
    r"(?:^|[.,;:\\n]\s*|\bwhether\s+|\bif\s+)(?:does|do|did|is|are|was|were|can|could|will|would|has|have)\s+([^?.\n]{3,200})\?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9]+")
_NEGATED = re.compile(r"\b(?:not|never|no longer|cannot)\b|n['’]t\b")
_LITTLE = re.compile(
    "the|an?|to|of|in|on|at|for|that|its?|there|any|some|going|does|do|did|is|are|was|were|been?|can|could|will|would"
    "|has|have|had|not|never|cannot|so|therefore|thus|hence|t|doesn|don|didn|isn|aren|wasn|weren"
)
_READ = 1_500
_SHORT = 40
_LEAST = 8


def affirmed(question: str, sentence: str, vocabulary: Vocabulary) -> str | None:
    """The state a sentence stands for that affirms or denies just what the question asks; None for any other."""
    found = _ASKED.findall(question[-_READ:])
    if not found or "yes" not in vocabulary or "no" not in vocabulary:
        return None
    asked, said = found[-1].lower(), tidy(sentence[:400]).lower()
    if len(_content(asked)) < _LEAST or _content(asked) != _content(said):
        return None
    affirmed = _is_negated(asked) == _is_negated(said)
    return vocabulary["yes" if affirmed else "no"]


def completes(question: str, sentence: str, answer: str) -> bool:
    """Whether a sentence is the question's own words with a short answer put in: "Who sang?", "Ann sang."."""
    said, wanted = tidy(sentence[:400]).lower(), tidy(answer).lower()
    at = re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", said)
    if at is None or not 1 < len(wanted) <= _SHORT or _is_negated(said):
        return False
    asked = {_stem(word) for word in _WORD.findall(question[-_READ:].lower())}
    rest = _WORD.findall(said[: at.start()] + " " + said[at.end() :])
    return bool(rest) and all(_LITTLE.fullmatch(word) or _stem(word) in asked for word in rest)


def _stem(word: str) -> str:
    return word.removesuffix("ed").rstrip("s").removesuffix("e")


def _content(text: str) -> str:
    """The words that carry the meaning, without their endings and run together: "gad wall" is "gadwall"."""
    return "".join(_stem(word) for word in _WORD.findall(text) if not _LITTLE.fullmatch(word))


def _is_negated(text: str) -> bool:
    return len(_NEGATED.findall(text)) % 2 == 1
