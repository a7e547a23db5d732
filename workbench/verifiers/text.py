"""Verifiers that compare two final answers as text: fast, and never wrong about what is equal."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from decimal import Decimal

from workbench.core.final_answer import completion_answer, reference_answer, reply_start
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.function import verifier


@verifier("exact", version="1", isolation="inline")
def exact(item: VerifierInput) -> Verdict:
    """Both final answers are the same text."""
    return _compare(item, str.strip)


@verifier("normalized-exact", version="1", isolation="inline")
def normalized_exact(item: VerifierInput) -> Verdict:
    """Both final answers are the same text but for typesetting."""
    return _compare(item, canonical_text)


def _compare(item: VerifierInput, key: Callable[[str], str]) -> Verdict:
    reference = reference_answer(item.reference, item.subtype)
    expected = key(reference.text)
    if not expected:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
    candidate = completion_answer(item.completion)
    given = key(candidate.text)
    if not given:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=reference.text)
    return Verdict(
        outcome=Outcome.CORRECT if given == expected else Outcome.INCORRECT,
        reason="text_equal" if given == expected else "text_differs",
        reference_final=reference.text,
        candidate_final=candidate.text,
        reference_span=(reference.start, reference.end),
        candidate_span=(candidate.start, candidate.end),
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
    expected = _last(_NUMBER, item.reference)
    if expected is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
    given = _last(_NUMBER, item.completion, reply_start(item.completion))
    if given is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=expected[0])
    return Verdict(
        outcome=Outcome.CORRECT if _value(given[0]) == _value(expected[0]) else Outcome.INCORRECT,
        reason="number",
        reference_final=expected[0],
        candidate_final=given[0],
        reference_span=expected.span(),
        candidate_span=given.span(),
    )


@verifier("choice-letter", version="1", isolation="inline")
def choice_letter(item: VerifierInput) -> Verdict:
    """Heuristic: the last stand-alone letter A–H of the reply is the reference's letter.

    The reference's final answer must be one letter, alone or before its option: ``C``, ``(C)``, ``C. 12 cm``. In the
    reply any capital A to H between other signs counts, the article "A" too.
    """
    reference = reference_answer(item.reference, item.subtype)
    expected = _LETTER_ANSWER.fullmatch(canonical_text(reference.text))
    if expected is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
    given = _last(_LETTER, item.completion, reply_start(item.completion))
    if given is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=expected[1])
    return Verdict(
        outcome=Outcome.CORRECT if given[0] == expected[1] else Outcome.INCORRECT,
        reason="letter",
        reference_final=expected[1],
        candidate_final=given[0],
        reference_span=(reference.start, reference.end),
        candidate_span=given.span(),
    )


def _last(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    last = deque(pattern.finditer(text, start), maxlen=1)
    return last[0] if last else None


def _value(number: str) -> Decimal:
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
    text = _bare(text.replace("\N{MINUS SIGN}", "-").replace(r"\%", "%"))
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = _bare(text)
    if not any(bracket in text.replace("{,}", ",") for bracket in "([{"):
        text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    if letter := _BRACKETED_LETTER.fullmatch(text):
        return letter[1]
    return text.casefold() if _WORDS.fullmatch(text) else text


def _bare(text: str) -> str:
    text = text.strip().removesuffix(".").rstrip()
    for opening, closing in _DELIMITERS:
        inner = text[len(opening) : -len(closing)]
        if text == opening + inner + closing and inner and opening not in inner and closing not in inner:
            return inner.strip().removesuffix(".").rstrip()
    return text
