"""Multiple choice: the options of a question, and the answers that choose or reject them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.conclusions import sentences, values_in
from workbench.verifiers.rules.patterns import Lexicon, source
from workbench.verifiers.rules.sense import Around, has_denial, is_prose, marks_near, unknown_words, words
from workbench.verifiers.rules.spelling import tidy, unquoted
from workbench.verifiers.rules.states import last_clauses
from workbench.verifiers.rules.strings import canonical
from workbench.verifiers.rules.structure import split_list

_OPTIONS = Lexicon("options")
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|bf|rm)\s*\{?\s*"
    r"(\(?[A-Z]\s*(?:\\\s)?\s*[).:]?\)?)\s*(?:\\ )?\}?"
)
_BLANKS = re.compile(r"[ \t]{2,}")
_READ = 20_000
_SIGHT = 14
_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_CIRCLED = tuple("①②③④⑤⑥⑦⑧⑨⑩")


class _LabelStyle(NamedTuple):
    """One way of marking options.

    Attributes:
        labels: The labels in order.
        probe: A fast pattern; a text without a match has no second label.
        marker: A pattern of a label (group 1) with its mark; it begins with a sign, so that the search is fast.
        before: A pattern of the text required right before the marker.
    """

    labels: tuple[str, ...]
    probe: re.Pattern[str]
    marker: re.Pattern[str]
    before: re.Pattern[str]

    def marks(self, text: str) -> list[re.Match[str]]:
        found = self.marker.finditer(text)
        return [mark for mark in found if self.before.search(text[max(mark.start() - _SIGHT, 0) : mark.start()])]


*_STYLES, _NUMBERED = (
    _LabelStyle(tuple(labels.split()), re.compile(probe), re.compile(marker), re.compile(before))
    for labels, probe, marker, before in _OPTIONS.table("styles")
)
"""The styles in order of precedence; the last one is of numbers, which are options only if a question has no others."""
_BETWEEN_BEFORE = re.compile(r"(?:\\ |[\s$;,*&~])+")
_BETWEEN_BEHIND = re.compile(r"(?:\\qquad|\\quad|\\\\|\\ |\n-|[\s$;,*&~])+\Z")
_BETWEEN_ENDS = frozenset("d\\- \t\n\r\f\v$;,*&~\u3000\xa0")
"""Characters that may end a separator of options."""
_SEEN = 200
_SPLIT = re.compile(r"(?:[\s,;&()、，和及]|\\&|\band\b)+")
_LABELLED = re.compile(r"(?:[(\[]([A-Za-z])[)\]]|([A-Z]|[a-z](?!\.\w))\s*[.:)、．：])\s*\S.*", re.DOTALL)
_NUMBER_AND_TEXT = re.compile(r"\(?(\d{1,2})\s?[.:)]\s*(.*\d.*)")
_EACH_LABELLED = re.compile(r"(?:^|[,;]\s*|\band\s+)\(?([A-Z])\s*[.:)]\)?\s*(?=\S)")
_A_LABEL = re.compile(r"(?<![A-Za-z\\])(?:[A-Z]|[A-Z]{2,8}|[ivx]{1,4})(?![A-Za-z])|[①-⑩]|\\text\w*\{[^}]{0,9}[A-Z]")
_IN_WORDS = re.compile(r"[\w .,:'’()*-]")
_LOWER = re.compile(r"(?<![^\W\d_])[a-z]{2,}(?![^\W\d_])|[一-鿿]")
_MOSTLY = 0.9
_QUOTED = re.compile(r"(?<!\w)['\"“](\w{1,4})['\"”]")
_AROUND = " .*\"'“”`"
_LONGEST = 400
_MAX_OPTION_CHARACTERS = 1_000


def options(question: str, numbered: bool = False) -> dict[str, str]:
    r"""Return the options by label, in the order given; empty if the question has none.

    Options are the last run of consecutive labels of one style: ``(A)``, ``A.``, ``A:``, ``A)`` and the same in
    ``\textbf{}`` and similar; without one, ``①``, ``(i)`` or ``I.``. Only the last 20,000 characters are read.

    Args:
        question: The question's text.
        numbered: Also accept ``1.``, if no other style is found.
    """
    text = question[-_READ:]
    if "  " in text or "\t" in text:
        text = _BLANKS.sub("  ", text)
    if "\\t" in text or "\\m" in text or "\\bf" in text:
        text = _WRAPPER.sub(r" \1 ", text)
    for style in [*_STYLES, _NUMBERED] if numbered else _STYLES:
        if style.labels[1] in text and style.probe.search(text) and (run := _last_run(style.marks(text), style.labels)):
            ends = [mark.start() for mark in run[1:]] + [len(text)]
            return {mark[1]: _option_text(text[mark.end() : end]) for mark, end in zip(run, ends, strict=True)}
    return {}


def _last_run(marks: list[re.Match[str]], labels: tuple[str, ...]) -> list[re.Match[str]]:
    best: list[re.Match[str]] = []
    run: list[re.Match[str]] = []
    for mark in marks:
        if mark[1] == labels[0]:
            run = [mark]
        elif run and len(run) < len(labels) and mark[1] == labels[len(run)]:
            run.append(mark)
        else:
            continue
        if len(run) > 1:
            best = run
    return best


def _option_text(text: str) -> str:
    text = text[:_MAX_OPTION_CHARACTERS].lstrip().split("\n\n", 1)[0]
    previous = None
    while previous != text:
        previous = text
        if (begins := _BETWEEN_BEFORE.match(text)) is not None:
            text = text[begins.end() :]
        if text[-1:] in _BETWEEN_ENDS and (ends := _BETWEEN_BEHIND.search(text, max(len(text) - _SEEN, 0))) is not None:
            text = text[: ends.start()]
    return text


def has_label(text: str) -> bool:
    """Return whether an answer may name an option: a capital letter by itself, a Roman number, a circled one."""
    return _A_LABEL.search(text[:_LONGEST]) is not None


def letters(text: str, known: dict[str, str]) -> frozenset[str] | None:
    """Return the labels an answer consists of: ``B``, ``(B)``, ``B. text``, ``A and C``, ``ACD``, ``①③``; else None.

    Args:
        text: A final answer.
        known: The question's options; other letters are no labels. Without any, capital letters are.
    """
    if len(text) > _LONGEST:
        return None
    text = unquoted(_QUOTED.sub(r"\1", tidy(text.replace("**", ""))))
    if text[:1] in ("\\", "{", "[") and text[-1:] in ("}", "]"):
        text = text.lstrip("\\{[").rstrip("\\}]")
    text = _OPTIONS.behind.sub("", _OPTIONS.before.sub("", text, count=1) if _OPTIONS.before.match(text) else text)
    if (numbered := _NUMBER_AND_TEXT.fullmatch(text)) and known.get(numbered[1]) == numbered[2]:
        return frozenset([numbered[1]])
    labels = [label.strip(".:") for label in _SPLIT.split(text) if label.strip(".:")]
    if len(labels) == 1 and labels[0] not in known and known:
        labels = _split_joined_labels(labels[0])
    labels = [_match_case(label, known) for label in labels]
    if labels and all(label in known if known else label in _LETTERS for label in labels):
        return frozenset(labels)
    return _labels_before_text(text, known)


def _split_joined_labels(text: str) -> list[str]:
    signs = list(text)
    plain = all(sign in _LETTERS for sign in signs) or all(sign in _CIRCLED for sign in signs)
    return signs if plain and len(set(signs)) == len(signs) else [text]


def _labels_before_text(text: str, known: dict[str, str]) -> frozenset[str] | None:
    each = _EACH_LABELLED.findall(text)
    if len(each) > 1 and known and set(each) <= known.keys():
        return frozenset(each)
    one = _LABELLED.fullmatch(text)
    label = (one[1] or one[2]) if one else ""
    label = _match_case(label, known)
    if named_letters(text, known) - {label}:
        return None
    return frozenset([label]) if label in known or (label in _LETTERS and not known) else None


def named_letters(sentence: str, known: dict[str, str]) -> frozenset[str]:
    """Return the option letters a sentence in words names: "option C", "(D)", "C and D can be inferred"."""
    sentence = _OPTIONS.in_a_name.sub(" ", sentence.replace("**", ""))
    for text in known.values():
        # "Vitamin C" may be the text of option B.
        if " " in text and text in sentence and _A_LABEL.search(text):
            sentence = sentence.replace(text, " ")
    if len(_IN_WORDS.findall(sentence[:_LONGEST])) < _MOSTLY * len(sentence[:_LONGEST]) or not _LOWER.search(sentence):
        return frozenset()
    found = {letter for groups in _OPTIONS.named.findall(sentence[:_LONGEST]) for letter in groups if letter}
    return frozenset(_match_case(letter, known) for letter in found if _match_case(letter, known) in known)


def _match_case(label: str, known: dict[str, str]) -> str:
    other = label.swapcase()
    return other if len(label) == 1 and label not in known and other in known and label not in known.values() else label


# -- Answers that choose options: by letter or by text, and rejected options ("C, not A"); closing brackets.


_DATA = Lexicon("choices")
_NOT, _AND, _BEFORE_LABEL, _WRONG = (source(name, "choices") for name in ("not", "and", "before_label", "wrong"))
_A_LETTER = re.compile(r"(?<=[^.!?:]\s)A(?![\w'’])")
_MAX_CHARACTERS = 300
_SEPARATED = re.compile(r",?\s+(?:and\s+|or\s+)?|,")
VALUE = re.compile(r"[\d\\^=]")

Same = Callable[[str, str], bool]
"""Returns whether two texts are the same value."""


def has_contrast(text: str) -> bool:
    return len(text) > 1 and _DATA.contrasts.search(text[:_MAX_CHARACTERS]) is not None


def holds_label(text: str, wanted: Collection[str]) -> bool:
    return all(re.search(rf"(?<![A-Za-z]){re.escape(label)}(?![A-Za-z])", text) for label in wanted)


def names_another(text: str, wanted: Collection[str], options: Mapping[str, str]) -> bool:
    """Return whether a sentence contains an A that may be an option's letter as well as a word: "I prefer A to B"."""
    if "A" not in options or "A" in wanted or not _A_LETTER.search(text):
        return False
    return not any(_A_LETTER.search(f"is {option}") for option in options.values())


