"""The text around an answer in a completion: whether it denies the answer, changes it, or is about another thing."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.core.final_answer import FinalAnswer, last_match, reply_start
from workbench.verifiers.rules.conclusions import conclusion_of, without_means
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.sense import STATES, Around, stem, unknown_words, words
from workbench.verifiers.rules.units import unit

_DATA = Lexicon("surroundings")
_REACH, _REACH_BEFORE = 300, 180
_MACRO = re.compile(r"\\(?:f?boxed|fbox|framebox)\s*\{?\s*\Z")
_MACRO_REACH = 24
_CLOSED = re.compile(r"\s*\}")
_SENTENCE = re.compile(r"(?:[.!?][\"”’')\]]*(?=[\s*])|[。！？；])[\s*_]*")
_OPENERS = re.compile(r"(?:\s|\$|\\[(\[]|\*\*|__|~|\\[,;:! ]|\\(?:displaystyle|text\w*\s*\{)|\{)*\Z")


_OTHERS_REACH = 160

_QUESTIONED = re.compile(r"[\s$*_}\])\\\"'”’]{0,8}(?:\([^()]{0,20}\))?[?？]")
_ASKED = re.compile(r"[^.!。！\n]{0,80}[?？]")

_LETTER_BEHIND = re.compile(r"([A-Za-z])(?![A-Za-z])")
_FACTOR = re.compile(
    r"\A(?:.*[=\s(])?(?:[\d.]+\s*|(?<![A-Za-z\\])[A-Za-z])\Z|[A-Za-z\d]\Z(?<![A-Za-z\\][A-Za-z])", re.DOTALL
)
_MATH_OPENERS = re.compile(
    r"(?:\$\$?|\\[(\[]|\\(?:displaystyle|left)(?![A-Za-z])|\\[,;:! ]|</?[A-Za-z]{1,12}>|[ \n~])*\Z"
)


class Surroundings(NamedTuple):
    """The text around an answer.

    Attributes:
        before: The sentence up to the answer, without box and math delimiters.
        left: Like ``before``, but with the text right before the answer unchanged.
        behind: The reply from the answer's end on, as far as it may still refer to it.
    """

    before: str
    left: str
    behind: str


def surroundings(completion: str, answer: FinalAnswer) -> Surroundings:
    start, end = answer.start, answer.end
    if answer.how == "boxed" and (macro := _MACRO.search(completion, max(start - _MACRO_REACH, 0), start)):
        start = macro.start()
        closed = _CLOSED.match(completion, end)
        end = closed.end() if closed else end
    left = completion[max(reply_start(completion), start - _REACH_BEFORE, 0) : start]
    cuts = [cut.end() for cut in _SENTENCE.finditer(left)]
    left = left[cuts[-1] if cuts else 0 :]
    return Surroundings(_OPENERS.sub("", left), left, completion[end : end + _REACH])


def is_denied(around: Surroundings) -> bool:
    """Return whether the text calls the answer wrong, doubts it, asks for it, or retracts it."""
    return (
        _DATA.left_open.search(around.before) is not None
        or _is_denied_before(around.before)
        or _is_denied_after(around.behind)
        or _is_attributed(around)
    )


def takes_back(answer: str) -> bool:
    """Return whether later sentences withdraw the word that an answer begins with: "B. Sorry, I mean C"."""
    first, *others = _SENTENCE.split(answer)
    return " " not in first.strip() and any(map(_DATA.withdrawn.match, others))


def is_part_of_formula(around: Surroundings) -> bool:
    r"""Return whether the answer is part of a larger formula: ``-\boxed{12}``, ``\boxed{12}+1``."""
    is_factor = _FACTOR.search(around.left.rpartition("$")[2].rpartition("\n")[2]) is not None
    if is_factor or ((letter := _LETTER_BEHIND.match(around.behind)) and unit(letter[1]) is None):
        return True
    left = _MATH_OPENERS.sub("", around.left)
    behind = _DATA.changed_behind.match(around.behind)
    is_remainder = behind is not None and "mod" in behind[0] and left.rstrip().endswith((r"\equiv", "≡"))
    return _DATA.changed_before.search(left) is not None or (behind is not None and not is_remainder)


def _is_denied_before(before: str) -> bool:
    if _DATA.wrong_label.search(before):
        return True
    last = last_match(_DATA.negation, before)
    if last is None:
        return False
    between = before[last.end() :]
    if last["opinion"]:
        return _DATA.clause.search(between) is None
    pause = _DATA.breaks.search(between)
    if pause is not None:
        return _DATA.asserts.search(between, pause.start()) is None
    return _DATA.asserts.search(between) is None or _DATA.of_the_answer.search(between) is not None


def _is_attributed(around: Surroundings) -> bool:
    """Return whether an answer is only attributed to others: "some say 12", or "Ann got 12, but she miscounted"."""
    behind = around.behind[:_OTHERS_REACH]
    if _DATA.said_behind.match(behind):
        return _DATA.errs.search(behind) is not None
    said = last_match(_DATA.said_by, around.before)
    if said is None or _DATA.speaker.search(around.before, 0, said.start()):
        return False
    if _DATA.concludes.search(around.before, said.end()):
        return False
    return _DATA.by_others.search(around.before[: said.start()]) is not None or _DATA.errs.search(behind) is not None


def _is_denied_after(behind: str) -> bool:
    if _QUESTIONED.match(behind) or _DATA.or_else.match(behind) or _DATA.may_be.match(behind):
        return True
    parts = _SENTENCE.split(behind, maxsplit=4)
    first = parts[0].split("\n\n", 1)
    rest = _DATA.because.split(_DATA.aside.sub("", first[0]), maxsplit=1)[0]
    if _DATA.said_false.search(rest) or (_ASKED.match(behind) and len(parts[0]) < _SHORT_QUESTION):
        return True
    return any(_DATA.withdrawn.match(part) for part in [*first[0].split("\n")[1:], *first[1:], *parts[1:]])


_SHORT_QUESTION = 40


# -- Sentences about another thing than their question asks for: the diameter, or the person who was second.


_SUBJECTS = Lexicon("subjects")
_SLOTS: dict[str, set[tuple[int, int]]] = {}
for _kind, _names in enumerate(_SUBJECTS.table("siblings")):
    for _slot, _alike in enumerate(_names.split(",")):
        for _word in _alike.split():
            _SLOTS.setdefault(stem(_word), set()).add((_kind, _slot))
_OPERATION = re.compile(
    r"[\d₀-₉]\s*(?:(?P<sum>\+)|(?P<difference>\s[-−–]\s)|(?P<product>×|\*|\\times|\\cdot)|(?P<quotient>÷|/|\\div))"
)
_AXIS = re.compile(r"\b([a-z])\$?[-‐‑\s](intercept|coordinate|component|axis|direction)", re.IGNORECASE)
_A_FIGURE = re.compile(r"\W*\d+\s*")
_LABELS = " :：*$\\(["
_REACH_BEHIND = 60
_BARE = re.compile(r"\A\W*(?P<name>[A-Z][a-z]{2,}(?<!ing))\s+\Z")
_FIRST_NAME = re.compile(r"(?:\A|[.!?]\s+)([A-Z][a-z]{2,})\b")
"""The first word of a sentence, which a pronoun in the last one may refer to."""
_NAME_BEHIND_OF = re.compile(r"\b(?:of|in)\s+(?:the\s+)?([A-Z][a-z]{2,})")
_RELATED = re.compile(r"\b(?:is|was)\s+the\s+(\w+)\s+of\s*\Z")
"""Text before a name that is related to the value's: "Ann is the mother of"."""
_OF_THE = re.compile(r"\bof\s+the\s+([a-z]{3,})\b")
_OWNED = re.compile(r"\b[A-Z][a-z]+['’]s?\s+([a-z]+)\s*\Z")
_COUNTED = re.compile(r"\bnumber\s+of\s+(?:\w+\s+)?(\w+)")
_RELATIVES = _SUBJECTS.words("relatives")
_ANY_NOUN = frozenset(map(stem, _SUBJECTS.words("any_noun")))
_SUPERLATIVE = re.compile(r"\b[Tt]he\s+(?!closest|simplest)(?:[a-z]{3,}est\b(?<!rest)(?<!test)|most\b|least\b)")
_ANY_SUPERLATIVE = re.compile(r"[a-z]est\b|\b(?:most|least|max|min)")
_OF_PRICES = frozenset(map(stem, _SUBJECTS.words("of_prices")))
_ABSTRACT = frozenset({"way", "possibilit", "arrangement", "outcom", "cas", "solution"})
"""Words that may refer to any counted thing."""


