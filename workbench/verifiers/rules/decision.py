"""The verdict on two final answers, by answer type."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.core.final_answer import FinalAnswer, completion_answer
from workbench.verifiers.rules.alike import asked_words
from workbench.verifiers.rules.answers import (
    Answers,
    boxes_of,
    hedged,
    is_told,
    last_boxes,
    listed,
    revised,
    stated_values,
)
from workbench.verifiers.rules.contrast import (
    choice_of,
    contrasts,
    holds_label,
    names_another,
    option_of,
    same_closing,
    same_formula,
    without_rejected,
)
from workbench.verifiers.rules.danger import MAX_CHARACTERS, TooComplex
from workbench.verifiers.rules.envelopes import enveloped, unpacked
from workbench.verifiers.rules.equality import Comparison, Symbolic, undecided
from workbench.verifiers.rules.phrases import VALUE, contains, counted_in, is_prose, leads, sentences, value_in, words
from workbench.verifiers.rules.qualifiers import (
    changed_by_signs,
    changed_by_words,
    changing,
    leading_words,
    unknown_words,
)
from workbench.verifiers.rules.qualifiers import words as qualifiers_in
from workbench.verifiers.rules.question import TypedQuestion, has_label, letters
from workbench.verifiers.rules.spelling import plain, tidy
from workbench.verifiers.rules.states import Vocabulary, state, stated, vocabulary_of
from workbench.verifiers.rules.structure import MOST_PARTS, shape
from workbench.verifiers.rules.surroundings import denied, surroundings
from workbench.verifiers.rules.units import unit
from workbench.verifiers.rules.warrant import doubt
from workbench.verifiers.rules.words import same_noun, same_text, same_wording, same_words, spelled

# -- Whether a value picked out of a phrase is what the phrase means: not so of the 24 in "half of 24".


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
    meant = {*qualifiers_in(reference), *asked_words(question)}
    if changed_by_signs(before.rstrip(" $*"), behind) or changed_by_words(before, behind, meant):
        return False
    if _CONGRUENT.search(before) and _MODULO.match(behind):
        return True
    if changing(leading_words(value), meant) or _CURRENCY.search(before[-_NEAR:] + behind[:_NEAR]):
        return False
    noun = _NEXT_WORD.match(behind)
    if noun is not None and qualifiers_in(reference) and _is_other(noun[1], reference):
        return False
    if is_prose(phrase):
        return True
    rest = f"{before} {behind}"
    if changing(rest, meant) or _MACRO.search(rest):
        return False
    rest = f"{_SUBJECT.split(before)[-1]} {behind}"
    known = [
        *qualifiers_in(question),
        *qualifiers_in(reference),
        *([] if question.isascii() else [question]),
    ]
    return not [word for word in unknown_words(rest, known) if unit(plain(word)) is None]


def _is_other(noun: str, reference: str) -> bool:
    """Whether the word behind a value is another one than those of the reference."""
    noun = noun.casefold()
    return noun not in _CONNECTING and bool(unknown_words(noun, qualifiers_in(reference)))


# -- Yes-or-no questions answered with their own statement: "Does the owl fly?", "The owl does not fly.".


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
_SHORT = 40
_LEAST = 8


def affirmed(question: str, sentence: str, vocabulary: Vocabulary) -> str | None:
    """The state a sentence stands for that affirms or denies just what the question asks; None for any other."""
    found = _ASKED.findall(question[-_READ:])
    if not found or "yes" not in vocabulary or "no" not in vocabulary:
        return None
    asked, said = found[-1].lower(), tidy(sentence[:400]).lower()
    if len(_content(asked)) < _LEAST or _content(asked) != _content(said):
        return None
    affirmed = _is_negated(asked) == _is_negated(said)
    return vocabulary["yes" if affirmed else "no"]


def completes(question: str, sentence: str, answer: str) -> bool:
    """Whether a sentence is the question's own words with a short answer put in: "Who sang?", "Ann sang."."""
    said, wanted = tidy(sentence[:400]).lower(), tidy(answer).lower()
    at = re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", said)
    if at is None or not 1 < len(wanted) <= _SHORT or _is_negated(said):
        return False
    asked = {_stem(word) for word in _WORD.findall(question[-_READ:].lower())}
    rest = _WORD.findall(said[: at.start()] + " " + said[at.end() :])
    return bool(rest) and all(_LITTLE.fullmatch(word) or _stem(word) in asked for word in rest)


def _stem(word: str) -> str:
    return word.removesuffix("ed").rstrip("s").removesuffix("e")


def _content(text: str) -> str:
    """The words that carry the meaning, without their endings and run together: "gad wall" is "gadwall"."""
    return "".join(_stem(word) for word in _WORD.findall(text) if not _LITTLE.fullmatch(word))


