"""Answers that look alike: another currency, another thing counted, upper case that matters, a name that goes on."""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.verifiers.rules.qualifiers import changing, changing_behind, denying, stem, unknown_words, words
from workbench.verifiers.rules.quantities import quantity
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.units import unit
from workbench.verifiers.rules.words import spelled

_CURRENCIES = {
    "USD": r"(?:US)?\\\$|\bUSD\b|\bdollars?\b|\bbucks\b|美元|\bDollar\b",
    "cent": r"\bcents?\b|¢|\\cent\b|美分",
    "EUR": r"€|\\euro\b|\\texteuro\b|\bEUR\b|\beuros?\b|欧元",
    "GBP": r"£|\\pounds\b|\bGBP\b|\bpounds?\b|\bsterling\b|英镑",
    "pence": r"\bpence\b|\bpenny\b|\bpennies\b",
    "yen": r"¥|￥|\bJPY\b|\byens?\b|\bCNY\b|\bRMB\b|\byuan\b|元|円",
    "INR": r"₹|\bINR\b|\brupees?\b|\bRs\b",
    "CHF": r"\bCHF\b|\bfrancs?\b|\bFranken\b",
    "RUB": r"₽|\bRUB\b|\br(?:o?u)bles?\b|руб",
    "KRW": r"₩|\bKRW\b|\bwon\b",
    "krona": r"\bkr\b|\bSEK\b|\bNOK\b|\bDKK\b|\bkron[aeo]r?\b",
    "peso": r"\bpesos?\b|\bMXN\b",
}
_CURRENCY = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CURRENCIES.items()}
_SIGNS = re.compile(
    r"[$€£¥￥₹₽₩¢元円]|(?<![a-z])(?:dollar|cent|eur|pound|pence|penn|yen|yuan|rupee|rs|usd|gbp|jpy|cny|rmb|inr|chf|franc|franken"
    r"|rub|roub|krw|won|kr|sek|nok|dkk|peso|mxn|buck|sterling|\\pounds|\\euro)",
    re.IGNORECASE,
)
_DOLLAR = re.compile(r"(?<!\\)\$(?=\s?[-+]?[\d.])|(?<=\d)\s?\\?\$\s*\Z")
_HOW_MANY = re.compile(
    r"\bhow\s+many\s+(.{2,60}?)(?=[?.,;]|\s(?:are|is|were|was|does|do|did|can|could|will|would|has|have|had|in|on|at|for|that|which|who|must|should|there)\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_SYMBOLS = re.compile(
    r"\b(?:formulae?|symbols?|element|compound|molecule|ions?|abbreviat\w+|acronym|initials|code|notation)\b",
    re.IGNORECASE,
)
_STATES = frozenset({"yes", "no", "true", "false"})
_SHORT = 3
_SHORT_SYMBOL = 4
_FEW = 2
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_OF_TIME = re.compile(r"\b(?:minutes?|hours?|seconds?|time|how\s+long|when)\b", re.IGNORECASE)
_COUNTS_WORDS = "pair pairs times digit digits percent square half third dozen dozens score couple factor"
_COUNTS = re.compile(rf"\b(?:{'|'.join(_COUNTS_WORDS.split())})\b")
_TOKEN = re.compile(r"[^\W_]+")
_GOES_ON = re.compile(
    r"[\s*_\"”’`]*(?:['’]s\b|(?:[,–—/;:-]|\((?=[A-Z]?[a-z]{2})|in\b|of\b|at\b|near\b|and\b|&|de\b|von\b)?\s*[\"“]?"
    r"(?P<name>[A-ZÄÖÜÉ][\w.'’-]+|[一-鿿]{2,}|Jr|Sr|jr|II+|IV|the\s+(?:younger|elder|great|first|second|third)))",
)
_ADVERB_WORDS = "at each per top ish apiece or and if is on off from in to"
_ADVERBS = frozenset(_ADVERB_WORDS.split())
_ATTACHED = re.compile(r"\d[A-Za-z]{2}")
_NO_UNITS_WORDS = "in a as at is and or so by per d b u t m s h c"
_NO_UNITS = frozenset(_NO_UNITS_WORDS.split())
_TAIL = 1_500


def currencies(text: str, set_in_math: bool = True) -> set[str]:
    """The currencies a text names; a lone ``$`` before a number is one, a pair of them marks math."""
    if not _SIGNS.search(text):
        return set()
    found = {name for name, pattern in _CURRENCY.items() if pattern.search(text)}
    bare = text.replace("\\$", "")
    if _DOLLAR.search(bare) and (bare.count("$") % 2 or not set_in_math):
        found.add("USD")
    return found


def other_currency(reference: str, answer: str, question: TypedQuestion, rule: str) -> bool:
    """Whether an answer is in another currency than the reference, or than the question where that names none."""
    theirs = currencies(answer)
    if not theirs or rule == "quantity.convert":
        return False
    ours = currencies(reference) or currencies(question.text[-_TAIL:])
    return bool(ours) and not theirs & ours if not currencies(reference) else theirs != currencies(reference)


