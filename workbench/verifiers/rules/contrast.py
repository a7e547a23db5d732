"""Answers that name an option and those it is not: "C, not A", "C rather than B", "选C而不是A"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from workbench.verifiers.rules.spelling import tidy

_NOT = r"""(?i:
    (?:\b(?:and|but|is|are|was|were|it['’]s)\s+)*(?:\b(?:certainly|definitely|clearly)\s+)?(?:\b(?:not|never|neither)\b|n['’]t\b)
  | \b(?:rather|other)\s+than\b | \bdifferent\s+from\b | \b(?:instead|in\s+place|in\s+lieu)\s+of\b
  | \b(?:as\s+opposed|in\s+contrast|contrary)\s+to\b | \bunlike\b | \bover\b
  | \b(?:und\s+)?nicht\b | \b(?:an)?statt\b
  | \b(?:et|e|y)\s+(?:non?|não|pas)\b | \bn(?:on|ão)\b | \bpas\b | \bplutôt\s+que\b
  | \bau\s+lieu\s+de\b | [,(]\s*no\b | \ben\s+(?:vez|lugar)\s+de\b | \b(?:а\s+)?не\b | \bвместо\b
  | 而?(?:并?不(?:是|选|为)|并?非)
)"""
_AND = r"(?:\s*[,/、，]?\s*(?i:\b(?:and|or|nor|und|oder|et|ou|y|o|e|и|или)\b|[和或与及、])?\s*)"
_BEFORE_LABEL = r"\s*(?i:(?:the\s+)?(?:options?|choices?|answers?|letters?|statements?)\s+|选项|la\s+|le\s+)?"
_WRONG = r"""(?i:\s*(?:
    (?:is|are|was|were|ist|sind|est|sont|es|son)(?:\s+(?:all|both|clearly|simply|obviously))?\s+
      (?:wrong|incorrect|false|out|ruled\s+out|eliminated|excluded|impossible|invalid|falsch|faux|fausses?|falsas?|incorrectas?)\b
  | (?:is|are|was|were|do|does|can)(?:n['’]t|\s*not)\b(?:\s+be)?(?:\s+(?:correct|right|true|valid|fit|work|possible)\b)?
  | (?:ist|sind)\s+(?:es\s+)?nicht\b(?:\s+richtig\b)? | no\s+es\s+correcta\b
  | 都?(?:是错误?的|错误?|不对|不正确)
))"""
_CONTRASTS = re.compile(
    r"\b(?:not|never|neither|rather|other|different|instead|in\s+place|lieu|opposed|contrast|contrary|unlike|over|wrong|incorrect|false|out"
    r"|eliminated|excluded|impossible|invalid|because|since|while|whereas|between|is\s+an?|nicht|(?:an)?statt|falsch|weil|non?|não|pas|plutôt|vez|lugar"
    r"|faux|fausses?|falsas?|incorrectas?|не|вместо)\b|n['’]t\b|不|非|错|因为",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"[\s,;:.，；。]*(?:\b(?:but|so|hence|therefore|it['’]s|it\s+is|it|is|sondern|mais|sino|pero)\b\s*"
    r"|而是|而|但是?)*",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:[\s,;:.，；。—–-]|\b(?:and|but|while|whereas|because|since|as|for|both|weil|y|et)\b"
    r"|因为|而)*\Z"
)
_A_LETTER = re.compile(r"(?<=[^.!?:]\s)A(?![\w'’])")
_LONGEST = 300


def contrasts(text: str) -> bool:
    """Whether a text may set what it means against what it does not, or say why."""
    return len(text) > 1 and _CONTRASTS.search(text[:_LONGEST]) is not None


def holds_label(text: str, wanted: Collection[str]) -> bool:
    """Whether a text has all of some labels in it, each by itself."""
    return all(re.search(rf"(?<![A-Za-z]){re.escape(label)}(?![A-Za-z])", text) for label in wanted)


def names_another(text: str, wanted: Collection[str], options: Mapping[str, str]) -> bool:
    """Whether a sentence has an A in it that may be an option's letter as well as a word: "I prefer A to B"."""
    if "A" not in options or "A" in wanted or not _A_LETTER.search(text):
        return False
    return not any(_A_LETTER.search(f"is {option}") for option in options.values())


def without_rejected(text: str, labels: tuple[str, ...]) -> str:
    """An answer without the option letters it rejects; the answer itself where it rejects none or names no other.

    Args:
        text: A final answer.
        labels: The labels of the question's options.
    """
    if len(text) > _LONGEST or not labels or not contrasts(text):
        return text
    rejected, label = _patterns(labels)
    plain = tidy(text.replace("**", ""))
    rest = rejected.sub(" ", plain)
    if rest == plain or not label.search(rest):
        return text
    return _TRAILING.sub("", _LEADING.sub("", rest, count=1)).strip()


@lru_cache(maxsize=64)
def _patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What rejects such labels, and one of them."""
    label = rf"[(\[]?(?<![^\W_\u3040-\u9fff])(?:{'|'.join(map(re.escape, labels))})(?![A-Za-z0-9'’])[)\]]?"
    several = rf"{label}(?:{_AND}{_BEFORE_LABEL}{label})*"
    rejects = rf"\s*[(（]?{_NOT}{_BEFORE_LABEL}(?i:either\s+|any\s+of\s+)?{several}(?:\s*[)）])?"
    is_wrong = rf"(?i:\b(?:both|options?|choices?|answers?)\s+)?{several}{_WRONG}"
    return re.compile(f"{rejects}|{is_wrong}", re.VERBOSE), re.compile(label)
