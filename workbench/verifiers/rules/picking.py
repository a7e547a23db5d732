"""Whether a value picked out of a phrase is what the phrase means: not so of the 24 in "half of 24"."""

from __future__ import annotations

import re

from workbench.verifiers.rules.alike import asked_words
from workbench.verifiers.rules.phrases import is_prose
from workbench.verifiers.rules.qualifiers import (
    changed_by_signs,
    changed_by_words,
    changing,
    leading_words,
    unknown_words,
    words,
)
from workbench.verifiers.rules.spelling import plain, tidy
from workbench.verifiers.rules.units import unit

_MACRO = re.compile(r"\\(?!text|math|left|right|mbox|quad|qquad|boxed|displaystyle|%|\$)[A-Za-z]+")
_NEXT_WORD = re.compile(r"[\s$*)}\]\\\"”]{0,6}([^\W\d_]+)")
_CONGRUENT = re.compile(r"(?:\\equiv|≡)\s*\Z")
_MODULO = re.compile(r"\s*\(?\s*\\?(?:pmod|bmod|mod)\b")
_CURRENCY = re.compile(r"[$€£¥₹¢₽₩]")
_NEAR = 3
_SUBJECT = re.compile(r"\b(?:is|are|was|were|equals|be)\b|[:：=]")
_CONNECTING_WORDS = """
    in on at of for per and each is are was left total altogether a an the to so which that because
"""
_CONNECTING = frozenset(_CONNECTING_WORDS.split())


def means_value(phrase: str, value: str, reference: str, question: str) -> bool:
    """Whether a phrase means no more and no less than the value picked out of it.

    Args:
        phrase: The whole answer.
        value: The part of it that is compared.
        reference: The reference's answer; its words change nothing.
        question: The question; its words are known ones.
    """
    phrase, value = tidy(phrase), tidy(value)
    at = phrase.rfind(value)
    if at < 0:
        return False
    before, behind = phrase[:at], phrase[at + len(value) :]
    meant = {*words(reference), *asked_words(question)}
    if changed_by_signs(before.rstrip(" $*"), behind) or changed_by_words(before, behind, meant):
        return False
    if _CONGRUENT.search(before) and _MODULO.match(behind):
        return True
    if changing(leading_words(value), meant) or _CURRENCY.search(before[-_NEAR:] + behind[:_NEAR]):
        return False
    noun = _NEXT_WORD.match(behind)
    if noun is not None and words(reference) and _is_other(noun[1], reference):
        return False
    if is_prose(phrase):
        return True
    rest = f"{before} {behind}"
    if changing(rest, meant) or _MACRO.search(rest):
        return False
    rest = f"{_SUBJECT.split(before)[-1]} {behind}"
    known = [*words(question), *words(reference), *([] if question.isascii() else [question])]
    return not [word for word in unknown_words(rest, known) if unit(plain(word)) is None]


def _is_other(noun: str, reference: str) -> bool:
    """Whether the word behind a value is another one than those of the reference."""
    noun = noun.casefold()
    return noun not in _CONNECTING and bool(unknown_words(noun, words(reference)))
