"""Two projections of what users see: its values and its wording.

Values are numbers, names and verdicts that fill a cell of a table, symbols, and JSON documents. Wording is the text
with a # in place of each value. A change of a text changes at least one of the two; rewording a sentence keeps its
values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple, get_args

from tests.documents import ROOT
from workbench.core.label import EventKind, LabelVerdict, State
from workbench.core.run import RunState
from workbench.core.verdict import Outcome

LONG = 160
"""The maximum length of a stored value; a longer one is stored as its beginning and a digest."""

SHOWN_RECORDS, SHOWN_LINES = 5, 200
"""Records and lines of data files that are stored; further ones are stored as digests."""

_PROSE_KEYS = {
    "about",
    "advice",
    "description",
    "error",
    "headline",
    "help",
    "hint",
    "label",
    "message",
    "notes",
    "reason",
    "refused",
    "sentence",
    "sentences",
    "text",
    "title",
    "warning",
    "warnings",
    "why",
}
"""Keys of JSON documents whose values are sentences if they have several words."""

_NUMBER = r"[-+−±]?\w*\d\w*(?:[.,:/–-]\w*\d\w*)*(?: ?%)?"
_SYMBOLS = r"[✓✗✔✘▲▼↑↓●○◐◑•█▉▊▋▌▍▎▏▁▂▃▄▅▆▇░▒▓⚑⚠├┤┊·›]+"
_VALUE = re.compile(rf"(?<!\w)(?:{_NUMBER})|{_SYMBOLS}")
_CELL = re.compile(r"[^\s│┃|&▎](?:[^│┃|&▎\n]*?[^\s│┃|&▎])??(?=\s{2,}|\s*[│┃|&▎]|\s*$)")
_RULED = re.compile(r"[─━═╌]{2,}")
_SPACES = re.compile(r"(?<=\S)\s{2,}")
_SEVERAL_WORDS = re.compile(r"[a-z]{2,} \S+ \S")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


class Data(str):
    """Data for programs, such as CSV or an exported file: one value from beginning to end."""


class Help(str):
    """The help of a command: option names are values, too."""


class Projections(NamedTuple):
    """A text in both projections.

    Attributes:
        values: The values in order, one line for each line with values.
        wording: The text without its values.
    """

    values: str
    wording: str


def project(text: str) -> Projections:
    """Project a text; a command's output has the exit code first, then stderr behind ``!``."""
    if isinstance(text, Data):
        return Projections("".join(f"{line}\n" for line in _data(text)), "")
    lines = text.splitlines()
    ahead = next((at for at, line in enumerate(lines) if at and not line.startswith("!")), len(lines))
    head = lines[:ahead] if lines and lines[0].startswith("exit ") else []
    documents = _documents(lines[len(head) :])
    if documents is None:
        return _texts(lines, with_options=isinstance(text, Help))
    first, prose = _texts(head), list[str]()
    values = [line for document in documents for line in _dump(_worded(document, "", prose))]
    rest = _texts(prose)
    return Projections(
        first.values + "".join(f"{line}\n" for line in values) + rest.values, first.wording + rest.wording
    )


def digest(text: str) -> str:
    """Return a short digest of a text that is too long or not ours to store."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _texts(lines: Iterable[str], *, with_options: bool = False) -> Projections:
    values, wording = [], []
    for line in lines:
        found: list[str] = []
        worded = _reworded(line, found, with_options)
        if found:
            values.append("  ".join(found) + "\n")
        wording.append(worded + "\n")
    return Projections("".join(values), "".join(wording))


def _reworded(line: str, found: list[str], with_options: bool) -> str:
    names = _names()

    def take(value: re.Match[str]) -> str:
        found.append(value[0].replace(" ", ""))
        return "#"

    def cell(text: re.Match[str]) -> str:
        if text[0] in names or text[0] == "–":
            return take(text)
        # A symbol next to a verdict, as in "✓ correct".
        ahead, _, rest = text[0].partition(" ")
        if rest in names and not ahead.isalnum():
            found.extend((ahead, rest))
            return "#"
        if with_options:
            found.extend(_OPTION.findall(text[0]))
        return _VALUE.sub(take, text[0])

    return _SPACES.sub("  ", _RULED.sub("──", _CELL.sub(cell, line))).rstrip()


@cache
def _names() -> frozenset[str]:
    """Return cell contents that are values although they are not numbers: states, verdicts, and names of the sample."""
    rows = [json.loads(line) for line in (ROOT / "sample_data" / "tuples.jsonl").read_text().splitlines()]
    people = [json.loads(line) for line in (ROOT / "sample_data" / "labels.jsonl").read_text().splitlines()]
    named = {str(row[key]) for row in (*rows, *people) for key in _NAMED if row.get(key)}
    words = {str(word) for kind in (State, LabelVerdict, RunState, EventKind) for word in get_args(kind)}
    verifiers = ("rules", "exact", "normalized-exact", "math-verify", "execution", "base", "sample-judge", "llm-judge")
    return frozenset({*named, *words, *verifiers, *map(str, Outcome), *_OTHERS})


_NAMED = ("source", "model", "domain", "annotator", "answer_type", "answer_subtype")
_OTHERS = ("sample", "small", "dana", "eli", "true", "false", "yes", "no", "all", "none")


def _documents(lines: list[str]) -> list[Any] | None:
    """Return the JSON documents of an output, one over several lines or one per line; None for a text."""
    if not lines or lines[0][:1] not in ("{", "["):
        return None
    try:
        return [json.loads("\n".join(lines))]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in lines if line]
    except ValueError:
        return None


def _worded(value: Any, key: str, prose: list[str]) -> Any:
    """Return a document with … in place of sentences, which are collected."""
    if isinstance(value, dict):
        return {name: _worded(held, name, prose) for name, held in value.items()}
    if isinstance(value, list):
        return [_worded(held, key, prose) for held in value]
    if isinstance(value, str):
        if key in _PROSE_KEYS and _SEVERAL_WORDS.search(value):
            prose.extend(value.splitlines())
            return "…"
        return _abridged(value)
    return value


def _dump(value: Any, margin: str = "") -> Iterator[str]:
    """Format JSON for comparison: as much per line as fits, long values on separate lines."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + len(margin) <= LONG or not isinstance(value, dict | list):
        yield margin + flat
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield margin + opening
    pairs = value.items() if isinstance(value, dict) else ((None, held) for held in value)
    line = ""
    for name, held in pairs:
        key = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        first, *rest = _dump(held, margin + " ")
        first = key + first.lstrip()
        if line and (rest or len(line) + len(first) > LONG):
            yield f"{margin} {line}"
            line = ""
        line = f"{line}  {first}".lstrip()
        if rest:
            yield f"{margin} {line}"
            yield from rest
            line = ""
    if line:
        yield f"{margin} {line}"
    yield margin + closing


def _data(text: str) -> Iterator[str]:
    lines = text.splitlines()
    documents = _documents(lines)
    if documents is None:
        for line in lines[:SHOWN_LINES]:
            yield _abridged(line)
        rest = lines[SHOWN_LINES:]
    else:
        records = documents[0] if len(documents) == 1 and isinstance(documents[0], list) else documents
        for record in records[:SHOWN_RECORDS]:
            yield from _dump(_shortened(record))
        rest = [json.dumps(record, ensure_ascii=False) for record in records[SHOWN_RECORDS:]]
    if rest:
        yield " ".join(map(digest, rest))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_shortened(held) for held in value]
    return _abridged(value) if isinstance(value, str) else value


def _abridged(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG // 2]}… {len(text)} characters {digest(text)}"