def without_rejected(text: str, labels: tuple[str, ...]) -> str:
    """Return an answer without the option letters that it rejects; unchanged if it rejects none or no other letter
    remains.

    Args:
        text: A final answer.
        labels: The labels of the question's options.
    """
    if len(text) > _MAX_CHARACTERS or not labels or not has_contrast(text):
        return text
    rejected, label = _rejection_patterns(labels)
    plain = tidy(text.replace("**", ""))
    rest = rejected.sub(" ", plain)
    if rest == plain or not label.search(rest):
        return text
    return _DATA.trailing.sub("", _DATA.leading.sub("", rest, count=1)).strip()


def resolve_all_but(text: str, labels: tuple[str, ...], asked: str) -> str:
    """Rewrite an answer that chooses all options except some ("All but B") as the labels it chooses.

    Any other answer is returned unchanged.

    Args:
        text: A final answer.
        labels: The labels of the question's options.
        asked: The question; text after the exception may only use the question's words.
    """
    found = _DATA.all_but.search(text[:_MAX_CHARACTERS]) if len(labels) > 2 else None
    if found is None or has_denial(text[: found.start()]) or unknown_words(found[2] or "", words(asked)):
        return text
    rejected = [label.strip("().,") for label in _SEPARATED.split(found[1])]
    if not set(rejected) <= set(labels):
        return text
    return ", ".join(label for label in labels if label not in rejected)


