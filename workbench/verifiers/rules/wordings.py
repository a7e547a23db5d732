"""Answers that are words: terms, states, options, texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.calendar import Moment
from workbench.verifiers.rules.chemistry import Chemical
from workbench.verifiers.rules.choices import VALUE, has_contrast, holds_label, names_another
from workbench.verifiers.rules.conclusions import value_in
from workbench.verifiers.rules.evaluate import features
from workbench.verifiers.rules.nodes import Name
from workbench.verifiers.rules.numbers import NUMBER_WORDS, ORDINALS, PARTS
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.piecewise import Piecewise
from workbench.verifiers.rules.quantities import Quantity, Ratio
from workbench.verifiers.rules.records import (
    DIFFERENT,
    Alternatives,
    AnswerText,
    Brackets,
    ChosenOptions,
    Collection,
    Doubt,
    Equality,
    Expression,
    Huge,
    MatrixValue,
    Part,
    SetBuilder,
    State,
    Term,
    Text,
    Value,
    ValueType,
    by_value,
)
from workbench.verifiers.rules.sense import (
    change_marks,
    directions,
    explained_by,
    has_denial,
    qualifiers_of_phrase,
    stem,
    word_count,
    words,
)
from workbench.verifiers.rules.spelling import TooComplex
from workbench.verifiers.rules.states import completes, term
from workbench.verifiers.rules.strings import (
    contains,
    extends_name,
    folded,
    leads_sentence,
    other_case,
    same_wording,
    same_words_of,
    spelled,
    tells_person,
)

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.question import TypedQuestion
    from workbench.verifiers.rules.reading import AnswerReader

_GLOSSED = re.compile(r"([^\W\d_][^\d()=]*?)\s*\(([^\d()=]{2,})\)")
"""A name and its gloss: "Vitamin C (ascorbic acid)"."""
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
    glossed = _GLOSSED.fullmatch(reference.text)
    name = glossed[1] if glossed and not has_denial(glossed[2]) else reference.text
    if rule := same_words_of(reference.text, candidate.text, question) or same_words_of(name, candidate.text, question):
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
    marks = change_marks(answer[: max(answer.find(reference), 0)])
    if marks and not marks <= explained_by(with_.question.text):
        return False
    if word_count(reference) and leads_sentence(answer, reference):
        return True
    if with_.question.type not in (None, "D") or VALUE.search(reference):
        return False
    subject = _SUBJECT.match(answer) if with_.question.asks_who and word_count(reference) < 4 else None
    is_of_another = (
        subject and subject[1] not in reference and re.search(rf"[a-z,;.] {subject[1]}\b", with_.question.text)
    )
    if is_of_another or (" " not in reference and directions(reference) and not directions(answer)):
        raise Doubt("alike")
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


# -- Whether two answers that no comparer finds equal were understood, so that they differ; else only a judge can tell.


_SUBJECT = re.compile(r"\W*([A-Z]\w+)\s+[a-z]")
_FORMULA_ASIDE = re.compile(r"\s*\((?=[^()]*\d)[^()]*\)")
_NAME = re.compile(r"(?:[^\W\d_]+(?:['’-][^\W\d_]+)*[.,]?(?:\s|\Z)){1,6}")
_ABBREVIATED = re.compile("(?<![A-Za-z])[A-Z]{2,4}(?![A-Za-z])|[\u3040-\u9fff]{5}|[\u2150-\u24ff]|(?<=[a-z] )[IVX]\\Z")
"""A Roman numeral or abbreviation, a sentence in an East Asian script, or a number in one sign: "II", "③"."""
_LABELLED = re.compile(r"\([a-h]\)\s")
_CODE = re.compile(r"[A-Za-z\d][\w.:/-]{0,15}|[!-/:-@\[-`{-~]", re.ASCII)
_SUBSTANCE = re.compile("[a-z]{6}")
_STRING = re.compile(r"[!-#%-\[\]-~]{1,12}")
_LABEL = re.compile("[A-Z]")
_DATA = Lexicon("wordings")
_OF_OPTIONS, _OF_SENTENCES, _ARTICLES, _FOREIGN = (
    _DATA.words(name) for name in ("of_options", "of_sentences", "articles", "foreign")
)
_OF_NUMBERS = NUMBER_WORDS | ORDINALS.keys() | PARTS.keys()
_ONE_STEM = 6
"""Letters of a common beginning from which two words may be forms of one: "converges" and "convergent"."""


def are_understood(ours: Part[Any], theirs: Part[Any], reader: AnswerReader) -> bool:
    """Return whether both answers are values, options or short names that the rules understand, and differ."""
    kinds = {type(ours.value), type(theirs.value)}
    if ChosenOptions in kinds and (reader.question.options or reader.question.type != "D"):
        return _are_other_options(ours, theirs, reader)
    if Brackets in kinds or all(map(_ONLY.fullmatch, (ours.text, theirs.text))):
        return True
    if kinds == {Term, Quantity} and reader.question.counted:
        # No solutions are 0 solutions.
        return False
    if Piecewise in kinds or (Ratio in kinds and isinstance(theirs.value, Quantity) and theirs.value.spelled):
        return False
    if Chemical in kinds and (Quantity in kinds or any(map(_SUBSTANCE.search, (ours.text, theirs.text)))):
        return False
    if isinstance(ours.value, Alternatives):
        return all(are_understood(part, theirs, reader) for part in ours.value.parts)
    if Collection in kinds and Text not in kinds:
        return _are_other_members(ours, theirs, reader.question)
    if kinds == {Moment} or (Expression in kinds and kinds <= {Expression, Quantity}):
        return False
    names = spelled(ours.text), spelled(theirs.text)
    if reader.question.type == "D" and all(map(_STRING.fullmatch, names)):
        return True
    if kinds == {Text} or (Text in kinds and set(words(names[0])) & set(words(names[1]))):
        return _are_other_names(*names, reader.question.ordered)
    return _is_understood(ours) and _is_understood(theirs)


def is_in_another_language(sentence: str, question: str) -> bool:
    """Return whether a sentence is not in the question's language, so that its names may be translations."""
    return len(_FOREIGN.intersection(words(sentence))) > 1 and len(_FOREIGN.intersection(words(question))) < 2