def _is_negated(text: str) -> bool:
    return len(_NEGATED.findall(text)) % 2 == 1


_LONG_REFERENCE = 400
_LONGEST_HOLDING = 40
_BY_FORM = ("text.differs", "list", "set", "builder", "choice.none")
_BEGINS_AS_VALUE = re.compile(r"[\s$*({]*(?:\\[(\[]\s*)?[-+−]?[.\d]")
_DECIMALS = re.compile(r"\d+\.\d+ \d+\.\d+")


class Decision(NamedTuple):
    """What the rules say.

    Attributes:
        equal: Whether the candidate is correct; None for an abstention.
        reason: The reason code.
        rule: The rule that fired; None for an abstention.
    """

    equal: bool | None
    reason: str
    rule: str | None = None


def decide(answers: Answers, completion: str, question: TypedQuestion, symbolic: Symbolic) -> Decision:
    """Compare the final answers of an item.

    Args:
        answers: Both final answers.
        completion: The whole completion, where parts of an answer may stand outside its last box.
        question: The question.
        symbolic: See `equality.Symbolic`.
    """
    if not answers.reference.text:
        return Decision(None, "no_reference_answer")
    if not answers.candidate.text:
        return Decision(None, "no_answer_found")
    # Where nothing marks the answer, it is read but not handed to sympy: any text may come to 0 there.
    marked = answers.candidate.how in ("boxed", "cue", "math", "bold")
    comparison = Comparison(question, symbolic if marked else undecided)
    text = unpacked(completion, answers.candidate)
    if contrasts(text) and "\\boxed" not in text and question.options:
        text = without_rejected(text, tuple(question.options))
    if text != answers.candidate.text:
        answers = answers._replace(candidate=answers.candidate._replace(text=text))
    candidate = answers.candidate
    try:
        decision = _compared(answers, completion, comparison, question)
        if decision.equal and (reason := doubt(answers, completion, question, decision.rule or "")):
            return Decision(None, reason)
        if decision.equal and _gives_another(answers, completion, question):
            return Decision(None, "hedged")
    except TooComplex:
        return Decision(None, "too_complex")
    if decision.equal is False and answers.candidate.how == "bold" and denied(surroundings(completion, candidate)):
        return Decision(None, "qualified")
    if decision.equal is False and question.open:
        return Decision(None, "semantic")
    if decision.equal is False and not is_told(answers.candidate, completion):
        return Decision(None, "unmarked")
    return decision


def _gives_another(answers: Answers, completion: str, question: TypedQuestion) -> bool:
    """Whether the text behind a box names something else as the answer: "``\\boxed{2}`` … The answer is 3."."""
    if answers.candidate.how != "boxed" or len(answers.parts) > 1:
        return False
    reference, behind = answers.parts[0], completion[answers.candidate.end :]
    later = enveloped(behind, 0) or completion_answer(behind)
    if later.how != "cue":
        return False
    ours, theirs = (letters(text, question.options) for text in (reference, later.text))
    if ours and theirs:
        return ours != theirs
    return (
        _BEGINS_AS_VALUE.match(later.text) is not None
        and Comparison(question, undecided).same(reference, later.text) is False
    )


def _compared(answers: Answers, completion: str, comparison: Comparison, question: TypedQuestion) -> Decision:
    if len(answers.parts) > 1:
        return _parts(answers, completion, comparison, question)
    if revised(completion, answers.candidate):
        return Decision(None, "hedged")
    decision = _single(answers.parts[0], answers, comparison, question)
    if decision.equal is False and decision.rule in _BY_FORM and _holds(answers, question):
        return Decision(None, "semantic")
    if not decision.equal and answers.candidate.how in ("last_line", "whole", "bold", "math", "cue"):
        return _listed(answers.parts[0], completion, comparison, question) or decision
    return decision


def _holds(answers: Answers, question: TypedQuestion) -> bool:
    """Whether a sentence has the reference's answer in it: what it says of it only its meaning tells."""
    answer, reference = answers.candidate.text, answers.parts[0]
    if answers.candidate.how in ("boxed", "hashes") or not 1 < words(answer) <= _LONGEST_HOLDING:
        return False
    texts = [reference]
    if chosen := letters(reference, question.options):
        texts = [question.options[letter] for letter in chosen if letter in question.options]
    said = spelled(answer).casefold()
    return any(
        (wanted := spelled(text).casefold()) and re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w.]\w)", said)
        for text in texts
    )


