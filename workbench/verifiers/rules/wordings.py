"""Answers that are words: terms, states, options, texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.choices import has_contrast, holds_label, names_another
from workbench.verifiers.rules.conclusions import value_in
from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.equality import DIFFERENT, Doubt, Equality, by_value
from workbench.verifiers.rules.records import (
    AnswerText,
    Brackets,
    ChosenOptions,
    Huge,
    Part,
    State,
    Term,
    Text,
    Value,
    ValueType,
)
from workbench.verifiers.rules.restating import completes
from workbench.verifiers.rules.sense import change_marks, explained_by, qualifiers_of_phrase, word_count
from workbench.verifiers.rules.states import term
from workbench.verifiers.rules.strings import contains, extends_name, leads_sentence, other_case, same_wording
from workbench.verifiers.rules.terms import same_words_of, tells_person

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_VALUE = re.compile(r"[\d\\^=]")
_IN_BRACKETS = re.compile(r"\((?:[Oo]ption\s+)?([A-Z])\)")


def _read_term(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = term(source.text)
    return None if found is None else Term(found)


def _compare_choices(one: Part[ChosenOptions], other: Part[ChosenOptions], with_: Comparison) -> Equality | None:
    ours, theirs = one.value, other.value
    if ours.by_letter and theirs.by_letter:
        return Equality(ours.labels == theirs.labels, "choice.letter")
    if not ours.labels or not theirs.labels:
        labels = ours.labels | theirs.labels
        if with_.question.options and has_contrast(other.text) and holds_label(other.text, labels):
            raise Doubt("semantic")
        return Equality(False, "choice.none")
    if not theirs.by_letter:
        options, in_brackets = with_.question.options, _IN_BRACKETS.findall(other.text)
        left_open = ours.labels < theirs.labels and has_contrast(other.text)
        if left_open or (
            ours.labels == theirs.labels
            and (names_another(other.text, ours.labels, options) or not ours.labels.issuperset(in_brackets))
        ):
            # Only the meaning of a sentence decides which of its letters it chooses.
            raise Doubt("semantic")
    return Equality(ours.labels == theirs.labels, "choice.text")


def _compare_choice_and_other(one: Part[ChosenOptions], other: Part[Any], with_: Comparison) -> Equality | None:
    if (chosen := with_.reader.chosen(other.text)) is not None:
        return _compare_choices(one, Part(other.text, chosen), with_)
    return Equality(False, "choice.none") if with_.question.options else DIFFERENT


def _compare_states(one: Part[State], other: Part[State], with_: Comparison) -> Equality | None:
    rule = "state." + "-".join(one.value.states).replace(" ", "_")
    return Equality(one.value.state == other.value.state, rule)


def _doubt_state_and_other(one: Part[State], other: Part[Any], with_: Comparison) -> Equality | None:
    raise Doubt("witness_in_box" if with_.boxed else "semantic")


def _compare_texts(one: Part[Text], other: Part[Any], with_: Comparison) -> Equality | None:
    question = with_.question
    reference, candidate = (other, one) if with_.turned else (one, other)
    if rule := same_words_of(reference.text, candidate.text, question):
        if other_case(one.text, other.text, question):
            raise Doubt("alike")
        return Equality(True, rule)
    if not with_.boxed and _is_contained(reference.text, candidate.text, with_):
        if extends_name(reference.text, candidate.text, question) or other_case(
            reference.text, candidate.text, question
        ):
            raise Doubt("alike")
        return Equality(True, "text.contained")
    short, phrase = sorted((one, other), key=lambda part: len(part.text))
    value = value_in(phrase.text) if with_.boxed and word_count(phrase.text) else None
    if value and value != phrase.text and same_wording(short.text, value):
        if with_.unexplained(qualifiers_of_phrase(phrase.text, value), short):
            raise Doubt("qualified")
        return Equality(True, "text.contained")
    texts = [part.value for part in (one, other) if isinstance(part.value, Text)]
    in_words = word_count(one.text) and word_count(other.text)
    if any(text.prose for text in texts) or (question.subtype == "D2" and len(texts) == 2 and in_words):
        raise Doubt("semantic")
    return DIFFERENT


def _is_contained(reference: str, answer: str, with_: Comparison) -> bool:
    if change_marks(answer[: max(answer.find(reference), 0)]) - explained_by(with_.question.text):
        return False
    if word_count(reference) and leads_sentence(answer, reference):
        return True
    if with_.question.type not in (None, "D") or _VALUE.search(reference):
        return False
    if with_.question.asks_who and tells_person(answer, reference):
        return True
    return contains(answer, reference) or completes(with_.question.text, answer, reference)


def _reject_huge(one: Part[Huge], other: Part[Any], with_: Comparison) -> Equality | None:
    raise TooComplex("an answer that takes too much work to read")


HUGE = ValueType(None, {(Huge, object): _reject_huge})
TERM = ValueType(_read_term, {(Term, Term): by_value("state.term")}, of_a_name=True)
STATE = ValueType(None, {(State, State): _compare_states, (State, object): _doubt_state_and_other})
OPTIONS = ValueType(
    None, {(ChosenOptions, ChosenOptions): _compare_choices, (ChosenOptions, object): _compare_choice_and_other}
)
BRACKETS = ValueType(None, {(Brackets, Brackets): by_value("brackets.closing")})
TEXT = ValueType(None, {(Text, object): _compare_texts})
