"""What makes `rules` doubt that two equal answers are the same: it abstains rather than call such a completion correct.

A comparer looks at two short texts. Whether the completion means what its short text says is asked here, once, of every
verdict "correct": is the answer denied, is it part of a larger formula or phrase, is it solved, is it the same thing?
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.equations import same_expression
from workbench.verifiers.rules.evaluate import features
from workbench.verifiers.rules.phrases import is_prose
from workbench.verifiers.rules.qualifiers import (
    changed_by_words,
    changing,
    denying,
    leading_words,
    unknown_words,
    words,
)
from workbench.verifiers.rules.quantities import quantity
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.statements import statements
from workbench.verifiers.rules.structure import is_name, split_list
from workbench.verifiers.rules.surroundings import Surroundings, changed, denied, surroundings, taken_back
from workbench.verifiers.rules.tokens import NotUnderstood
from workbench.verifiers.rules.units import split
from workbench.verifiers.rules.words import names_place

# -- Whether an answer is worked out: solved for the unknown, and no equation or function of the question said
# again.


_RELATION = re.compile(r"\\(?:leqslant|geqslant|leq?|geq?|neq?|lt|gt|approx|simeq)(?![A-Za-z])|[=<>≤≥≠≈]+")
_MACRO = re.compile(r"\\(?:text\w*|mathrm|mbox)\s*\{[^{}]*\}|\\[A-Za-z]+")
_OPERATOR = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|angle|triangle|overline|vec|binom|det|max|min|Pr|operatorname)|∠|∫|[∑∏]"
)
_APPLICATION = re.compile(r"(?<![A-Za-z\\])([A-Za-z])'*\s*(?:\^\s*\{?-1\}?)?\s*\(([^()]*)\)")
_WORD = re.compile(r"(?<![A-Za-z])(?=[A-Za-z]{0,20}[aeiouAEIOU])[A-Za-z][a-z]{2,}")
_LETTER = re.compile(r"[A-Za-z]")
_MATH = re.compile(r"\$\$?([^$]{1,200})\$\$?|\\[(\[](.{1,200}?)\\[)\]]", re.DOTALL)
_PLAIN_EQUATION = re.compile(r"[\w+*/^().\- ]{1,60}(?:=|<|>|≤|≥)[\w+*/^().\- ]{1,60}")
_CURVE = re.compile(
    r"\bequations?\s+(?:of|for|that|which|describ\w+|represent\w*|in\b)|\b(?:line|circle|planes?|parabola|ellipse|hyperbola|curve|locus|tangent"
    r"|asymptote|directrix|sphere|trajectory|laws?|equation|relation(?:ship)?\s+between|differential\s+equation|constraint|boundary)\b",
    re.IGNORECASE,
)
_SOLVE = re.compile(
    r"\bsolve\b|\bin\s+terms\s+of\b|\bexpress\b|\bisolate\b|\bsubject\b|\brearrange|\bsolutions?\b|\broots?\b|\bvalues?\s+of\b|\bfor\s+which\b"
    r"|\bslope-intercept|\bstandard\s+form|\bexplicit",
    re.IGNORECASE,
)
_APPROXIMATE = re.compile(r"^\s*(?:\\approx|≈|\\simeq|=|:)\s*")
_CONSTANT = re.compile(r"(?<![A-Za-z])[eij](?![A-Za-z])")
_PRODUCT = re.compile(r"\s*[a-z]{2,}\s*=")
_INDEX = re.compile(r"_\w+|\d+")
_CONSTANTS = frozenset({"i", "e", "π", "j"})
_READ = 1_500
_MOST_EQUATIONS = 12


def restates(reference: str, candidate: str, question: str) -> bool:
    """Whether an answer is an equation that is not solved, where the reference's is: ``4x = 24`` for ``x = 6``.

    One that the reference does not solve either must not be the question's own. An equation of a line or another
    curve may be written in any form, unless the question states it itself.
    """
    ours, theirs = _APPROXIMATE.sub("", tidy(reference)), _APPROXIMATE.sub("", tidy(candidate)).replace("$", "")
    if not _RELATION.search(theirs) or theirs.startswith(("{", "\\{")):
        return False
    if not all(_is_solved(part) for part in split_list(ours)):
        return _compact(theirs) != _compact(ours) and any(
            _compact(theirs) in (_compact(text), _turned(_compact(text))) for text in _equations(question)
        )
    solved = all(_is_solved(part) for part in split_list(theirs))
    if solved and _same_names(ours, theirs):
        return "|" in theirs and any(_compact(text) == _compact(theirs) for text in _equations(question))
    tail = question[-_READ:]
    if _SOLVE.search(tail) or not _CURVE.search(tail):
        return True
    return any(_equivalent(text, theirs) for text in _equations(question))


def unworked(reference: str, candidate: str, question: str) -> bool:
    """Whether an answer still holds an unknown, or a function of the question, that the reference is free of."""
    ours, theirs = tidy(reference), tidy(candidate)
    if not all(_is_solved(part) for part in split_list(_APPROXIMATE.sub("", ours))) or _PRODUCT.match(ours):
        return False
    ours, theirs = _bare_value(ours), _bare_value(theirs)
    for letter, argument in _APPLICATION.findall(theirs):
        if len(argument) < _LONG_ARGUMENT and _applies(letter, question) and not _applies(letter, ours):
            return True
    if not _LETTER.search(_MACRO.sub(" ", theirs)):
        return False
    known, left = _unknowns(ours), _unknowns(theirs)
    return known is not None and left is not None and not known and bool(left)


_LONG_ARGUMENT = 30


def _bare_value(text: str) -> str:
    value = _value(text)
    measured = split(value)
    return measured[0] if measured else value


def _applies(letter: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z\\]){letter}'*\s*(?:\\left)?\(", text) is not None


def _unknowns(text: str) -> set[str] | None:
    try:
        found = statements(text)
    except (NotUnderstood, TooComplex):
        return None
    trees = [tree for statement in found for part in statement.parts for tree in part]
    return set(features(*trees).names) - _CONSTANTS if trees else None


def _is_solved(text: str) -> bool:
    """Whether a text is no relation, or relates a name to what is free of it."""
    parts = [part.strip(" &") for part in _RELATION.split(text)]
    if len(parts) < 2 or not all(parts):
        return len(parts) < 2
    for part in parts:
        others = [other for other in parts if other is not part]
        name = part if "=" in text else part.strip("|")
        if is_name(name) and not any(_mentions(other, name) for other in others):
            return True
    return not any(map(_has_unknown, parts)) or ("=" in text and _is_described(parts[0]))


def _same_names(ours: str, theirs: str) -> bool:
    """Whether two solved answers name the same, or one of them names a function or nothing."""
    one, other = _names(ours), _names(theirs)
    if not one or not other or one == other or any("(" in name for name in one | other):
        return True
    return {_INDEX.sub("", name) for name in one} == {_INDEX.sub("", name) for name in other}


def _names(text: str) -> set[str]:
    found = set()
    for part in split_list(text):
        sides = [side.strip() for side in _RELATION.split(part)]
        found |= {_compact(side) for side in sides if len(sides) > 1 and is_name(side)}
    return found


def _value(text: str) -> str:
    """What stands behind the last equals sign, or before it where only a name follows."""
    head, sign, tail = text.rpartition("=")
    turned = sign and is_name(tail.strip()) and not is_name(head.strip())
    return head if turned else tail if sign else text


def _mentions(text: str, name: str) -> bool:
    name = _compact(name)
    if name[:1] == "(":
        return any(_mentions(text, letter) for letter in _LETTER.findall(name))
    name = name.partition("(")[0]
    if name.startswith("\\"):
        return name in text
    rest = _compact(_MACRO.sub(" ", text))
    return name in rest


def _has_unknown(text: str) -> bool:
    """Whether letters stand in an expression, other than in words and in names of functions and figures."""
    if _OPERATOR.search(text) or quantity(text) is not None:
        return False
    rest = _CONSTANT.sub(" ", _WORD.sub(" ", _APPLICATION.sub(" ", _MACRO.sub(" ", text))))
    return _LETTER.search(rest) is not None


def _is_described(text: str) -> bool:
    """Whether a side of an equation names a quantity in words, as a sum or integral, or as a function's value."""
    named = _WORD.search(_MACRO.sub(" ", text)) or "\\text" in text or _OPERATOR.search(text)
    return named is not None or (_APPLICATION.search(text) is not None and not _has_unknown(text))