def _parts(answers: Answers, completion: str, comparison: Comparison, question: TypedQuestion) -> Decision:
    """A reference of several parts: all of them must be there."""
    wanted, found = answers.parts, boxes_of(answers.candidate)
    if same_text(" ".join(wanted), " ".join(found)):
        return Decision(True, "text_equal", "text.canonical")
    if len(wanted) > MOST_PARTS:
        return Decision(None, "too_complex")
    if len(found) != len(wanted):
        found = last_boxes(completion, len(wanted)) or found
    if len(found) != len(wanted) and len(found) == 1:
        listed = shape(tidy(found[0]))
        found = listed.parts if listed and len(listed.parts) == len(wanted) else found
    if len(found) != len(wanted):
        whole = comparison.same(", ".join(wanted), ", ".join(found))
        if whole:
            return Decision(True, "list", "list.parts")
        if whole is None or not _all_stated(wanted, found, completion, comparison):
            return Decision(None, "multi_part_reference")
        return Decision(True, "list", "list.stated")
    verdicts = [comparison.same(a, b) for a, b in zip(wanted, found, strict=True)]
    if all(verdicts):
        return Decision(True, "list", "list.parts")
    return Decision(False, "list", "list.parts") if False in verdicts else Decision(None, "multi_part_reference")


def _all_stated(wanted: tuple[str, ...], found: tuple[str, ...], completion: str, comparison: Comparison) -> bool:
    """Whether the box gives one part and the reply's end states the others as results."""
    if len(found) != 1:
        return False
    missing = [part for part in wanted if not comparison.same(part, found[0])]
    if len(missing) != len(wanted) - 1:
        return False
    values = list(stated_values(completion))
    return all(any(comparison.same(part, value) for value in values) for part in missing)


def _listed(reference: str, completion: str, comparison: Comparison, question: TypedQuestion) -> Decision | None:
    """A reference with members may be answered by a list, one item a line."""
    items = ", ".join(listed(completion))
    if "," not in items:
        return None
    equal = same_words(reference, items) if question.type in (None, "D") else False
    equal = equal or (shape(tidy(reference)) is not None and comparison.same(reference, items) is True)
    return Decision(True, "list", "list.items") if equal else None


def _single(reference: str, answers: Answers, comparison: Comparison, question: TypedQuestion) -> Decision:
    candidate = answers.candidate
    answer = _one_box(candidate, comparison)
    if rule := same_text(reference, answer):
        return Decision(True, "text_equal", rule)
    if len(answer) > MAX_CHARACTERS:
        return Decision(None, "too_complex")
    sentence = answer if candidate.how == "boxed" else answers.sentence
    return (
        _choice(reference, answer, candidate, comparison, question)
        or _state(reference, answer, sentence, candidate, question)
        or _brackets(reference, answer, question)
        or _formula(reference, answer)
        or _wording(reference, answer, question)
        or _contained(reference, answer, candidate, question)
        or _value(reference, answer, candidate, comparison, question)
        or _words(reference, answer, candidate, question)
    )


def _one_box(candidate: FinalAnswer, comparison: Comparison) -> str:
    """Several boxes on a line that say the same are one answer; else they are a list."""
    boxes = boxes_of(candidate)
    others = dict.fromkeys(boxes[1:])
    if len(others) <= MOST_PARTS and all(comparison.same(boxes[0], box) for box in others):
        return boxes[-1]
    return ", ".join(boxes)


def _choice(
    reference: str, answer: str, candidate: FinalAnswer, comparison: Comparison, question: TypedQuestion
) -> Decision | None:
    if question.type != "C" and not (has_label(reference) or has_label(answer)):
        return None
    expected = letters(reference, question.options)
    if not question.options and (expected is None or question.type not in (None, "C")):
        return None
    if candidate.how != "boxed" and hedged(answer):
        return Decision(None, "hedged")
    given = letters(answer, question.options)
    if expected and given:
        return Decision(given == expected, "letter", "choice.letter")
    wanted = expected or option_of(reference, question.options, comparison.same)
    chosen = given or choice_of(answer, question.options, comparison.same)
    if wanted and chosen:
        left_open = wanted < chosen and contrasts(answer)
        if not given and (left_open or (wanted == chosen and names_another(answer, wanted, question.options))):
            # Which of the letters that a sentence names it chooses, only its meaning tells.
            return Decision(None, "semantic")
        return Decision(chosen == wanted, "option_text", "choice.text")
    if not question.options or not (expected or given):
        return None
    if expected and not given and contrasts(answer) and holds_label(answer, expected):
        return Decision(None, "semantic")
    return Decision(False, "letter", "choice.none")


