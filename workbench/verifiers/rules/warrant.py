"""What makes `rules` doubt that two equal answers are the same: it abstains rather than call such a completion correct.

A comparer looks at two short texts. Whether the completion means what its short text says is asked here, once, of every
verdict "correct": is the answer denied, is it part of a larger formula or phrase, is it solved, is it the same thing?
"""

from __future__ import annotations

import re

from workbench.core.final_answer import boxed_spans
from workbench.verifiers.rules.alike import (
    asked_words,
    currencies,
    goes_on,
    other_case,
    other_currency,
    other_things,
    other_units,
)
from workbench.verifiers.rules.answers import Answers, boxes_of
from workbench.verifiers.rules.forms import has_no_value, is_interval, is_place, is_rough
from workbench.verifiers.rules.phrases import is_prose
from workbench.verifiers.rules.qualifiers import (
    changed_by_words,
    changing,
    denying,
    leading_words,
    unknown_words,
    words,
)
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.solved import restates, unworked
from workbench.verifiers.rules.surroundings import Surroundings, changed, denied, surroundings, taken_back

_FIRST_WORDS = re.compile(r"[\s$*\\)}\]~,]{0,8}(?P<sign>\\?[%€£¥₹¢]|\\\$)?\s?(?P<noun>[^\W\d_]+(?:\s[^\W\d_]+)?)?")
_SIGN_BEFORE = re.compile(r"(?:\\\$|[€£¥₹¢]|\b(?:EUR|USD|GBP|CHF)|US\$)[\s$]*\Z")
_ALTERNATIVES_WORDS = """
    or either maybe perhaps possibly probably anything except but other unless might may could guess half partly
    partially almost nearly mostly barely sometimes occasionally seldom rarely only
"""
_ALTERNATIVES = frozenset(_ALTERNATIVES_WORDS.split())
_SIGN_BETWEEN = re.compile(r"[:：=≈$\\]")
_OR_ANOTHER = re.compile(
    r"\bor\b[\s}{\\$]*(?:text\{)?\s*(?:yes|no|not|true|false|(?:dis)?prove[dn]|unknown|(?:in)?valid|none|neither|maybe)\b",
    re.IGNORECASE,
)
_PRIMED = re.compile(r"(?<![A-Za-z'])[A-Z]'")
_PAUSE = re.compile(r"[,.;:!?，。；：]")
_FEW, _SENTENCE = 3, 6
_SAME_TEXT = ("text.exact", "text.canonical", "text.wording")
_SPELT = ("text", "state", "list")
_IN_A_SENTENCE = ("text.contained", "text.words", "text.noun")
_RELATED = (
    "expression",
    "equation",
    "symbolic",
    "number",
    "quantity",
    "list",
    "tuple",
    "interval",
    "degrees",
    "percent",
)
_WORKED_OUT = ("expression", "equation", "symbolic")
_PAIRED = ("tuple", "interval", "list")
_FIGURES = ("text", "number", "quantity", "expression", "symbolic")
_CALCULATED = (*_WORKED_OUT, "number", "quantity", "list", "tuple")
_VALUES = ("text", "number", "quantity", "expression")


