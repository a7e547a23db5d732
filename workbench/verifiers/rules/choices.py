"""Answers that choose options: by letter or by text, and rejected options ("C, not A"); closing brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from workbench.verifiers.rules.conclusions import sentences, values_in
from workbench.verifiers.rules.options import letters, named_letters
from workbench.verifiers.rules.patterns import Lexicon, source
from workbench.verifiers.rules.restating import last_clauses
from workbench.verifiers.rules.sense import Around, has_denial, is_prose, marks_near, unknown_words, words
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.strings import canonical
from workbench.verifiers.rules.structure import split_list

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


# -- Closing a sequence of brackets (Dyck words).


_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ONLY = re.compile(r"[()\[\]{}<>\s]+")
_INPUT = re.compile(r"[()\[\]{}<>](?:[ \t]*[()\[\]{}<>])+")
_RUN = re.compile(r"[()\[\]{}<>](?:\s*[()\[\]{}<>])*")
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
    if found is None and len(answer) <= _MAX_SENTENCE_CHARACTERS:
        found = named_letters(answer, known)
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