def _state(
    reference: str, answer: str, sentence: str, candidate: FinalAnswer, question: TypedQuestion
) -> Decision | None:
    vocabulary = vocabulary_of(reference, question.text)
    if vocabulary is None:
        return None
    given = state(answer, vocabulary)
    if given is None:
        if hedged(answer):
            return Decision(None, "hedged")
        given = stated(answer, vocabulary, whole=candidate.how in ("boxed", "cue", "bold"))
        if given is None and candidate.how not in ("cue", "bold"):
            given = stated(sentence, vocabulary)
        given = given or affirmed(question.text, sentence, vocabulary)
    if given is not None:
        expected = stated(reference, vocabulary, whole=True)
        return Decision(given == expected, "state", _state_rule(vocabulary))
    return Decision(None, "witness_in_box" if candidate.how == "boxed" else "semantic")


def _state_rule(vocabulary: Vocabulary) -> str:
    return "state." + "-".join(dict.fromkeys(vocabulary.values())).replace(" ", "_")


def _brackets(reference: str, answer: str, question: TypedQuestion) -> Decision | None:
    equal = same_closing(reference, answer, question.text)
    return None if equal is None else Decision(equal, "brackets", "brackets.closing")


def _formula(reference: str, answer: str) -> Decision | None:
    """Formulas of logic; those that only differ in what they were brought to may not be what the question asks for."""
    equal = same_formula(tidy(reference), tidy(answer))
    if equal is None:
        return None
    return Decision(True, "expression", "expression.logic") if equal else Decision(None, "semantic")


def _wording(reference: str, answer: str, question: TypedQuestion) -> Decision | None:
    """Strings: the same letters; in a list of words the same words, whatever separates them."""
    if same_wording(reference, answer, raised=question.type == "D"):
        return Decision(True, "text_equal", "text.wording")
    if question.type not in (None, "D"):
        return None
    if same_words(reference, answer):
        return Decision(True, "text_equal", "text.words")
    if question.subtype == "D2" and same_noun(reference, answer):
        return Decision(True, "text_equal", "text.noun")
    if question.type == "D" and _DECIMALS.fullmatch(f"{reference} {answer}"):
        # Of strings, 1.10 is not 1.1.
        return Decision(False, "text_differs", "text.differs")
    return None


def _contained(reference: str, answer: str, candidate: FinalAnswer, question: TypedQuestion) -> Decision | None:
    """A word that a sentence gives in so many letters, or begins with before it explains."""
    if candidate.how != "boxed" and words(reference) and leads(answer, reference):
        return Decision(True, "text_equal", "text.contained")
    if candidate.how == "boxed" or question.type not in (None, "D") or VALUE.search(reference):
        return None
    given = contains(answer, reference) or completes(question.text, answer, reference)
    given = given and not hedged(answer)
    return Decision(True, "text_equal", "text.contained") if given else None


def _value(
    reference: str, answer: str, candidate: FinalAnswer, comparison: Comparison, question: TypedQuestion
) -> Decision | None:
    if is_prose(reference):
        value = _value_of(sentences(reference)[-1], question) if question.type in (None, "A") else None
        if value is None or not VALUE.search(value) or not VALUE.search(answer):
            return None
        reference = value
    if is_prose(answer):
        if candidate.how != "boxed" and hedged(answer):
            return Decision(None, "hedged")
        value = _value_of(answer, question)
        if value is None:
            return None
        if not means_value(answer, value, reference, question.text):
            return Decision(None, "qualified")
        if rule := same_text(reference, value):
            return Decision(True, "text_equal", rule)
        answer = value
    found = comparison.compare(reference, answer)
    if found is None and words(answer) and (value := value_in(answer)) is not None and value != answer:
        found = comparison.compare(reference, value)
        if found is not None and not means_value(answer, value, reference, question.text):
            return Decision(None, "qualified")
    if found is not None and found == (True, "expression") and question.restated_by(answer, reference):
        return Decision(False, "expression", "expression.restated")
    return None if found is None else Decision(found.equal, found.reason, found.rule)


def _value_of(sentence: str, question: TypedQuestion) -> str | None:
    """The one value a sentence gives, or how many it gives of what the question asks to count."""
    counted = counted_in(sentence, question.counted) if question.counted else None
    return counted or value_in(sentence)


def _words(reference: str, answer: str, candidate: FinalAnswer, question: TypedQuestion) -> Decision:
    if candidate.how != "boxed" and hedged(answer):
        return Decision(None, "hedged")
    pairs = ((reference, tidy(answer)), (answer, tidy(reference))) if candidate.how == "boxed" else ()
    for whole, other in pairs:
        if same_wording(whole, value := value_in(other) or ""):
            plainly = means_value(other, value, whole, question.text)
            return Decision(True, "text_equal", "text.contained") if plainly else Decision(None, "qualified")
    if question.subtype == "D2" or len(reference) > _LONG_REFERENCE or is_prose(reference):
        return Decision(None, "semantic")
    if is_prose(answer) and words(reference):
        return Decision(None, "semantic")
    return Decision(False, "text_differs", "text.differs")