@lru_cache(maxsize=64)
def _rejection_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    label = rf"[(\[]?(?<![^\W_\u3040-\u9fff])(?:{'|'.join(map(re.escape, labels))})(?![A-Za-z0-9'’])[)\]]?"
    several = rf"{label}(?:{_AND}{_BEFORE_LABEL}{label})*"
    rejects = rf"\s*[(（]?{_NOT}{_BEFORE_LABEL}(?i:either\s+|any\s+of\s+)?{several}(?:\s*[)）])?"
    is_wrong = rf"(?i:\b(?:both|options?|choices?|answers?)\s+)?{several}{_WRONG}"
    return re.compile(f"{rejects}|{is_wrong}", re.VERBOSE), re.compile(label)


# -- Multiple choice: an answer is a set of options, whether named by letter or by text.


_MAX_SENTENCE_CHARACTERS = 300
_ARTICLE = re.compile(r"\A(?:the|an?)\s+")
_BEHIND_LETTER = re.compile(r"\W*(?:[A-Za-z]|\d{1,2}|[ivxIVX]{1,4})\s*[.:)\]]+\s*(.+)", re.DOTALL)
_TELLING = re.compile(r"[^\W\d_]|\S\s?[-+*/^√]\s?\w")
"""A feature of an option's text that makes it searchable within a sentence: it is no bare number."""
_NEAR_LETTER = 240
"""Maximum characters around a letter that may be its option's text."""
_LISTED_BEFORE = re.compile(r"(.*?)\s+are\b.*", re.DOTALL)


