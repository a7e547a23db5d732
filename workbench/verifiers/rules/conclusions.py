"""A text's conclusion: its last sentence, the value it states, and whether it states no other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.verifiers.rules.numbers import NUMBER_RUN, NUMBER_WORDS, ORDINALS
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import STATES, TOWARDS, is_prose, word_count, words
from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.structure import is_name
from workbench.verifiers.rules.units import unit

_DATA = Lexicon("conclusions")
GIVES_NUMBER = _DATA.gives_number
_SUBJECT = re.compile(r"\A[^=<>≤≥$\\]{0,60}\b(?:is|are|equals|becomes)\s+(?:given\s+by\s+)?")
_OTHER_MEANINGS = frozenset({"one", *ORDINALS})
"""Words of numbers that are usually no values in a sentence."""
_CUT = re.compile(r"\s*[,;(（，；]|\s+")
_OPEN_END = re.compile(r"(?:[-+−*/·×^=<>≤≥]|\s(?:in|of|at|per|to|for|by|from|and|or))\Z")
_MOST_CUTS, _MOST_VERBS = 12, 3
_NEAR = 15
_MAX_COMPLEMENT_CHARACTERS = 160
_MATH = re.compile(r"\$\$?([^$]{1,200})\$\$?|\\\(((?:(?!\\\)).){1,200})\\\)")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』]{1,120})[”\"」』]|\*\*([^*]{1,120})\*\*|`([^`]{1,120})`")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9À-ɏ.,/^_{\\-])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?\s?(?:%|\\%|°)?(?![A-Za-z0-9_À-ɏ/^])"
)
_NEXT_WORD = re.compile(r"\s?([A-Za-zµΩ°/^23]{1,20})")
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_LAST_WORD = re.compile(rf"(?<=[^\W\d_] )(?:(?:{'|'.join(NUMBER_WORDS)}) )*\S+\Z")
_SHARE = re.compile(
    rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)})(?:\s+\w+)?[\s-]+(?:in|out\s+of)[\s-]+(?:every\s+)?\Z", re.IGNORECASE
)
"""The text before the whole in a share: "one in three", "2 chances out of 7"."""
_STEP = re.compile(r"[^,;:]*[=≈⇒→][^,;:]*")


def sentences(text: str) -> list[str]:
    return [part for part in _DATA.sentence_end.split(text.strip()) if part.strip(" »”’")] or [text]


def last_step(formula: str) -> str:
    """Return the right side of an aligned formula's last row if that continues the row before."""
    found = _DATA.last_row.fullmatch(formula)
    return formula if found is None else found[1]


def conclusion_of(sentence: str) -> str:
    """Return a sentence's conclusion: the text after its last "so" or "hence"."""
    return _DATA.therefore.split(sentence)[-1]


def conclusion(text: str) -> str | None:
    """Return a worked solution's last statement: ``y = 3x - 1`` of "The slope is 3, so its equation is y = 3x - 1."."""
    *before, last = sentences(text)
    *working, told = _DATA.concludes.split(last)
    if not (before or working) or not word_count(text):
        return None
    told = _SUBJECT.sub("", told).strip(" .")
    head, joined, tail = told.rpartition(" and ")
    if joined and "=" in tail and "=" in head and not is_name(head.partition("=")[0].strip(" $")):
        told = tail
    return None if is_prose(told) or not told else told


def without_means(clause: str) -> str:
    """Return a clause without an initial reason or means: "Because …,", "Using …,"."""
    return _DATA.means.sub("", clause)


def main_clause(sentence: str) -> str:
    return _DATA.said_again.sub("", _DATA.reason.sub("", without_means(conclusion_of(sentence))))


def value_in(sentence: str, counted: str | None = None) -> str | None:
    return next(values_in(sentence, counted), None)