def _is_understood(part: Part[Any]) -> bool:
    value = part.value
    if isinstance(value, Text):
        return _is_name(spelled(part.text)) and _OF_NUMBERS.isdisjoint(words(part.text))
    if isinstance(value, (Collection, MatrixValue)):
        return all(map(_is_understood, value.parts))
    return not isinstance(value, (Huge, SetBuilder)) and not (isinstance(value, Expression) and value.said is None)


def _are_other_members(ours: Part[Any], theirs: Part[Any], question: TypedQuestion) -> bool:
    """Return whether two lists, or a list and a value, have understood members, of which those that differ are of the
    same kinds."""
    members = [part.value.parts if isinstance(part.value, Collection) else (part,) for part in (ours, theirs)]
    parts = [part for side in members for part in side]
    if _LABELLED.match(ours.text) or (
        isinstance(ours.value, Collection) and ours.value.kind == "tuple" and theirs.name
    ):
        # One of several values, each of which has a name or label.
        return False
    if question.of_output and all(_STRING.fullmatch(part.text) for part in parts):
        return True
    if not all(map(_is_understood, parts)):
        return False
    ours_of, theirs_of = map(_variables, members)
    if ours_of - theirs_of and theirs_of - ours_of:
        # Of another parameter: (t, 2 - t) and (2 - s, s).
        return False
    texts = [[spelled(part.text).casefold() for part in parts if isinstance(part.value, Text)] for parts in members]
    if bool(texts[0]) != bool(texts[1]):
        return False
    one, other = (
        set(words(" ".join(text for text in mine if text not in yours))) for mine, yours in (texts, texts[::-1])
    )
    return one.isdisjoint(other)


def _variables(parts: Sequence[Part[Any]]) -> frozenset[str]:
    said = [part.value.said or () for part in parts if isinstance(part.value, Expression)]
    trees = [tree for one in said for statement in one for tree in statement.parts[-1]]
    return features(*(tree for tree in trees if not isinstance(tree, Name))).names