def is_about_another(around: Around, value: str, question: TypedQuestion) -> bool:
    """Return whether the clause that gives a value is about something which the question doesn't mention.

    Args:
        around: The text before and after the value in its sentence.
        value: The value.
        question: The question. What it asks for decides, and other words that the clause shares with it.
    """
    before = _SUBJECTS.boundary.split(without_means(conclusion_of(around.before)).rstrip(_LABELS))[-1]
    behind = _SUBJECTS.boundary.split(around.behind[:_REACH_BEHIND], maxsplit=1)[0]
    known = question.words
    if any(sign.isdigit() for sign in value):
        behind = f"{value} {behind}"
    else:
        known += tuple(words(value))
    if not before.strip() and (
        told := _SUBJECTS.predicate.match(_SUBJECTS.boundary.split(around.behind[:_REACH_BEHIND])[0])
    ):
        return bool(unknown_words(told[1], (*known, *words(value))))
    if (argument := _SUBJECTS.argument.search(around.before)) and _is_other_argument(argument, question):
        return True
    clause = f"{before} {behind}"
    if _names_sibling(clause, question, set(known)) or _names_axis(clause, question):
        return True
    return _is_other_than_asked(before, question) or _has_another_subject(before, question, known)


def _is_other_argument(argument: re.Match[str], question: TypedQuestion) -> bool:
    """Return whether a value is that of another argument than the question asks for: P(A) for P(B)."""
    asked = [given for name, given in _SUBJECTS.asks_for_argument.findall(question.text) if name == argument[1]]
    if asked:
        return argument[2] not in asked
    return argument[2].lower() in set(question.words).difference(_asked_words(question))