def other_things(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Whether an answer counts other things than the reference or the question: girls instead of boys."""
    theirs = quantity(tidy(answer))
    if theirs is None:
        return False
    ours = quantity(tidy(reference))
    if ours is not None and ours.unit is not None and theirs.unit is not None:
        # "8 m" may be minutes as well as metres.
        about = {ours.name: theirs.name, theirs.name: ours.name}
        return "m" in about and about["m"][:3] == "min" and _OF_TIME.search(question.text) is None
    if theirs.name.startswith("per ") and "per" not in words(question.text[-_TAIL:]):
        return ours is None or ours.unit is None
    if not theirs.word:
        return False
    if changing(theirs.word, {*words(reference), *asked_words(question.text)}) or changing_behind(theirs.word):
        return True
    if theirs.word.split()[0] in _ADVERBS.difference(words(question.text[-_TAIL:])) or _ATTACHED.search(tidy(answer)):
        return True
    if ours is not None and (ours.word or ours.unit):
        return ours.word != theirs.word
    return question.type in (None, "A") and counts_other(theirs.word, question.text)


def other_units(reference: str, answer: str, noun: str, question: TypedQuestion) -> bool:
    """Whether the word behind a box makes other things of the number in it: ``\\boxed{8}`` km for 8 m."""
    first = noun.split()[0]
    if quantity(tidy(answer)) is None or (unknown_words(first, ()) == [] and unit(first) is None):
        return False
    ours, theirs = quantity(tidy(reference)), quantity(f"{tidy(answer)} {first}")
    if ours is None or theirs is None or first.casefold() in _NO_UNITS:
        return False
    if ours.unit is not None and theirs.unit is not None:
        return ours.unit != theirs.unit
    if theirs.unit is not None:
        return not question.may_be_in(theirs.unit)
    return bool(theirs.word) and ours.unit is None and not ours.word and counts_other(first, question.text)


def counts_other(noun: str, question: str) -> bool:
    """Whether a noun behind a number is not what the question asks to count."""
    asked = _HOW_MANY.findall(question[-_TAIL:])
    if not asked or not noun.isascii():
        return False
    stems = {stem(word) for word in words(asked[-1])}
    if any(stem(word) in stems for word in words(noun)):
        return False
    named = {stem(word) for word in words(question[-_TAIL:])}
    return any(stem(word) in named for word in unknown_words(noun, ()))


@lru_cache(maxsize=8)
def asked_words(question: str) -> frozenset[str]:
    """The words that change nothing in an answer: of what "how many" asks for ("more minutes"), else of counting."""
    tail = question[-_TAIL:].lower()
    if "how many" in tail and (asked := _HOW_MANY.findall(tail)):
        return frozenset(words(asked[-1]))
    return frozenset(_COUNTS.findall(tail))


def other_case(reference: str, answer: str, question: TypedQuestion, rule: str) -> bool:
    """Whether two texts differ in upper case where that tells symbols apart: CO and Co, NO and No, MW and mW."""
    ours, theirs = spelled(reference), spelled(answer)
    if ours == theirs or len(ours) > _LONGEST:
        return False
    if rule.startswith("state"):
        return len(ours) <= _SHORT and not ours.islower() and _SYMBOLS.search(question.text[-_TAIL:]) is not None
    if ours.casefold() not in theirs.casefold() or len(words(ours)) > _FEW:
        return False
    asked = _SYMBOLS.search(question.text[-_TAIL:]) is not None
    given = set(_TOKEN.findall(theirs))
    alike = {token.casefold(): token for token in given}
    return any(
        _is_symbol(token, alike[token.casefold()], asked)
        for token in _TOKEN.findall(ours)
        if token not in given and token.casefold() in alike
    )


def _is_symbol(one: str, other: str, asked: bool) -> bool:
    """Whether upper case tells two spellings apart: they are short, or have capitals inside as NaCl has."""
    if one.casefold() in _STATES or one.casefold() in ("am", "pm"):
        return asked
    inner = _INNER_CAPITAL.search(one) is not None or _INNER_CAPITAL.search(other) is not None
    return len(one) <= _SHORT - (not asked) or inner or (asked and len(one) <= _SHORT_SYMBOL)


_LONGEST = 200


def goes_on(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Whether an answer that holds the reference's text makes another name of it: "Paris, Texas", "Ann's brother"."""
    ours, theirs = spelled(reference), spelled(answer)
    at = theirs.casefold().rfind(ours.casefold())
    if at < 0 or not ours:
        return False
    before, behind = theirs[:at], theirs[at + len(ours) :]
    found = _GOES_ON.match(behind)
    if found is not None:
        name = found["name"]
        return name is None or name.casefold() not in question.text.casefold()
    return denying(behind.split(".")[0][:_NEAR], words(reference)) or denying(before[-_NEAR:], words(reference))


_NEAR = 40
