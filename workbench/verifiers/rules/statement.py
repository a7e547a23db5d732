"""Yes-or-no questions answered with their own statement: "Does the owl fly?", "The owl does not fly."."""

from __future__ import annotations

import re

from workbench.verifiers.rules.states import Vocabulary
from workbench.verifiers.rules.structure import tidy

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
_LEAST = 8


def answered(question: str, sentence: str, vocabulary: Vocabulary) -> str | None:
    """The state a sentence stands for that affirms or denies just what the question asks; None for any other."""
    found = _ASKED.findall(question[-_READ:])
    if not found or "yes" not in vocabulary or "no" not in vocabulary:
        return None
    asked, said = found[-1].lower(), tidy(sentence[:400]).lower()
    if len(_content(asked)) < _LEAST or _content(asked) != _content(said):
        return None
    affirmed = _is_negated(asked) == _is_negated(said)
    return vocabulary["yes" if affirmed else "no"]


def _content(text: str) -> str:
    """The words that carry the meaning, without their endings and run together: "gad wall" is "gadwall"."""
    return "".join(word.rstrip("s").removesuffix("e") for word in _WORD.findall(text) if not _LITTLE.fullmatch(word))


def _is_negated(text: str) -> bool:
    return len(_NEGATED.findall(text)) % 2 == 1