def _asked_words(question: TypedQuestion) -> list[str]:
    """Return the words of the sentence that asks, or of the whole question if that refers to others by a pronoun."""
    return words(question.text if _SUBJECTS.pronoun.search(question.sentence) else question.sentence)


def _operations(text: str) -> frozenset[str]:
    found = {str(sign.lastgroup) for sign in _OPERATION.finditer(text)} | ({"product"} if ")(" in text else set())
    return frozenset(map(stem, found))


def _slots(said: set[str]) -> set[tuple[int, int]]:
    return {place for word in said for place in _SLOTS.get(stem(word), ())}


def _names_sibling(clause: str, question: TypedQuestion, known: set[str]) -> bool:
    given = _slots(set(words(clause)))
    if not given:
        return False
    asks = question.sentence
    signs = _operations(asks)
    asked, named = _slots({*words(asks), *signs}), _slots(known | signs)
    return any(kind == its and (its, slot) not in given for kind, _ in given - named for its, slot in asked)


def _names_axis(clause: str, question: TypedQuestion) -> bool:
    given, asked = ({found.lower() for found in map(" ".join, _AXIS.findall(text))} for text in (clause, question.text))
    return bool(given and asked) and given.isdisjoint(asked)


def _has_another_subject(before: str, question: TypedQuestion, known: tuple[str, ...]) -> bool:
    if any(found[0] not in question.text for found in _SUBJECTS.at_another_time.finditer(before)):
        return True
    if any(_is_reversed_pair(found, question.text.lower()) for found in _SUBJECTS.paired.finditer(before)):
        return True
    if (related := _RELATED.search(before)) and f"{related[1]} of".lower() in question.text.lower():
        return True
    verbs = list(STATES.finditer(before))
    if not verbs:
        return False
    subject = before[: verbs[-1].start()]
    if _A_FIGURE.fullmatch(subject) and _operations(question.sentence):
        return True
    if _RELATIVES.intersection(words(subject)).difference(_asked_words(question)) or _SUBJECTS.that_of.search(before):
        return True
    if _SUPERLATIVE.search(subject) and not _ANY_SUPERLATIVE.search(question.text):
        return True
    if (some := _SUBJECTS.only_some.search(subject)) and some[1].lower() not in known:
        return True
    by_pronoun = _FIRST_NAME.findall(question.text) if _SUBJECTS.pronoun.search(question.sentence) else []
    asked = _SUBJECTS.asks_for_name.findall(question.text) or by_pronoun
    given = _BARE.match(f"{subject} ")
    if asked and given and given["name"] not in asked and given["name"] in question.text:
        return True
    subjects = _subjects(subject, question)
    return any(noun[0] == "?" for noun in subjects[-1:]) or bool(unknown_words(" ".join(subjects), known))


