r"""CompassVerifier: A correct, B incorrect, C invalid; a letter, a word or ``Final Judgment: \boxed{A} - CORRECT``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.verifiers.judges.parsers.base import (
    ANNOUNCES,
    DOUBT,
    GOES_ON,
    JUDGMENT,
    MARKUP,
    Reading,
    begins_statement,
    reading_of,
    verdict_in,
)

_LABELS = {"CORRECT": "A", "INCORRECT": "B", "INVALID": "C", "INCOMPLETE": "C", "REPETITIVE": "C", "REFUSAL": "C"}
_ANY = "INCORRECT|CORRECT|INVALID|INCOMPLETE|REPETITIVE|REFUSAL"
_NOUN = r"(?![ \t]+(?:(?i:final[ \t]+)?(?i:answers?|options?|solutions?|values?|results?)|AND)\b)"
_WORD = re.compile(rf"(?<![^\W_])(?<!\b[Nn]ot )(?<!\bNOT )({_ANY})(?![^\W_]|-[^\W_]){_NOUN}")
_BOX = re.compile(r"boxed[ ]?\{[ ]?(?:\\text\{)?([A-C])\}")
_MARKED = re.compile(rf"(?:{JUDGMENT}|\b(?:judge?ment|verdict|grade)[*_` \t]{{0,4}}:)", re.IGNORECASE)
_LETTER = re.compile(r"""[ \t*_`"'(\[{<$]{0,8}(?:\\[a-z]{2,8}\{)?([A-C])(?![^\W_])""")
_BRACKETED = re.compile(r"\(([A-C])\)")
_JOINT = r"[ \t]{0,3}(?:,?[ \t]{1,3}(?:or|and)[ \t]|[/|,&])(?:[ \t]{0,3}(?:or|and)[ \t])?[ \t]{0,3}"
_ECHO = re.compile(rf"<?\b(?:{_ANY})(?:{_JOINT}(?:{_ANY})\b)+>?|\bA{_JOINT}B(?:{_JOINT}C)?\b")


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    r"""Read the last ``\boxed`` letter; else, after "Final Judgment:", the last ``(A``; else the last A, B or C, in
    words too."""
    boxed = re.findall(r"boxed\{([A-C])\}", raw)
    if boxed:
        return _reading_of_label(boxed[-1])
    judgment = raw.rpartition("Final Judgment:")[2]
    found = re.findall(r"\(([A-C])", judgment) or re.findall("[A-C]", judgment)
    return _reading_of_label(found[-1] if found else None)


def strict(own: Sequence[str]) -> Reading:
    r"""Read the last line with a class as a word (CORRECT), a labelled judgment, a leading ``\boxed`` letter or only a
    letter.

    A line's words take precedence over its letters. Without such a line: the last ``\boxed`` letter, then the last
    ``(A)``.
    """
    lines = [_ECHO.sub(_collapse_echo, line) for line in own]
    label = (verdict_in(lines[-1:], _only_label) or verdict_in(lines, _label_of_line)) if lines else None
    label = (
        label
        or verdict_in(lines, _boxed_letter)
        or verdict_in(lines[:1], _only_label)
        or verdict_in(lines, _bracketed_letter)
    )
    return _reading_of_label(label)


def labelled(own: Sequence[str]) -> Reading:
    """Read the last line that has a verdict after a label such as "Final Judgment:"."""
    return _reading_of_label(verdict_in([_ECHO.sub(_collapse_echo, line) for line in own], _label_after_mark))


def _reading_of_label(label: str | None) -> Reading:
    if label in (None, DOUBT):
        return reading_of(None)
    if label == "C":
        return Reading("abstain", label=label, reason="invalid")
    return Reading("correct" if label == "A" else "incorrect", label=label)


def _collapse_echo(echo: re.Match[str]) -> str:
    words = re.findall(_ANY, echo[0])
    labels = {_LABELS[word] for word in words}
    return words[0] if len(labels) == 1 else " "


def _only_label(line: str) -> str | None:
    bare = line.strip(MARKUP)
    return bare if bare in ("A", "B", "C") else _LABELS.get(bare.upper())


def _label_of_line(line: str) -> str | None:
    start = line.lstrip(MARKUP)
    if (labelled := _label_after_mark(start)) or _MARKED.match(start):
        return labelled
    words = list(_WORD.finditer(start))
    given = {_LABELS[word[1]] for word in words if begins_statement(start, word)}
    if words:
        return given.pop() if len(given) == 1 else DOUBT
    box = _BOX.match(start)
    return box[1] if box else None


def _label_after_mark(line: str) -> str | None:
    marks = list(_MARKED.finditer(line))
    ends = [*(mark.start() for mark in marks[1:]), len(line)]
    found = {_label_in(line[mark.end() : end]) for mark, end in zip(marks, ends, strict=False)} - {None}
    if not found:
        return None
    return found.pop() if len(found) == 1 and any(begins_statement(line, mark) for mark in marks) else DOUBT


def _label_in(text: str) -> str | None:
    if word := _WORD.search(text):
        return DOUBT if GOES_ON.match(text, word.end()) else _LABELS[word[1]]
    if len(set(_BOX.findall(text))) > 1:
        return DOUBT
    found = _BOX.search(text) or _LETTER.match(text) or _BRACKETED.search(text)
    if found:
        return found[1]
    first = text.strip(MARKUP).split(maxsplit=1)
    return _LABELS.get(first[0].strip(MARKUP).upper()) if first else None


def _boxed_letter(line: str) -> str | None:
    letters = [found[1] for found in _BOX.finditer(line) if not ANNOUNCES.search(line[: found.start()].rstrip("\\$ "))]
    return letters[-1] if letters else None


def _bracketed_letter(line: str) -> str | None:
    letters = _BRACKETED.findall(line)
    return letters[-1] if letters else None