def doubt(answers: Answers, completion: str, question: TypedQuestion, rule: str) -> str | None:
    """The reason code of an abstention where a verdict "correct" would be unsure; None where nothing speaks against it.

    Args:
        answers: Both final answers.
        completion: The completion.
        question: The question.
        rule: The rule by which both are equal.
    """
    candidate = answers.candidate
    reference, answer = " ".join(answers.parts), " ".join(boxes_of(candidate))
    around = surroundings(completion, candidate)
    meant = {*words(reference), *asked_words(question.text)}
    if denied(around):
        return "qualified"
    if candidate.how in ("boxed", "math", "bold"):
        if changed(around) or changed_by_words(around.before, around.behind, meant, scaling_only=True):
            return "qualified"
        if _other_outside(reference, answer, around, question, rule):
            return "alike"
    if "\\boxed" in candidate.text and _denied_between(answers):
        return "qualified"
    if rule.startswith("choice"):
        return "qualified" if _left_open(reference, answer, question) else None
    if rule.startswith("state") and (
        _OR_ANOTHER.search(answer) or _ALTERNATIVES.intersection(_opening(answer)).difference(words(reference))
    ):
        return "qualified"
    if rule.startswith("state") and len(words(answer)) <= _FEW and goes_on(reference, answer, question):
        return "alike"
    if rule.startswith(_SPELT) and other_case(reference, answer, question, rule):
        return "alike"
    if rule.startswith(_FIGURES):
        if is_rough(reference, answer, around.left, question):
            return "qualified"
        if is_place(reference, answer, question):
            return "alike"
    if rule in _SAME_TEXT or rule.startswith(("state", "brackets")):
        return None
    if other_currency(reference, answer, question, rule):
        return "alike"
    if rule.startswith("text"):
        if rule not in _IN_A_SENTENCE:
            return None
        if taken_back(reference, answer):
            return "qualified"
        return "alike" if goes_on(reference, answer, question) else None
    return _not_the_value(reference, answer, question, rule)


def _is_unknown(before: str, reference: str, question: str) -> bool:
    """Whether words right before a number, with no colon or equals sign between, say what nobody can tell of it."""
    if _SIGN_BETWEEN.search(before) or currencies(f"{before}1"):
        return False
    return bool(unknown_words(before, [*words(question), *words(reference)])) and before.isascii()


def _denied_between(answers: Answers) -> bool:
    """Whether the text between boxes denies them: ``\\boxed{2}`` but not ``\\boxed{3}``."""
    text = answers.candidate.text
    for start, end in reversed(boxed_spans(text)):
        text = f"{text[:start]} {text[end:]}"
    return denying(text, {*words(answers.reference.text), "or", "boxed", "fbox"})


def _left_open(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Whether an answer denies an option or leaves open which of several it means; what options say does not count."""
    rest = answer.casefold()
    texts = [reference, *question.options.values()]
    for text in sorted((text.casefold().strip(" .") for text in texts), key=len, reverse=True):
        rest = rest.replace(text, " ") if len(text) > _FEW else rest
    known = {word for text in texts for word in words(text)} if len(words(rest)) > _SENTENCE else ()
    return denying(rest, known) or (answer.count("'") % 2 == 1 and _PRIMED.search(answer) is not None)


def _opening(answer: str) -> list[str]:
    """The words of an answer up to the first comma or full stop."""
    return words(_PAUSE.split(answer, maxsplit=1)[0])


def _not_the_value(reference: str, answer: str, question: TypedQuestion, rule: str) -> str | None:
    """What may be wrong with an answer that has the reference's value."""
    kind = rule.partition(".")[0]
    if kind in ("number", "quantity"):
        before = leading_words(answer)
        if not is_prose(answer) and (
            changing(before, words(reference)) or _is_unknown(before, reference, question.text)
        ):
            return "qualified"
        if other_things(reference, answer, question):
            return "alike"
    if kind in _PAIRED and is_interval(reference, answer, question):
        return "alike"
    if kind in _CALCULATED and has_no_value(reference, answer):
        return "unsolved"
    if kind in _RELATED and restates(reference, answer, question.text):
        return "unsolved"
    return "unsolved" if kind in _WORKED_OUT and unworked(reference, answer, question.text) else None


def _other_outside(reference: str, answer: str, around: Surroundings, question: TypedQuestion, rule: str) -> bool:
    """Whether a unit, currency or noun outside a box makes another thing of what is in it: ``€\\boxed{5}``."""
    sign, found = _SIGN_BEFORE.search(around.left), _FIRST_WORDS.match(around.behind)
    behind, noun = (found["sign"] or "", found["noun"] or "") if found else ("", "")
    outside = f"{sign[0] if sign else ''} {answer} {behind} {noun}"
    if currencies(outside) - currencies(answer):
        return other_currency(reference, outside, question, rule)
    return bool(noun) and rule.partition(".")[0] in _VALUES and other_units(reference, answer, noun, question)
