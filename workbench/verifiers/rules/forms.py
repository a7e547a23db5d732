"""Forms of a value that are not it: a place in an order, a rough figure, what has no value, an interval for a point."""

from __future__ import annotations

import re

from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.words import names_place

_TAIL = 1_500
_ENDINGS = r"st|nd|rd|th|er|re|ère|e|ème|eme|ième|ieme|ste|de|:[ae]|[.]?[ºª]|[.]º|-?(?:я|й|е|го|ая|ый|ой|ое|ий|ья)"
_PLACE = re.compile(
    rf"""\d\s?(?:\^\s?)?\{{?\s?(?:{_ENDINGS})\}}?(?![^\W_]|\s?[\^_(])(?<!\d\se)
    | 第\s?\{{?\d | \d\s?(?:番目|番|번째|位目|[号號]) | [№\#]\s?\d
    | \b(?:rank|place|position|nr\.?|no\.|n[º°]|platz|rang|stelle|puesto|lugar|place)\s?\d
    | \d\.\s(?:Stelle|Platz|Rang|Tag|Etage|Stock|Mal|Jahr|Monat|Person|Glied|Zeile|Spalte)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MAY_BE_PLACE = re.compile(r"[A-Za-zºª№#\u0400-\u04ff\u3000-\u9fff\uac00-\ud7af]")
_ASKS_PLACE = re.compile(
    r"\b(?:which|what|whose)\s+(?:\w+\s+){0,2}?(?:days?|date|places?|positions?|ranks?|terms?|floors?|rows?|columns?|centur(?:y|ies)|years?"
    r"|grades?|percentiles?|steps?|rounds?|levels?|storeys?|power|digits?|attempts?)\b|\d(?:st|nd|rd|th)\b|\bordinal\b|第|\bwhen\b",
    re.IGNORECASE,
)
_ROUGH_WORDS = (
    r"about|around|approximately|approx\.?|roughly|circa|ca?\.|some|environ|etwa|ungefähr|rund|zirka|unos|unas|cerca\s+d[ei]"
    r"|aproximadamente|approximativement|около|примерно|приблизительно"
)
_ROUGH = re.compile(
    rf"""(?:\A|\b(?:is|are|be|of|=|est|ist|son|es)|=|[:：是为有])[\s$({{*]*
    (?: [~∼〜～≈≃≅≒] | \\(?:approx(?:eq)?|sim(?:eq)?|thickapprox|cong|doteq)(?![A-Za-z])
      | (?:{_ROUGH_WORDS})\b\.? | [约約]|大约|大概|差不多|およそ|약 )
    [\s$({{*]*\\?\$?[-−]?\d
    | \d[^\w.]{{0,3}}(?:\(?(?:approx|roughly|circa|ungefähr|environ)
      | or\s+thereabouts|左右|上下|くらい|ほど|쯤|give\s+or\s+take)""",
    re.IGNORECASE | re.VERBOSE,
)
_ROUGH_BEFORE = re.compile(
    rf"(?:(?:\A|[\s(])(?:{_ROUGH_WORDS})|(?<!\S)~|∼|\\sim|[约約]|大约|大概|差不多|およそ|약)[\s$*{{]*\Z", re.IGNORECASE
)
_MAY_BE_ROUGH = re.compile(r"[~∼〜～≈≃≅≒约約大差약]|\\[acdst]|[a-zа-я]{3}|c\.|およそ|左|上", re.IGNORECASE)
_ASKS_ROUGHLY = re.compile(
    r"approx|\babout\s+how|estimat|\bround|nearest|roughly|decimal|significant|≈|\\approx|[约約估]|近似|ungefähr|environ|\bclos(?:e|est)\b",
    re.IGNORECASE,
)
_PRIMED = re.compile(r"\A[^'′\"″]*\d\s?['′\"″]\Z")
_WHOLE = re.compile(r"[-−]?\d{1,3}(?:(?:,|\{,\}|\\,)?\d{3})*")
_INFINITE = re.compile(r"\\infty|∞|\binfinity\b")
_NO_VALUE = re.compile(
    r"""(?:∞|\\infty(?![A-Za-z]))\s*\}?\s*(?:[-+−*/^·×÷\d]|\\(?:cdot|times|div|frac)(?![A-Za-z]))
    | (?:[\d)}*/^·×÷]|\\(?:cdot|times|div)(?![A-Za-z]))\s*\{?\s*(?:∞|\\infty(?![A-Za-z]))
    | \bdivided\s+by\s+(?:0|zero)\b | /\s?\(?0(?![\d.]) | \\[dt]?frac\s*(?:\{[^{}]{0,40}\}|\w)\s*\{\s*0\s*\}
    | (?<![\d.])0\s?\^\s?\{?\s?0(?![\d.])""",
    re.VERBOSE,
)
_PAIR = re.compile(r"\(([^()\[\]]*)[,;]([^()\[\]]*)\)")
_BRACKETED = re.compile(r"[\[\]]([^()\[\]]*)[,;]([^()\[\]]*)[)\[\]]|\(([^()\[\]]*)[,;]([^()\[\]]*)\]")
_VECTOR = re.compile(r"\bvectors?\b|\bmatri|\bcomponents?\b", re.IGNORECASE)


def is_place(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Whether an answer is an ordinal where the reference is a number: 24th for 24, 第24, twenty-fourth."""
    said = tidy(answer)
    if not _MAY_BE_PLACE.search(said) or not (_PLACE.search(said) or names_place(said)):
        return False
    ours = tidy(reference)
    return not (_PLACE.search(ours) or names_place(ours) or _ASKS_PLACE.search(question.text[-_TAIL:]))


def is_rough(reference: str, answer: str, before: str, question: TypedQuestion) -> bool:
    """Whether an answer only comes near a whole number: "~24", "about 24", "24左右"; the question asks for no rounding.

    Args:
        reference: The reference's answer.
        answer: The completion's.
        before: What stands before it in its sentence.
        question: The question.
    """
    if not _WHOLE.fullmatch(reference.strip(" $")):
        return False
    rough = (_MAY_BE_ROUGH.search(answer) and (_ROUGH.search(answer) or _ROUGH.search(tidy(answer)))) or (
        _ROUGH_BEFORE.search(before) or _PRIMED.search(answer)
    )
    return bool(rough) and not _ASKS_ROUGHLY.search(question.text[-_TAIL:])


def has_no_value(reference: str, answer: str) -> bool:
    """Whether an answer calculates with infinity or divides by zero, the reference not: ``0 \\cdot \\infty``."""
    if _NO_VALUE.search(answer) and not _NO_VALUE.search(reference):
        return True
    return _INFINITE.search(answer) is not None and not _INFINITE.search(reference)


def is_interval(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Whether brackets make an interval of what the reference has as a point: ``[-2, 2]`` for ``(-2, 2)``."""
    if not question.points or _VECTOR.search(question.text[-_TAIL:]):
        return False
    ours, theirs = tidy(reference), tidy(answer)
    return bool(
        (_PAIR.fullmatch(ours) and _BRACKETED.fullmatch(theirs))
        or (_BRACKETED.fullmatch(ours) and _PAIR.fullmatch(theirs))
    )