def _are_other_options(ours: Part[Any], theirs: Part[Any], reader: AnswerReader) -> bool:
    """Return whether an answer that chooses no option is of the kind of the chosen one: another name or number."""
    texts = []
    for part in (ours, theirs):
        labels = part.value.labels if isinstance(part.value, ChosenOptions) else ()
        if not labels and (_LABEL.fullmatch(part.text) or not _OF_OPTIONS.isdisjoint(words(part.text))):
            return len(part.text) == 1
        texts.append(reader.question.options.get(min(labels), "") if len(labels) == 1 else part.text)
    one, other = map(reader.part, texts)
    return type(one.value) is type(other.value) and are_understood(one, other, reader)


def _are_other_names(one: str, other: str, ordered: bool) -> bool:
    if _CODE.fullmatch(one) and _CODE.fullmatch(other):
        return True
    if not (_is_name(one) and _is_name(other)) or bool(folded(one)) != bool(folded(other)):
        return False
    ours, theirs = words(one), words(other)
    if _OF_SENTENCES.isdisjoint(ours) != _OF_SENTENCES.isdisjoint(theirs):
        return False
    ours, theirs = _difference(ours, theirs), _difference(theirs, ours)
    if not ours or not theirs:
        return has_denial(" ".join([*ours, *theirs])) or ordered
    is_one_stem = len(ours) == len(theirs) == 1 and ours[0][:_ONE_STEM] == theirs[0][:_ONE_STEM]
    return not is_one_stem or " " not in one


def _difference(ours: list[str], theirs: list[str]) -> list[str]:
    """Return the words of one name that the other lacks, in any form and order."""
    left = Counter(map(stem, theirs))
    left.subtract(map(stem, ours))
    return [word for word in ours if word not in _ARTICLES and left[stem(word)] < 0]


def _is_name(text: str) -> bool:
    text = _FORMULA_ASIDE.sub("", text)
    return _NAME.fullmatch(text) is not None and _ABBREVIATED.search(text) is None


# -- Closing a sequence of brackets (Dyck words).


_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ONLY = re.compile(r"[()\[\]{}<>\s]+")
_INPUT = re.compile(r"[()\[\]{}<>](?:[ \t]*[()\[\]{}<>])+")
_RUN = re.compile(r"(?<![\w/])[()\[\]{}<>](?:\s*[()\[\]{}<>])*(?![\w/])")
_TYPESET = re.compile(r"\\(?=[{}])|\\[lr](?:angle|brace|brack)|[$`\"'.,]|\\(?:text|left|right|,|;)")
_NAMED = {"\\langle": "<", "\\rangle": ">", "\\lbrace": "{", "\\rbrace": "}", "\\lbrack": "[", "\\rbrack": "]"}


def closing_of(text: str, question: str, whole: bool = False) -> str | None:
    """Return the brackets with which an answer closes the question's sequence; None for any other answer.

    Args:
        text: The closing brackets alone, or the whole sequence.
        question: The question with the sequence.
        whole: Whether to return the answer's brackets even if it does not close the sequence.
    """
    if not whole and not (text.strip() and _ONLY.fullmatch(text)):
        return None
    said = _only_brackets(text)
    if whole and not _ONLY.fullmatch(said) and (runs := _RUN.findall(_without_typesetting(text))):
        said = "" if has_denial(text.rpartition(runs[-1][0])[0]) else _only_brackets(runs[-1])
    for found in reversed(_INPUT.findall(question)):
        sequence = _only_brackets(found)
        closed = closing(sequence)
        if closed and said in (closed, sequence + closed):
            return closed
    return said if whole else None


def closing(sequence: str) -> str | None:
    """Return the brackets that close a sequence; None if it can't be closed."""
    expected: list[str] = []
    for bracket in sequence:
        if bracket in _PAIRS:
            expected.append(_PAIRS[bracket])
        elif not expected or expected.pop() != bracket:
            return None
    return "".join(reversed(expected))


def _only_brackets(text: str) -> str:
    return "".join(_without_typesetting(text).split())


def _without_typesetting(text: str) -> str:
    for name, bracket in _NAMED.items():
        text = text.replace(name, bracket)
    return _TYPESET.sub("", text)
