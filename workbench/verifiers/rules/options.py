"""The options of a multiple-choice question, and the labels an answer names."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.verifiers.rules.patterns import Lexicon, PrefilteredPattern
from workbench.verifiers.rules.spelling import tidy, unquoted

_DATA = Lexicon("options")
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|bf|rm)\s*\{?\s*"
    r"(\(?[A-Z]\s*(?:\\\s)?\s*[).:]?\)?)\s*(?:\\ )?\}?"
)
_BLANKS = re.compile(r"[ \t]{2,}")
_READ = 20_000
_SIGHT = 14
_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER_LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_UPPER_ROMAN = tuple(number.upper() for number in _ROMAN)
_CIRCLED = tuple("①②③④⑤⑥⑦⑧⑨⑩")
_DIGITS = tuple(str(number) for number in range(1, 21))


class _LabelStyle(NamedTuple):
    """One way of marking options.

    Attributes:
        labels: The labels in order.
        probe: A fast pattern; a text without a match has no second label.
        marker: A pattern of a label (group 1) with its mark; it begins with a sign, so that the search is fast.
        before: A pattern of the text required right before the marker; None if any text may precede it.
    """

    labels: tuple[str, ...]
    probe: PrefilteredPattern
    marker: re.Pattern[str]
    before: re.Pattern[str] | None = None

    def marks(self, text: str) -> list[re.Match[str]]:
        found = self.marker.finditer(text)
        before = self.before
        if before is None:
            return list(found)
        return [mark for mark in found if before.search(text[max(mark.start() - _SIGHT, 0) : mark.start()])]


_STYLES = (
    _LabelStyle(
        _LETTERS, PrefilteredPattern(r"\(\s*B"), re.compile(r"\((?<![\w)(\]\\^_]\()\s*([A-Z])\s*(?:\\\s)?\s*\)")
    ),
    _LabelStyle(
        _LETTERS,
        PrefilteredPattern(r"B\s*[.:)、．：]"),
        re.compile(r"([A-Z])\s*[.:)、．：]"),
        re.compile(r"(?:\A|\n|\\q?quad|  |\$)[ \t$*\-]{0,6}\Z"),
    ),
    _LabelStyle(
        _LETTERS,
        PrefilteredPattern(r"B\s*[.:)、．：]"),
        re.compile(r"([A-Z])\s*(?:[.:](?=[\s$\\])|[)、．：])"),
        re.compile(r"(?:\A|[\s;,？?])\Z"),
    ),
    _LabelStyle(_LETTERS, PrefilteredPattern(r"\[B\]"), re.compile(r"(?<![\w\]])\[([A-Z])\](?!\()")),
    _LabelStyle(
        _LOWER_LETTERS,
        PrefilteredPattern(r"\n[ \t*-]{0,6}b\.\s"),
        re.compile(r"([a-z])\.(?=\s)"),
        re.compile(r"(?:\A|\n)[ \t*\-]{0,6}\Z"),
    ),
    _LabelStyle(_LOWER_LETTERS, PrefilteredPattern(r"\bb\)"), re.compile(r"(?:^|\s)\(?([a-z])\)(?=\s)")),
    _LabelStyle(_CIRCLED, PrefilteredPattern("②"), re.compile(r"([①-⑩])")),
    _LabelStyle(_ROMAN, PrefilteredPattern(r"\(ii\)"), re.compile(r"(?<![\w)])\(([ivx]{1,4})\)")),
    _LabelStyle(_UPPER_ROMAN, PrefilteredPattern(r"II[.)]"), re.compile(r"(?:^|\s)\(?([IVX]{1,4})[.)](?=\s)")),
)
_NUMBERED = _LabelStyle(_DIGITS, PrefilteredPattern(r"2[.)]"), re.compile(r"(?:^|\s)\(?(\d{1,2})[.)](?=\s)"))
_BETWEEN_BEFORE = re.compile(r"(?:\\ |[\s$;,*&~])+")
_BETWEEN_BEHIND = re.compile(r"(?:\\qquad|\\quad|\\\\|\\ |\n-|[\s$;,*&~])+\Z")
_BETWEEN_ENDS = frozenset("d\\- \t\n\r\f\v$;,*&~\u3000\xa0")
"""Characters that may end a separator of options."""
_SEEN = 200
_SPLIT = re.compile(r"(?:[\s,;&()、，和及]|\\&|\band\b)+")
_LABELLED = re.compile(r"(?:[(\[]([A-Za-z])[)\]]|([A-Za-z])\s*[.:)、．：])\s*\S.*", re.DOTALL)
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
    for style in (*_STYLES, _NUMBERED) if numbered else _STYLES:
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
    text = _strip_quotes(_QUOTED.sub(r"\1", tidy(text.replace("**", ""))), known)
    if text[:1] in ("\\", "{", "[") and text[-1:] in ("}", "]"):
        text = text.lstrip("\\{[").rstrip("\\}]")
    text = _strip_quotes(
        _DATA.behind.sub("", _DATA.before.sub("", text, count=1) if _DATA.before.match(text) else text), known
    )
    if not text:
        return None
    labels = [label.strip(".:") for label in _SPLIT.split(text) if label.strip(".:")]
    if len(labels) == 1 and labels[0] not in known and known:
        labels = _split_joined_labels(labels[0])
    labels = [_match_case(label, known) for label in labels]
    if labels and all(label in known if known else label in _LETTERS for label in labels):
        return frozenset(labels)
    return _labels_before_text(text, known)


def _strip_quotes(text: str, known: dict[str, str]) -> str:
    return text.strip(_AROUND) if known else unquoted(text)


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
    sentence = _DATA.in_a_name.sub(" ", sentence.replace("**", ""))
    if len(_IN_WORDS.findall(sentence[:_LONGEST])) < _MOSTLY * len(sentence[:_LONGEST]) or not _LOWER.search(sentence):
        return frozenset()
    found = {letter for groups in _DATA.named.findall(sentence[:_LONGEST]) for letter in groups if letter}
    return frozenset(_match_case(letter, known) for letter in found if _match_case(letter, known) in known)


def _match_case(label: str, known: dict[str, str]) -> str:
    other = label.swapcase()
    return other if len(label) == 1 and label not in known and other in known and label not in known.values() else label