def _equations(question: str) -> Iterator[str]:
    """The relations a question states."""
    tail = question[-_READ:]
    found = [math[1] or math[2] for math in _MATH.finditer(tail)]
    rest = _MATH.sub(" ", tail)
    found += [_WORD.sub(" ", plain[0]).strip(" .") for plain in _PLAIN_EQUATION.finditer(rest)]
    texts = dict.fromkeys(part.strip() for text in found for part in split_list(tidy(text)))
    yield from [text for text in texts if _RELATION.search(text)][:_MOST_EQUATIONS]


def _equivalent(text: str, answer: str) -> bool:
    try:
        return _compact(text) == _compact(answer) or same_expression(text, answer) is True
    except TooComplex:
        return False


def _compact(text: str) -> str:
    return re.sub(r"[\s{}]|\\[,;:! ]|\\left|\\right", "", text)


def _turned(text: str) -> str:
    head, _, tail = text.partition("=")
    return f"{tail}={head}"


# -- Forms of a value that are not it: a place in an order, a rough figure, what has no value, an interval for a
# point.


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
_PRIMED_NUMBER = re.compile(r"\A[^'′\"″]*\d\s?['′\"″]\Z")
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
        _ROUGH_BEFORE.search(before) or _PRIMED_NUMBER.search(answer)
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