def choice_of(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """Return the options an answer without letters chooses: by their texts or values, or those its last sentence
    concludes with; None if it chooses none.

    Args:
        answer: A final answer that does not consist of letters.
        known: The question's options by letter.
        same: Compares an option's text with the answer.
    """
    if not known:
        return None
    found = option_of(answer, known, same) or _options_of_list(answer, known, same)
    last = sentences(answer)[-1]
    if found is None and len(last) <= _MAX_SENTENCE_CHARACTERS:
        found = (
            letters(last, known)
            or named_letters(last, known)
            or _concluded_options(last, known, same)
            or _options_mentioned(last, known)
        )
    return found or None


def text_behind(answer: str, known: dict[str, str], same: Same) -> frozenset[str]:
    """Return the option whose text follows a letter in the answer; the letter may be that of another option."""
    found = _BEHIND_LETTER.fullmatch(tidy(answer))
    return (option_of(found[1], known, same) or frozenset()) if found and known else frozenset()


def contradicts_letter(text: str, start: int, end: int, known: Mapping[str, str]) -> bool:
    """Return whether an answer's letter is next to another option's text: "C (the newt)" or "the newt (C)" if C is the
    otter.

    Args:
        text: A completion.
        start: Offset of the answer.
        end: Offset after the answer.
        known: The question's options.
    """
    found = _DATA.letter_and_text.match(text, start, start + _NEAR_LETTER)
    if found and _option_at(found["text"], known, begins=True) not in ("", found["label"].casefold()):
        return True
    line = max(text.rfind("\n", 0, start) + 1, start - _NEAR_LETTER)
    return any(
        _option_at(text[line : found.start()], known, begins=False) not in ("", found["label"].casefold())
        for found in _DATA.text_and_letter.finditer(text, line, end)
        if found.start("label") >= start and found["label"] in known
    )


def _option_at(text: str, known: Mapping[str, str], *, begins: bool) -> str:
    """Return the label, in lower case, of the longest option that a text begins or ends with."""
    said = canonical(text).casefold()
    for label, option in sorted(known.items(), key=lambda one: -len(one[1])):
        named = _ARTICLE.sub("", canonical(option).casefold().rstrip("."))
        beside = said[len(named) :][:1] if begins else said[: -len(named)][-1:]
        if named and (said.startswith(named) if begins else said.endswith(named)) and not beside.isalnum():
            return label.casefold()
    return ""


def option_of(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    plain = canonical(answer).casefold()
    found = [letter for letter, text in known.items() if canonical(text).casefold().rstrip(".") == plain]
    if not found and VALUE.search(answer) and not is_prose(answer):
        values = ((letter, text) for letter, text in known.items() if VALUE.search(text) and not is_prose(text))
        found = [letter for letter, text in values if same(text, answer)]
    return frozenset(found) if len(found) == 1 else None


def _options_of_list(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    members = split_list(tidy(answer)) if known and len(answer) <= _MAX_SENTENCE_CHARACTERS else []
    if not 1 < len(members) <= len(known):
        return None
    found = [option_of(member, known, same) for member in members]
    named = frozenset(label for one in found if one is not None for label in one)
    return named if None not in found and len(named) == len(members) else None


def _concluded_options(sentence: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """Return the options whose values a sentence concludes with: after its last ``=`` or "is", in its last clause."""
    listed = _LISTED_BEFORE.fullmatch(sentence)
    told = [*last_clauses(sentence)[-1:], *(sentence.rsplit("=", 1)[1:]), *([listed[1]] if listed else ())]
    values = list(values_in(sentence))
    if values and (named := letters(values[0], known)):
        return named | text_behind(values[0], known, same)
    for value in filter(None, (*values, *told)):
        found = option_of(value, known, same) or _options_of_list(value, known, same)
        before, _, behind = sentence.rpartition(value)
        if found and not marks_near(Around(before, behind), scaling_only=True):
            return found
    return None


def _options_mentioned(sentence: str, known: dict[str, str]) -> frozenset[str] | None:
    rest, found = canonical(sentence).casefold(), set()
    texts = {letter: canonical(text).casefold().strip(" .") for letter, text in known.items()}
    for letter, text in sorted(texts.items(), key=lambda option: -len(option[1])):
        if not _TELLING.search(text):
            continue
        at = re.search(rf"(?<![a-z0-9]){re.escape(text)}(?![a-z0-9]|['’]s\b|-[a-z])", rest)
        if at is None:
            continue
        if _DATA.set_against.search(rest[: at.start()]):
            return None
        rest = f"{rest[: at.start()]}\0{rest[at.end() :]}"
        found.add(letter)
    return frozenset(found) or None
