"""Verifiers that compare two final answers as text: fast, and never wrong about what is equal."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from decimal import Decimal

from workbench.core.final_answer import completion_answer, reference_answer, reply_start
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.function import verifier

_Found = tuple[str, tuple[int, int]]
"""An answer and its offsets."""


@verifier("exact", version="1", isolation="inline")
def exact(item: VerifierInput) -> Verdict:
    """Both final answers are the same text."""
    return _compare(item, str.strip)


@verifier("normalized-exact", version="1", isolation="inline")
def normalized_exact(item: VerifierInput) -> Verdict:
    """Both final answers are the same text but for typesetting."""
    return _compare(item, canonical_text)


def _compare(item: VerifierInput, key: Callable[[str], str]) -> Verdict:
    reference, candidate = reference_answer(item.reference, item.subtype), completion_answer(item.completion)
    expected, given = key(reference.text), key(candidate.text)
    return _verdict(
        (reference.text, (reference.start, reference.end)) if expected else None,
        (candidate.text, (candidate.start, candidate.end)) if given else None,
        equal=given == expected,
        reason="text_equal" if given == expected else "text_differs",
    )


def _verdict(reference: _Found | None, candidate: _Found | None, *, equal: bool, reason: str) -> Verdict:
    if reference is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
    if candidate is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=reference[0])
    return Verdict(
        outcome=Outcome.CORRECT if equal else Outcome.INCORRECT,
        reason=reason,
        reference_final=reference[0],
        candidate_final=candidate[0],
        reference_span=reference[1],
        candidate_span=candidate[1],
    )


# -- Two heuristics of evaluation scripts, as simple as they are commonly used, to compare real verifiers with.


_NUMBER = re.compile(r"(?:(?<![\w)\]}])[-−])?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")
_LETTER = re.compile(r"(?<![^\W_])(?<!\\)[A-H](?![^\W_])")
_LETTER_ANSWER = re.compile(r"\(?([A-H])(?:[).:].*)?", re.DOTALL)


@verifier("last-number", version="1", isolation="inline")
def last_number(item: VerifierInput) -> Verdict:
    """Heuristic: the last number of the reply is the last number of the reference.

    As GSM8K is often scored. A number is digits with thousands commas, a decimal part and a sign; it is compared by
    value. Fractions, units, powers of ten and what the number stands for are not looked at.
    """
    expected = _last_match(_NUMBER, item.reference)
    given = _last_match(_NUMBER, item.completion, reply_start(item.completion))
    is_equal = expected is not None and given is not None and _decimal(given[0]) == _decimal(expected[0])
    return _verdict(expected, given, equal=is_equal, reason="number")


@verifier("choice-letter", version="1", isolation="inline")
def choice_letter(item: VerifierInput) -> Verdict:
    """Heuristic: the last stand-alone letter A–H of the reply is the reference's letter.

    The reference's final answer must be one letter, alone or before its option: ``C``, ``(C)``, ``C. 12 cm``. In the
    reply any capital A to H between other signs counts, the article "A" too.
    """
    reference = reference_answer(item.reference, item.subtype)
    expected = _LETTER_ANSWER.fullmatch(canonical_text(reference.text))
    letter = None if expected is None else (expected[1], (reference.start, reference.end))
    given = _last_match(_LETTER, item.completion, reply_start(item.completion))
    is_equal = letter is not None and given is not None and given[0] == letter[0]
    return _verdict(letter, given, equal=is_equal, reason="letter")


def _last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> _Found | None:
    last = deque(pattern.finditer(text, start), maxlen=1)
    return (last[0][0], last[0].span()) if last else None


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", "").replace("−", "-"))


# -- Baselines that any verifier has to beat.


@verifier("always-incorrect", version="1", isolation="inline")
def always_incorrect(_item: VerifierInput) -> Verdict:
    """Baseline: says "incorrect" to everything."""
    return Verdict(outcome=Outcome.INCORRECT)


# -- One spelling for answers that differ only in how they are typeset.


_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_SIZE = re.compile(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_SHORT_FRACTION = re.compile(r"\\frac ?(\d) ?(\d)(?!\d)")
_FONT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname) ?\{((?:[^{}\\]|\\[^A-Za-z])*)\}"
)
_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~|\s+")
_DEGREE = re.compile(r"\^ ?(?:\\circ(?![A-Za-z])|\{ ?\\circ ?\})")
_SINGLE = re.compile(r"([_^]) ?\{ ?(\w) ?\}")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:(?:,|\{,\})\d{3})+(?![\d,])")
_LOOSE_SPACE = re.compile(r"(?<=\W) | (?=\W)|(?<=\d) (?=[^\W\d])")
_WORDS = re.compile(r"(?:[^\W\d_]{3,}|no|No|NO)(?: (?:[^\W\d_]{3,}|no|No|NO))*")
_BRACKETED_LETTER = re.compile(r"\(([A-Z])\)")
_REPLACEMENTS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_SIZE, ""),
    (_FRACTION, r"\\frac"),
    (_FONT, r"\1"),
    (_SPACE, " "),
    (_DEGREE, "°"),
    (_SINGLE, r"\1\2"),
    (_SHORT_FRACTION, r"\\frac{\1}{\2}"),
    (_LOOSE_SPACE, ""),
)


def canonical_text(text: str) -> str:
    r"""Return the answer without typesetting: spaces, math delimiters, ``\left``, ``\text{}``, ``\dfrac``.

    Also thousands commas outside brackets, a trailing full stop, the brackets of an option letter ``(B)``
    and, if every word has at least three letters (or is "no"), upper case. Single letters and short
    names keep their case: ``AB`` is not ``ab``.
    """
    text = _without_delimiters(text.replace("\N{MINUS SIGN}", "-").replace(r"\%", "%"))
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = _without_delimiters(text)
    if not any(bracket in text.replace("{,}", ",") for bracket in "([{"):
        text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    if letter := _BRACKETED_LETTER.fullmatch(text):
        return letter[1]
    return text.casefold() if _WORDS.fullmatch(text) else text


def _without_delimiters(text: str) -> str:
    text = text.strip().removesuffix(".").rstrip()
    for opening, closing in _DELIMITERS:
        inner = text[len(opening) : -len(closing)]
        if text == opening + inner + closing and inner and opening not in inner and closing not in inner:
            return inner.strip().removesuffix(".").rstrip()
    return text