def values_in(sentence: str, counted: str | None = None, known: str = "") -> Iterator[str]:
    """Yield texts that may be the value a sentence gives, the most certain one first.

    They are its only formula, its only quotation, the complement of its last verb, or its only number.

    Args:
        sentence: A sentence or phrase.
        counted: The noun that the question counts; the number next to this noun comes first.
        known: The question, whose numbers don't count if there is another.
    """
    if counted and is_prose(sentence):
        beside = rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s+(?:\w+\s+)?{re.escape(counted)}\b"
        found = re.findall(beside, sentence, re.IGNORECASE)
        if len(found) == 1:
            yield str(found[0])
    formulas = [found[1] or found[2] for found in _MATH.finditer(sentence)]
    if len(formulas) == 1 and GIVES_NUMBER.search(_MATH.split(sentence)[-1]) is None:
        yield formulas[0].strip()
        return
    quotations = [found[1] or found[2] or found[3] for found in _QUOTED.finditer(sentence)]
    if len(quotations) == 1 and not formulas:
        yield quotations[0].strip()
        return
    if _DATA.uncertain.search(sentence):
        return
    yield from _complements(main_clause(sentence).strip(" .。"))
    shortened = _DATA.remark.sub("", sentence)
    numbers = list(_NUMBER.finditer(shortened)) or [
        run for run in NUMBER_RUN.finditer(shortened) if not _OTHER_MEANINGS.intersection(words(run[0]))
    ]
    given = set(FIGURE.findall(known))
    new = [number for number in numbers if not given.issuperset(FIGURE.findall(number[0]))]
    if len(new if len(numbers) > 1 else numbers) == 1 and not formulas:
        yield _with_unit(shortened, (new or numbers)[0])


def _complements(clause: str) -> Iterator[str]:
    """Yield the complement of each verb of a clause, the last verb first, then the text after "to" etc., then all of
    it.

    The last result is the word the clause ends with: "the formula Fe2O3".
    """
    verbs = [found.end() for found in STATES.finditer(clause)][-_MOST_VERBS:]
    towards = [found.end() for found in TOWARDS.finditer(clause) if not _joins_numbers(clause, found)][-_MOST_VERBS:]
    for end in [*reversed(verbs), *reversed(towards), 0]:
        if len(clause) - end <= _MAX_COMPLEMENT_CHARACTERS:
            yield clause[end:]
    if (last := _LAST_WORD.search(clause)) is not None:
        yield last[0]
    if (copula := _DATA.copula_last.fullmatch(clause)) is not None:
        yield copula[1]


def beginnings(phrase: str) -> Iterator[str]:
    """Yield a phrase's beginnings, without its last words, the longest first."""
    cuts = [cut.start() for cut in _CUT.finditer(phrase)][:_MOST_CUTS]
    yield from (phrase[:cut] for cut in reversed(cuts) if cut and not _OPEN_END.search(phrase, 0, cut))


def _joins_numbers(clause: str, towards: re.Match[str]) -> bool:
    """Return whether a word before a number may only join it to an earlier one: "divide 84 by 2", "add 3 to 4"."""
    return FIGURE.match(clause, towards.end()) is not None and FIGURE.search(clause, 0, towards.start()) is not None


def gives_another_number(sentence: str, value: str, known: str) -> bool:
    """Return whether the clause that gives a value contains another number, which is neither a step to the value nor
    part of the known text.

    Args:
        sentence: The sentence.
        value: The value.
        known: Text that may be repeated: the question.
    """
    clause = main_clause(sentence)
    before, _, behind = clause.rpartition(value)
    figures = {*FIGURE.findall(_STEP.sub(" ", before)), *FIGURE.findall(behind)}.difference(FIGURE.findall(value))
    numbered = NUMBER_WORDS.intersection(words(behind)) - {"a", "an", "one"}
    return bool(
        _SHARE.search(before)
        or (figures and not figures.issubset(FIGURE.findall(known)))
        or (numbered and not numbered.issubset(words(known)))
    )


def text_after(sentence: str, value: str) -> str:
    return main_clause(sentence).rpartition(value)[2]


def gives_another_name(sentence: str, name: str) -> bool:
    before, _, behind = main_clause(sentence).strip(" .。!").rpartition(name)
    earlier = list(STATES.finditer(before))[:-1]
    return bool(behind) or any(not FIGURE.search(before, one.end(), one.end() + _NEAR) for one in earlier)


def measured_numbers(sentence: str) -> list[str]:
    """Return the numbers of a sentence that have a unit, with it."""
    found = ((number[0], _with_unit(sentence, number)) for number in _NUMBER.finditer(sentence))
    return [told for number, told in found if told != number.strip()]


def _with_unit(sentence: str, number: re.Match[str]) -> str:
    word = _NEXT_WORD.match(sentence, number.end())
    known = word is not None and unit(plain(word[1])) is not None
    return sentence[number.start() : word.end() if word and known else number.end()].strip()