def _is_other_than_asked(before: str, question: TypedQuestion) -> bool:
    """Return whether a short subject is another letter, or another thing of the same kind, than the question's last
    sentence asks for: "a = 6" for b, "The father is 10" for the son's age."""
    said, letter = words(before), _SUBJECTS.asks_for_letter.search(question.sentence)
    if letter and (other := _SUBJECTS.letter_before.search(before)):
        return other[1].lower() != letter[1].lower() and other[1].lower() in question.words
    noun = _SUBJECTS.asks_for_noun.search(question.sentence)
    given = _slots(set(said))
    asked = (noun and _slots(set(words(noun["noun"])))) or _slots(set(words(question.sentence)))
    alike = {kind for kind, _ in given}.intersection(kind for kind, _ in asked)
    return bool(alike) and len(said) < 4 and given.isdisjoint(asked)


def _subjects(subject: str, question: TypedQuestion) -> list[str]:
    found = [name[1] for name in (_BARE.match(subject + " "), _OWNED.search(subject)) if name]
    found += _NAME_BEHIND_OF.findall(subject)
    if _OF_THE.search(question.sentence):
        found += _OF_THE.findall(subject)
    if question.counted and stem(question.counted.lower()) not in _ABSTRACT:
        found += [noun for noun in _COUNTED.findall(subject) if stem(noun) not in _ABSTRACT]
    head = _SUBJECTS.head.match(subject.rstrip() + " ")
    asks_price = "how much" in question.sentence.lower()
    asks = asks_price or _SUBJECTS.asks_for_noun.search(question.sentence)
    if head and not _SUBJECTS.the_answer.fullmatch(head[1]) and asks:
        nouns = words(head[1])
        known = question.stems | _operations(question.text)
        known |= _OF_PRICES if asks_price else set()
        known |= {"limit"} if _SUBJECTS.of_limit.search(question.text) else set()
        if stem(nouns[-1]) not in known and not any(stem(noun) in _ANY_NOUN for noun in nouns):
            found += [f"?{noun}" if stem(noun) in _SLOTS else noun for noun in nouns]
    return found


def _is_reversed_pair(pair: re.Match[str], question: str) -> bool:
    one, other = pair[1].lower(), pair[2].lower()
    return (
        one != other
        and re.search(rf"\b{other}\s+(?:to|from|per|minus|over)\s+(?:the\s+|\d+\s+)?{one}\b", question) is not None
    )
